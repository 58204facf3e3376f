"""The cheapest ways to an end, and the heaviest words, one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from heapq import heappop, heappush
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from pdfalearn.typing import Floats, Integers
from pdfalearn.words import offsets_of

# After this many passes over all edges, places are settled one after the other instead.
_MOST_ROUNDS = 64
SAME = 1e-12
"""Costs that differ by no more than this share, and this much, are the same but for rounding."""
_END = -1


def least_costs(sources: Integers, successors: Integers, steps: Floats, ends: Floats) -> Floats:
    """Return the least cost of a way to an end, from every place; infinite where none is reached.

    ``steps`` are the costs of the edges, which stand in the order of their sources, and ``ends``
    those of ending in each place; none is negative.

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
    # The algorithm of Bellman and Ford, all edges at once: a pass for each step of a way.
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
        # An edge is tight if it is on a cheapest way: only such edges count here, each as one step.
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
    """A word, its weight, -log of that, and the place where it ends."""

    codes: list[int]
    weight: float
    cost: float
    place: int


class _Steps:
    """The steps from a place to an end, the best one first."""

    def __init__(self, graph: WordGraph, place: int) -> None:
        here = slice(int(graph.offsets[place]), int(graph.offsets[place + 1]))
        successors, own, end = graph.successors[here], graph.steps[here], graph.ends[place]
        self.place = place
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
        # Costs that are the same but for rounding form a group, sorted by length and symbol.
        groups = np.cumsum(np.diff(costs, prepend=-1.0) > SAME * (1 + costs))
        order = order[np.lexsort((columns[2][order], columns[1][order], groups))]
        self._columns = [column[order] for column in columns]

    def __len__(self) -> int:
        return len(self._columns[0])

    def __getitem__(self, rank: int) -> list[Any]:
        """Return the cost and the length to the end, and the step's own symbol, cost, and so on."""
        return [column[rank].item() for column in self._columns]


class _Node:
    """A prefix and the step of some rank after it; from there on the best ones are taken.

    Nodes are ordered as the words are that they stand for: by cost, length and symbols.
    """

    def __init__(self, steps: _Steps, parent: _Node | None, rank: int) -> None:
        self.steps, self.parent, self.rank = steps, parent, rank
        self.depth: int = parent.depth + 1 if parent else 0
        # An ancestor further up, at a depth that is the same for all nodes as deep as this one:
        # where two long words part is found in a logarithm of their lengths.
        self.jump: _Node = self
        if parent:
            up, over = parent.jump, parent.jump.jump
            self.jump = over if parent.depth - up.depth == up.depth - over.depth else parent
        self.so_far: float = parent.so_far if parent else 0.0
        self.weight: float = parent.weight if parent else 1.0
        cost, length, self.symbol, own_cost, own_weight, self.successor = steps[rank]
        self.cost, self.length = self.so_far + cost, self.depth + length
        self.so_far += own_cost
        self.weight *= own_weight

    def __lt__(self, other: _Node) -> bool:
        if abs(self.cost - other.cost) > SAME * (1 + abs(self.cost)):
            return bool(self.cost < other.cost)
        if self.length != other.length:
            return bool(self.length < other.length)
        # No prefix of a waiting node waits, too: they part in steps after a common parent.
        depth = min(self.depth, other.depth)
        one, two = self.up_to(depth), other.up_to(depth)
        while one.parent is not two.parent:
            if one.jump is not two.jump:
                one, two = one.jump, two.jump
            elif one.parent and two.parent:
                one, two = one.parent, two.parent
        return bool(one.symbol < two.symbol)

    def up_to(self, depth: int) -> _Node:
        """Return the ancestor at some depth."""
        node = self
        while node.depth > depth and node.parent:
            node = node.jump if node.jump.depth >= depth else node.parent
        return node

    def way(self) -> Way:
        """Return the word that ends with this node."""
        codes, node = [], self.parent
        while node is not None:
            codes.append(node.symbol)
            node = node.parent
        return Way(codes[::-1], self.weight, self.so_far, self.steps.place)


def heaviest_words(graph: WordGraph) -> Iterator[Way]:
    """Return the words of a graph from the heaviest on, lazily; ties by length, then by symbols.

    Notes
    -----
    The best way from every place to an end is known before the search begins. A word is left at one
    of its steps for the next best one there, and goes on in the best way: that makes one candidate
    for each step of every word that was found, and none that is not some subset's best.
    """
    if graph.costs[0] == np.inf:
        return
    known = {0: _Steps(graph, 0)}
    waiting = [_Node(known[0], None, 0)]
    while waiting:
        node = heappop(waiting)
        while True:
            if node.rank + 1 < len(node.steps):
                heappush(waiting, _Node(node.steps, node.parent, node.rank + 1))
            if node.symbol == _END:
                break
            if node.successor not in known:
                known[node.successor] = _Steps(graph, node.successor)
            node = _Node(known[node.successor], node, 0)
        yield node.way()
