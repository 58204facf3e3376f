"""Which rows are similar, and clusters of them: ours, and those of Weiss, Goldberg and Yahav."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pdfalearn.arrays import numbered_rows
from pdfalearn.equivalence import Tolerance, refine_classes
from pdfalearn.errors import MissingExtraError
from pdfalearn.typing import Flags, Floats, Integers

if TYPE_CHECKING:
    from scipy.spatial import cKDTree


NOT_IN_P = -1


def nearest(candidates: Floats, rows: Floats, limit: float = np.inf) -> Integers:
    """Return for each row the place of the candidate with the smallest largest difference.

    It is -1 where that difference is above a limit.

    Examples
    --------
    >>> candidates, rows = np.array([[0.2, 0.8], [0.5, 0.5]]), np.array([[0.4, 0.6], [0.0, 1.0]])
    >>> nearest(candidates, rows), nearest(candidates, rows, Tolerance(0.1).limit)
    (array([1, 0]), array([ 1, -1]))
    """
    beyond = np.nextafter(limit, np.inf)
    _, places = _tree(candidates).query(rows, p=np.inf, distance_upper_bound=beyond)
    return np.where(places == len(candidates), -1, places).astype(np.int64)


def similar_pairs(rows: Floats, equivalence: Tolerance) -> Integers:
    """Return all pairs of similar rows, the earlier place first, sorted by the later one.

    Examples
    --------
    >>> similar_pairs(np.array([[0.2, 0.8], [0.5, 0.5], [0.1, 0.9]]), Tolerance(0.1))
    array([[0, 2]])
    """
    pairs = _tree(rows).query_pairs(equivalence.limit, p=np.inf, output_type="ndarray")
    pairs = np.sort(pairs.astype(np.int64), axis=1)
    return pairs[np.lexsort((pairs[:, 0], pairs[:, 1]))]


def choose_apart(rows: Floats, equivalence: Tolerance) -> Integers:
    """Choose rows in order: no two are similar, and every other row is similar to one of them.

    Examples
    --------
    >>> choose_apart(np.array([[0.2, 0.8], [0.25, 0.75], [0.3, 0.7], [0.9, 0.1]]), Tolerance(0.05))
    array([0, 2, 3])
    """
    firsts = np.sort(np.unique(numbered_rows(rows), return_index=True)[1])
    is_chosen = np.ones(len(firsts), dtype=bool)
    # Sorted by the later row: whether the earlier one is chosen has been decided before.
    for earlier, later in similar_pairs(rows[firsts], equivalence).tolist():
        if is_chosen[earlier]:
            is_chosen[later] = False
    return firsts[is_chosen]


def _tree(rows: Floats) -> cKDTree:
    from scipy.spatial import cKDTree  # takes most of a second to import

    return cKDTree(rows)


def greedy_clusters(rows: Floats, equivalence: Tolerance) -> Integers:
    """Add each row in turn to a cluster whose rows are all similar to it, or to a new cluster.

    Of several clusters, the one with the nearest mean is chosen. Returns the number of every row's
    cluster; clusters are numbered 0, 1, … as they are made.

    Examples
    --------
    >>> greedy_clusters(np.array([[0.1, 0.9], [0.2, 0.8], [0.3, 0.7]]), Tolerance(0.1))
    array([0, 0, 1])
    """
    pairs = similar_pairs(rows, equivalence)
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


def _best_cluster(rows: Floats, place: int, similar: Integers, members: list[list[int]]) -> int:
    """Return the nearest cluster in which all members are similar; a new one if there is none."""
    counts = zip(*np.unique(similar, return_counts=True), strict=True)
    options = [int(cluster) for cluster, count in counts if count == len(members[cluster])]
    if not options:
        return len(members)
    distances = [np.abs(rows[members[c]].mean(axis=0) - rows[place]).max() for c in options]
    return options[int(np.argmin(distances))]


def deterministic(transitions: Integers, clusters: Integers) -> Integers:
    """Split clusters until the successors of their members are in the same clusters.

    ``transitions`` are the members that symbols lead to, -1 where undefined. The new clusters are
    numbered as their first members come.
    """
    sink = len(transitions)
    table = np.full((sink + 1, transitions.shape[1]), sink, dtype=np.int32)
    table[:-1] = np.where(transitions < 0, sink, transitions)
    return _number_by_first(refine_classes(table, np.append(clusters, clusters.max() + 1))[:-1])


def _number_by_first(labels: NDArray[np.integer]) -> Integers:
    """Number labels 0, 1, … as they first come."""
    _, firsts, numbers = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(firsts))[numbers]


def cluster_means(rows: Floats, clusters: Integers) -> Floats:
    """Return the mean row of every cluster; where all rows of one are equal, it is that row."""
    _, firsts, counts = np.unique(clusters, return_index=True, return_counts=True)
    sums = np.zeros((len(firsts), rows.shape[1]))
    np.add.at(sums, clusters, rows - rows[firsts[clusters]])
    return rows[firsts] + sums / counts[:, None]


class WeissClusters:
    """A partition of the prefixes P into clusters that can be states.

    DBSCAN joins rows that chains of similar rows connect. Clusters are then split until the
    successors of their members in P are in one cluster, and until all members are similar.
    ``children`` says where in P the prefix with one symbol more stands; -1 if it is not in P.
    """

    def __init__(self, rows: Floats, children: Integers, equivalence: Tolerance) -> None:
        self._rows = rows
        self._children = children
        self._equivalence = equivalence
        # The number of every prefix's cluster, 0, 1, … as their first members come.
        self.of = _dbscan(rows, equivalence)
        self._agree()
        if self._split_dissimilar():
            self._agree()
        self.of = _number_by_first(self.of)

    def members(self, cluster: int) -> Integers:
        """Return the places of a cluster's prefixes in P."""
        return np.flatnonzero(self.of == cluster)

    def first_members(self) -> Integers:
        """Return the first member of every cluster."""
        return np.sort(np.unique(self.of, return_index=True)[1])

    def transitions(
        self, successors: Integers, rows: Floats, weights: Floats
    ) -> tuple[Integers, Flags]:
        """Return to which cluster each symbol leads from each cluster, and where that is forced.

        It is the cluster of the first successor in P. Where there is none, it is the best match for
        the successor of the most probable member, forced where that is not a full one; -1 where all
        are undefined. ``successors`` are places in ``rows``, which has words that are not in P too.
        """
        targets = np.full((int(self.of.max()) + 1, self._children.shape[1]), NOT_IN_P)
        members, symbols = (self._children != NOT_IN_P).nonzero()
        members, symbols = members[::-1], symbols[::-1]  # so that the first member is written last
        targets[self.of[members], symbols] = self.of[self._children[members, symbols]]
        is_forced = np.zeros(targets.shape, dtype=bool)
        for cluster, symbol in np.argwhere(targets == NOT_IN_P).tolist():
            members = self.members(cluster)
            members = members[successors[members, symbol] >= 0]
            if len(members):
                likeliest = members[weights[members].argmax()]
                row = rows[successors[likeliest, symbol]]
                best, is_full = self.best_match(row, range(len(targets)))
                targets[cluster, symbol], is_forced[cluster, symbol] = best, not is_full
        return targets, is_forced

    def best_match(self, row: Floats, options: Sequence[int]) -> tuple[int, bool]:
        """Choose a cluster for a row; return also whether all of its members are similar to it.

        The first whose members are all similar to it; else, of those with a similar member, the
        first that has dissimilar members already, or the first; else the first of all.
        """
        similar = np.flatnonzero(self._equivalence.similar(self._rows, row))
        near = set(self.of[similar].tolist())
        partial = [cluster for cluster in options if cluster in near]
        for cluster in partial:
            if self._equivalence.similar(self._rows[self.members(cluster)], row).all():
                return cluster, True
        loose = (cluster for cluster in partial if not self._are_similar(self.members(cluster)))
        return next(loose, next(iter(partial), options[0])), False

    def _agree(self) -> None:
        """Split clusters until the successors of their members, where in P, are in one cluster."""
        while (found := self._disagreement()) is not None:
            self._split_by_children(*found)

    def _disagreement(self) -> tuple[int, int] | None:
        """Find a cluster and a symbol that leads its members to several clusters."""
        count = int(self.of.max()) + 1
        for symbol, children in enumerate(self._children.T):
            known = np.flatnonzero(children != NOT_IN_P)
            targets, own = self.of[children[known]], self.of[known]
            least, most = np.full(count, len(self.of)), np.full(count, -1)
            np.minimum.at(least, own, targets)
            np.maximum.at(most, own, targets)
            if (least < most).any():
                return int((least < most).argmax()), symbol
        return None

    def _split_by_children(self, cluster: int, symbol: int) -> None:
        """Split a cluster by where a symbol leads; if that is unknown, the best match decides."""
        members = self.members(cluster)
        children = self._children[members, symbol]
        is_known = children != NOT_IN_P
        targets = self.of[children[is_known]]
        _, groups = np.unique(targets, return_inverse=True)
        numbers = self._numbers_for(cluster, int(groups.max()) + 1)
        self.of[members] = NOT_IN_P
        self.of[members[is_known]] = numbers[groups]
        for member in members[~is_known].tolist():
            self.of[member] = self.best_match(self._rows[member], numbers.tolist())[0]

    def _split_dissimilar(self) -> bool:
        """Split clusters along their widest dimensions until all members are similar."""
        pending = list(range(int(self.of.max()) + 1))
        has_split = False
        while pending:
            cluster = pending.pop()
            members = self.members(cluster)
            if self._are_similar(members):
                continue
            rows = self._rows[members]
            widest = rows[:, np.ptp(rows, axis=0).argmax()]
            intervals = np.floor((widest - widest.min()) / self._equivalence.limit)
            _, groups = np.unique(intervals, return_inverse=True)
            numbers = self._numbers_for(cluster, int(groups.max()) + 1)
            self.of[members] = numbers[groups]
            pending += numbers.tolist()
            has_split = True
        return has_split

    def _are_similar(self, members: Integers) -> bool:
        return bool((np.ptp(self._rows[members], axis=0) <= self._equivalence.limit).all())

    def _numbers_for(self, cluster: int, parts: int) -> Integers:
        """Return the numbers of a cluster's parts: its own, then new ones."""
        count = int(self.of.max()) + 1
        return np.append(cluster, np.arange(count, count + parts - 1))


def _dbscan(rows: Floats, equivalence: Tolerance) -> Integers:
    try:
        from sklearn.cluster import DBSCAN
    except ImportError as error:
        raise MissingExtraError("scikit-learn is missing: pip install scikit-learn") from error
    labels = DBSCAN(eps=equivalence.limit, min_samples=1, metric="chebyshev").fit(rows).labels_
    return np.asarray(labels, dtype=np.int64)
