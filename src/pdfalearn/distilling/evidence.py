"""What a model answered along drawn words, as a tree of weighted prefixes."""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Numbers = NDArray[np.int64]
Table = NDArray[np.float64] | csr_array[np.float64]


class Step(NamedTuple):
    """The nodes of one length and those one symbol longer."""

    above: slice
    below: slice
    parents: Numbers
    """The parent of every node below, counted from the first above."""
    sums: csr_array[np.float32] | None
    """The matrix that sums up children by their parent; None if none has more than one."""
    symbols: Numbers
    """The last symbols of the nodes below."""
    runs: list[tuple[int, int, int]]
    """Which nodes below have the same last symbol: from where to where, and the symbol."""

    @classmethod
    def between(cls, evidence: Evidence, above: slice, below: slice) -> Step:
        """Join two lengths."""
        symbols = evidence.symbols[below]
        parents = evidence.parents[below] - above.start
        count = len(symbols)
        ones = np.ones(count, dtype=np.float32)
        shape = (above.stop - above.start, count)
        borders = [*np.flatnonzero(np.diff(symbols, prepend=-1)).tolist(), count]
        runs = [(begin, end, int(symbols[begin])) for begin, end in pairwise(borders)]
        sums = None
        if len(np.unique(parents)) < count:
            sums = csr_array((ones, (parents, np.arange(count))), shape=shape)
        return cls(above, below, parents, sums, symbols, runs)


class Evidence:
    """Prefixes of words, each with the model's answer and a weight.

    Nodes are ordered by length, and within a length by their last symbol. Node 0 is the empty word.

    Parameters
    ----------
    parents, symbols : array of int
        Of every node but the first, the node one symbol shorter and the last symbol.
    weights : array of float
        How many words pass through every node.
    answers : array or csr_array of float, shape (nodes, symbols + 1)
        The model's distributions, the terminal's probability first.
    codes : array of int, optional
        Which symbols of the alphabet these are, if not all of them.
    """

    def __init__(
        self,
        parents: Numbers,
        symbols: Numbers,
        weights: Floats,
        answers: Table,
        codes: Numbers | None = None,
    ) -> None:
        self.codes = np.arange(int(answers.shape[1]) - 1) if codes is None else codes
        order, self.levels = _by_length(parents, symbols)
        places = np.empty(len(order), dtype=np.int64)
        places[order] = np.arange(len(order))
        self.parents = places[parents[order]]
        self.symbols = symbols[order]
        self.weights = weights[order]
        self.answers = answers[order]
        self.order = order
        """The number of every node as it was given."""

    def __len__(self) -> int:
        return len(self.parents)

    @property
    def width(self) -> int:
        """The number of symbols."""
        return int(self.answers.shape[1]) - 1

    @cached_property
    def steps(self) -> list[Step]:
        """How every length goes on to the next, the longest first."""
        return [
            Step.between(self, *levels)
            for levels in zip(self.levels[-2::-1], self.levels[:0:-1], strict=True)
        ]

    @cached_property
    def total(self) -> float:
        """The sum of all weights."""
        return float(self.weights.sum())

    @cached_property
    def negative_entropies(self) -> Floats:
        """Σ D·log D of every answer."""
        if isinstance(self.answers, csr_array):
            logs = self.answers.copy()
            logs.data = _xlogx(logs.data)
            return np.asarray(logs.sum(axis=1))
        return np.asarray(_xlogx(self.answers).sum(axis=1))

    @cached_property
    def weighted(self) -> Singles | csr_array[np.float32]:
        """Every answer times its weight."""
        if isinstance(self.answers, csr_array):
            scaled = self.answers.astype(np.float32)
            scaled.data *= np.repeat(self.weights, np.diff(scaled.indptr)).astype(np.float32)
            return scaled
        return (self.answers * self.weights[:, None]).astype(np.float32)

    @cached_property
    def weighted_entropies(self) -> Singles:
        """The weight of every node times its Σ D·log D."""
        return (self.weights * self.negative_entropies).astype(np.float32)

    def states(self, transitions: NDArray[np.int32], initial: int) -> NDArray[np.int32]:
        """Return the state after every node's word; -1 where a transition is missing."""
        states = np.full(len(self), initial, dtype=np.int32)
        table = np.concatenate((transitions, np.full((1, self.width), -1, dtype=np.int32)))
        for level in self.levels[1:]:
            states[level] = table[states[self.parents[level]], self.symbols[level]]
        return states

    def sums(self, groups: NDArray[np.integer], count: int) -> tuple[Floats, Floats]:
        """Return the weighted sums of answers, and of weights, by group; -1 is not a group."""
        sums = self.grouped(groups, count)
        dense = sums.toarray() if isinstance(sums, csr_array) else sums
        known = groups >= 0
        return np.asarray(dense), weight_sums(groups[known], self.weights[known], count)

    def grouped(self, groups: NDArray[np.integer], count: int) -> Table:
        """Return the weighted sums of answers by group, sparse where answers are."""
        known = (groups >= 0).nonzero()[0]
        places = (groups[known], known)
        choice = csr_array((self.weights[known], places), shape=(count, len(self)))
        sums = choice @ self.answers
        return sums if isinstance(sums, csr_array) else np.asarray(sums)


def weight_sums(
    groups: NDArray[np.integer], weights: NDArray[np.floating], count: int = 0
) -> Floats:
    """Return the sums of weights by group."""
    return np.bincount(groups, weights, count).astype(np.float64)


def _xlogx(values: Floats) -> Floats:
    return np.asarray(values * np.log(np.where(values > 0, values, 1.0)))


def _by_length(parents: Numbers, symbols: Numbers) -> tuple[Numbers, list[slice]]:
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
