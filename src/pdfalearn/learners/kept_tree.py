"""The classification tree as it is kept after learning: arrays from which a tree can be made."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pdfalearn.alphabet import Alphabet
from pdfalearn.arrays.values import ArrayValue
from pdfalearn.learners._branching import Trace, branches
from pdfalearn.learners.arc_labels import ArcLabels
from pdfalearn.learners.classification_tree import UNDEFINED_LEAF, ClassificationTree
from pdfalearn.observations.suffixes import Suffixes
from pdfalearn.observations.tree import ObservationTree
from pdfalearn.tree_nodes import ArcLabel, TreeNode, Word

Floats = NDArray[np.float64]
Numbers = NDArray[np.int32]

NONE = -1
"""The parent of the root, the suffix of a leaf, and the state of an inner node."""


@dataclass(frozen=True, eq=False, repr=False)
class KeptTree(ArrayValue):
    """A classification tree in arrays: quick to make, and small.

    Node 0 is the root, and parents come before their children. Suffix 0 is the empty one, and
    every other a symbol followed by an earlier suffix.
    """

    parents: Numbers
    labels: Numbers
    """What stands on the arc from the parent: a class, -1 for undefined, or the number of a trace;
    without meaning at the root."""
    suffixes: Numbers
    """The suffix of an inner node."""
    states: Numbers
    """The state of a leaf."""
    firsts: Numbers
    """The first symbol of each suffix; without meaning for the empty one."""
    rests: Numbers
    """The suffix that follows it."""
    keys: NDArray[np.generic]
    """The key of each class, a row each."""
    traces: tuple[bytes, ...] | None
    """Classes along a suffix, as int32, which label arcs by suffixes of two and more symbols; None
    where classes label all arcs."""
    distributions: Floats
    """Those of the last states; the automaton that is kept beside the tree has the others."""

    def __repr__(self) -> str:
        return f"KeptTree({len(self.parents)} nodes)"

    def shown(self, alphabet: Alphabet, words: Sequence[Word], first_rows: Floats) -> TreeNode:
        """Make a tree with classes on its arcs; traces are spread over several inner nodes.

        Parameters
        ----------
        alphabet : Alphabet
            The symbols.
        words : sequence of words
            The access word of every state.
        first_rows : array of float
            The distributions of the first states, as far as they were left out here.
        """
        rows = [*first_rows.tolist(), *self.distributions.tolist()]
        states = [
            TreeNode(access_word=word, distribution=tuple(row))
            for word, row in zip(words, rows, strict=True)
        ]
        shown = [states[state] if state >= 0 else TreeNode() for state in self.states.tolist()]
        keys: list[ArcLabel] = [*map(tuple, self.keys.tolist()), None]  # -1: undefined
        for node, children in self._families():
            suffix = alphabet.decode(self._suffix(node))
            inner: list[TreeNode] = []
            for arc in branches(self._traces(children, len(suffix))):
                below = shown[children[arc.child]]
                if arc.inner is not None:
                    below = shown[node] if not inner else TreeNode()
                    below.suffix = suffix[: arc.length] if self.traces is not None else suffix
                    inner.append(below)
                if arc.parent >= 0:
                    inner[arc.parent].children[keys[arc.class_]] = below
        return shown[0]

    def _families(self) -> Iterator[tuple[int, list[int]]]:
        """Go through the inner nodes with their children."""
        below = np.argsort(self.parents[1:], kind="stable") + 1
        nodes, begins = np.unique(self.parents[below], return_index=True)
        for node, children in zip(nodes.tolist(), np.split(below, begins[1:]), strict=True):
            yield node, children.tolist()

    def _suffix(self, node: int) -> list[int]:
        firsts, rests = self.firsts.data, self.rests.data
        codes, number = [], int(self.suffixes[node])
        while number:
            codes.append(firsts[number])
            number = rests[number]
        return codes

    def _traces(self, children: list[int], length: int) -> list[Trace]:
        """Return the classes on the arcs to children by a suffix of some length."""
        labels = self.labels[children].tolist()
        if self.traces is None or length < 2:
            return [(label,) for label in labels]
        return [tuple(array("i", self.traces[label])) for label in labels]


def kept_tree(
    tree: ClassificationTree, labels: ArcLabels, observations: ObservationTree, rows: Floats
) -> KeptTree:
    """Keep the parts of a tree, without the leaf of undefined words.

    Parameters
    ----------
    tree : ClassificationTree
        The tree.
    labels : ArcLabels
        What its labels stand for.
    observations : ObservationTree
        Where its suffixes and classes come from.
    rows : array of float
        The distributions of its last states; an automaton has the others.
    """
    parents, arcs, suffixes, states = (
        np.delete(column[: tree.size], UNDEFINED_LEAF).astype(np.int32)
        for column in (tree.parents, tree.labels, tree.suffixes, tree.states)
    )
    parents[parents > UNDEFINED_LEAF] -= 1
    firsts, rests = suffix_columns(observations.suffixes)
    return KeptTree(
        parents=parents,
        labels=arcs,
        suffixes=suffixes,
        states=states,
        firsts=firsts,
        rests=rests,
        keys=observations.class_keys(),
        traces=observations.all_traces if labels.are_traces else None,
        distributions=rows,
    )


def suffix_columns(suffixes: Suffixes) -> tuple[Numbers, Numbers]:
    """Return the first symbols of suffixes, and what follows."""
    firsts, rests, _ = suffixes.arrays()
    size = len(suffixes.firsts)
    return firsts[:size].astype(np.int32), rests[:size].astype(np.int32)
