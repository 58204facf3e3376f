"""The nodes of the observation tree: words, as a parent and a last symbol each."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pdfalearn.arrays.spelling import spelled
from pdfalearn.models.batch import Lineage
from pdfalearn.observations.sparse_children import SparseChildren
from pdfalearn.observations.suffixes import Suffixes
from pdfalearn.words import Words

Nodes = NDArray[np.int64]
Symbols = NDArray[np.integer]

UNDEFINED = -1
"""The class of undefined words."""
UNKNOWN = -2
"""The class of words that the model has not been asked for."""

_DENSE = 32
"""Up to this many symbols a node's children stand in an array; beyond, in a hash map."""
_NODE_BYTES = 25
"""What the columns of a node take, and four bytes more for each symbol of a small alphabet."""
_LONG = 8
"""The way down suffixes of this length and more is remembered."""
_MOST_ENDS = 4_000_000
"""At most this many ways are remembered; then all are forgotten."""


class NodeTable:
    """Words as nodes of a tree; node 0 is the empty word. Nodes are made when they are asked for.

    Every column is there twice: as an array for passes over many nodes, and as a view of the same
    memory (``parent``, ``last_symbol``, ``class_at``, ``is_seen``) for a few nodes at a time.

    Parameters
    ----------
    symbols : int
        The size of the alphabet.
    """

    def __init__(self, symbols: int) -> None:
        self.symbols = symbols
        self.size = 0
        self.parents: NDArray[np.int32] = np.empty(0, dtype=np.int32)
        self.last_symbols: NDArray[np.int32] = np.empty(0, dtype=np.int32)
        self.classes: NDArray[np.int32] = np.empty(0, dtype=np.int32)
        self.rows: NDArray[np.int32] = np.empty(0, dtype=np.int32)
        self.lengths: NDArray[np.int32] = np.empty(0, dtype=np.int32)
        self.seen: NDArray[np.bool_] = np.empty(0, dtype=bool)
        """Whether a word was in a batch that the model has answered."""
        self.claims: NDArray[np.int32] = np.empty(0, dtype=np.int32)
        """Scratch for telling who came first: -1 everywhere between uses."""
        width = symbols if symbols <= _DENSE else 0
        self._children: NDArray[np.int32] = np.empty((0, width), dtype=np.int32)
        self._sparse = None if symbols <= _DENSE else SparseChildren(symbols)
        self._alphabet = np.arange(symbols)
        self._ends: dict[int, int] = {}
        """Where long suffixes lead to: node and suffix in one number."""
        self._added(1)
        self.seen[0] = True

    def _added(self, more: int) -> int:
        """Make room for more nodes; return the first of them."""
        first = self.size
        self.size += more
        if self.size > len(self.parents):
            capacity = max(1024, 2 * self.size)
            self.parents = _larger(self.parents, capacity, 0)
            self.last_symbols = _larger(self.last_symbols, capacity, 0)
            self.lengths = _larger(self.lengths, capacity, 0)
            self.classes = _larger(self.classes, capacity, UNKNOWN)
            self.rows = _larger(self.rows, capacity, -1)
            self.seen = _larger(self.seen, capacity, 0)
            self.claims = _larger(self.claims, capacity, -1)
            self._children = _larger(self._children, capacity, -1)
            self.parent, self.last_symbol = self.parents.data, self.last_symbols.data
            self.class_at, self._length_at = self.classes.data, self.lengths.data
            self.is_seen = self.seen.data
            self._child = self._children.reshape(-1).data
        return first

    @property
    def nbytes(self) -> int:
        """The bytes of memory that the nodes take, but for room to grow and large alphabets."""
        width: int = self._children.shape[1]
        return self.size * (_NODE_BYTES + 4 * width)

    def different(self, nodes: Nodes) -> Nodes:
        """Return the nodes without repetition, in the order of their first appearance."""
        places = np.arange(len(nodes), dtype=np.int32)
        self.claims[nodes[::-1]] = places[::-1]
        firsts: Nodes = nodes[self.claims[nodes] == places]
        self.claims[firsts] = -1
        return firsts

    def successors(self, nodes: Nodes) -> Nodes:
        """Return every node's successors: all of the first, then all of the second, and so on."""
        count, width = len(nodes), self.symbols
        if self._sparse is None:
            are_childless = bool((self._children[nodes] < 0).all())
        else:
            are_childless = self._sparse.are_childless(nodes)
        if not are_childless:
            return self.step(np.repeat(nodes, width), np.tile(self._alphabet, count))
        begin = self._added(count * width)
        new = np.arange(begin, self.size)
        self.parents[begin : self.size].reshape(count, width)[:] = nodes[:, None]
        self.last_symbols[begin : self.size].reshape(count, width)[:] = self._alphabet
        self.lengths[begin : self.size].reshape(count, width)[:] = self.lengths[nodes, None] + 1
        if self._sparse is None:
            self._children[nodes] = new.reshape(count, width)
        else:
            self._sparse.add_all(nodes, new[::width])
        return new

    def step(self, nodes: Nodes, symbols: Symbols) -> Nodes:
        """Return the nodes one symbol further; undefined words lead to themselves."""
        if self._sparse is not None:
            return self._sparse_step(self._sparse, nodes, symbols)
        children = self._children[nodes, symbols].astype(np.int64)
        missing = (children < 0).nonzero()[0]
        if len(missing):
            children[missing] = self._made(nodes[missing], symbols[missing])
        return children

    def _made(self, parents: Nodes, symbols: Symbols) -> Nodes:
        """Make children that are missing; the same one may be asked for twice."""
        places = np.arange(len(parents), dtype=np.int32)
        self._children[parents[::-1], symbols[::-1]] = places[::-1]
        first = self._children[parents, symbols] == places
        begin = self._added(int(np.count_nonzero(first)))
        self.parents[begin : self.size] = parents[first]
        self.last_symbols[begin : self.size] = symbols[first]
        self.lengths[begin : self.size] = self.lengths[parents[first]] + 1
        self._children[parents[first], symbols[first]] = np.arange(begin, self.size)
        return self._children[parents, symbols].astype(np.int64)

    def _sparse_step(self, sparse: SparseChildren, nodes: Nodes, symbols: Symbols) -> Nodes:
        children = nodes.copy()
        live = (self.classes[nodes] != UNDEFINED).nonzero()[0]
        parents, symbols = nodes[live], symbols[live]
        below = sparse.get(parents, symbols)
        missing = (below < 0).nonzero()[0]
        if len(missing):
            parents, symbols = parents[missing], symbols[missing]
            numbers, new = sparse.add(parents, symbols, self.size)
            begin = self._added(len(new))
            self.parents[begin : self.size] = parents[new]
            self.last_symbols[begin : self.size] = symbols[new]
            self.lengths[begin : self.size] = self.lengths[parents[new]] + 1
            below[missing] = numbers
        children[live] = below
        return children

    def step_one(self, node: int, symbol: int) -> int:
        """Return the node one symbol further."""
        child = self._known_child(node, symbol)
        if child < 0:
            child = self._added(1)
            self.parent[child] = node
            self.last_symbol[child] = symbol
            self._length_at[child] = self._length_at[node] + 1
            if self._sparse is None:
                self._child[node * self.symbols + symbol] = child
            else:
                self._sparse.add_one(node, symbol, child)
        return child

    def _known_child(self, node: int, symbol: int) -> int:
        """Return the node one symbol further, or -1 if there is none yet."""
        if self._sparse is None:
            return self._child[node * self.symbols + symbol]
        return node if self.class_at[node] == UNDEFINED else self._sparse.get_one(node, symbol)

    def descend(self, nodes: Nodes, suffixes: Nodes, table: Suffixes) -> Nodes:
        """Return the nodes to which the suffixes lead, one suffix for each node."""
        if not suffixes.any():
            return nodes
        ends = nodes.copy()
        for places, here in self.steps_down(nodes, suffixes, table):
            ends[places] = here
        return ends

    def steps_down(
        self, nodes: Nodes, suffixes: Nodes, table: Suffixes
    ) -> Iterator[tuple[Nodes, Nodes]]:
        """Go down a suffix from each node; yield the places at each step, and their nodes."""
        firsts, rests, _ = table.arrays()
        places = suffixes.nonzero()[0]
        here, left = nodes[places], suffixes[places]
        while len(places):
            here = self.step(here, firsts[left])
            yield places, here
            left = rests[left]
            goes_on = left > 0
            if not goes_on.all():
                places, here, left = places[goes_on], here[goes_on], left[goes_on]

    def descend_one(self, node: int, suffix: int, table: Suffixes) -> int:
        """Return the node that a suffix leads to.

        The way down long suffixes is remembered: w·σ followed by d is w followed by σ·d.
        """
        if table.lengths[suffix] < _LONG:
            return self._walk(node, suffix, table, 0)
        key = node << 32 | suffix
        end = self._ends.get(key)
        if end is None:
            longer = table.find(self.last_symbol[node], suffix) if node else None
            if longer is not None:
                end = self._ends.get(self.parent[node] << 32 | longer)
            if end is None:
                end = self._walk(node, suffix, table, _LONG)
            if len(self._ends) >= _MOST_ENDS:
                self._ends.clear()
            self._ends[key] = end
        return end

    def _walk(self, node: int, suffix: int, table: Suffixes, shortest: int) -> int:
        """Go down a suffix; if the rest of it is long enough, the way may be known."""
        firsts, rests, lengths = table.firsts, table.rests, table.lengths
        while suffix:
            node = self.step_one(node, firsts[suffix])
            suffix = rests[suffix]
            if shortest and lengths[suffix] >= shortest:
                end = self._ends.get(node << 32 | suffix)
                if end is not None:
                    return end
        return node

    def way_down(self, node: int, suffix: int, table: Suffixes) -> list[int]:
        """Return the nodes along a suffix, without the node itself."""
        firsts, rests = table.firsts, table.rests
        child, width = self._child, self.symbols
        way: list[int] = []
        while suffix:
            symbol = firsts[suffix]
            below = child[node * width + symbol] if self._sparse is None else -1
            if below < 0:
                if self._sparse is None and table.lengths[suffix] >= _LONG:
                    return [*way, *self._new_way(node, table.word(suffix))]
                below = self.step_one(node, symbol)
                child = self._child
            way.append(below)
            node, suffix = below, rests[suffix]
        return way

    def walk(self, node: int, codes: list[int]) -> Nodes:
        """Return the nodes after every symbol of a word, from a node on."""
        if self._sparse is not None:
            nodes: Iterator[int] = accumulate(codes, self.step_one, initial=node)
            return np.fromiter(nodes, np.int64)[1:]
        child, width = self._child, self.symbols
        known: list[int] = []
        for place, symbol in enumerate(codes):
            below = child[node * width + symbol]
            if below < 0:
                new = self._new_way(node, codes[place:])
                return np.concatenate((np.array(known, dtype=np.int64), np.array(new)))
            known.append(below)
            node = below
        return np.array(known, dtype=np.int64)

    def _new_way(self, node: int, codes: list[int]) -> range:
        """Make nodes one below the other, from a node that has no such child yet."""
        begin = self._added(len(codes))
        nodes, symbols = np.arange(begin, self.size), np.array(codes)
        parents = nodes - 1
        parents[0] = node
        self.parents[begin : self.size] = parents
        self.last_symbols[begin : self.size] = symbols
        self.lengths[begin : self.size] = self.lengths[node] + 1 + np.arange(len(codes))
        self._children[parents, symbols] = nodes
        return range(begin, self.size)

    def known_classes(self, node: int, suffix: int, table: Suffixes) -> list[int] | None:
        """Return the classes along a suffix, or the node's own if it is empty; None if unknown."""
        firsts, rests, class_at = table.firsts, table.rests, self.class_at
        child, width = self._child, self.symbols
        classes = [] if suffix else [class_at[node]]
        while suffix:
            symbol = firsts[suffix]
            is_dense = self._sparse is None
            node = child[node * width + symbol] if is_dense else self._known_child(node, symbol)
            class_ = class_at[node] if node >= 0 else UNKNOWN
            if class_ == UNKNOWN:
                return None
            classes.append(class_)
            suffix = rests[suffix]
        return classes

    def mark_undefined(self, nodes: Nodes) -> None:
        """Note that words are undefined: from now on they lead to themselves."""
        self.classes[nodes] = UNDEFINED
        if self._sparse is None:
            self._children[nodes] = nodes[:, None]

    @property
    def lineage(self) -> Lineage:
        """Where all words come from."""
        return Lineage(self.parents, self.last_symbols)

    def words(self, nodes: Nodes) -> Words:
        """Return the words of nodes."""
        return Words(*spelled(self.parents, self.last_symbols, nodes))

    def word(self, node: int) -> list[int]:
        """Return the symbols of a node's word."""
        codes = []
        while node:
            codes.append(self.last_symbol[node])
            node = self.parent[node]
        return codes[::-1]


def _larger(old: NDArray[Any], capacity: int, fill: int) -> NDArray[Any]:
    new = np.empty((capacity, *old.shape[1:]), dtype=old.dtype)
    new[: len(old)] = old
    new[len(old) :] = fill
    return new
