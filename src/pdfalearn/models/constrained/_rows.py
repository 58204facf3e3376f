"""What the wrappers do to rows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pdfalearn.checks import SUM_TOLERANCE

Floats = NDArray[np.float64]
Kept = NDArray[np.bool_]

_ROUNDING = 1e-12
"""A probability may be this far below 0, as rounding leaves it; it then counts as 0."""


def renormalised(rows: Floats) -> Floats:
    """Divide every row by its sum, in place; a row of zeros stays as it is."""
    sums = rows.sum(axis=1, keepdims=True)
    np.divide(rows, sums, out=rows, where=sums > 0)
    return rows


def is_table(answer: NDArray[np.generic], shape: tuple[int, int]) -> bool:
    """Say whether an answer has the form of rows of probabilities."""
    return answer.shape == shape and answer.dtype.kind in "iuf"


def changed(given: ArrayLike, shape: tuple[int, int], change: Callable[[Floats], Floats]) -> Floats:
    """Change a copy of the rows of a model's answer, in place: batches of rows are large.

    What is no distribution stays as it is, so that the observation tree, which alone knows the
    word, sees it and complains.
    """
    answer = np.asarray(given)
    if not is_table(answer, shape):
        return answer
    rows = np.array(answer, dtype=np.float64, order="C")
    right = (rows.min(axis=1) >= -_ROUNDING) & (np.abs(rows.sum(axis=1) - 1) <= SUM_TOLERANCE)
    np.maximum(rows, 0.0, out=rows)
    rows[~right] = 0.0
    rows = change(rows)
    rows[~right] = answer[~right]
    return rows
