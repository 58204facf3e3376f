"""Blocks of a Hankel matrix: the values of prefixes followed by suffixes, and automata of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np
from scipy.linalg import qr

from pdfalearn.errors import InputError
from pdfalearn.models import PFA, WFA, WordProbabilities
from pdfalearn.multiplicity.weighted import RankError, as_wfa
from pdfalearn.pdfa import PDFA
from pdfalearn.text import described
from pdfalearn.typing import Floats
from pdfalearn.words import Words

Code = tuple[int, ...]
# Singular values of at least this many times what rounding can make are not 0.
_CLEAR = 16.0


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
        """Return the value of each word, and the size of the terms that it is the sum of."""
        codes = list(codes)
        if new := [code for code in dict.fromkeys(codes) if code not in self._known]:
            if self.exact is None:
                values = self._function.values(new)
                sizes = np.abs(values)
            else:
                values, sizes = self.exact.evaluate(Words.of(new), self.exact.ends)
            pairs = zip(values.tolist(), sizes.tolist(), strict=True)
            self._known.update(zip(new, pairs, strict=True))
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
        rows = _inverted(table[..., 1].max(axis=1, initial=0.0))
        scaled = rows[:, None, None] * table
        columns = _inverted(np.linalg.norm(scaled[..., 1], axis=0))
        scaled *= columns[None, :, None]
        return cls(prefixes, suffixes, scaled[..., 0], scaled[..., 1], rows, columns)

    @cached_property
    def strengths(self) -> Floats:
        """The singular values."""
        return np.linalg.svd(self.values, compute_uv=False)

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

    def choose(self, rank: int) -> tuple[list[Code], list[Code]]:
        """Return that many prefixes and suffixes whose block is well conditioned.

        They are chosen by QR with column pivoting.
        """
        _, rows = qr(self.values.T, mode="r", pivoting=True)
        kept = np.sort(rows[:rank])
        _, columns = qr(self.values[kept], mode="r", pivoting=True)
        prefixes = [self.prefixes[place] for place in kept]
        return prefixes, [self.suffixes[place] for place in np.sort(columns[:rank])]

    def automaton(self, function: AskedFunction, rank: int) -> WFA:
        """Return the automaton that the block determines, given its rank.

        The scaled block is U·S·Vᵀ. A prefix leads to its row of U·√S, and a matrix takes these rows
        to those of prefixes one symbol longer.
        """
        if not rank:
            zero = np.zeros((len(function.alphabet), 1, 1))
            return WFA(function.alphabet, initial=[0], matrices=zero, ends=[0])
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


def _inverted(sizes: Floats) -> Floats:
    """Return 1 / sizes; 1 for 0."""
    return 1 / np.where(sizes > 0, sizes, 1.0)
