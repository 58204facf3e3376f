"""The nodes of the observation tree: words, as a parent and a last symbol each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from pdfalearn.arrays import firsts, grown, spelled
from pdfalearn.models import Lineage
from pdfalearn.observations.sparse_children import SparseChildren
from pdfalearn.typing import Flags
from pdfalearn.words import Words

Nodes = NDArray[np.int64]
Symbols = NDArray[np.integer]

UNDEFINED = -1
"""The class of undefined words."""
UNKNOWN = -2
"""The class of words that the model has not been asked for."""
EMPTY = 0
"""The empty suffix."""

# Up to this many symbols a node's children stand in an array; beyond, in a hash map.
_DENSE = 32
# What the columns of a node take, and four bytes more for each symbol of a small alphabet.
_NODE_BYTES = 21
# Suffixes are kept written out until they have this many symbols; then all are forgotten.
_MOST_WRITTEN = 2**16
# There is room for twice as many nodes from the start.
_LEAST = 512
# The way down suffixes of this length and more is remembered.
_LONG = 8
# At most this many ways are remembered; then all are forgotten.
_MOST_ENDS = 4_000_000


class Suffixes:
    """Words numbered 0, 1, …: 0 is the empty one, every other a symbol followed by an earlier one.

    Examples
    --------
    >>> suffixes = Suffixes()
    >>> number = suffixes.add_word([1, 0, 1])
    >>> suffixes.word(number), suffixes.lengths[number], suffixes.add_word([0, 1])
    ([1, 0, 1], 3, 2)
    """

    def __init__(self) -> None:
        self._numbers: dict[tuple[int, int], int] = {}
        self.firsts = [-1]
        """The first symbol of every suffix."""
        self.rests = [EMPTY]
        """What follows it."""
        self.lengths = [0]
        self._words: dict[int, list[int]] = {}
        self._written = 0
        self._arrays = np.empty((3, 0), dtype=np.int64)
        self._in_arrays = 0

    def add(self, symbol: int, rest: int) -> int:
        """Return the number of a symbol followed by a suffix."""
        number = self._numbers.setdefault((symbol, rest), len(self.firsts))
        if number == len(self.firsts):
            self.firsts.append(symbol)
            self.rests.append(rest)
            self.lengths.append(self.lengths[rest] + 1)
        return number

    def find(self, symbol: int, rest: int) -> int | None:
        """Return the number of a symbol followed by a suffix if it has one."""
        return self._numbers.get((symbol, rest))

    def add_word(self, codes: Iterable[int]) -> int:
        """Return the number of a word."""
        number = EMPTY
        for symbol in reversed(list(codes)):
            number = self.add(symbol, number)
        return number

    def word(self, number: int) -> list[int]:
        """Return the symbols of a suffix, in a list that is not to be changed."""
        codes = self._words.get(number)
        if codes is None:
            codes, rest = [], number
            while rest:
                codes.append(self.firsts[rest])
                rest = self.rests[rest]
            self._written += len(codes)
            if self._written > _MOST_WRITTEN:
                self._words, self._written = {}, len(codes)
            self._words[number] = codes
        return codes

    def arrays(self) -> tuple[Nodes, Nodes, Nodes]:
        """Return the first symbols, the rests and the lengths as arrays."""
        known, size = self._in_arrays, len(self.firsts)
        if size > known:
            if size > self._arrays.shape[1]:
                self._arrays = np.pad(self._arrays, ((0, 0), (0, 2 * size)))
            for row, new in enumerate((self.firsts, self.rests, self.lengths)):
                self._arrays[row, known:size] = new[known:]
            self._in_arrays = size
        firsts, rests, lengths = self._arrays
        return firsts, rests, lengths


class NodeTable:
    """Words as nodes of a tree; node 0 is the empty word. Nodes are made when they are asked for.

    Every column is there twice: as an array for passes over many nodes, and as a view of the same
    memory (``parent``, ``last_symbol``, ``class_at``, ``is_seen``) for a few nodes at a time.
    """

    def __init__(self, symbols: int) -> None:
        self.symbols = symbols
        self.size = 0
        self.parents = self.last_symbols = self.lengths = np.empty(0, dtype=np.int32)
        self.classes = self.rows = np.empty(0, dtype=np.int32)
        # Whether a word was in a batch that the model has answered.
        self.seen = np.empty(0, dtype=bool)
        width = symbols if symbols <= _DENSE else 0
        # The bytes of memory that a node takes, but for room to grow and large alphabets.
        self.node_bytes = _NODE_BYTES + 4 * width
        self._children = np.empty((0, width), dtype=np.int32)
        self._sparse = None if symbols <= _DENSE else SparseChildren(symbols)
        self._alphabet = np.arange(symbols)
        # Where long suffixes lead to: node and suffix in one number.
        self._ends: dict[int, int] = {}
        self._reserve(1)
        self.seen[0] = True

    def _reserve(self, more: int) -> int:
        """Make room for more nodes; return the first of them."""
        first = self.size
        self.size += more
        if self.size > len(self.parents):
            size = max(_LEAST, self.size)
            self.parents = grown(self.parents, size, 0)
            self.last_symbols = grown(self.last_symbols, size, 0)
            self.lengths = grown(self.lengths, size, 0)
            self.classes = grown(self.classes, size, UNKNOWN)
            self.rows = grown(self.rows, size)
            self.seen = grown(self.seen, size, 0)
            self._children = grown(self._children, size)
            self.lineage = Lineage(self.parents, self.last_symbols)
            self.parent, self.last_symbol = self.parents.data, self.last_symbols.data
            self.class_at, self._length_at = self.classes.data, self.lengths.data
            self.is_seen = self.seen.data
            self._child = self._children.reshape(-1).data
        return first

    def _append(self, parents: Nodes, symbols: Symbols) -> Nodes:
        """Make a node for each parent and symbol."""
        begin = self._reserve(len(parents))
        new = slice(begin, self.size)
        self.parents[new], self.last_symbols[new] = parents, symbols
        self.lengths[new] = self.lengths[parents] + 1
        return np.arange(begin, self.size)

    def different(self, nodes: Nodes) -> Nodes:
        """Return the nodes without repetition, in the order of their first appearance."""
        if (nodes[1:] > nodes[:-1]).all():  # as new ones do
            return nodes
        before = self.rows[nodes]  # the column is scratch in between
        different: Nodes = nodes[firsts(self.rows, nodes)]
        self.rows[nodes] = before
        return different

    def successors(self, nodes: Nodes) -> Nodes:
        """Return every node's successors: all of the first, then all of the second, and so on."""
        parents, symbols = np.repeat(nodes, self.symbols), np.tile(self._alphabet, len(nodes))
        if self._sparse is not None:
            are_childless = self._sparse.are_childless(nodes)
        else:
            are_childless = not (self._children[nodes] >= 0).any()
        if not are_childless:
            return self.step(parents, symbols)
        # All are new, as those of new states mostly are: they need not be looked for.
        new = self._append(parents, symbols)
        if self._sparse is not None:
            self._sparse.add_all(nodes, new[:: self.symbols])
        else:
            self._children[nodes] = new.reshape(len(nodes), self.symbols)
        return new

    def step(self, nodes: Nodes, symbols: Symbols) -> Nodes:
        """Return the nodes one symbol further; undefined words lead to themselves."""
        if self._sparse is not None:
            return self._sparse_step(self._sparse, nodes, symbols)
        children = self._children[nodes, symbols].astype(np.int64)
        missing = (children < 0).nonzero()[0]
        if len(missing):
            children[missing] = self._make_children(nodes[missing], symbols[missing])
        return children

    def _make_children(self, parents: Nodes, symbols: Symbols) -> Nodes:
        """Make children that are missing; the same one may be asked for twice."""
        places = np.arange(len(parents), dtype=np.int32)
        self._children[parents[::-1], symbols[::-1]] = places[::-1]
        first = self._children[parents, symbols] == places
        new = self._append(parents[first], symbols[first])
        self._children[parents[first], symbols[first]] = new
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
            self._append(parents[new], symbols[new])
            below[missing] = numbers
        children[live] = below
        return children

    def step_one(self, node: int, symbol: int) -> int:
        """Return the node one symbol further."""
        child = self._known_child(node, symbol)
        if child < 0:
            child = self._reserve(1)
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
        # A chain that is learnt by classes takes 8 times as long without these ways.
        firsts, rests, lengths = table.firsts, table.rests, table.lengths
        while suffix:
            node = self.step_one(node, firsts[suffix])
            suffix = rests[suffix]
            if shortest and lengths[suffix] >= shortest:
                end = self._ends.get(node << 32 | suffix)
                if end is not None:
                    return end
        return node

    def walk(self, node: int, codes: list[int]) -> list[int]:
        """Return the nodes after every symbol of a word, from a node on."""
        if self._sparse is not None:
            return list(accumulate(codes, self.step_one, initial=node))[1:]
        child, width, here = self._child, self.symbols, node
        # Behind the first -1, a child that is missing, there is anything: the rest is new.
        way = [here := child[here * width + symbol] for symbol in codes]
        if -1 in way:
            known = way.index(-1)
            way[known:] = self._new_way(way[known - 1] if known else node, codes[known:])
        return way

    def _new_way(self, node: int, codes: list[int]) -> Iterable[int]:
        """Make nodes one below the other, from a node that has no such child yet."""
        if len(codes) < _LONG:  # which is a fifth faster where counterexamples are short
            return list(accumulate(codes, self.step_one, initial=node))[1:]
        begin = self._reserve(len(codes))
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
        child, width, class_at = self._child, self.symbols, self.class_at
        if not suffix:
            return None if class_at[node] == UNKNOWN else [class_at[node]]
        codes, classes = table.word(suffix), list[int]()
        for part in (codes[:_LONG], codes[_LONG:]):  # what is not known mostly shows soon
            if self._sparse is None:  # behind the first -1 there is anything, as in `walk`
                way = [node := child[node * width + symbol] for symbol in part]
            else:
                way = [node := self._known_child(node, s) if node >= 0 else -1 for s in part]
            found = [class_at[node] for node in way]
            if -1 in way or UNKNOWN in found:
                return None
            classes += found
        return classes

    def mark_undefined(self, nodes: Nodes) -> None:
        """Note that words are undefined: from now on they lead to themselves."""
        self.classes[nodes] = UNDEFINED
        if self._sparse is None:
            self._children[nodes] = nodes[:, None]

    def exclude(self, nodes: Nodes, excluded: Flags) -> None:
        """Note by which symbols nodes lead to undefined words, a row of flags for each node.

        Successors that there are not yet share one node, which has the word of the first: where
        most symbols are excluded, that leaves nearly half of the steps of sifting.
        """
        if self._sparse is not None:
            return
        places, symbols = (excluded & (self._children[nodes] < 0)).nonzero()
        if not len(places):
            return
        is_first = np.append(True, places[1:] != places[:-1])
        new = self._append(nodes[places[is_first]], symbols[is_first])
        self._children[nodes[places], symbols] = new[np.cumsum(is_first) - 1]
        self.mark_undefined(new)

    def levels(self) -> list[Nodes]:
        """Return all nodes by the length of their words, the shortest first."""
        lengths = self.lengths[: self.size]
        # Small integers are sorted by counting.
        order = np.argsort(lengths.astype(np.min_scalar_type(lengths.max())), kind="stable")
        return np.split(order, np.cumsum(np.bincount(lengths))[:-1])

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
