"""Weighted automata over the real numbers: what they compute, and what follows a word in them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property, partial
from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from pdfalearn.alphabet import Alphabet, Symbol, Word
from pdfalearn.arrays import grown
from pdfalearn.corpora import PrefixTree
from pdfalearn.errors import InputError
from pdfalearn.frozen import Frozen
from pdfalearn.models.protocol import FREE, LanguageModel
from pdfalearn.rows import Rows
from pdfalearn.typing import Codes, Flags, Floats, Integers
from pdfalearn.words import Words

if TYPE_CHECKING:
    from pdfalearn.models.batch import Batch

# An opened model keeps at most this many entries of forward vectors (64 MiB), and forgets all of
# them when there would be more. Words are followed in parts of as many entries.
_KEPT = 2**23
# Fewer words than this are followed one by one: a word of 100,000 symbols takes .4 s and not 15 s.
_FEW = 8
# What is this small beside the terms that it sums is 0; a probability may be this negative.
_NOTHING, _ROUNDING = 1e-12, 1e-9


class WFA(Frozen, LanguageModel):
    """A weighted automaton, or multiplicity automaton, over the real numbers.

    The value of a word is the initial vector times the matrices of its symbols times the final
    vector. Weights may be negative. Where the values are the probabilities of words, it is a
    language model; a `PFA` is one whose weights are probabilities themselves. A WFA never changes
    after it is made.

    Parameters
    ----------
    alphabet : Alphabet or iterable of symbols
        The symbols.
    initial : array of float, shape (states,)
        The initial vector.
    matrices : array of float, shape (symbols, states, states)
        A matrix for each symbol.
    ends : array of float, shape (states,)
        The final vector.

    Examples
    --------
    >>> counter = WFA("a", initial=[1, 0], matrices=[[[1, 1], [0, 1]]], ends=[0, 1])
    >>> counter.word_probabilities(["", "aaa"]).round(9).tolist()
    [0.0, 3.0]
    >>> half = WFA("a", initial=[2], matrices=[[[0.5]]], ends=[0.25])
    >>> half.total, half.next_distribution("aa").tolist()
    (1.0, [0.5, 0.5])
    """

    cost = FREE
    initial: Floats
    matrices: Floats
    ends: Floats

    def __init__(
        self,
        alphabet: Alphabet | Iterable[Symbol],
        *,
        initial: ArrayLike,
        matrices: ArrayLike,
        ends: ArrayLike,
    ) -> None:
        symbols = alphabet if isinstance(alphabet, Alphabet) else Alphabet(alphabet)
        given = {"initial": (initial, 1), "matrices": (matrices, 3), "ends": (ends, 1)}
        arrays = {name: read_array(*each, name) for name, each in given.items()}
        count = len(arrays["initial"])
        shape = (len(symbols), count, count)
        if arrays["matrices"].shape != shape or len(arrays["ends"]) != count:
            raise InputError(
                f"{count} states and {len(symbols)} symbols need matrices of the shape {shape} and "
                f"{count} ends, not {arrays['matrices'].shape} and {len(arrays['ends'])}"
            )
        self.__dict__.update(alphabet=symbols, **arrays)

    def __reduce__(self) -> tuple[object, ...]:
        arrays = dict(zip(("initial", "matrices", "ends"), self._arrays, strict=True))
        return partial(type(self), self.alphabet, **arrays), ()

    def __len__(self) -> int:
        return len(self.initial)

    def __repr__(self) -> str:
        width = len(self.alphabet)
        symbols = f"{width} symbols" if width > 8 else repr(self.alphabet.symbols)
        return (
            f"{type(self).__name__}({len(self)} state{'s' * (len(self) != 1)}, alphabet={symbols})"
        )

    def __eq__(self, other: object) -> bool:
        """Return whether two automata are the same to the last bit, state for state."""
        if type(other) is not type(self):
            return NotImplemented
        are_same = map(np.array_equal, self._arrays, other._arrays)
        return self.alphabet == other.alphabet and all(are_same)

    def __hash__(self) -> int:
        return hash((self.alphabet, self.fingerprint))

    @property
    def _arrays(self) -> tuple[Floats, Floats, Floats]:
        return self.initial, self.matrices, self.ends

    @cached_property
    def fingerprint(self) -> str:  # type: ignore[override]
        """A hash of the automaton."""
        names = repr((*self.alphabet.symbols, self.alphabet.terminal))
        parts = [names.encode("utf-8", "backslashreplace"), *map(np.ndarray.tobytes, self._arrays)]
        return sha256(b"".join(parts)).hexdigest()

    @cached_property
    def emissions(self) -> Floats:
        """What makes rows of forward vectors: a column for the terminal and every symbol."""
        rows = np.column_stack((self.ends, (self.matrices @ self.prefix_weights).T))
        rows.flags.writeable = False
        return rows

    @cached_property
    def prefix_weights(self) -> Floats:
        """What all words sum to that begin in each state: the final vector of prefix probabilities.

        Raises
        ------
        InputError
            If the sum over all words does not converge.
        """
        moves = self._moves
        radius = float(np.abs(np.linalg.eigvals(moves)).max())
        if radius >= 1 - _NOTHING:
            raise InputError(
                f"the sum over all words does not converge: the matrices sum to one of spectral "
                f"radius {radius:.6g}; where states that no word needs are to blame, minimise_wfa "
                "leaves them out"
            )
        weights = np.asarray(np.linalg.solve(np.eye(len(self)) - moves, self.ends), np.float64)
        weights.flags.writeable = False
        return weights

    @property
    def _moves(self) -> Floats:
        return np.asarray(self.matrices.sum(axis=0))

    @cached_property
    def _strengths(self) -> Floats:
        """What a symbol can make of a weight of 1 in each state, if nothing cancels out."""
        return np.asarray(np.abs(self.matrices).sum(axis=2))

    @property
    def total(self) -> float:
        """The sum over all words."""
        return float(self.initial @ self.prefix_weights)

    def word_probabilities(self, words: Iterable[Word]) -> Floats:
        """Return the value of each of many whole words."""
        return self.evaluate(self.alphabet.encode_words(words), self.ends)[0]

    def prefix_probabilities(self, words: Iterable[Word]) -> Floats:
        """Return what all words sum to that begin with each of many words.

        Examples
        --------
        >>> WFA("a", initial=[2], matrices=[[[0.5]]], ends=[0.25]).prefix_probabilities(["", "aa"])
        array([1.  , 0.25])
        """
        return self.evaluate(self.alphabet.encode_words(words), self.prefix_weights)[0]

    def evaluate(self, words: Words, ends: Floats) -> tuple[Floats, Floats]:
        """Return the values of words for a final vector, and the sizes of the terms in each.

        A value much smaller than the size is a difference of terms, and has their rounding errors.
        """
        values, sizes = np.empty(len(words)), np.empty(len(words))
        for begin, end in self._parts(words):
            logs, vectors = self._follow(words.part(begin, end))
            scales = np.exp(logs)
            values[begin:end] = scales * (vectors @ ends)
            sizes[begin:end] = scales * (np.abs(vectors) @ np.abs(ends))
        return values, sizes

    def next_distribution(self, word: Word) -> Floats | None:
        """Return the distribution after a word, terminal first; None where it is impossible."""
        [row] = self.next_distributions([word])
        return None if np.isnan(row[0]) else row

    def next_distributions(self, words: Iterable[Word]) -> Floats:
        """Return the distribution after each word, the terminal first; NaN after impossible ones.

        In a PFA it is the mean of the distributions of the states where the word may have led.
        """
        batch = self.alphabet.encode_words(words)
        rows = np.empty((len(batch), len(self.alphabet) + 1))
        for begin, end in self._parts(batch):
            _, vectors = self._follow(batch.part(begin, end))
            rows[begin:end], undefined = self.make_rows(vectors)
            rows[begin:end][undefined] = np.nan
        return rows

    def open(self) -> OpenedWFA:
        """Return what remembers forward vectors of one run."""
        return OpenedWFA(self)

    def step(self, vectors: Floats, symbols: Codes | Integers) -> tuple[Floats, Floats]:
        """Return forward vectors after one symbol more each, divided by their sizes, and the sizes.

        The size of a vector is the sum of its entries without signs. Where the symbol is impossible
        both are 0.
        """
        new, terms = np.empty_like(vectors), np.empty(len(vectors))
        for symbol in np.unique(symbols).tolist():
            here = symbols == symbol
            new[here] = vectors[here] @ self.matrices[symbol]
            terms[here] = np.abs(vectors[here]) @ self._strengths[symbol]
        sums = np.abs(new).sum(axis=1)
        new[sums <= _NOTHING * terms] = sums[sums <= _NOTHING * terms] = 0.0
        new /= np.where(sums > 0, sums, 1.0)[:, None]
        return new, sums

    def make_rows(self, vectors: Floats) -> tuple[Floats, Flags]:
        """Return the distributions after forward vectors, and which words are impossible.

        What rounding leaves beside 0 counts as 0. Other negative values stay, to be refused.
        """
        sums, size = vectors @ self.prefix_weights, np.abs(vectors) @ np.abs(self.prefix_weights)
        undefined = np.asarray(np.abs(sums) <= _NOTHING * size)
        rows = vectors @ self.emissions / np.where(undefined, 1.0, sums)[:, None]
        rows[(rows > -_ROUNDING) & (rows < _NOTHING)] = 0.0
        return rows, undefined

    def _parts(self, words: Words) -> Iterable[tuple[int, int]]:
        return words.parts(max(1, _KEPT // len(self)))

    def _follow(self, words: Words) -> tuple[Floats, Floats]:
        """Return ln of the size of the forward vector after each word, and it divided by that."""
        found = np.empty((len(words), len(self)))
        if len(words) < _FEW:
            logs = np.zeros(len(words))
            for place, codes in enumerate(words):
                logs[place], found[place] = self._follow_word(codes)
            return logs, found
        # Prefixes that words share are followed once, all of a length together.
        tree, nodes = PrefixTree.with_ends(words, len(self.alphabet))
        order = np.argsort(nodes, kind="stable")
        edges = np.searchsorted(nodes[order], tree.borders).tolist()
        logs, vectors, before = np.zeros(len(tree)), self.initial[None], 0
        for depth, level in enumerate(tree.levels):
            if depth:
                above = tree.parents[level]
                vectors, sums = self.step(vectors[above - before], tree.symbols[level])
                with np.errstate(divide="ignore"):
                    logs[level] = logs[above] + np.log(sums)
            before = level.start
            here = order[edges[depth] : edges[depth + 1]]
            found[here] = vectors[nodes[here] - before]
        return logs[nodes], found

    def _follow_word(self, codes: list[int]) -> tuple[float, Floats]:
        vector, sums = self.initial, []
        for code in codes:
            terms = np.abs(vector) @ self._strengths[code]
            vector = vector @ self.matrices[code]
            sums.append(total := np.abs(vector).sum())
            if total <= _NOTHING * terms:
                return -np.inf, np.zeros_like(vector)
            vector = vector / total
        return float(np.log(sums).sum()), vector


class OpenedWFA(LanguageModel):
    """Keeps the forward vectors of words, up to a bound."""

    def __init__(self, wfa: WFA) -> None:
        self.alphabet = wfa.alphabet
        self.cost = wfa.cost
        self._wfa = wfa
        self._most = max(1, _KEPT // len(wfa))
        self._forget()

    def _forget(self) -> None:
        self._vectors, self._count = self._wfa.initial[None].copy(), 1
        # Where the vector of each word is, by the word's id; -1 where it is not kept.
        self._places = np.zeros(1, dtype=np.int64)

    def answer(self, batch: Batch) -> Rows:
        """Return the distributions after words; undefined after impossible ones."""
        if self._count + len(batch.ids) > self._most:
            self._forget()
        self._places = grown(self._places, int(batch.ids[-1]) + 1)
        whole = batch.reaching(self._are_known)
        for level in whole.levels():
            level = level[~self._are_known(whole.ids[level])]
            above = self._vectors[self._places[whole.parents[level]]]
            begin, self._count = self._count, self._count + len(level)
            self._vectors = grown(self._vectors, self._count, 0)
            self._vectors[begin : self._count] = self._wfa.step(above, whole.symbols[level])[0]
            self._places[whole.ids[level]] = np.arange(begin, self._count)
        found = self._vectors[self._places[batch.wanted_ids]]
        rows, undefined = self._wfa.make_rows(found)
        return Rows.dense(rows, undefined=undefined, impossible=np.asarray(rows[:, 1:] == 0))

    def _are_known(self, ids: Integers) -> Flags:
        return np.asarray(self._places[ids] >= 0)


def read_array(given: ArrayLike, dimensions: int, name: str) -> Floats:
    """Return an array of finite numbers that is read-only; refuse anything else."""
    try:
        array = np.array(given, dtype=np.float64, order="C")
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} is not an array of numbers") from error
    if array.ndim != dimensions or not len(array):
        raise InputError(f"{name} has the shape {array.shape}; it needs {dimensions} dimensions")
    if not np.isfinite(array).all():
        raise InputError(f"{name} has entries that are not finite numbers")
    array += 0.0  # no -0.0
    array.flags.writeable = False
    return array
