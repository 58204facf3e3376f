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

# Where words have at most this many symbols, sums over subtrees see all of them; else they see at
# least this many symbols ahead.
_DEEP, _PERIOD = 40, 16

Table = NDArray[np.float64] | csr_array[np.float64]


class Step(NamedTuple):
    """Nodes and those one symbol longer, as places in the order of a `Sweep`."""

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


class Sweep(NamedTuple):
    """How to sum up over what is below nodes, in few steps even if words are long.

    Nodes whose lengths are the same modulo a period take each step together. So the sums see what
    is below a node up to where the period ends; a second round, which begins with ``wrap`` and the
    sums of the first, sees a whole period at least. Without ``wrap`` one round sees everything.
    """

    # The nodes in the order in which steps have them.
    order: Integers
    # The longest lengths first.
    steps: list[Step]
    wrap: Step | None


class Turns(NamedTuple):
    """The last two symbols of nodes, and their answers by the last symbol.

    The beginning stands for the symbol before the first one: it is one more symbol.
    """

    # Of each pair of symbols the last one, and the one before.
    symbols: Integers
    befores: Integers
    # The pair of every node, in the order of the sweep.
    of_nodes: Integers
    # Weighted answers by their node's last symbol, from where to where that is the same, and the
    # place of every node in this order.
    answers: Singles
    runs: list[tuple[int, int, int]]
    places: Integers


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
        # What was last computed with this evidence, and for what.
        self.kept: Any = None
        self._thinned: dict[int, Evidence] = {}

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
        lumped.kept, lumped._thinned = None, {}
        is_kept = np.ones(self.width + 1, dtype=bool)
        is_kept[rare] = False
        lumped.columns = np.where(is_kept, np.cumsum(is_kept) - 1, count - 1)
        lumped.shares = np.ones(self.width + 1)
        lumped.shares[rare] = masses[rare] / max(masses[rare].sum(), _TINY)
        lumped.answers = lumped.lump(self.answers)
        for name in ("negative_entropies", "weighted", "swept", "turns", "lumped"):
            lumped.__dict__.pop(name, None)
        return lumped

    def lump(self, rows: Table) -> Table:
        """Return rows in which rare symbols share a column, as they do here."""
        entries = np.ones(self.width + 1), (np.arange(self.width + 1), self.columns)
        lumping = csr_array(entries, shape=(self.width + 1, int(self.columns.max()) + 1))
        lumped = rows @ lumping
        return lumped if isinstance(lumped, csr_array) else np.ascontiguousarray(lumped)

    def spread(self, rows: Floats) -> Floats:
        """Return rows with a column for each symbol, where rare ones share one."""
        if rows.shape[1] == self.width + 1:
            return rows
        return np.asarray(rows[:, self.columns] * self.shares)

    @cached_property
    def sweep(self) -> Sweep:
        """How sums over subtrees are computed."""
        count = len(self.levels)
        period = count if count <= _DEEP else _PERIOD
        lengths = np.repeat(np.arange(count), [level.stop - level.start for level in self.levels])
        phases = lengths % period
        order = np.lexsort((self.symbols, lengths > 0, phases))
        places = np.empty(self.size, dtype=np.int64)
        places[order] = np.arange(self.size)
        ends = np.cumsum(np.bincount(phases, minlength=period)).tolist()
        parts = [slice(*pair) for pair in pairwise([0, *ends])]

        def make_step(above: slice, below: slice) -> Step:
            nodes = order[below]
            symbols, parents = self.symbols[nodes], places[self.parents[nodes]] - above.start
            total, sums = len(symbols), None
            if len(np.unique(parents)) < total:
                ones, shape = np.ones(total, dtype=np.float32), (above.stop - above.start, total)
                sums = csr_array((ones, (parents, np.arange(total))), shape=shape)
            return Step(above, below, parents, sums, symbols, find_runs(symbols))

        steps = [make_step(*pair) for pair in zip(parts[-2::-1], parts[:0:-1], strict=True)]
        wrap = make_step(parts[-1], slice(1, parts[0].stop)) if period < count else None
        return Sweep(order, steps, wrap)

    @cached_property
    def weighted(self) -> tuple[Singles | csr_array[np.float32], Singles]:
        """Every answer, and its Σ D·log D, times the weight of its node."""
        entropies = (self.weights * self.negative_entropies).astype(np.float32)
        if isinstance(self.answers, csr_array):
            scaled = self.answers.astype(np.float32)
            scaled.data *= np.repeat(self.weights, np.diff(scaled.indptr)).astype(np.float32)
            return scaled, entropies
        return (self.answers * self.weights[:, None]).astype(np.float32), entropies

    @cached_property
    def swept(self) -> tuple[Singles | csr_array[np.float32], Singles]:
        """What is weighted, in the order of the sweep."""
        answers, entropies = self.weighted
        order = self.sweep.order
        return answers[order], entropies[order]

    @cached_property
    def turns(self) -> Turns:
        """The last two symbols of nodes, and answers by the last symbol."""
        order, width = self.sweep.order, self.width
        lasts = self.symbols[order].copy()
        lasts[0] = width
        firsts = lasts[np.argsort(order)[self.parents[order]]]
        pairs, of_nodes = np.unique(lasts * (width + 1) + firsts, return_inverse=True)
        by_symbol = np.argsort(lasts, kind="stable")
        answers = make_dense(self.swept[0])[by_symbol]
        symbols, befores = np.divmod(pairs, width + 1)
        symbols = np.minimum(symbols, width - 1)  # what the beginning is led by does not matter
        return Turns(
            symbols, befores, of_nodes, answers, find_runs(lasts[by_symbol]), np.argsort(by_symbol)
        )

    def thin(self, most: int) -> Evidence:
        """Return the evidence of some of the words, with about this many nodes; always the same.

        Weights are scaled alike for words that end early and late.
        """
        if self.size <= most:
            return self
        if most not in self._thinned:
            self._thinned[most] = self._draw_words(most)
        return self._thinned[most]

    def _draw_words(self, most: int) -> Evidence:
        below = np.bincount(self.parents[1:], self.weights[1:], self.size)
        ends = np.maximum(self.weights - below, _TINY)
        # Of a share of words, the least with which one that ends here is among them, or below here.
        drawn = np.random.default_rng(0).random(self.size)
        shares = -np.expm1(np.log1p(-drawn) / ends)
        least = shares.copy()
        for level in self.levels[:0:-1]:
            np.minimum.at(least, self.parents[level], least[level])
        share = max(float(np.partition(least, most - 1)[most - 1]), _TINY)
        is_drawn = (shares <= share) & (ends > _TINY)
        weights = np.where(is_drawn, share * ends / -np.expm1(ends * np.log1p(-share)), 0.0)
        for level in self.levels[:0:-1]:
            np.add.at(weights, self.parents[level], weights[level])
        nodes = (weights > 0).nonzero()[0]
        places = np.zeros(self.size, dtype=np.int64)
        places[nodes] = np.arange(len(nodes))
        found = Evidence(
            places[self.parents[nodes]],
            self.symbols[nodes],
            weights[nodes],
            self.answers[nodes],
            self.codes,
        )
        found.columns, found.shares, found.width = self.columns, self.shares, self.width
        return found

    def states(self, transitions: NDArray[np.int32], initial: int) -> NDArray[np.int32]:
        """Return the state after every node's word; -1 where a transition is missing."""
        # Where the row of a state begins in the table of these. The last row is of no state, and
        # found there: it begins as far before the first.
        width = self.width
        table = np.full(transitions.size + width, -width, dtype=np.int64)
        np.multiply(transitions, width, out=table[:-width].reshape(transitions.shape))
        found = np.full(self.size, initial * width, dtype=np.int64)
        for begin, end, parents, symbols in self._lineage:
            places = found.take(parents)
            places += symbols
            table.take(places, out=found[begin:end], mode="wrap")
        return (found // width).astype(np.int32)

    @cached_property
    def _lineage(self) -> list[tuple[int, int, Integers, Integers]]:
        """For every length but the first, where it begins and ends, its parents and symbols."""
        levels = [(level.start, level.stop, level) for level in self.levels[1:]]
        return [(*pair, self.parents[level], self.symbols[level]) for *pair, level in levels]

    def sums(
        self, groups: NDArray[np.integer], count: int, *, exact: bool = True
    ) -> tuple[Floats, Floats]:
        """Return the weighted sums of answers, and of weights, by group; -1 is not a group."""
        sums = make_dense(self.sum_answers(groups, count, exact=exact))
        known = groups >= 0
        weights = np.bincount(groups[known], self.weights[known], count)
        return sums.astype(np.float64, copy=False), weights.astype(np.float64)

    def sum_answers(self, groups: NDArray[np.integer], count: int, *, exact: bool = True) -> Table:
        """Return the weighted sums of answers by group, sparse where answers are.

        If they need not be ``exact``, single precision takes a third of the time.
        """
        known = (groups >= 0).nonzero()[0]
        factors: NDArray[Any] = self.weights[known] if exact else np.ones(len(known), np.float32)
        choice = csr_array((factors, (groups[known], known)), shape=(count, self.size))
        sums = choice @ (self.answers if exact else self.weighted[0])
        return sums if isinstance(sums, csr_array) else np.asarray(sums)

    def average_answers(self, groups: Integers, weights: Floats) -> Table:
        """Return the weighted means of answers by group, given the groups' weights."""
        sums = self.sum_answers(groups, len(weights))
        if isinstance(sums, csr_array):
            sums.data /= np.repeat(weights, np.diff(sums.indptr))
            return sums
        return np.asarray(sums / weights[:, None])


def make_dense(table: Table | Singles | csc_array[Any] | csr_array[Any]) -> NDArray[Any]:
    """Return a table as a plain array."""
    return table if isinstance(table, np.ndarray) else np.asarray(table.toarray())


def sum_xlogx(answers: Table) -> Floats:
    """Σ D·log D of every answer."""
    if isinstance(answers, csr_array):
        logs = answers.copy()
        logs.data = xlogx(logs.data)
        return np.asarray(logs.sum(axis=1))
    values = np.maximum(answers, _TINY)
    return np.asarray(np.einsum("xa,xa->x", answers, np.log(values, out=values)))


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
