"""The n-ary classification tree (§3 of the paper), in arrays: arcs, suffixes, what is kept."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from pdfalearn.arrays import IntMap, firsts, grown
from pdfalearn.models import FEW, QueryCost
from pdfalearn.observations import EMPTY, UNDEFINED, ObservationTree, Suffixes
from pdfalearn.results import KeptTree
from pdfalearn.typing import Floats, Integers

ROOT = 0
# Where undefined words end up: a leaf, but never a state.
UNDEFINED_LEAF = 1
# Stands for the suffix of a node that has none.
LEAF = -1
NONE = -1
"""Stands where there is no suffix that tells two states apart."""

# What a new node has for a parent, a label, a depth, a suffix and a state.
_NEW = np.array([[-1], [-1], [0], [LEAF], [-1]])
# If a word costs less than this many symbols, suffixes are to tell 2 to this many states apart.
# Measured on random targets: longer suffixes take fewer words and more symbols.
_BITS = ((0.75, 0), (1.5, 3), (5.0, 4), (8.0, 6), (20.0, 8), (math.inf, 11))


class Front(NamedTuple):
    """Transitions on their way down the tree.

    A transition is the number state * symbols + symbol. ``words`` are the observation tree's nodes
    of the words that take the transitions, ``at`` the classification tree's nodes they are at.
    """

    transitions: Integers
    words: Integers
    at: Integers

    def join(self, added: Front) -> Front:
        """Put two fronts together."""
        if not len(self.transitions):
            return added
        return Front(*(np.concatenate(pair) for pair in zip(self, added, strict=True)))


EMPTY_FRONT = Front(*np.empty((3, 0), dtype=np.int64))


class ClassificationTree:
    """Inner nodes hold distinguishing suffixes, arcs labels, leaves states.

    The label of a word by a suffix is its trace, the classes after every prefix of the suffix but
    the empty one, or only the class after the whole suffix. With traces one suffix tells many
    states apart, as if the tree had an inner node for each of the prefixes.

    The root's suffix is empty. An arc that is followed for the first time leads to a new leaf.
    Every column is there twice: as an array, and as a view of the same memory for single nodes.
    """

    parents: Integers
    # What stands on the arc from the parent.
    labels: Integers
    depths: Integers
    suffixes: Integers
    # The state of a leaf; -1 for inner nodes and for the leaf of undefined words.
    states: Integers

    def __init__(self) -> None:
        # The child of the root by each label, at the label + 1; -1 where there is none.
        self._from_root = np.array([UNDEFINED_LEAF])
        self._arcs = IntMap()
        # The child that each of the other arcs leads to.
        self._ends = np.empty(0, dtype=np.int64)
        self.size = 0
        self._columns = np.empty((5, 0), dtype=np.int64)
        self._add(2)
        self.suffixes[ROOT] = EMPTY
        self._columns[:3, UNDEFINED_LEAF] = ROOT, UNDEFINED, 1

    def _add(self, more: int) -> None:
        """Make room for more nodes."""
        self.size += more
        old = self._columns
        if self.size > old.shape[1]:
            self._columns = np.repeat(_NEW, max(1024, 2 * self.size), axis=1)
            self._columns[:, : old.shape[1]] = old
            self.parents, self.labels, self.depths, self.suffixes, self.states = self._columns
            self.parent_of, self.label_of = self.parents.data, self.labels.data
            self.depth_of, self.suffix_of = self.depths.data, self.suffixes.data
            self.state_of = self.states.data

    def children(self, nodes: Integers, labels: Integers) -> Integers:
        """Follow the arc of a label from every node; new arcs lead to new leaves."""
        if len(nodes) < FEW:  # array passes make chains a tenth slower
            arcs = zip(nodes.tolist(), labels.tolist(), strict=True)
            return np.array([self.child(*arc) for arc in arcs], dtype=np.int64)
        at_root = nodes == ROOT
        children = np.empty(len(nodes), dtype=np.int64)
        if at_root.any():
            children[at_root] = self.children_of_root(labels[at_root])
        below = (~at_root).nonzero()[0]
        parents, labels = nodes[below], labels[below]
        known = len(self._arcs)
        numbers = self._arcs.get_or_add((parents << 32) + (labels + 1))
        self._ends = grown(self._ends, len(self._arcs))
        if len(self._arcs) > known:
            new = (numbers >= known).nonzero()[0]
            new = new[firsts(self._ends, numbers[new])]
            self._ends[numbers[new]] = self._new(parents[new], labels[new])
        children[below] = self._ends[numbers]
        return children

    def children_of_root(self, labels: Integers) -> Integers:
        """Follow the arc of every label from the root."""
        keys = labels + 1
        self._from_root = grown(self._from_root, int(keys.max(initial=0)) + 1)
        children = self._from_root[keys]
        missing = (children < 0).nonzero()[0]
        if len(missing):
            keys = keys[missing]
            places = firsts(self._from_root, keys)
            self._from_root[keys[places]] = self._new(ROOT, labels[missing[places]])
            children[missing] = self._from_root[keys]
        return children

    def _new(self, parents: Integers | int, labels: Integers) -> Integers:
        """Make a leaf for each label."""
        first = self.size
        self._add(len(labels))
        new = slice(first, self.size)
        self.parents[new] = parents
        self.labels[new] = labels
        self.depths[new] = self.depths[parents] + 1
        return np.arange(first, self.size)

    def child(self, node: int, label: int) -> int:
        """Follow the arc of a label from one node; a new arc leads to a new leaf."""
        if node == ROOT:
            place = label + 1
            self._from_root = table = grown(self._from_root, place + 1)
        else:
            place = self._arcs.get_or_add_one((node << 32) + label + 1)
            self._ends = table = grown(self._ends, place + 1)
        child: int = table.item(place)
        if child < 0:
            child = self.size
            self._add(1)
            table[place] = child
            self.parent_of[child] = node
            self.label_of[child] = label
            self.depth_of[child] = self.depth_of[node] + 1
        return child

    def split(
        self, leaves: Integers, suffixes: Integers, labels: Integers, states: Integers
    ) -> Integers:
        """Make leaves inner nodes with suffixes, and return new leaves below each of them.

        Labels and states are those of a first new leaf for each, then of a second one.
        """
        self.suffixes[leaves] = suffixes
        self.states[leaves] = -1
        children = self.children(np.tile(leaves, 2), labels)
        self.states[children] = states
        return children

    def meetings(self, lefts: Integers, rights: Integers) -> Integers:
        """Find the least common ancestor of every pair of nodes."""
        lefts, rights = lefts.copy(), rights.copy()
        while len(apart := (lefts != rights).nonzero()[0]):
            deeper = self.depths[lefts[apart]] - self.depths[rights[apart]]
            for nodes, rise in ((lefts, apart[deeper >= 0]), (rights, apart[deeper <= 0])):
                nodes[rise] = self.parents[nodes[rise]]
        return lefts


def parting_suffixes(
    tree: ClassificationTree, table: Suffixes, lefts: Integers, rights: Integers
) -> Integers:
    """Return for each pair of states a symbol and the suffix by which its successors part.

    ``lefts`` and ``rights`` are the nodes that the successors of the two states have reached. Of
    several symbols, one with a shortest suffix is chosen; if no successors part, there is none.
    """
    places, symbols = (lefts != rights).nonzero()
    ends, others = lefts[places, symbols], rights[places, symbols]
    meetings = tree.meetings(ends, others)
    # Where one was not sifted as far as the other, they do not part.
    parted = (meetings != ends) & (meetings != others)
    places, symbols, rests = places[parted], symbols[parted], tree.suffixes[meetings[parted]]
    shortest = np.lexsort((table.arrays()[2][rests], places))
    places, firsts = np.unique(places[shortest], return_index=True)
    chosen = shortest[firsts]
    suffixes = np.full(len(lefts), NONE)
    suffixes[places] = [
        table.add(symbol, rest)
        for symbol, rest in zip(symbols[chosen].tolist(), rests[chosen].tolist(), strict=True)
    ]
    return suffixes


def choose_bits(cost: QueryCost) -> int:
    """Return how many states suffixes should tell apart, as a power of 2; 0 if they stay short.

    Examples
    --------
    >>> [choose_bits(QueryCost(word=word, symbol=1)) for word in (0, 6, 100)]
    [0, 6, 11]
    """
    on_the_way = cost.symbol + cost.prefix  # a word's own distribution is not on its way
    ratio = (cost.word - cost.prefix) / on_the_way if on_the_way else math.inf
    return next(bits for least, bits in _BITS if ratio < least or least == math.inf)


def lengthen_suffixes(
    suffixes: Integers, bits: int, observations: ObservationTree, random: Generator
) -> Integers:
    """Lengthen short suffixes by random symbols, so that traces could tell 2**bits states apart.

    The more classes have been seen, the more a symbol tells.
    """
    table, symbols = observations.suffixes, len(observations.alphabet)
    length = round(bits / math.log2(max(2, observations.answers.class_count)))
    tails = random.integers(symbols, size=(len(suffixes), length)).tolist()
    longer = suffixes.copy()
    for place, (suffix, tail) in enumerate(zip(suffixes.tolist(), tails, strict=True)):
        if table.lengths[suffix] < length:
            longer[place] = table.add_word([*table.word(suffix), *tail[table.lengths[suffix] :]])
    return longer


def keep_tree(
    tree: ClassificationTree, observations: ObservationTree, rows: Floats, *, are_traces: bool
) -> KeptTree:
    """Keep the parts of a tree, without the leaf of undefined words.

    ``rows`` are the distributions of its last states; an automaton has the others.
    """
    kept = np.arange(1, tree.size)
    kept[:UNDEFINED_LEAF] = ROOT
    parents, arcs, suffixes, states = (
        column[kept].astype(np.int32)
        for column in (tree.parents, tree.labels, tree.suffixes, tree.states)
    )
    parents[parents > UNDEFINED_LEAF] -= 1
    return KeptTree(
        parents=parents,
        labels=arcs,
        suffixes=suffixes,
        states=states,
        firsts=np.array(observations.suffixes.firsts, dtype=np.int32),
        rests=np.array(observations.suffixes.rests, dtype=np.int32),
        keys=observations.class_keys(),
        traces=observations.all_traces if are_traces else None,
        distributions=rows,
    )
