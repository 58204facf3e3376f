"""The cheapest ways to an end, and the heaviest words, one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from heapq import heappop, heappush
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from pdfalearn.typing import Floats, Integers
from pdfalearn.words import offsets_of

_MOST_ROUNDS = 64
"""After this many passes over all edges, places are settled one after the other instead."""
SAME = 1e-12
"""Costs that differ by no more than this share, and this much, are the same but for rounding."""
_END = -1


def least_costs(sources: Integers, successors: Integers, steps: Floats, ends: Floats) -> Floats:
    """Return the least cost of a way to an end, from every place.

    Parameters
    ----------
    sources, successors : array of int
        The edges, in the order of their sources.
    steps : array of float
        The cost of every edge, none negative.
    ends : array of float
        The cost of ending in each place; infinite where no way ends.

    Returns
    -------
    array of float
        Infinite where no end is reached.

    Examples
    --------
    >>> edges = np.array([0, 1]), np.array([1, 1])
    >>> least_costs(*edges, np.array([2.0, 2.0]), np.array([5.0, 1.0]))
    array([3., 1.])
    """
    if not len(sources):
        return ends
    costs, begins = ends.copy(), np.flatnonzero(np.diff(sources, prepend=-1))
    moving = sources[begins]
    for _ in range(_MOST_ROUNDS):
        onwards = np.minimum.reduceat(steps + costs[successors], begins)
        better = onwards < costs[moving]
        if not better.any():
            return costs
        costs[moving[better]] = onwards[better]
    return _search_backwards(sources, successors, steps, ends)


def _search_backwards(
    sources: Integers, successors: Integers, steps: Floats, ends: Floats
) -> Floats:
    """Search backwards from one more place, which follows all ends, by Dijkstra's algorithm."""
    size = len(ends)
    ending = np.flatnonzero(ends < np.inf)
    begins = np.append(successors, np.full(len(ending), size))
    order = np.argsort(begins, kind="stable")
    offsets = np.searchsorted(begins[order], np.arange(size + 2))
    costs = np.append(steps, ends[ending])[order]
    arrays = costs, np.append(sources, ending)[order], offsets
    # As three arrays: several edges between two places must not be added up.
    graph: csr_array[np.float64] = csr_array(arrays, shape=(size + 1, size + 1))
    return np.asarray(dijkstra(graph, indices=np.array(size))[:-1])


def minus_logs(weights: Floats) -> Floats:
    """Return -log of weights, infinite for 0."""
    with np.errstate(divide="ignore"):
        return np.asarray(-np.log(weights) + 0.0)


@dataclass(frozen=True, eq=False)
class WordGraph:
    """Places, edges with symbols and weights, and the weights of ending. A word begins in place 0.

    Edges stand in the order of their sources, and of their symbols.
    """

    sources: Integers
    symbols: Integers
    successors: Integers
    weights: Floats
    """More than 0 and at most 1."""
    ends: Floats
    """At most 1; 0 where a word does not end."""

    @cached_property
    def costs(self) -> Floats:
        """-log of the weight of the heaviest way to an end, from every place."""
        return least_costs(self.sources, self.successors, self.steps, minus_logs(self.ends))

    @cached_property
    def steps(self) -> Floats:
        """-log of the weight of every edge."""
        return minus_logs(self.weights)

    @cached_property
    def lengths(self) -> Floats:
        """The length of the shortest of the heaviest ways to an end; infinite if there is none."""
        reach = self.costs + SAME * (1 + self.costs)
        tight = self.steps + self.costs[self.successors] <= reach[self.sources]
        ends = np.where(minus_logs(self.ends) <= reach, 0.0, np.inf)
        edges = self.sources[tight], self.successors[tight]
        return least_costs(*edges, np.ones(len(edges[0])), np.where(reach < np.inf, ends, np.inf))

    @cached_property
    def offsets(self) -> Integers:
        """Where the edges of every place begin, and where the last ones end."""
        return offsets_of(np.bincount(self.sources, minlength=len(self.ends)))


class Way(NamedTuple):
    """A word, its weight, and -log of that."""

    codes: list[int]
    weight: float
    cost: float


class _Step(NamedTuple):
    """One way on from a place, if the best is taken from there on."""

    cost: float
    length: float
    symbol: int
    """-1 if it is the end."""
    own_cost: float
    weight: float
    successor: int


class _Place(NamedTuple):
    """A place of a word, with the symbols, the weight and the cost so far."""

    place: int
    position: int
    weight: float
    cost: float

    def after(self, step: _Step) -> _Place:
        """Return where a step leads."""
        return _Place(
            step.successor, self.position + 1, self.weight * step.weight, self.cost + step.own_cost
        )


class _Candidate:
    """A word that is the best of those which leave another one at a certain place.

    It takes the parent's symbols up to the place, then the step of this rank, then the best ones.
    """

    __slots__ = ("_codes", "at", "cost", "length", "parent", "rank", "search", "symbol")

    def __init__(self, search: _Search, parent: _Candidate | None, at: _Place, rank: int) -> None:
        self.search, self.parent, self.at, self.rank = search, parent, at, rank
        step = search.steps(at.place)[rank]
        self.cost, self.length = at.cost + step.cost, at.position + step.length
        self.symbol = step.symbol
        self._codes: list[int] | None = None

    @property
    def codes(self) -> list[int]:
        """The word."""
        if self._codes is None:
            begin = self.parent.codes[: self.at.position] if self.parent else []
            self._codes = begin + [step.symbol for step in self.search.path(self)[:-1]]
        return self._codes

    def __lt__(self, other: _Candidate) -> bool:
        if not are_same(self.cost, other.cost):
            return self.cost < other.cost
        if self.length != other.length:
            return self.length < other.length
        if self.parent is not None and self.parent is other.parent:
            return self._leaves_lower(self.parent.codes, other)
        return self.codes < other.codes

    def _leaves_lower(self, codes: list[int], other: _Candidate) -> bool:
        """Compare two words of one length that leave the same word, without writing them down."""
        at, there = self.at.position, other.at.position
        if at == there:
            return self.symbol < other.symbol
        return self.symbol < codes[at] if at < there else codes[there] < other.symbol


class _Search:
    """The state of a search: what is known of the places that it has come to.

    Parameters
    ----------
    graph : WordGraph
        The graph to search.
    """

    def __init__(self, graph: WordGraph) -> None:
        self.graph = graph
        self._steps: dict[int, _Steps] = {}

    def ways(self) -> Iterator[Way]:
        """Take the best candidate, and make one of each step at which it can be left."""
        if self.graph.costs[0] == np.inf:
            return
        waiting = [_Candidate(self, None, _Place(0, 0, 1.0, 0.0), 0)]
        while waiting:
            best = heappop(waiting)
            at, rank = best.at, best.rank
            for step in self.path(best):
                if rank + 1 < len(self.steps(at.place)):
                    heappush(waiting, _Candidate(self, best, at, rank + 1))
                at, rank = at.after(step), 0
            yield Way(best.codes, at.weight, best.cost)

    def path(self, candidate: _Candidate) -> list[_Step]:
        """Return a candidate's steps from where it left its parent, with the end."""
        steps = [self.steps(candidate.at.place)[candidate.rank]]
        while steps[-1].symbol != _END:
            steps.append(self.steps(steps[-1].successor)[0])
        return steps

    def steps(self, place: int) -> _Steps:
        """Return all steps from a place that lead to an end, the best one first."""
        if place not in self._steps:
            self._steps[place] = _Steps(self.graph, place)
        return self._steps[place]


class _Steps:
    """The steps from a place, in order: made of arrays only as far as they are asked for."""

    def __init__(self, graph: WordGraph, place: int) -> None:
        here = slice(int(graph.offsets[place]), int(graph.offsets[place + 1]))
        successors, own, end = graph.successors[here], graph.steps[here], graph.ends[place]
        columns = (
            np.append(own + graph.costs[successors], minus_logs(end)),
            np.append(graph.lengths[successors] + 1, 0),
            np.append(graph.symbols[here], _END),
            np.append(own, minus_logs(end)),
            np.append(graph.weights[here], end),
            np.append(successors, _END),
        )
        order = np.argsort(columns[0], kind="stable")[: int((columns[0] < np.inf).sum())]
        costs = columns[0][order]
        groups = np.cumsum(np.diff(costs, prepend=-1.0) > SAME * (1 + costs))
        order = order[np.lexsort((columns[2][order], columns[1][order], groups))]
        self._columns = [column[order] for column in columns]

    def __len__(self) -> int:
        return len(self._columns[0])

    def __getitem__(self, rank: int) -> _Step:
        return _Step(*(column[rank].item() for column in self._columns))


def are_same(cost: float, other: float) -> bool:
    """Return whether two costs are the same but for rounding."""
    return abs(cost - other) <= SAME * (1 + abs(cost))


def heaviest_words(graph: WordGraph) -> Iterator[Way]:
    """Return the words of a graph from the heaviest on, lazily; ties by length, then by symbols.

    Notes
    -----
    The best way from every place to an end is known before the search begins. A word is left at one
    of its steps for the next best one there, and goes on in the best way: that makes one candidate
    for each step of every word that was found, and none that is not some subset's best.
    """
    return _Search(graph).ways()
