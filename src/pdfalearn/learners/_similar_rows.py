"""Which rows are similar? Searches in the maximum norm, by k-d trees."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pdfalearn.arrays.numbering import numbered_rows
from pdfalearn.equivalence.relations import Tolerance

if TYPE_CHECKING:
    from scipy.spatial import cKDTree

Floats = NDArray[np.float64]
Places = NDArray[np.int64]


def nearest_similar(candidates: Floats, rows: Floats, by: Tolerance) -> Places:
    """Return for each row the place of the nearest similar candidate; -1 if none is similar.

    Examples
    --------
    >>> rows = np.array([[0.2, 0.8], [0.5, 0.5]])
    >>> nearest_similar(rows, np.array([[0.4, 0.6], [0.0, 1.0]]), Tolerance(0.1))
    array([ 1, -1])
    """
    beyond = np.nextafter(by.limit, np.inf)
    distances, places = _tree(candidates).query(rows, p=np.inf, distance_upper_bound=beyond)
    return np.where(np.isinf(distances), -1, places).astype(np.int64)


def similar_pairs(rows: Floats, by: Tolerance) -> Places:
    """Return all pairs of similar rows, the earlier place first, sorted by the later one.

    Examples
    --------
    >>> similar_pairs(np.array([[0.2, 0.8], [0.5, 0.5], [0.1, 0.9]]), Tolerance(0.1))
    array([[0, 2]])
    """
    pairs = _tree(rows).query_pairs(by.limit, p=np.inf, output_type="ndarray").astype(np.int64)
    pairs.sort(axis=1)
    return pairs[np.lexsort((pairs[:, 0], pairs[:, 1]))]


def chosen_apart(rows: Floats, by: Tolerance) -> Places:
    """Choose rows in order: no two are similar, and every other row is similar to one of them.

    Examples
    --------
    >>> chosen_apart(np.array([[0.2, 0.8], [0.25, 0.75], [0.3, 0.7], [0.9, 0.1]]), Tolerance(0.05))
    array([0, 2, 3])
    """
    firsts = np.sort(np.unique(numbered_rows(rows), return_index=True)[1])
    is_chosen = np.ones(len(firsts), dtype=bool)
    # Sorted by the later row: whether the earlier one is chosen has been decided before.
    for earlier, later in similar_pairs(rows[firsts], by).tolist():
        if is_chosen[earlier]:
            is_chosen[later] = False
    return firsts[is_chosen]


def _tree(rows: Floats) -> cKDTree:
    from scipy.spatial import cKDTree  # takes most of a second to import

    return cKDTree(rows)
