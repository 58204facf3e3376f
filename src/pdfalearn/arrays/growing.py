"""Find which of equal keys comes first, in array passes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Places = NDArray[np.int64]


def firsts(table: NDArray[Any], keys: NDArray[np.integer]) -> Places:
    """Return the place of the first of each key.

    Parameters
    ----------
    table : array of signed int
        As long as keys are large; at the keys it is overwritten with numbers below -1.
    keys : array of int
        The keys.

    Examples
    --------
    >>> firsts(np.full(8, -1), np.array([5, 7, 5, 2, 7]))
    array([0, 1, 3])
    """
    marks = np.arange(-2, -2 - len(keys), -1, dtype=table.dtype)
    table[keys[::-1]] = marks[::-1]
    places: Places = np.flatnonzero(table[keys] == marks)
    return places


def grown(table: NDArray[Any], size: int) -> NDArray[Any]:
    """Return a table of at least a size, with -1 in all that is new."""
    if size <= len(table):
        return table
    larger = np.empty(max(64, 2 * size), dtype=table.dtype)
    larger[: len(table)] = table
    larger[len(table) :] = -1
    return larger
