"""Words and rows as bytes, and back; a `ValueError` says what is wrong with bytes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pdfalearn.checks import SUM_TOLERANCE, row_fault, wrong_rows
from pdfalearn.row_checks import BadRowError, check_sparse
from pdfalearn.rows import Rows
from pdfalearn.words import Words, offsets_of

DENSE, SPARSE = b"d", b"s"
"""The first byte of rows says of which form they are."""

_ENTRY = np.dtype([("column", "<u4"), ("value", "<f8")])
"""A probability of a sparse row. Behind its symbols come the rest, the ceiling and the outside."""

_TOLERANCE = 2 * SUM_TOLERANCE
"""Whoever asks a model checks its rows more strictly, and may round them afterwards."""

Numbers = NDArray[np.int64]


def encode_words(words: Words, symbols: int) -> bytes:
    r"""Write words one after the other: symbol i as i + 1, and 0 behind each word.

    Examples
    --------
    >>> encode_words(Words.of([(0, 1), (), (2,)]), 3)
    b'\x01\x02\x00\x00\x03\x00'
    """
    flat = np.zeros(len(words.symbols) + len(words), dtype=choose_type(symbols))
    is_symbol = np.ones(len(flat), dtype=bool)
    is_symbol[words.ends] = False
    flat[is_symbol] = words.symbols + 1
    return flat.tobytes()


def decode_words(content: bytes, symbols: int) -> Words:
    """Read what `encode_words` has written."""
    flat = np.frombuffer(content, dtype=choose_type(symbols))
    is_end = flat == 0
    if len(flat) and not is_end[-1]:
        raise ValueError("the last word has no end")
    if flat.max(initial=0) > symbols:
        raise ValueError(f"symbol {flat.max() - 1} is not below {symbols}")
    ends = is_end.nonzero()[0]
    offsets = np.concatenate(([0], ends - np.arange(len(ends))))
    return Words(flat[~is_end].astype(np.int32) - 1, offsets)


def choose_type(symbols: int) -> np.dtype[np.unsignedinteger]:
    """Return the smallest type that holds every symbol and the end of words."""
    return np.dtype("<u1" if symbols < 2**8 else "<u2" if symbols < 2**16 else "<u4")


def encode_rows(rows: Rows) -> list[bytes]:
    """Write each row; equal rows are equal bytes, and what is 0 or -0 stays so."""
    if rows.offsets is None or rows.columns is None:
        table = rows.values
        if rows.outside is not None:
            table = np.column_stack((table, rows.outside))
        content = np.ascontiguousarray(table, dtype="<f8").tobytes()
        size = 8 * table.shape[1]
        return [content[begin : begin + size] for begin in range(0, len(content), size)]
    lengths = np.diff(rows.offsets)
    rests = rows.rests
    is_open = rests != 0
    offsets = offsets_of(lengths + 2 * is_open + (rows.outside is not None))
    entries = np.empty(offsets[-1], dtype=_ENTRY)
    here = np.arange(len(rows.values)) + np.repeat(offsets[:-1] - rows.offsets[:-1], lengths)
    entries["column"][here], entries["value"][here] = rows.columns, rows.values
    behind = offsets[:-1] + lengths
    for place, beside in enumerate((rests, rows.ceilings)):
        here = behind[is_open] + place
        entries["column"][here], entries["value"][here] = rows.width + place, beside[is_open]
    if rows.outside is not None:
        here = offsets[1:] - 1
        entries["column"][here], entries["value"][here] = rows.width + 2, rows.outside
    content, bounds = entries.tobytes(), (_ENTRY.itemsize * offsets).tolist()
    return [content[bounds[row] : bounds[row + 1]] for row in range(len(rows))]


def decode_rows(content: bytes, count: int, width: int) -> Rows:
    """Read rows that `encode_rows` has written, behind the byte that says of which form they are.

    Examples
    --------
    >>> rows = Rows.sparse(4, [0, 2, 3], [0, 2, 0], [0.5, 0.25, 1.0], rest=[0.25, 0.0])
    >>> decode_rows(SPARSE + b"".join(encode_rows(rows)), 2, 4).to_dense()
    array([[0.5  , 0.125, 0.25 , 0.125],
           [1.   , 0.   , 0.   , 0.   ]])
    """
    if content[:1] == SPARSE:
        rows = _decode_sparse(np.frombuffer(content, _ENTRY, offset=1), width)
    else:
        table = np.frombuffer(content, "<f8", offset=1).astype(np.float64).reshape(count, -1)
        has_outside = bool(count) and table.shape[1] == width + 1
        outside = table[:, width].copy() if has_outside else None
        values = np.ascontiguousarray(table[:, :width]) if has_outside else table
        rows = Rows(table.shape[1] - has_outside, values, outside=outside)
    if len(rows) != count or rows.width != width:
        raise ValueError(f"there are {len(rows)} rows of {rows.width}, not {count} of {width}")
    check_rows(rows)
    return rows


def _decode_sparse(entries: NDArray[np.void], width: int) -> Rows:
    columns, values = entries["column"].astype(np.int64), entries["value"].astype(np.float64)
    begins = columns == 0  # every row lists the terminal first
    if len(columns) and (not begins[0] or columns.max() > width + 2):
        raise ValueError("the sparse rows have no beginning, or columns that do not exist")
    count = int(begins.sum())
    row_of = np.cumsum(begins) - 1
    beside: list[NDArray[np.float64] | None] = []
    for column in range(width, width + 3):
        here = columns == column
        part = np.zeros(count)
        part[row_of[here]] = values[here]
        beside.append(part if here.any() else None)
    rest, ceiling, outside = beside
    listed = columns < width
    offsets = offsets_of(np.bincount(row_of[listed], minlength=count))
    return Rows.sparse(
        width, offsets, columns[listed], values[listed], rest=rest, ceiling=ceiling, outside=outside
    )


def check_rows(rows: Rows) -> None:
    """Refuse rows that are not distributions; undefined ones are not looked at."""
    places = np.arange(len(rows))
    if rows.undefined is not None:
        places = (~rows.undefined).nonzero()[0]
        rows = rows.take(places)
    if rows.is_sparse:
        try:
            check_sparse(rows)
        except BadRowError as error:
            raise BadRowError(str(error), int(places[error.place])) from error
        return
    wrong = wrong_rows(rows.values, rounding=0.0, tolerance=_TOLERANCE)
    if wrong.any():
        place = int(wrong.argmax())
        fault = row_fault(rows.values[place], rounding=0.0)
        raise BadRowError(f"the row {fault}", int(places[place]))


def join_rows(parts: Sequence[Rows]) -> Rows:
    """Put rows one below the other; next to sparse ones, dense ones list all of their columns."""
    if any(part.is_sparse for part in parts):
        parts = [part if part.is_sparse else _list_all(part) for part in parts]
    return Rows.joined(parts)


def _list_all(rows: Rows) -> Rows:
    count, width = rows.values.shape
    columns = np.tile(np.arange(width), count)
    offsets = np.arange(count + 1) * width
    return Rows.sparse(width, offsets, columns, rows.values.ravel(), outside=rows.outside)
