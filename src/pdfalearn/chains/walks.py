"""Walk through the pairs of states that words reach in two automata, breadth first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pdfalearn.arrays import IntMap, reaching
from pdfalearn.errors import InputError
from pdfalearn.pdfa import PDFA
from pdfalearn.typing import Flags, Floats, Integers

MOST_PAIRS = 4_000_000
"""Walks end here, unless something else is asked for."""
_MOST_CELLS = 2**24
"""Up to this many possible pairs there is a cell for each."""


_CELLS = 2**20
"""Rows are compared in parts of about this many numbers."""
_REMEDY = "compare drawn words instead, or allow more with most_pairs"


@dataclass(frozen=True, eq=False)
class PairWalk:
    """The pairs of states that words reach, and the transitions between them.

    Pair 0 is the initial one. Transitions stand in the order of their sources, and of the
    symbols; the first into a pair is the one that it was found by.
    """

    lefts: Integers
    rights: Integers
    """The states of every pair; -1 where an automaton is undefined."""
    sources: Integers
    symbols: Integers
    successors: Integers
    """The transitions: from which pair, with which symbol, to which pair."""


def walk_pairs(
    first: tuple[NDArray[np.int32], int],
    second: tuple[NDArray[np.int32], int],
    followed: Callable[[Integers, Integers], NDArray[np.bool_]],
    *,
    most: int = MOST_PAIRS,
    remedy: str = "draw words instead",
) -> PairWalk:
    """Walk through all pairs that words reach together.

    Parameters
    ----------
    first, second : tuple of array and int
        The tables of the two automata, with a last row of -1, the symbols in the same order; and
        their initial states.
    followed : function of two arrays of states
        Which symbols are followed from pairs of states: an array of bool, shape (pairs, symbols).
        A state is -1 after a transition that is undefined.
    most : int
        The greatest number of pairs.
    remedy : str
        What to do if there are more pairs, for the error.

    Raises
    ------
    InputError
        If there are more than ``most`` pairs.

    Examples
    --------
    >>> table = np.array([[0, 1], [1, 0], [-1, -1]], dtype=np.int32)
    >>> walk_pairs((table, 0), (table, 1), lambda lefts, rights: table[lefts] >= 0).rights
    array([1, 0])
    """
    (lefts_to, left), (rights_to, right) = first, second
    width = len(rights_to)
    cells = (len(lefts_to) + 1) * width
    numbers = _Numbers(cells) if cells <= _MOST_CELLS else IntMap()
    lefts, rights = np.array([left]), np.array([right])
    numbers.get_or_add((lefts + 1) * width + rights + 1)
    pairs, edges = [(lefts, rights)], []
    while len(lefts):
        begin, known = len(numbers) - len(lefts), len(numbers)
        places, symbols = followed(lefts, rights).nonzero()
        lefts = lefts_to[lefts[places], symbols].astype(np.int64)
        rights = rights_to[rights[places], symbols].astype(np.int64)
        successors = numbers.get_or_add((lefts + 1) * width + rights + 1)
        if len(numbers) > most:
            raise InputError(
                f"words visit more than {most:,} pairs of states of the two automata "
                f"({len(lefts_to) - 1:,} and {width - 1:,} states); {remedy}"
            )
        edges.append((begin + places, symbols, successors))
        lefts, rights = _take_new_pairs(lefts, rights, successors, known, len(numbers))
        pairs.append((lefts, rights))
    all_lefts, all_rights = map(np.concatenate, zip(*pairs, strict=True))
    return PairWalk(all_lefts, all_rights, *map(np.concatenate, zip(*edges, strict=True)))


class _Numbers:
    """Numbers keys below a bound 0, 1, … in the order in which they are seen, as `IntMap` does.

    Parameters
    ----------
    bound : int
        There is a cell for each key.
    """

    def __init__(self, bound: int) -> None:
        self._cells = np.full(bound, -1, dtype=np.int64)
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def get_or_add(self, keys: Integers) -> Integers:
        """Return the number of every key; keys that are new get the next numbers."""
        places = np.flatnonzero(self._cells[keys] < 0)
        new = keys[places]
        self._cells[new[::-1]] = places[::-1]  # of equal keys the first stays
        new = new[self._cells[new] == places]
        self._cells[new] = np.arange(self._size, self._size + len(new))
        self._size += len(new)
        return np.asarray(self._cells[keys])


def _take_new_pairs(
    lefts: Integers, rights: Integers, numbers: Integers, known: int, all_known: int
) -> tuple[Integers, Integers]:
    """Return the pairs that were not known before, in the order of their numbers."""
    new_lefts = np.empty(all_known - known, dtype=np.int64)
    new_rights = np.empty_like(new_lefts)
    is_new = numbers >= known
    places = numbers[is_new] - known
    new_lefts[places], new_rights[places] = lefts[is_new], rights[is_new]
    return new_lefts, new_rights


@dataclass(frozen=True, eq=False)
class Side:
    """One of two automata; arrays have a last row, of nothing, for where it is undefined."""

    table: NDArray[np.int32]
    rows: Floats
    initial: int

    @classmethod
    def of(cls, pdfa: PDFA) -> Side:
        """Take an automaton's table and normalised rows."""
        rows = normalise_rows(pdfa.probabilities)
        nothing = np.zeros((1, rows.shape[1]))
        return cls(pdfa.table, np.concatenate((rows, nothing)), pdfa.initial)

    @cached_property
    def possible(self) -> Flags:
        """Which transitions have a positive probability."""
        return self.rows[:, 1:] > 0

    @cached_property
    def ways(self) -> Flags:
        """Which transitions lead to where a word can end."""
        sources, symbols = self.possible.nonzero()
        ending = reaching(sources, self.table[sources, symbols], self.rows[:, 0] > 0)
        return np.asarray(self.possible & ending[self.table])


@dataclass(frozen=True, eq=False)
class Pairs:
    """The pairs of states that words reach in two automata over the same symbols."""

    first: Side
    second: Side
    walk: PairWalk

    @classmethod
    def common(cls, a: PDFA, b: PDFA, most: int = MOST_PAIRS) -> Pairs:
        """Follow the words that both automata find possible."""
        first, second = Side.of(a), Side.of(b)
        return cls._walk(first, second, first.possible, second.possible, np.logical_and, most)

    @classmethod
    def ending(cls, a: PDFA, b: PDFA, most: int = MOST_PAIRS) -> Pairs:
        """Follow the words that can still end in one of the automata at least."""
        first, second = Side.of(a), Side.of(b)
        return cls._walk(first, second, first.ways, second.ways, np.logical_or, most)

    @classmethod
    def _walk(
        cls, first: Side, second: Side, ways: Flags, others: Flags, join: np.ufunc, most: int
    ) -> Pairs:
        walk = walk_pairs(
            (first.table, first.initial),
            (second.table, second.initial),
            lambda lefts, rights: join(ways[lefts], others[rights]),
            most=most,
            remedy=_REMEDY,
        )
        return cls(first, second, walk)

    def __len__(self) -> int:
        return len(self.walk.lefts)

    def edge_weights(self) -> tuple[Floats, Floats]:
        """Return the probability of every transition in the two automata."""
        walk = self.walk
        columns = walk.symbols + 1
        return (
            self.first.rows[walk.lefts[walk.sources], columns],
            self.second.rows[walk.rights[walk.sources], columns],
        )

    def endings(self) -> tuple[Floats, Floats]:
        """Return the probability to end in every pair, in the two automata."""
        return self.first.rows[self.walk.lefts, 0], self.second.rows[self.walk.rights, 0]

    def row_distances(self) -> Floats:
        """Return the squared Hellinger distance of the two rows of every pair."""
        roots, others = np.sqrt(self.first.rows), np.sqrt(self.second.rows)
        distances = np.empty(len(self))
        for part in self._parts(roots.shape[1]):
            gaps = roots[self.walk.lefts[part]] - others[self.walk.rights[part]]
            distances[part] = 0.5 * np.einsum("ij,ij->i", gaps, gaps)
        return distances

    def _parts(self, width: int) -> Iterator[slice]:
        size = max(1, _CELLS // width)
        return (slice(begin, begin + size) for begin in range(0, len(self), size))


def normalise_rows(rows: Floats) -> Floats:
    """Divide distributions by their sums."""
    return np.asarray(rows / rows.sum(axis=1, keepdims=True))
