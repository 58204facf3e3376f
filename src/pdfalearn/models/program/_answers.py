"""What a program has answered, checked."""

from __future__ import annotations

import json
import math

import numpy as np

from pdfalearn.models.program._exchange import FaultError, excerpt
from pdfalearn.row_checks import BadRowError
from pdfalearn.rows import Rows
from pdfalearn.text import described

_NUMBER = 64
"""No number takes more bytes than this in an answer, with what stands between numbers."""
_BESIDE = 2**16
"""No answer has more bytes than this beside its numbers."""


def most_bytes(count: int, width: int) -> int:
    """Return the most bytes that the answer to a number of words may have."""
    return _NUMBER * count * width + _BESIDE


def read_rows(line: bytes, count: int, width: int) -> Rows:
    """Read the answer to a number of words.

    Raises
    ------
    FaultError
        If the line is not an answer at all, which may pass.
    BadRowError
        If one of its rows cannot be a distribution.

    Examples
    --------
    >>> rows = read_rows(b'{"rows": [[0.5, 0.5], null]}', 2, 2)
    >>> rows.undefined.tolist()
    [False, True]
    """
    try:
        body = json.loads(line.decode())
    except (ValueError, RecursionError):
        body = None
    given = body.get("rows") if isinstance(body, dict) else None
    if not isinstance(given, list):
        raise FaultError(
            f'it answered {excerpt(line)}, which is not of the form {{"rows": [[0.5, …], …]}}; '
            "only answers may be written to the standard output, all else to the standard error"
        )
    if len(given) != count:
        raise FaultError(f"it answered {count} words with {len(given)} rows; each word needs one")
    has_flags = b"true" in line or b"false" in line  # NumPy would take them for numbers
    if has_flags and not all(_is_row(row, width) for row in given):
        raise _bad_row(given, width)
    return _rows(given, width)


def _rows(given: list[object], width: int) -> Rows:
    nothing = [0.0] * width
    try:
        table = np.asarray([nothing if row is None else row for row in given])
    except ValueError:  # rows of different lengths
        table = np.empty(0)
    is_table = table.shape == (len(given), width) and table.dtype.kind in "iuf"
    if not is_table or not np.isfinite(table).all():
        raise _bad_row(given, width)
    values = table.astype(np.float64, copy=False)
    undefined = np.array([row is None for row in given])
    if not undefined.any():
        return Rows(width, values)
    values[undefined] = np.nan
    return Rows(width, values, undefined=undefined)


def _bad_row(given: list[object], width: int) -> BadRowError:
    place = next(place for place, row in enumerate(given) if not _is_row(row, width))
    return BadRowError(
        f"the program wrote {described(given[place])}, but a row is a list of {width} numbers, the "
        "terminal's and then each symbol's, or null where the word is undefined",
        place,
    )


def _is_row(row: object, width: int) -> bool:
    if row is None:
        return True
    return isinstance(row, list) and len(row) == width and all(map(_is_number, row))


def _is_number(value: object) -> bool:
    if isinstance(value, int):
        return not isinstance(value, bool) and abs(value) < 2**63
    return isinstance(value, float) and math.isfinite(value)
