"""What the wrappers do to rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from pdfalearn.checks import SUM_TOLERANCE
from pdfalearn.row_checks import BadRowError, UndecidedError
from pdfalearn.rows import Flags, Floats, Numbers, Rows
from pdfalearn.words import offsets_of

SPARSE_ABOVE = 64
"""Over more symbols than that, what is left of dense rows is listed."""
CELLS_AT_ONCE = 2**20
"""At most about this many probabilities are changed at once, to keep the extra memory small."""

_ROUNDING = 1e-12
"""A probability may be this far below 0, as rounding leaves it; it then counts as 0."""


def right_rows(rows: Rows) -> Flags:
    """Return which rows are distributions."""
    with np.errstate(invalid="ignore"):
        right = _right_sparse(rows) if rows.is_sparse else _right_dense(rows.values)
    return right if rows.undefined is None else right & ~rows.undefined


def _right_dense(table: Floats) -> Flags:
    return np.asarray(
        (table.min(axis=1) >= -_ROUNDING) & (np.abs(table.sum(axis=1) - 1) <= SUM_TOLERANCE)
    )


def _right_sparse(rows: Rows) -> Flags:
    values, columns, numbers = rows.values, rows.columns, rows.row_numbers
    sums = np.bincount(numbers, values, minlength=len(rows)) + rows.rests
    right = (np.abs(sums - 1) <= SUM_TOLERANCE) & (rows.rests >= -_ROUNDING)
    right &= rows.ceilings >= -_ROUNDING
    if rows.offsets is None or columns is None:
        return right
    is_first = np.zeros(len(values) + 1, dtype=bool)
    is_first[rows.offsets[:-1]] = True
    least = np.append(-1, columns[:-1]) + 1  # the columns of a row ascend, from the terminal's on
    fits = np.where(is_first[:-1], columns == 0, (columns >= least) & (columns < rows.width))
    right[numbers[~(fits & (values >= -_ROUNDING))]] = False
    return right & (np.diff(rows.offsets) > 0)


def changed(rows: Rows, right: Flags, change: Callable[[Rows, Numbers], Rows]) -> Rows:
    """Change the rows that are right.

    What is not a distribution stays as it is, so that the observation tree, which alone knows the
    word, sees it and complains; so does what says that the word is undefined.
    """
    places = np.arange(len(rows))
    if right.all():
        result = change(rows, places)
    elif not right.any():
        return rows
    else:
        good, others = places[right], rows.take(places[~right])
        with at_places(good):
            result = change(rows.take(good), good)
        if others.undefined is not None and not others.is_sparse:
            others.values[others.undefined] = 0.0  # does not matter, and need not be listed
        order = np.empty_like(places)
        order[np.append(good, places[~right])] = places
        result = Rows.joined([result, others]).take(order)
    result.undefined, result.outside = rows.undefined, rows.outside
    return result


@contextmanager
def at_places(places: Numbers) -> Iterator[None]:
    """Where a part of a batch is refused, say where that is in the whole."""
    try:
        yield
    except (BadRowError, UndecidedError) as error:
        error.place = int(places[error.place])
        raise


def not_negative(values: Floats) -> Floats:
    """Return a copy without what rounding left below 0."""
    return np.asarray(np.maximum(values, 0.0, dtype=np.float64))


def parts_of(count: int, width: int) -> Iterator[slice]:
    """Cut a number of rows of a table into parts that are changed at once."""
    step = max(1, CELLS_AT_ONCE // width)
    return (slice(begin, begin + step) for begin in range(0, count, step))


def divided(table: Floats) -> None:
    """Divide every row of a table by its sum, in place; a row of zeros stays as it is.

    Sums are added up from the left, so that columns of zeros do not change them: they are the same
    for dense rows and for sparse ones.
    """
    sums = np.cumsum(table, axis=1)[:, -1:]
    np.divide(table, sums, out=table, where=sums > 0)


def divided_sparse(rows: Rows) -> Rows:
    """Divide every sparse row by its sum, in place; a row of zeros stays as it is."""
    numbers = rows.row_numbers
    sums = np.bincount(numbers, rows.values, minlength=len(rows))[numbers]
    np.divide(rows.values, sums, out=rows.values, where=sums > 0)
    return rows


def listed_of_table(table: Floats, listed: Flags) -> Rows:
    """Return sparse rows that list some cells of a table."""
    columns = listed.nonzero()[1].astype(np.int32)
    offsets = offsets_of(np.count_nonzero(listed, axis=1))
    return Rows(table.shape[1], table[listed], columns, offsets)


def listed_of_sparse(rows: Rows, values: Floats, listed: Flags) -> Rows:
    """Return rows that list some of the columns of sparse rows, with other values."""
    if rows.offsets is None or rows.columns is None:
        raise TypeError("dense rows do not list anything")
    offsets = np.append(0, np.cumsum(listed))[rows.offsets]
    return Rows(rows.width, values[listed], rows.columns[listed], offsets)
