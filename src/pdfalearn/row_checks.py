"""Whether rows are distributions, and list enough symbols."""

from __future__ import annotations

import numpy as np

from pdfalearn.alphabet import shortened
from pdfalearn.checks import ROUNDING, SUM_TOLERANCE
from pdfalearn.rows import Flags, Floats, Numbers, Rows


class BadRowError(ValueError):
    """An answer is not a distribution; ``place`` is where it stands in the batch."""

    def __init__(self, message: str, place: int = 0) -> None:
        super().__init__(message)
        self.place = place


class UndecidedError(ValueError):
    """A row does not say enough about the symbols that it does not list.

    ``place`` is where it stands in the batch. If it was on the way to longer words, that is the
    place of the longer word, and ``length`` the number of its symbols before the row.
    """

    def __init__(self, message: str, place: int = 0, length: int | None = None) -> None:
        super().__init__(message)
        self.place = place
        self.length = length


def check_decided(rows: Rows, undecided: Flags, reason: str) -> None:
    """Refuse the first row that leaves open what has to be known; the error says why it has to."""
    if not undecided.any():
        return
    place = int(undecided.argmax())
    raise UndecidedError(
        f"it leaves open how {rows.rests[place]:.6g} is shared among the symbols that it does not "
        f"list, at most {rows.ceilings[place]:.6g} for one of them, but {reason}",
        place,
    )


def given_rows(given: object, count: int, width: int) -> Rows:
    """Return a model's answer as rows; refuse an answer of another form.

    Parameters
    ----------
    given : Rows, or array-like
        Rows as they are, or a table of numbers. In a list, None stands for an undefined word; so
        does a row that holds nothing but NaN.
    count, width : int
        How many rows there have to be, and how many columns.

    Examples
    --------
    >>> rows = given_rows([[0.5, 0.5], None], 2, 2)
    >>> rows.undefined
    array([False,  True])
    """
    rows = given if isinstance(given, Rows) else _table(given, width)
    table = rows.values if rows.offsets is None else None
    shape = (len(rows), rows.width) if table is None else table.shape
    if shape != (count, width):
        raise BadRowError(
            f"the array for {count} words has shape {shape}, not {(count, width)}: a row for each "
            "word, in it the terminal first, then every symbol"
        )
    return rows


def _table(given: object, width: int) -> Rows:
    """Make dense rows of a table."""
    if isinstance(given, list | tuple):
        given = [[np.nan] * width if row is None else row for row in given]
    try:
        table = np.asarray(given)
    except (TypeError, ValueError) as error:
        raise BadRowError(f"it is not an array of numbers ({error})") from error
    if table.size and table.dtype.kind not in "iuf":
        raise BadRowError(f"it is not an array of numbers, but of {table.dtype}")
    table = table.astype(np.float64, copy=False)
    if table.ndim != 2:
        raise BadRowError(
            f"it is an array of shape {table.shape}: it has to have a row for each word, in it the "
            "terminal first, then every symbol"
        )
    undefined = np.isnan(table[:, 0]) if table.shape[1] else None
    if undefined is None or not undefined.any():
        return Rows(table.shape[1], table)
    undefined &= np.isnan(table).all(axis=1)
    return Rows(table.shape[1], table, undefined=undefined if undefined.any() else None)


def check_distributions(rows: Floats, places: Numbers | None = None) -> None:
    """Refuse dense rows that are not distributions.

    Parameters
    ----------
    rows : array of float, shape (count, symbols + 1)
        The rows.
    places : array of int, optional
        Where they stand in their batch, if they are not all of it.

    Raises
    ------
    BadRowError
        With the place of a bad row.
    """
    if not len(rows):
        return
    sums = rows.dot(np.ones(rows.shape[1]))  # faster than a sum of few columns
    errors = np.abs(sums - 1)
    if rows.min() >= -ROUNDING and errors.max() <= SUM_TOLERANCE:
        return
    is_negative: Flags = np.any(~(rows >= -ROUNDING), axis=1)
    if is_negative.any():
        place = int(is_negative.argmax())
        wrong = "has NaN or negative values"
    else:
        place = int(np.argmax(~(errors <= SUM_TOLERANCE)))
        hint = "" if sums[place] else ": what may follow has probability 0, or what a guide allows"
        wrong = f"sums to {sums[place]:.9g}, not to 1{hint}"
    message = f"{shortened(rows[place].tolist())} {wrong}"
    raise BadRowError(message, place if places is None else int(places[place]))


def check_sparse(rows: Rows) -> Rows:
    """Refuse sparse rows that are not distributions; return them with what rounding left as 0.

    Raises
    ------
    BadRowError
        With the place of a bad row.
    """
    offsets, columns, values = rows.offsets, rows.columns, rows.values
    if offsets is None or columns is None:
        raise TypeError("these rows are dense")
    if not len(rows):
        return rows
    if len(columns) != len(values) or offsets[-1] != len(values) or (np.diff(offsets) < 1).any():
        raise BadRowError("a sparse row lists nothing; it has to list at least the terminal")
    rests = rows.rests
    sums = np.add.reduceat(values, offsets[:-1]) + rests
    begins = np.zeros(len(values), dtype=bool)
    begins[offsets[:-1]] = True
    falls = ~begins
    falls[1:] &= columns[1:] <= columns[:-1]
    falls[0] = False
    tests = {
        "does not list the terminal first": columns[offsets[:-1]] != 0,
        "lists columns that are not ascending": _any_in_row(falls, offsets),
        f"lists a column beyond {rows.width - 1}": _any_in_row(columns >= rows.width, offsets),
        "has NaN or negative values": _any_in_row(~(values >= -ROUNDING), offsets)
        | ~(rests >= 0)
        | ~(rows.ceilings >= 0),
        "does not sum to 1 with what it does not list": ~(np.abs(sums - 1) <= SUM_TOLERANCE),
        "has a ceiling too low for what it does not list": rows.ceilings
        * (rows.width - np.diff(offsets))
        < rests - SUM_TOLERANCE,
    }
    for wrong, bad in tests.items():
        if bad.any():
            place = int(bad.argmax())
            row = slice(offsets[place], offsets[place + 1])
            shown = shortened(list(zip(columns[row].tolist(), values[row].tolist(), strict=True)))
            raise BadRowError(f"the sparse row {shown}, rest {rests[place]:.9g}, {wrong}", place)
    kept = Rows(rows.width, np.maximum(values, 0.0), columns, offsets, rows.rest, rows.ceiling)
    kept.undefined, kept.outside = rows.undefined, rows.outside
    return kept


def _any_in_row(flags: Flags, offsets: Numbers) -> Flags:
    return np.logical_or.reduceat(flags, offsets[:-1])
