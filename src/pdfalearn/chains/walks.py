"""Walk through the pairs of states that words reach in two automata, breadth first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from pdfalearn.arrays import IntMap, firsts, reaching
from pdfalearn.chains.flows import Flow
from pdfalearn.errors import InputError
from pdfalearn.pdfa import PDFA
from pdfalearn.typing import Flags, Floats, Integers

MOST_PAIRS = 4_000_000
"""Walks end here, unless something else is asked for."""
# Up to this many possible pairs there is a cell for each, which is 2.7 times as fast as a map.
_MOST_CELLS = 2**24
# Rows are compared in parts of about this many numbers.
_NUMBERS_AT_ONCE = 2**20
# Divergences of rows that differ by smaller shares come from a series.
_SMALL_CHANGE = 1e-3


class Automaton(Protocol):
    """A PDFA or a DFA: its table has a last row of -1, for where it is undefined."""

    table: NDArray[np.int32]
    initial: int


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
    first: Automaton,
    second: Automaton,
    followed: Callable[[Integers, Integers], Flags],
    *,
    most: int | None = None,
    remedy: str = "draw words instead",
) -> PairWalk:
    """Walk through all pairs of states that words reach together in two automata.

    ``followed`` says which symbols are followed from pairs of states, as an array of bool of shape
    (pairs, symbols); a state is -1 after a transition that is undefined. More pairs than ``most``,
    four million if not given, are refused with a remedy.

    Examples
    --------
    >>> even = PDFA(alphabet="a", transitions=[[1], [0]], probabilities=[[0.5, 0.5]] * 2)
    >>> walk_pairs(even, even, lambda lefts, rights: even.table[lefts] >= 0).rights
    array([0, 1])
    """
    lefts_to, rights_to = first.table, second.table
    most, width = most or MOST_PAIRS, len(rights_to)
    cells = (len(lefts_to) + 1) * width
    numbers = _Numbers(cells) if cells <= _MOST_CELLS else IntMap()
    lefts, rights = np.array([first.initial]), np.array([second.initial])
    # The key of a pair; both states are -1 at least.
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
        # The next level: the new pairs in the order of their numbers, from any edge into them.
        found = np.full(len(numbers) - known, -1)
        is_new = np.flatnonzero(successors >= known)
        found[successors[is_new] - known] = is_new
        lefts, rights = lefts[found], rights[found]
        pairs.append((lefts, rights))
    all_lefts, all_rights = map(np.concatenate, zip(*pairs, strict=True))
    return PairWalk(all_lefts, all_rights, *map(np.concatenate, zip(*edges, strict=True)))


class _Numbers:
    """Numbers keys below a bound 0, 1, … in the order in which they are seen, as `IntMap` does."""

    def __init__(self, bound: int) -> None:
        self._cells = np.full(bound, -1, dtype=np.int64)
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def get_or_add(self, keys: Integers) -> Integers:
        """Return the number of every key; keys that are new get the next numbers."""
        new = keys[self._cells[keys] < 0]
        new = new[firsts(self._cells, new)]
        self._cells[new] = np.arange(self._size, self._size + len(new))
        self._size += len(new)
        return np.asarray(self._cells[keys])


@dataclass(frozen=True, eq=False)
class Side:
    """One of two automata; arrays have a last row, of nothing, for where it is undefined."""

    pdfa: PDFA

    @cached_property
    def rows(self) -> Floats:
        """The distributions, divided by their sums."""
        rows = normalise_rows(self.pdfa.probabilities)
        return np.concatenate((rows, np.zeros((1, rows.shape[1]))))

    @cached_property
    def others(self) -> Floats:
        """1 minus every probability, added up: what the others of its row have."""
        others = np.zeros(self.rows.shape)
        others[-1] = 1.0  # where nothing is defined
        others[:, 1:] += np.cumsum(self.rows[:, :-1], axis=1)
        others[:, :-1] += np.cumsum(self.rows[:, :0:-1], axis=1)[:, ::-1]
        return others

    @cached_property
    def lost(self) -> Floats:
        """What every state gives to transitions after which no word can end."""
        return np.asarray(np.where(self.ways, 0.0, self.rows[:, 1:]).sum(axis=1))

    @cached_property
    def possible(self) -> Flags:
        """Which transitions have a positive probability."""
        possible = np.zeros(self.pdfa.table.shape, dtype=bool)
        np.greater(self.pdfa.probabilities[:, 1:], 0, out=possible[:-1])
        return possible

    @cached_property
    def ways(self) -> Flags:
        """Which transitions lead to where a word can end."""
        sources, symbols = self.possible.nonzero()
        table = self.pdfa.table
        ending = reaching(sources, table[sources, symbols], self.rows[:, 0] > 0)
        return np.asarray(self.possible & ending[table])


@dataclass(frozen=True, eq=False)
class Pairs(PairWalk):
    """The pairs of states that words reach in two automata over the same symbols."""

    first: Side
    second: Side

    @classmethod
    def visited(cls, target: PDFA, candidate: PDFA, *, most: int | None = None) -> Pairs:
        """Follow the words that the target finds possible; the candidate may be undefined there."""
        first, second = Side(target), Side(candidate)
        possible = first.possible
        remedy = "evaluate on drawn words instead"
        return cls._walk(first, second, lambda lefts, _: possible[lefts], most, remedy)

    @classmethod
    def common(cls, a: PDFA, b: PDFA, most: int | None = None) -> Pairs:
        """Follow the words that both automata find possible."""
        first, second = Side(a), Side(b)
        ways, others = first.possible, second.possible
        return cls._walk(first, second, lambda p, q: ways[p] & others[q], most)

    @classmethod
    def ending(cls, a: PDFA, b: PDFA, most: int | None = None) -> Pairs:
        """Follow the words that can still end in one of the automata at least."""
        first, second = Side(a), Side(b)
        ways, others = first.ways, second.ways
        return cls._walk(first, second, lambda p, q: ways[p] | others[q], most)

    @classmethod
    def _walk(
        cls,
        first: Side,
        second: Side,
        followed: Callable[[Integers, Integers], Flags],
        most: int | None,
        remedy: str = "compare drawn words instead, or allow more with most_pairs",
    ) -> Pairs:
        walk = walk_pairs(first.pdfa, second.pdfa, followed, most=most, remedy=remedy)
        return cls(first=first, second=second, **vars(walk))

    def __len__(self) -> int:
        return len(self.lefts)

    def edge_weights(self) -> tuple[Floats, Floats]:
        """Return the probability of every transition in the two automata."""
        columns = self.symbols + 1
        return (
            self.first.rows[self.lefts[self.sources], columns],
            self.second.rows[self.rights[self.sources], columns],
        )

    def endings(self) -> tuple[Floats, Floats]:
        """Return the probability to end in every pair, in the two automata."""
        return self.first.rows[self.lefts, 0], self.second.rows[self.rights, 0]

    @cached_property
    def flow(self) -> Flow:
        """The flow of the words of the first automaton."""
        rows, lefts = self.first.rows, self.lefts
        weights = rows[lefts[self.sources], self.symbols + 1]
        return Flow(self.sources, self.successors, weights, rows[lefts, 0])

    @property
    def moves(self) -> csr_array[np.float64]:
        """The matrix Pᵀ that passes probability of the first automaton on by one symbol."""
        places = (self.successors, self.sources)
        return csr_array((self.flow.weights, places), shape=(len(self), len(self)))

    def gaps(self) -> tuple[Floats, Floats]:
        """Return by how much the probability of every transition and ending differs.

        Where one symbol has nearly all, its gap is that of the others, which keeps their digits.
        """
        rows, others = self.first.rows, self.second.rows
        likeliest, is_defined = rows.argmax(axis=1), self.rights >= 0

        def rest(lefts: Integers, rights: Integers) -> Floats:
            gaps = others[rights] - rows[lefts]
            gaps[np.arange(len(lefts)), likeliest[lefts]] = 0.0
            return np.asarray(gaps.sum(axis=1))

        by_rest, largest = self.measure(rest), likeliest[self.lefts]
        left, right = self.edge_weights()
        ends, other_ends = self.endings()
        is_largest = (largest[self.sources] == self.symbols + 1) & is_defined[self.sources]
        edges = np.where(is_largest & (left > 0.5), by_rest[self.sources], left - right)
        is_largest = (largest == 0) & is_defined & (ends > 0.5)
        return edges, np.where(is_largest, by_rest, ends - other_ends)

    def row_distances(self) -> Floats:
        """Return the squared Hellinger distance of the two rows of every pair."""
        roots, others = np.sqrt(self.first.rows), np.sqrt(self.second.rows)

        def distances(lefts: Integers, rights: Integers) -> Floats:
            gaps = roots[lefts] - others[rights]
            return np.asarray(0.5 * np.einsum("ij,ij->i", gaps, gaps))

        return self.measure(distances)

    def row_divergences(self) -> Floats:
        """Return the divergence of the two rows of every pair; infinite if one is undefined."""
        rows, others = self.first.rows, self.second.rows
        return self.measure(lambda p, q: _divergence_terms(rows[p], others[q]).sum(axis=1))

    def measure(
        self, measure: Callable[[Integers, Integers], Floats], others: Integers | None = None
    ) -> Floats:
        """Measure the states of all pairs, or the left ones and others, a part at a time."""
        values, rights = np.empty(len(self)), self.rights if others is None else others
        size = max(1, _NUMBERS_AT_ONCE // self.first.rows.shape[1])
        for begin in range(0, len(self), size):
            part = slice(begin, begin + size)
            values[part] = measure(self.lefts[part], rights[part])
        return values

    def word(self, pair: int) -> list[int]:
        """Return a shortest word that leads to a pair, as the codes of its symbols."""
        # Transitions stand in the order of the walk: the first into a pair is the one it came by.
        reached, first_edges = np.unique(self.successors, return_index=True)
        codes = []
        while pair:
            edge = first_edges[np.searchsorted(reached, pair)]
            codes.append(int(self.symbols[edge]))
            pair = int(self.sources[edge])
        return codes[::-1]


def _divergence_terms(rows: Floats, others: Floats) -> Floats:
    """Return p ln(p/q) - p + q: no term is negative, and what hardly has a share is not lost."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        changes = (others - rows) / rows
        terms = np.where(
            np.abs(changes) < _SMALL_CHANGE,
            changes**2 * (1 / 2 - changes * (1 / 3 - changes * (1 / 4 - changes / 5))),
            changes - np.log1p(changes),
        )
        return np.where(rows > 0, np.where(others > 0, rows * terms, np.inf), others)


def normalise_rows(rows: Floats) -> Floats:
    """Divide distributions by their sums."""
    return np.asarray(rows / rows.sum(axis=1, keepdims=True))
