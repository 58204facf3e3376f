"""The n-ary classification tree (§3 of the paper), in arrays."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pdfalearn.arrays.numbering import IntMap
from pdfalearn.arrays.passes import firsts, grown
from pdfalearn.observations.tree import EMPTY, UNDEFINED

Numbers = NDArray[np.int64]

ROOT = 0
UNDEFINED_LEAF = 1
"""Where undefined words end up: a leaf, but never a state."""
LEAF = -1
"""Stands for the suffix of a node that has none."""


class ClassificationTree:
    """Inner nodes hold distinguishing suffixes, arcs labels, leaves states.

    The root's suffix is empty. An arc that is followed for the first time leads to a new leaf.
    Every column is there twice: as an array, and as a view of the same memory for single nodes.
    """

    def __init__(self) -> None:
        self._from_root = np.empty(0, dtype=np.int64)
        """The child of the root by each label, at the label + 1; -1 where there is none."""
        self._arcs = IntMap()
        self._ends = np.empty(0, dtype=np.int64)
        """The child that each of the other arcs leads to."""
        self.size = 0
        self.parents = np.empty(0, dtype=np.int64)
        self.labels = np.empty(0, dtype=np.int64)
        """What stands on the arc from the parent."""
        self.depths = np.empty(0, dtype=np.int64)
        self.suffixes = np.empty(0, dtype=np.int64)
        self.states = np.empty(0, dtype=np.int64)
        """The state of a leaf; -1 for inner nodes and for the leaf of undefined words."""
        self._add(1)
        self.suffixes[ROOT] = EMPTY
        self.child(ROOT, UNDEFINED)

    def _add(self, more: int) -> None:
        self.size += more
        if self.size > len(self.parents):
            capacity = max(1024, 2 * self.size)
            self.parents = _larger(self.parents, capacity, -1)
            self.labels = _larger(self.labels, capacity, -1)
            self.depths = _larger(self.depths, capacity, 0)
            self.suffixes = _larger(self.suffixes, capacity, LEAF)
            self.states = _larger(self.states, capacity, -1)
            self.parent_of, self.label_of = self.parents.data, self.labels.data
            self.depth_of, self.suffix_of = self.depths.data, self.suffixes.data
            self.state_of = self.states.data

    def children(self, nodes: Numbers, labels: Numbers) -> Numbers:
        """Follow the arc of a label from every node; new arcs lead to new leaves."""
        at_root = nodes == ROOT
        if at_root.all():
            return self.children_of_root(labels)
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

    def children_of_root(self, labels: Numbers) -> Numbers:
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

    def _new(self, parents: Numbers | int, labels: Numbers) -> Numbers:
        """Make a leaf for each label."""
        leaves = np.arange(self.size, self.size + len(labels))
        self._add(len(labels))
        self.parents[leaves] = parents
        self.labels[leaves] = labels
        self.depths[leaves] = self.depths[parents] + 1
        return leaves

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

    def meetings(self, lefts: Numbers, rights: Numbers) -> Numbers:
        """Find the least common ancestor of every pair of nodes."""
        lefts, rights = lefts.copy(), rights.copy()
        while len(apart := (lefts != rights).nonzero()[0]):
            deeper = self.depths[lefts[apart]] - self.depths[rights[apart]]
            for nodes, rise in ((lefts, apart[deeper >= 0]), (rights, apart[deeper <= 0])):
                nodes[rise] = self.parents[nodes[rise]]
        return lefts


def _larger(old: Numbers, capacity: int, fill: int) -> Numbers:
    new = np.full(capacity, fill, dtype=np.int64)
    new[: len(old)] = old
    return new
