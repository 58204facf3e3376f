"""Join similar rows to clusters, and make a deterministic automaton of them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from pdfalearn.equivalence.refinement import refined
from pdfalearn.equivalence.relations import Tolerance
from pdfalearn.learners._similar_rows import similar_pairs

Floats = NDArray[np.float64]
Places = NDArray[np.int64]


def greedy_clusters(rows: Floats, by: Tolerance) -> Places:
    """Add each row in turn to a cluster whose rows are all similar to it, or to a new cluster.

    Of several clusters, the one with the nearest mean is chosen. Returns the number of every row's
    cluster; clusters are numbered 0, 1, … as they are made.

    Examples
    --------
    >>> greedy_clusters(np.array([[0.1, 0.9], [0.2, 0.8], [0.3, 0.7]]), Tolerance(0.1))
    array([0, 0, 1])
    """
    pairs = similar_pairs(rows, by)
    clusters = np.full(len(rows), -1, dtype=np.int64)
    members: list[list[int]] = []
    begins = np.searchsorted(pairs[:, 1], np.arange(len(rows) + 1)).tolist()
    for place, (begin, end) in enumerate(pairwise(begins)):
        cluster = len(members)
        if begin < end:
            cluster = _best_cluster(rows, place, clusters[pairs[begin:end, 0]], members)
        if cluster == len(members):
            members.append([])
        members[cluster].append(place)
        clusters[place] = cluster
    return clusters


def _best_cluster(rows: Floats, place: int, similar: Places, members: list[list[int]]) -> int:
    """Return the nearest cluster in which all members are similar; a new one if there is none."""
    counts = zip(*np.unique(similar, return_counts=True), strict=True)
    options = [int(cluster) for cluster, count in counts if count == len(members[cluster])]
    if not options:
        return len(members)
    distances = [np.abs(rows[members[c]].mean(axis=0) - rows[place]).max() for c in options]
    return options[int(np.argmin(distances))]


def deterministic(transitions: Places, clusters: Places) -> Places:
    """Split clusters until the successors of their members are in the same clusters.

    Parameters
    ----------
    transitions : array of int, shape (members, symbols)
        Which member each symbol leads to; -1 for undefined.
    clusters : array of int, shape (members,)
        The number of every member's cluster, 0, 1, … without gaps.

    Returns
    -------
    array of int, shape (members,)
        The numbers of the new clusters, 0, 1, … as their first members come.
    """
    sink = len(transitions)
    table = np.full((sink + 1, transitions.shape[1]), sink, dtype=np.int32)
    table[:-1] = np.where(transitions < 0, sink, transitions)
    classes = refined(table, np.append(clusters, clusters.max() + 1))[:-1]
    _, firsts, numbers = np.unique(classes, return_index=True, return_inverse=True)
    ranks = np.empty(len(firsts), dtype=np.int64)
    ranks[np.argsort(firsts)] = np.arange(len(firsts))
    return ranks[numbers]


def cluster_means(rows: Floats, clusters: Places) -> Floats:
    """Return the mean row of every cluster; where all rows of one are equal, it is that row."""
    _, firsts, counts = np.unique(clusters, return_index=True, return_counts=True)
    sums = np.zeros((len(firsts), rows.shape[1]))
    np.add.at(sums, clusters, rows - rows[firsts[clusters]])
    return rows[firsts] + sums / counts[:, None]
