"""Whether rows are distributions, and list enough symbols."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np

from pdfalearn.alphabet import Alphabet, shorten
from pdfalearn.checks import ROUNDING, SUM_TOLERANCE, row_fault, wrong_rows
from pdfalearn.rows import Rows, SharedRows
from pdfalearn.text import described
from pdfalearn.typing import Flags, Integers


class RowError(ValueError):
    """Something is wrong with a row; ``place`` is where it stands in the batch."""

    def __init__(self, message: str, place: int = 0) -> None:
        super().__init__(message)
        self.place = place


class BadRowError(RowError):
    """An answer is not a distribution."""


class UndecidedError(RowError):
    """A row does not say enough about the symbols that it does not list."""


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


def check_answer(given: object, count: int, width: int, alphabet: Alphabet) -> Rows:
    """Return a model's answer as rows that are distributions; refuse anything else.

    Parameters
    ----------
    given : Rows, or array-like
        Rows, or a table of numbers. In a list, None stands for an undefined word; so does a row of
        an array that holds nothing but NaN. The table of shared rows has to be checked already.
    count, width : int
        How many rows there have to be, and how many columns.
    alphabet : Alphabet
        The symbols, which errors name.

    Raises
    ------
    BadRowError
        With the place of a bad row.

    Examples
    --------
    >>> rows = check_answer([[0.5, 0.5], None], 2, 2, Alphabet("a"))
    >>> rows.undefined
    array([False,  True])
    """
    rows = given if isinstance(given, Rows) else _make_rows(given, width)
    has_more = rows.undefined is not None or rows.outside is not None
    if not has_more and type(rows) is Rows and rows.offsets is None and rows.impossible is None:
        # Nearly always all is well, and this tells: what is wrong is found out only if something
        # is. Read as integers, numbers below 0 and -0 are negative; sums show what is not finite.
        table = rows.values
        is_right = type(table) is np.ndarray and table.dtype == np.float64
        is_right = is_right and table.shape == (count, width) and count > 0
        if is_right and np.minimum.reduce(table.view(np.int64), axis=None) >= 0:
            with np.errstate(over="ignore"):  # an infinite sum is refused as any other wrong one
                errors = np.abs(table.dot(np.ones(width)) - 1)
            if np.maximum.reduce(errors) <= SUM_TOLERANCE:
                return rows
    return _check_rows(rows, count, width, alphabet)


def right_rows(given: Any, count: int, width: int, alphabet: Alphabet) -> tuple[Integers, Rows]:
    """Return the places and the rows of what is right in an answer that was refused.

    Examples
    --------
    >>> places, rows = right_rows([[0.5, 0.5], "?", [1, 0], [0, 2]], 4, 2, Alphabet("a"))
    >>> places.tolist(), rows.to_dense().tolist()
    ([0, 2], [[0.5, 0.5], [1.0, 0.0]])
    """
    places: list[int] = []
    parts = [Rows.dense(np.empty((0, width)))]
    is_whole = isinstance(given, list | tuple) or (isinstance(given, np.ndarray) and given.ndim > 0)
    is_whole = is_whole and len(given) == count
    if isinstance(given, Rows):
        is_whole = _wrong_form(given, count, width) is None
    if isinstance(given, SharedRows) and is_whole:  # their table was refused, not all rows of it
        given = Rows.dense(given.values, undefined=given.undefined, impossible=given.impossible)
    for place in range(count if is_whole else 0):
        one = given.take(np.array([place])) if isinstance(given, Rows) else given[place : place + 1]
        with suppress(BadRowError):
            parts.append(check_answer(one, 1, width, alphabet))
            places.append(place)
    return np.array(places, dtype=np.int64), Rows.join(parts)


def _check_rows(rows: Rows, count: int, width: int, alphabet: Alphabet) -> Rows:
    """Check rows of any form; find out what is wrong with them, if anything is."""
    wrong = _wrong_form(rows, count, width)
    if wrong is not None:
        raise BadRowError(
            f"{wrong}: for {count} words there have to be {count} rows of {width} columns, the "
            "terminal first, then every symbol"
        )
    if isinstance(rows, SharedRows):
        return rows
    undefined = rows.undefined
    if undefined is not None and undefined.any():
        return _check_defined(rows, undefined, alphabet)
    if rows.is_sparse:
        return check_sparse(rows)
    table, impossible = np.asarray(rows.values, dtype=np.float64), rows.impossible
    bad = wrong_rows(table)
    if bad.any():
        place = int(bad.argmax())
        raise BadRowError(row_fault(table[place]), place)
    if impossible is not None and (marked := impossible & (table[:, 1:] > 0)).any():
        place, symbol = np.argwhere(marked)[0].tolist()
        raise BadRowError(
            f"it gives the symbol {alphabet.symbols[symbol]!r} probability "
            f"{table[place, symbol + 1]:.6g}, and says that no word goes on with it",
            place,
        )
    _check_outside(rows)
    table = np.maximum(table, 0.0) + 0.0  # rounding may leave less than 0; no zero has a sign
    return Rows.dense(table, outside=rows.outside, impossible=impossible)


def check_table(rows: SharedRows, alphabet: Alphabet) -> bool:
    """Refuse shared rows that are not distributions; return whether the whole table is right."""
    table, impossible = rows.table, rows.impossible_after
    if not isinstance(table, np.ndarray) or table.ndim != 2 or table.dtype != np.float64:
        raise BadRowError("the table of its shared rows is not an array of float64")
    if impossible is not None and impossible.shape != table[:, 1:].shape:
        raise BadRowError(f"it has shared rows whose impossible have shape {impossible.shape}")
    wrong = wrong_rows(table)
    if impossible is not None:
        wrong |= (impossible & (table[:, 1:] > 0)).any(axis=1)
    used = np.isin(rows.numbers, wrong.nonzero()[0])
    if used.any():  # what is wrong with the first of them is found out as for any other row
        place = int(used.argmax())
        one = rows.take(np.array([place]))
        try:
            _check_rows(Rows.dense(one.values, impossible=one.impossible), 1, rows.width, alphabet)
        except BadRowError as error:
            error.place = place
            raise
    return not wrong.any()


def _check_defined(rows: Rows, undefined: Flags, alphabet: Alphabet) -> Rows:
    """Check the rows of words that are not undefined."""
    defined = (~undefined).nonzero()[0]
    part = rows.take(defined)
    part.undefined = None
    try:
        part = check_answer(part, len(defined), rows.width, alphabet)
    except BadRowError as error:
        error.place = int(defined[error.place])
        raise
    checked = part.spread(defined, len(rows))
    checked.outside = rows.outside
    return checked


def _make_rows(given: object, width: int) -> Rows:
    """Make dense rows of a table, or of a list of rows in which None is an undefined word."""
    if isinstance(given, list | tuple):
        given = [[np.nan] * width if row is None else _detach(row) for row in given]
    given = _detach(given)
    try:
        table = np.asarray(given)
    except (TypeError, ValueError) as error:
        place = _first_odd(given, width)
        raise BadRowError(f"it is not an array of numbers ({error})", place) from error
    if table.size and table.dtype.kind not in "iuf":
        place = _first_odd(given, width)
        raise BadRowError(f"it is not an array of numbers, but of {table.dtype}", place)
    if table.ndim != 2:
        raise BadRowError(
            f"it is an array of shape {table.shape}: it has to have a row for each word, in it the "
            "terminal first, then every symbol"
        )
    table = table.astype(np.float64, copy=False)
    undefined = np.isnan(table[:, :1]).any(axis=1)
    if undefined.any():
        undefined &= np.isnan(table).all(axis=1)
    return Rows.dense(table, undefined=undefined if undefined.any() else None)


def _detach(given: Any) -> Any:
    """Return a tensor of torch without its gradient, which NumPy does not take; refuse masks."""
    if isinstance(given, np.ma.MaskedArray):
        raise BadRowError(
            "it is a masked array, whose mask would be ignored: call .filled(0), or return None or "
            "NaN in all places of a row for a word that is undefined"
        )
    return given.detach().cpu() if hasattr(given, "detach") else given


def _first_odd(given: object, width: int) -> int:
    """Return the place of the first row that is not one of numbers; 0 if that cannot be said."""
    for place, row in enumerate(given if isinstance(given, list) else []):
        try:
            array = np.asarray(row)
        except ValueError:  # it is ragged itself
            return place
        if array.shape != (width,) or array.dtype.kind not in "iuf":
            return place
    return 0


def _wrong_form(rows: Rows, count: int, width: int) -> str | None:
    """Return which array of rows does not have the shape or the type that it needs."""
    if isinstance(rows, SharedRows):
        numbers, states = rows.numbers, len(rows.table)
        if rows.width == width and isinstance(numbers, np.ndarray) and numbers.shape == (count,):
            if count and not 0 <= int(numbers.min()) <= int(numbers.max()) < states:
                return f"it has numbers of shared rows that are not from 0 to {states - 1}"
            return _wrong_array(rows, "undefined", (count,), "b")
        return "its shared rows have another shape"
    if rows.offsets is None or rows.columns is None:
        shape = getattr(rows.values, "shape", None)
        if shape is not None and shape != (count, width):
            return f"the array for {count} words has shape {shape}, not {(count, width)}"
        needed: list[tuple[str, tuple[int, ...], str]] = [("values", (count, width), "iuf")]
        needed.append(("impossible", (count, width - 1), "b"))
    else:
        if rows.width != width:
            return f"it has rows of {rows.width} columns"
        wrong = _wrong_array(rows, "offsets", (count + 1,), "iu")
        if wrong is not None:
            return wrong
        if rows.offsets[0] != 0 or (np.diff(rows.offsets) < 0).any():
            return "it has offsets that do not ascend from 0"
        listed = (int(rows.offsets[-1]),)
        needed = [("values", listed, "iuf"), ("columns", listed, "iu")]
    beside = {"rest": "iuf", "ceiling": "iuf", "undefined": "b", "outside": "iuf"}
    needed += [(name, (count,), kinds) for name, kinds in beside.items()]
    return next(filter(None, (_wrong_array(rows, *array) for array in needed)), None)


def _wrong_array(rows: Rows, name: str, shape: tuple[int, ...], kinds: str) -> str | None:
    array = getattr(rows, name)
    if array is None:
        return None
    if not isinstance(array, np.ndarray) or isinstance(array, np.ma.MaskedArray):
        return f"it has rows whose {name} are {described(array)}, not an array"
    if array.shape != shape:
        return f"it has rows whose {name} have shape {array.shape}, not {shape}"
    if array.size and array.dtype.kind not in kinds:
        return f"it has rows whose {name} are an array of {array.dtype}"
    return None


def _check_outside(rows: Rows) -> None:
    """Refuse what cannot be the mass outside of the alphabet."""
    if rows.outside is not None:
        wrong = (rows.outside < 0) | (rows.outside > 1 + SUM_TOLERANCE)
        if wrong.any():
            place = int(wrong.argmax())
            raise BadRowError("the mass outside of the alphabet is not from 0 to 1", place)


def check_sparse(rows: Rows) -> Rows:
    """Refuse sparse rows that are not distributions; return them with what rounding left as 0.

    Raises
    ------
    BadRowError
        With the place of a bad row.
    """
    (columns, offsets), values = rows.listing, rows.values
    if not len(rows):
        return rows
    if len(columns) != len(values) or offsets[-1] != len(values) or (np.diff(offsets) < 1).any():
        raise BadRowError("a sparse row lists nothing; it has to list at least the terminal")
    rests = rows.rests
    # From here on no row is empty, which reduceat needs.
    with np.errstate(over="ignore"):
        sums = np.add.reduceat(values, offsets[:-1]) + rests
        ceilings = rows.ceilings * (rows.width - np.diff(offsets))
    falls = np.append(False, columns[1:] <= columns[:-1])
    falls[offsets[:-1]] = False  # where a row begins
    tests = {
        "does not list the terminal first": columns[offsets[:-1]] != 0,
        "lists columns that are not ascending": _any_in_row(falls, offsets),
        f"lists a column beyond {rows.width - 1}": _any_in_row(columns >= rows.width, offsets),
        "has NaN or negative values": _any_in_row(~(values >= -ROUNDING), offsets)
        | ~(rests >= 0)
        | ~(rows.ceilings >= 0),
        "does not sum to 1 with what it does not list": ~(np.abs(sums - 1) <= SUM_TOLERANCE),
        "has a ceiling too low for what it does not list": ceilings < rests - SUM_TOLERANCE,
    }
    for wrong, bad in tests.items():
        if bad.any():
            place = int(bad.argmax())
            row = slice(offsets[place], offsets[place + 1])
            shown = shorten(list(zip(columns[row].tolist(), values[row].tolist(), strict=True)))
            raise BadRowError(f"the sparse row {shown}, rest {rests[place]:.9g}, {wrong}", place)
    _check_outside(rows)
    beside = (rows.rest, rows.ceiling, rows.undefined, rows.outside)
    return Rows(rows.width, np.maximum(values, 0.0), columns, offsets, *beside)


def _any_in_row(flags: Flags, offsets: Integers) -> Flags:
    return np.logical_or.reduceat(flags, offsets[:-1])
