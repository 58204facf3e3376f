"""Which distribution is nearest to another?"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def nearest(candidates: Floats, rows: Floats) -> NDArray[np.int64]:
    """Return for each row the place of the candidate with the smallest largest difference.

    Examples
    --------
    >>> nearest(np.array([[0.2, 0.8], [0.5, 0.5]]), np.array([[0.4, 0.6], [0.0, 1.0]]))
    array([1, 0])
    """
    from scipy.spatial import cKDTree  # takes most of a second to import

    _, places = cKDTree(candidates).query(rows, p=np.inf)
    return np.asarray(places, dtype=np.int64)
