"""Which edges a picture shows: one for all symbols between two states, and not all of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pdfalearn.pdfa import PDFA

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

_LADDER = (0.001, 0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.5)
"""The least probabilities that a picture is tried with, one after the other."""
_STEP = 1e-9
"""Of two ways that are as likely, the shorter one is taken."""


@dataclass(frozen=True, eq=False)
class Edges:
    """The edges between some states of an automaton."""

    pdfa: PDFA
    states: Indices
    """The states between which they are."""
    sources: Indices
    targets: Indices
    """The two ends of every edge, as numbers of states."""
    weights: Floats
    """The probability of every edge: of all its symbols together."""

    @classmethod
    def between(cls, pdfa: PDFA, states: Indices) -> Edges:
        """Find the edges between some states, also those of probability 0."""
        numbers = np.full(len(pdfa) + 1, -1)  # undefined, -1, finds the last one
        numbers[states] = np.arange(len(states))
        targets = numbers[pdfa.transitions[states]]
        weights = pdfa.probabilities[states, 1:]
        rows, columns = np.nonzero(targets >= 0)
        keys, places = np.unique(rows * len(states) + targets[rows, columns], return_inverse=True)
        sums = np.zeros(len(keys))
        np.add.at(sums, places, weights[rows, columns])
        return cls(pdfa, states, states[keys // len(states)], states[keys % len(states)], sums)

    def __len__(self) -> int:
        return len(self.sources)

    def symbols(self, edge: int) -> list[int]:
        """Return the columns of an edge's symbols, the likeliest first."""
        source = self.sources[edge]
        columns = np.flatnonzero(self.pdfa.transitions[source] == self.targets[edge])
        probabilities = self.pdfa.probabilities[source, columns + 1]
        kept = (probabilities > 0) | (self.weights[edge] == 0)
        order = np.argsort(-probabilities[kept], kind="stable")
        return [int(column) for column in columns[kept][order]]

    def kept(self, least: float) -> NDArray[np.bool_]:
        """Mark possible edges of at least a probability, and those that no picture does without.

        These are the likeliest one from each state, and those on the likeliest way to a state.
        """
        if least <= 0:
            return self.are_possible
        likely = (self.weights >= least) & self.are_possible
        return np.asarray(likely | self.on_likeliest_ways | self.are_likeliest)

    def readable(self, most: int) -> float:
        """Return the least probability with which at most ``most`` edges are left, if there is one.

        0 means that every possible transition is shown.
        """
        if np.count_nonzero(self.are_possible) <= most:
            return 0.0
        fitting = (least for least in _LADDER if np.count_nonzero(self.kept(least)) <= most)
        return next(fitting, _LADDER[-1])

    @property
    def are_possible(self) -> NDArray[np.bool_]:
        """Marks the edges of a positive probability."""
        return np.asarray(self.weights > 0)

    def are_on(self, way: frozenset[tuple[int, int]]) -> NDArray[np.bool_]:
        """Mark the edges that lead from one state to another of a way."""
        pairs = zip(self.sources.tolist(), self.targets.tolist(), strict=True)
        return np.array([pair in way for pair in pairs], dtype=bool)

    @cached_property
    def are_likeliest(self) -> NDArray[np.bool_]:
        """Marks the likeliest edge from each state."""
        order = np.lexsort((-self.weights, self.sources))
        _, firsts = np.unique(self.sources[order], return_index=True)
        marks = np.zeros(len(self), dtype=bool)
        marks[order[firsts]] = True
        return np.asarray(marks & self.are_possible)

    @cached_property
    def on_likeliest_ways(self) -> NDArray[np.bool_]:
        """Marks the edges of a tree of likeliest ways from the initial state."""
        from scipy.sparse import csr_array  # takes 0.2 s to import
        from scipy.sparse.csgraph import dijkstra

        numbers = np.zeros(len(self.pdfa), dtype=np.int64)
        numbers[self.states] = np.arange(len(self.states))
        possible = self.are_possible
        lengths = _STEP - np.log(np.minimum(self.weights[possible], 1.0))
        places = (numbers[self.sources[possible]], numbers[self.targets[possible]])
        graph = csr_array((lengths, places), shape=(len(self.states), len(self.states)))
        _, before = dijkstra(graph, indices=numbers[self.pdfa.initial], return_predecessors=True)
        return np.asarray(before[numbers[self.targets]] == numbers[self.sources])
