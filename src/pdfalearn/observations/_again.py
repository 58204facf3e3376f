"""Compare a model's second answers with its first."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pdfalearn.alphabet import shortened
from pdfalearn.checks import SUM_TOLERANCE
from pdfalearn.equivalence.relations import Relation, different_rows

Floats = NDArray[np.float64]

_REMEDY = (
    "is anything in it random, such as dropout in a network that is not in .eval()? If it only "
    "answers a little differently from one batch to the next, learn with another kappa, with "
    "answers rounded (Rounded(by, decimals=6)), or ask it in float64"
)


class RestlessError(ValueError):
    """A second answer is in another class; ``place`` is where it stands in the sample."""

    def __init__(self, message: str, place: int) -> None:
        super().__init__(message)
        self.place = place


def largest_difference(
    by: Relation, before: Floats, again: Sequence[Floats | None], most: float = 1.0
) -> float:
    """Give the largest difference of a probability; refuse answers that are not the same.

    Parameters
    ----------
    by : Equivalence or Tolerance
        When two distributions are the same, or similar.
    before : array of float, shape (count, symbols + 1)
        The first answers.
    again : sequence of array, or None
        The second ones; None where the model now says that the word is undefined.
    most : float
        The largest difference that is not refused even within a class.
    """
    for place, row in enumerate(again):
        if row is None or row.shape != before.shape[1:] or row.dtype.kind not in "iuf":
            raise _restless(before[place], row, place)
    rows = np.array(again, dtype=np.float64)
    is_wrong = ~((rows.min(axis=1) >= -1e-12) & (np.abs(rows.sum(axis=1) - 1) <= SUM_TOLERANCE))
    if is_wrong.any():
        place = int(is_wrong.argmax())
        raise _restless(before[place], rows[place], place)
    np.maximum(rows, 0.0, out=rows)
    if np.array_equal(rows, before):
        return 0.0
    differences = np.abs(rows - before).max(axis=1)
    moved = different_rows(by, before, rows) | (differences > most)
    if moved.any():
        place = int(moved.argmax())
        raise _restless(before[place], rows[place], place)
    return float(differences.max())


def _restless(before: Floats, again: Floats | None, place: int) -> RestlessError:
    now = "undefined" if again is None else shortened(again.tolist())
    return RestlessError(f"{shortened(before.tolist())}, then {now}; {_REMEDY}", place)
