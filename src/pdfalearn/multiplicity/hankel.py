"""Blocks of a Hankel matrix, the values of prefixes and suffixes, and automata of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from typing import NamedTuple

import numpy as np
from scipy.linalg import qr

from pdfalearn.alphabet import Word
from pdfalearn.budgets import BudgetReached, seconds_left
from pdfalearn.checks import check_integer, check_number
from pdfalearn.errors import InputError
from pdfalearn.models import PFA, WFA, Interrupts, WordProbabilities
from pdfalearn.multiplicity.weighted import FLOOR, RankError, as_wfa, most_terms
from pdfalearn.pdfa import PDFA
from pdfalearn.results import Certificate
from pdfalearn.text import described
from pdfalearn.typing import Floats, Integers
from pdfalearn.words import Words

Code = tuple[int, ...]
ERROR = 2.0**-48
"""Probabilities that were computed in floating point are right but for such a share of them."""
# Singular values of at least this many times what rounding can make are not 0.
_CLEAR = 16.0
# Prefixes and suffixes that were chosen before stay unless others are this many times better, as
# what was asked for them is of no use to others.
_PREFERRED = 2.0
# At most this many words are asked for at once.
_PART = 4096


class AskedFunction:
    """What is learnt: values of words, each asked for once, and how many were."""

    def __init__(self, target: WordProbabilities | WFA | PDFA) -> None:
        self.exact: WFA | None = None
        """An automaton that computes the function, where the target is one."""
        if isinstance(target, WordProbabilities):
            self.is_of_prefixes = target.prefixes
            self._function = target
        elif isinstance(target, WFA | PDFA):
            wfa = as_wfa(target)
            # Values of prefixes are better to tell apart: all of a state's words count in them.
            self.is_of_prefixes = isinstance(wfa, PFA)
            self.exact = with_ends(wfa, wfa.prefix_weights if isinstance(wfa, PFA) else wfa.ends)
        else:
            raise InputError(
                f"target is {described(target)}; learn from WordProbabilities(function, alphabet, "
                "prefixes=…), a WFA, a PFA or a PDFA"
            )
        self.alphabet = target.alphabet
        self.symbols = [(symbol,) for symbol in range(len(target.alphabet))]
        """The words of one symbol."""
        self.max_words: float = math.inf
        """No word is asked for that would be one more than this."""
        self.interrupts = Interrupts()
        self.report: Callable[[], None] = self.interrupts.check
        """What is called after every batch."""
        self._known: dict[Code, tuple[float, float]] = {}

    @property
    def count(self) -> int:
        """How many different words were asked for."""
        return len(self._known)

    @property
    def words(self) -> list[Code]:
        """The words that were asked for."""
        return list(self._known)

    def ask(self, codes: Iterable[Code]) -> Floats:
        """Return the value of each word, and the size of the terms that it is the sum of.

        Raises
        ------
        BudgetReached
            If the words would be too many, or the time is up; then none or not all are asked for.
        """
        codes = list(codes)
        new = [code for code in dict.fromkeys(codes) if code not in self._known]
        if new and self.count + len(new) > self.max_words:
            raise BudgetReached("max_words", self.max_words)
        for begin in range(0, len(new), _PART):
            part = new[begin : begin + _PART]
            seconds_left()
            if self.exact is None:
                self.interrupts.is_calling = True
                try:
                    values = self._function.values(part)
                finally:
                    self.interrupts.is_calling = False
                sizes = np.abs(values)
            else:
                values, sizes = self.exact.evaluate(Words.of(part), self.exact.ends)
            pairs = zip(values.tolist(), sizes.tolist(), strict=True)
            self._known.update(zip(part, pairs, strict=True))
            self.report()
        return np.array([self._known[code] for code in codes]).reshape(-1, 2)

    def of_whole_words(self, wfa: WFA) -> WFA:
        """Return the automaton of whole words for one that computes the function."""
        if not self.is_of_prefixes:
            return wfa
        # A word's probability is that of the prefix, less those of the prefixes one longer.
        return with_ends(wfa, wfa.ends - wfa.matrices.sum(axis=0) @ wfa.ends)


def with_ends(wfa: WFA, ends: Floats) -> WFA:
    """Return the automaton with another final vector."""
    return WFA(wfa.alphabet, initial=wfa.initial, matrices=wfa.matrices, ends=ends)


class Square(NamedTuple):
    """As many prefixes as suffixes, whose block is not singular."""

    prefixes: list[Code]
    suffixes: list[Code]


@dataclass(frozen=True, eq=False)
class Block:
    """The values of words that are a prefix followed by a suffix, and their scales.

    Every row is divided by its largest size, then every column by its length: the probability of
    a long word is tiny, and says as much as that of a short one. Errors are shares of the sizes,
    so that scaling does not enlarge them.
    """

    prefixes: list[Code]
    suffixes: list[Code]
    values: Floats
    sizes: Floats
    """The terms that the values are sums of: rounding errors are a share of these."""
    row_scales: Floats
    column_scales: Floats

    @classmethod
    def of(cls, function: AskedFunction, prefixes: list[Code], suffixes: list[Code]) -> Block:
        """Ask for all words of a block."""
        asked = function.ask(one + other for one, other in product(prefixes, suffixes))
        table = asked.reshape(len(prefixes), len(suffixes), 2)
        # Sizes decide the scales, and not values, in which terms may cancel.
        rows = _inverted(table[..., 1].max(axis=1, initial=0.0))
        scaled = rows[:, None, None] * table
        columns = _inverted(np.linalg.norm(scaled[..., 1], axis=0))
        scaled *= columns[None, :, None]
        return cls(prefixes, suffixes, scaled[..., 0], scaled[..., 1], rows, columns)

    @cached_property
    def strengths(self) -> Floats:
        """The singular values."""
        return np.asarray(np.linalg.svd(self.values, compute_uv=False), np.float64)

    def rank(self, error: float, *, is_final: bool = False) -> int:
        """Return how many singular values are not 0 for certain.

        If values are right but for a relative error, then no singular value is wrong by more than
        that times the norm of the block (Weyl). In the end, none may be between what rounding can
        make, and what clearly is not 0.
        """
        noise = error * float(np.linalg.norm(self.sizes))
        rank = int((self.strengths > _CLEAR * noise).sum())
        if is_final and rank < len(self.strengths) and self.strengths[rank] > noise:
            raise RankError(
                f"the rank cannot be decided: it is at least {rank}, and the next singular value "
                f"is {self.strengths[rank]:.3g}, where errors of the values can make "
                f"{noise:.3g}; values of more digits (a smaller error) may decide it"
            )
        return rank

    def choose(self, rank: int, preferred: Square) -> Square:
        """Return that many prefixes and suffixes whose block is well conditioned.

        They are chosen by QR with column pivoting.
        """
        # Prefixes first, then suffixes among their rows: the small block is far from singular.
        rows = _pivots(self.values, self.prefixes, preferred.prefixes)[:rank]
        table = self.values[rows].T
        columns = _pivots(table, self.suffixes, preferred.suffixes)[:rank]
        return Square(
            [self.prefixes[place] for place in np.sort(rows)],
            [self.suffixes[place] for place in np.sort(columns)],
        )

    def automaton(self, function: AskedFunction, rank: int) -> WFA:
        """Return the automaton that the block determines, given its rank.

        The scaled block is U·S·Vᵀ. A prefix leads to its row of U·√S, and a matrix takes these rows
        to those of prefixes one symbol longer.
        """
        if not rank:
            zero = np.zeros((len(function.alphabet), 1, 1))
            return WFA(function.alphabet, initial=[0], matrices=zero, ends=[0])
        # With these halves rows @ block @ columns is the identity: the empty word changes nothing.
        left, strengths, right = np.linalg.svd(self.values, full_matrices=False)
        roots = np.sqrt(strengths[:rank])
        rows = (left[:, :rank] / roots).T * self.row_scales
        columns = self.column_scales[:, None] * right[:rank].T / roots

        def values(prefixes: list[Code], suffixes: list[Code]) -> Floats:
            asked = function.ask(one + other for one, other in product(prefixes, suffixes))
            return np.asarray(asked[:, 0].reshape(len(prefixes), len(suffixes)))

        matrices = [
            rows @ values([(*prefix, symbol) for prefix in self.prefixes], self.suffixes) @ columns
            for symbol in range(len(function.alphabet))
        ]
        return WFA(
            function.alphabet,
            initial=(values([()], self.suffixes) @ columns)[0],
            matrices=matrices,
            ends=(rows @ values(self.prefixes, [()]))[:, 0],
        )


def _pivots(table: Floats, codes: list[Code], preferred: list[Code]) -> Integers:
    """Return the places of rows, the one that is furthest from those before it always next."""
    are_preferred = set(preferred)
    weights = [_PREFERRED if code in are_preferred else 1.0 for code in codes]
    _, order = qr(table.T * weights, mode="r", pivoting=True)
    return np.asarray(order)


def _inverted(sizes: Floats) -> Floats:
    """Return 1 / sizes; 1 for 0."""
    return 1 / np.where(sizes > 0, sizes, 1.0)


@dataclass(frozen=True, eq=False)
class LearntWFA:
    """A learnt weighted automaton, what is known about it, and what it cost.

    Examples
    --------
    >>> from pdfalearn.datasets import figure_3
    >>> from pdfalearn.multiplicity import learn_wfa
    >>> learnt = learn_wfa(figure_3())
    >>> learnt.rank, learnt.equivalence_queries, learnt.certificate.kind
    (4, 1, 'exact')
    """

    wfa: WFA
    """The automaton: its values are those of whole words."""
    certificate: Certificate
    """What is known about it; its details have rank, singular values, residual and distance."""
    words: int
    """The number of different words that were asked for."""
    equivalence_queries: int
    counterexamples: list[Code] = field(repr=False)
    """The words that equivalence queries found, as positions in the alphabet."""

    @property
    def rank(self) -> int:
        """The rank of the Hankel matrix as far as it is known: the states of the automaton."""
        rank: int = self.certificate.details["rank"]  # type: ignore[assignment]
        return rank


def most_wrong(function: AskedFunction, wfa: WFA, codes: list[Code]) -> tuple[Code, float]:
    """Return the word for which an automaton is most wrong, and the share of the terms by which."""
    values, sizes = wfa.evaluate(Words.of(codes), wfa.ends)
    asked = function.ask(codes)
    terms = np.maximum(np.maximum(sizes, asked[:, 1]), max(FLOOR * most_terms(wfa), 1e-300))
    errors = np.abs(values - asked[:, 0]) / terms
    place = int(errors.argmax())
    return codes[place], float(errors[place])


def describe_block(block: Block, rank: int, error: float, residual: float) -> dict[str, object]:
    """Return what a certificate says of a block and its automaton."""
    strengths: Floats = block.strengths
    return {
        "rank": rank,
        "singular_values": strengths.tolist(),
        "smallest": float(strengths[rank - 1]) if rank else math.inf,
        "noise": error * float(np.linalg.norm(block.sizes)),
        "residual": residual,
    }


def spectral_wfa(
    target: WordProbabilities | WFA | PDFA,
    *,
    length: int = 3,
    words: Iterable[Word] | None = None,
    rank: int | None = None,
    error: float = ERROR,
) -> LearntWFA:
    """Make a weighted automaton of one finite block of the Hankel matrix; nothing is tested.

    Parameters
    ----------
    target : WordProbabilities, WFA, PFA or PDFA
        What tells the probabilities of words or of prefixes.
    length : int
        Prefixes and suffixes are all words of up to this many symbols.
    words : iterable of words, optional
        The prefixes and suffixes, if these are to be others.
    rank : int, optional
        How many singular values count; those that are not 0 for certain, if it is not given.
    error : float
        As for `learn_wfa`.

    Raises
    ------
    RankError
        If the rank is not given and cannot be decided.

    Notes
    -----
    Hsu, Kakade and Zhang (2009); Balle and others (2014). If the block has the rank of the whole
    matrix, the automaton is right; nobody says whether it has.

    Examples
    --------
    >>> from pdfalearn.datasets import figure_3
    >>> from pdfalearn.multiplicity import l2_distance
    >>> learnt = spectral_wfa(figure_3())
    >>> learnt.rank, l2_distance(learnt.wfa, figure_3()) < 1e-12
    (4, True)
    """
    function = AskedFunction(target)
    check_number(error, "error", 0, 0.1, is_open=True)
    if words is None:
        length = check_integer(length, "length", 0, 64)
        codes: list[Code] = [()]
        for code in codes:
            if len(code) < length:
                codes += [(*code, symbol) for symbol in range(len(function.alphabet))]
    else:
        codes = [tuple(word) for word in function.alphabet.encode_words(words)]
        codes = list(dict.fromkeys([(), *codes]))
    block = Block.of(function, codes, codes)
    if rank is None:
        rank = block.rank(error, is_final=True)
    check_integer(rank, "rank", 0, len(codes))
    wfa = block.automaton(function, rank)
    _, residual = most_wrong(function, wfa, function.words)
    details = describe_block(block, rank, error, residual)
    statement = (
        f"of rank {rank} on {len(codes):,} prefixes and suffixes, smallest singular value "
        f"{details['smallest']:.3g}; nothing else was tested"
    )
    certificate = Certificate("tested", statement, details)
    return LearntWFA(function.of_whole_words(wfa), certificate, function.count, 0, [])
