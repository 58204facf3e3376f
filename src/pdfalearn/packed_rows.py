"""Sparse rows as bytes, one text of bytes each."""

from __future__ import annotations

import numpy as np

from pdfalearn.rows import Rows
from pdfalearn.words import offsets_of

# The bytes of a row's rest and ceiling, which stand before its values and columns.
_BESIDE = 16
# The bytes of a value and its column.
_ENTRY = 12


def pack_rows(rows: Rows) -> list[bytes]:
    """Return every row as bytes: its rest, its ceiling, its values, their columns."""
    rows = rows.to_sparse()
    beside = np.column_stack((rows.rests, rows.ceilings)).tobytes()
    values, columns = rows.values.tobytes(), rows.listing[0].tobytes()
    ends = rows.listing[1].tolist()
    return [
        beside[_BESIDE * row : _BESIDE * (row + 1)]
        + values[8 * ends[row] : 8 * ends[row + 1]]
        + columns[4 * ends[row] : 4 * ends[row + 1]]
        for row in range(len(rows))
    ]


def unpack_rows(rows: list[bytes], width: int) -> Rows:
    """Return the rows from the bytes that `pack_rows` has made.

    Examples
    --------
    >>> rows = Rows.sparse(4, [0, 2, 3], [0, 2, 0], [0.5, 0.25, 1.0], rest=[0.25, 0.0])
    >>> unpack_rows(pack_rows(rows), 4).to_dense()
    array([[0.5  , 0.125, 0.25 , 0.125],
           [1.   , 0.   , 0.   , 0.   ]])
    """
    lengths = np.array([(len(row) - _BESIDE) // _ENTRY for row in rows], dtype=np.int64)
    ends = (_BESIDE + 8 * lengths).tolist()
    beside = np.frombuffer(b"".join([row[:_BESIDE] for row in rows])).reshape(-1, 2)
    values = b"".join([row[_BESIDE:end] for row, end in zip(rows, ends, strict=True)])
    columns = b"".join([row[end:] for row, end in zip(rows, ends, strict=True)])
    has_rest = bool(beside[:, 0].any())
    return Rows.sparse(
        width,
        offsets_of(lengths),
        np.frombuffer(columns, dtype=np.int32),
        np.frombuffer(values),
        rest=beside[:, 0] if has_rest else None,
        ceiling=beside[:, 1] if has_rest else None,
    )
