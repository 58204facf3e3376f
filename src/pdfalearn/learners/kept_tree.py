"""Make the classification tree that a run keeps, of the one that a learner has used."""

from __future__ import annotations

import numpy as np

from pdfalearn.learners.arc_labels import ArcLabels
from pdfalearn.learners.classification_tree import UNDEFINED_LEAF, ClassificationTree
from pdfalearn.observations.nodes import Suffixes
from pdfalearn.observations.tree import ObservationTree
from pdfalearn.results.trees import Floats, KeptTree, Numbers


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
