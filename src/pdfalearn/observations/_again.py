"""Compare a model's second answers with its first."""

from __future__ import annotations

import numpy as np

from pdfalearn.alphabet import shortened
from pdfalearn.equivalence.relations import Relation, different_rows
from pdfalearn.row_checks import BadRowError, UndecidedError, check_distributions, check_sparse
from pdfalearn.rows import Floats, Rows

_REMEDY = (
    "is anything in it random, such as dropout in a network that is not in .eval()? If it only "
    "answers a little differently from one batch to the next, learn with another kappa, with "
    "answers rounded (Rounded(by, decimals=6)), or ask it in float64"
)
_NUMBERS_AT_ONCE = 2**22


class RestlessError(ValueError):
    """A second answer is in another class; ``place`` is where it stands in the sample."""

    def __init__(self, message: str, place: int) -> None:
        super().__init__(message)
        self.place = place


def largest_difference(by: Relation, before: Rows, again: Rows, most: float = 1.0) -> float:
    """Return the largest difference of a probability; refuse answers that are not the same.

    Parameters
    ----------
    by : Equivalence or Tolerance
        When two distributions are the same, or similar.
    before, again : Rows
        The first answers and the second ones.
    most : float
        The largest difference that is not refused even within a class.
    """
    largest = 0.0
    size = max(1, _NUMBERS_AT_ONCE // before.width)
    if len(before) <= size:
        return _largest_difference(by, before, again, most)
    for begin in range(0, len(before), size):
        places = np.arange(begin, min(begin + size, len(before)))
        try:
            found = _largest_difference(by, before.take(places), again.take(places), most)
        except RestlessError as error:
            error.place += begin
            raise
        largest = max(largest, found)
    return largest


def _largest_difference(by: Relation, before: Rows, again: Rows, most: float) -> float:
    table = before.to_dense()
    if again.undefined is not None and again.undefined.any():
        place = int(again.undefined.argmax())
        raise _restless(table[place], None, place)
    try:
        if again.is_sparse:
            again = check_sparse(again)
        else:
            check_distributions(again.values)
            again = Rows.dense(np.maximum(again.values, 0.0))
    except BadRowError as error:
        bad = again.take(np.array([error.place]))
        raise _restless(table[error.place], bad.to_dense()[0], error.place) from error
    rows = again.to_dense()
    if np.array_equal(rows, table):
        return 0.0
    differences = np.abs(rows - table).max(axis=1)
    try:
        moved = different_rows(by, before, again) | (differences > most)
    except UndecidedError as error:
        raise _restless(table[error.place], rows[error.place], error.place) from error
    if moved.any():
        place = int(moved.argmax())
        raise _restless(table[place], rows[place], place)
    return float(differences.max())


def _restless(before: Floats, again: Floats | None, place: int) -> RestlessError:
    now = "undefined" if again is None else shortened(again.tolist())
    return RestlessError(f"{shortened(before.tolist())}, then {now}; {_REMEDY}", place)
