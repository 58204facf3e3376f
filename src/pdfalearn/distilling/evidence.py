"""Evidence for automata: a tree of weighted prefixes, with a distribution after each."""

from __future__ import annotations

from copy import copy
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array

from pdfalearn.typing import Floats, Integers, Singles

# Symbols that together have at most this share of all weight may share one column of answers.
_RARE, _TINY = 1e-3, 1e-300

Table = NDArray[np.float64] | csr_array[np.float64]


class Step(NamedTuple):
    """The nodes of one length and those one symbol longer."""

    above: slice
    below: slice
    # The parent of every node below, counted from the first above.
    parents: Integers
    # The matrix that sums up children by their parent; None if none has more than one.
    sums: csr_array[np.float32] | None
    # The last symbols of the nodes below.
    symbols: Integers
    # Which nodes below have the same last symbol: from where to where, and the symbol.
    runs: list[tuple[int, int, int]]


class Evidence:
    """Prefixes of words, each with a distribution and a weight.

    Nodes are ordered by length, and within a length by their last symbol. Node 0 is the empty word.

    ``parents`` and ``symbols`` are, of every node but the first, the node one symbol shorter and
    the last symbol; ``answers`` what follows each node, the terminal's probability first; ``codes``
    which symbols of the alphabet these are, if not all of them. Whether answers come from a model
    or from counts of words does not matter to what is done with them.
    """

    def __init__(
        self,
        parents: Integers,
        symbols: Integers,
        weights: Floats,
        answers: Table,
        codes: Integers | None = None,
    ) -> None:
        # How many nodes and symbols there are.
        self.size, self.width = len(parents), int(answers.shape[1]) - 1
        self.codes = np.arange(self.width) if codes is None else codes
        order, self.levels = _sort_by_length(parents, symbols)
        places = np.empty(len(order), dtype=np.int64)
        places[order] = np.arange(len(order))
        # The number of every node as it was given.
        self.order = order
        self.parents = places[parents[order]]
        self.symbols = symbols[order]
        self.weights = weights[order]
        self.total = float(self.weights.sum())
        self.answers = answers[order]
        # The column of the terminal and of each symbol, and its share of what is in the column.
        self.columns, self.shares = np.arange(self.width + 1), np.ones(self.width + 1)

    @cached_property
    def negative_entropies(self) -> Floats:
        """Σ D·log D of every answer."""
        return sum_xlogx(self.answers)

    @cached_property
    def lumped(self) -> Evidence:
        """Evidence in which rare symbols share the last column, or this if that helps little.

        Structure hardly depends on them, and what is computed with answers is faster.
        """
        masses = np.asarray(self.weights @ self.answers)
        order = np.argsort(masses, kind="stable")
        rare = order[np.cumsum(masses[order]) <= _RARE * self.total]
        rare = rare[rare > 0]
        count = self.width + 2 - len(rare)
        if 2 * count > self.answers.shape[1]:
            return self
        lumped = copy(self)
        is_kept = np.ones(self.width + 1, dtype=bool)
        is_kept[rare] = False
        lumped.columns = np.where(is_kept, np.cumsum(is_kept) - 1, count - 1)
        lumped.shares = np.ones(self.width + 1)
        lumped.shares[rare] = masses[rare] / max(masses[rare].sum(), _TINY)
        lumped.answers = lumped.lump(self.answers)
        for name in ("negative_entropies", "weighted", "lumped"):
            lumped.__dict__.pop(name, None)
        return lumped

    def lump(self, rows: Table) -> Table:
        """Return rows in which rare symbols share a column, as they do here."""
        entries = np.ones(self.width + 1), (np.arange(self.width + 1), self.columns)
        lumping = csr_array(entries, shape=(self.width + 1, int(self.columns.max()) + 1))
        lumped = rows @ lumping
        return lumped if isinstance(lumped, csr_array) else np.asarray(lumped)

    def spread(self, rows: Floats) -> Floats:
        """Return rows with a column for each symbol, where rare ones share one."""
        if rows.shape[1] == self.width + 1:
            return rows
        return np.asarray(rows[:, self.columns] * self.shares)

    @cached_property
    def steps(self) -> list[Step]:
        """How every length goes on to the next, the longest first."""
        steps = []
        for above, below in zip(self.levels[-2::-1], self.levels[:0:-1], strict=True):
            symbols, parents = self.symbols[below], self.parents[below] - above.start
            count, sums = len(symbols), None
            if len(np.unique(parents)) < count:
                ones, shape = np.ones(count, dtype=np.float32), (above.stop - above.start, count)
                sums = csr_array((ones, (parents, np.arange(count))), shape=shape)
            steps.append(Step(above, below, parents, sums, symbols, find_runs(symbols)))
        return steps

    @cached_property
    def weighted(self) -> tuple[Singles | csr_array[np.float32], Singles]:
        """Every answer, and its Σ D·log D, times the weight of its node."""
        entropies = (self.weights * self.negative_entropies).astype(np.float32)
        if isinstance(self.answers, csr_array):
            scaled = self.answers.astype(np.float32)
            scaled.data *= np.repeat(self.weights, np.diff(scaled.indptr)).astype(np.float32)
            return scaled, entropies
        return (self.answers * self.weights[:, None]).astype(np.float32), entropies

    def states(self, transitions: NDArray[np.int32], initial: int) -> NDArray[np.int32]:
        """Return the state after every node's word; -1 where a transition is missing."""
        states = np.full(self.size, initial, dtype=np.int32)
        table = np.concatenate((transitions, np.full((1, self.width), -1, dtype=np.int32)))
        for level in self.levels[1:]:
            states[level] = table[states[self.parents[level]], self.symbols[level]]
        return states

    def sums(self, groups: NDArray[np.integer], count: int) -> tuple[Floats, Floats]:
        """Return the weighted sums of answers, and of weights, by group; -1 is not a group."""
        sums = self.sum_answers(groups, count)
        known = groups >= 0
        weights = np.bincount(groups[known], self.weights[known], count)
        return make_dense(sums), weights.astype(np.float64)

    def sum_answers(self, groups: NDArray[np.integer], count: int) -> Table:
        """Return the weighted sums of answers by group, sparse where answers are."""
        known = (groups >= 0).nonzero()[0]
        places = (groups[known], known)
        choice = csr_array((self.weights[known], places), shape=(count, self.size))
        sums = choice @ self.answers
        return sums if isinstance(sums, csr_array) else np.asarray(sums)


def make_dense(table: Table | Singles | csc_array[Any] | csr_array[Any]) -> NDArray[Any]:
    """Return a table as a plain array."""
    return table if isinstance(table, np.ndarray) else np.asarray(table.toarray())


def sum_xlogx(answers: Table) -> Floats:
    """Σ D·log D of every answer."""
    logs = answers.copy()
    values = logs.data if isinstance(logs, csr_array) else logs
    values[:] = xlogx(values)
    return np.asarray(logs.sum(axis=1))


def find_runs(values: Integers) -> list[tuple[int, int, int]]:
    """Return where runs of equal values begin and end, and the value."""
    borders = [*np.flatnonzero(np.diff(values, prepend=-1)).tolist(), len(values)]
    return [(begin, end, int(values[begin])) for begin, end in pairwise(borders)]


def xlogx(values: Floats) -> Floats:
    """Return x·log x of every value, 0 where it is 0."""
    return np.asarray(values * np.log(np.where(values > 0, values, 1.0)))


def _sort_by_length(parents: Integers, symbols: Integers) -> tuple[Integers, list[slice]]:
    """Return the order of nodes by length and symbol, and where each length is in it."""
    lengths = np.zeros(len(parents), dtype=np.int64)
    pending, above = np.arange(1, len(parents)), parents.copy()
    while len(pending):
        lengths[pending] += 1
        pending = pending[above[pending] != 0]
        above[pending] = parents[above[pending]]
    borders = [0, *np.cumsum(np.bincount(lengths)).tolist()]
    levels = [slice(*pair) for pair in pairwise(borders)]
    return np.lexsort((symbols, lengths)), levels
