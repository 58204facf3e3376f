"""The classification tree as people look at it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pdfalearn.learners._branching import Trace, branches
from pdfalearn.learners.arc_labels import ArcLabels
from pdfalearn.learners.classification_tree import ROOT, UNDEFINED_LEAF, ClassificationTree
from pdfalearn.observations.tree import ObservationTree
from pdfalearn.tree_nodes import TreeNode


def shown_tree(
    tree: ClassificationTree,
    labels: ArcLabels,
    observations: ObservationTree,
    states: list[TreeNode],
) -> TreeNode:
    """Give a tree with classes on its arcs; traces are spread over several inner nodes.

    Parameters
    ----------
    tree : ClassificationTree
        The tree in arrays.
    labels : ArcLabels
        What its labels stand for.
    observations : ObservationTree
        Where its suffixes and classes come from.
    states : list of TreeNode
        The leaves, by state.
    """
    decode = observations.alphabet.decode
    shown = [
        states[state] if state >= 0 else TreeNode() for state in tree.states[: tree.size].tolist()
    ]
    for node, children, traces in _arcs(tree, labels, observations):
        suffix = decode(observations.suffixes.word(tree.suffix_of[node]))
        inner: list[TreeNode] = []
        for arc in branches(traces):
            below = shown[children[arc.child]]
            if arc.inner is not None:
                below = shown[node] if not inner else TreeNode()
                below.suffix = suffix[: arc.length] if len(traces[0]) > 1 else suffix
                inner.append(below)
            if arc.parent >= 0:
                inner[arc.parent].children[observations.arc_label(arc.class_)] = below
    return shown[ROOT]


def _arcs(
    tree: ClassificationTree, labels: ArcLabels, observations: ObservationTree
) -> Iterator[tuple[int, list[int], list[Trace]]]:
    """Give inner nodes with their children, that of undefined words left out, and traces."""
    first = UNDEFINED_LEAF + 1
    below = np.argsort(tree.parents[first : tree.size], kind="stable") + first
    nodes, begins = np.unique(tree.parents[below], return_index=True)
    for node, children in zip(nodes.tolist(), np.split(below, begins[1:]), strict=True):
        length = observations.suffixes.lengths[tree.suffix_of[node]]
        yield node, children.tolist(), labels.classes(tree.labels[children], length)
