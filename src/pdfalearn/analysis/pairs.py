"""Pairs of states of two automata that the same words reach, and what their rows have in common."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pdfalearn.arrays.reaching import reaching
from pdfalearn.equivalence.pairs import in_order_of
from pdfalearn.metrics.visits import normalised
from pdfalearn.metrics.walks import MOST_PAIRS, PairWalk, walk_pairs
from pdfalearn.pdfa import PDFA, checked_pdfa

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

_CELLS = 2**20
"""Rows are compared in parts of about this many numbers."""
_REMEDY = "compare drawn words instead, or allow more with most_pairs"


@dataclass(frozen=True, eq=False)
class Side:
    """One of two automata; arrays have a last row, of nothing, for where it is undefined."""

    table: NDArray[np.int32]
    rows: Floats
    initial: int

    @classmethod
    def of(cls, pdfa: PDFA, first: PDFA) -> Side:
        """Take an automaton's table and normalised rows, symbols in the order of the first."""
        table, rows = in_order_of(first.alphabet, pdfa)
        nothing = np.zeros((1, rows.shape[1]))
        return cls(table, np.concatenate((normalised(rows), nothing)), pdfa.initial)

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
    """The pairs of states that words reach in two automata."""

    first: Side
    second: Side
    walk: PairWalk

    @classmethod
    def common(cls, a: PDFA, b: PDFA, most: int = MOST_PAIRS) -> Pairs:
        """Follow the words that both automata find possible."""
        first, second = _sides(a, b)
        return cls._walked(first, second, first.possible, second.possible, np.logical_and, most)

    @classmethod
    def ending(cls, a: PDFA, b: PDFA, most: int = MOST_PAIRS) -> Pairs:
        """Follow the words that can still end in one of the automata at least."""
        first, second = _sides(a, b)
        return cls._walked(first, second, first.ways, second.ways, np.logical_or, most)

    @classmethod
    def _walked(
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


def _sides(a: PDFA, b: PDFA) -> tuple[Side, Side]:
    a, b = checked_pdfa(a, "a"), checked_pdfa(b, "b")
    return Side.of(a, a), Side.of(b, a)
