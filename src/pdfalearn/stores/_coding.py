"""Words and rows as bytes, and back; a `ValueError` says what is wrong with bytes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from pdfalearn.checks import SUM_TOLERANCE, row_fault, wrong_rows
from pdfalearn.packed_rows import pack_rows, unpack_rows
from pdfalearn.row_checks import BadRowError, check_sparse
from pdfalearn.rows import Rows
from pdfalearn.words import Words, offsets_of

# The first byte of a row says of which form it is; a mass outside stands right behind "o".
_DENSE, _SPARSE, _SPARSE_OUTSIDE = b"d", b"s", b"o"

# Whoever asks a model checks its rows more strictly, and may round them afterwards.
_TOLERANCE = 2 * SUM_TOLERANCE


def encode_words(words: Words, symbols: int) -> list[bytes]:
    """Write each word, a symbol in as few bytes as the number of symbols allows.

    Examples
    --------
    >>> encode_words(Words.of([(65, 66), (), (67,)]), 100)
    [b'AB', b'', b'C']
    """
    kind = _choose_type(symbols)
    flat = words.symbols.astype(kind).tobytes()
    return [flat[begin:end] for begin, end in pairwise((kind.itemsize * words.offsets).tolist())]


def decode_words(spelled: Sequence[bytes], symbols: int) -> Words:
    """Read what `encode_words` has written."""
    kind = _choose_type(symbols)
    flat = np.frombuffer(b"".join(spelled), kind).astype(np.int32)
    if flat.max(initial=0) >= symbols:
        raise ValueError(f"symbol {flat.max()} is not below {symbols}")
    return Words(flat, offsets_of([len(word) // kind.itemsize for word in spelled]))


def _choose_type(symbols: int) -> np.dtype[np.unsignedinteger]:
    return np.dtype("<u1" if symbols <= 2**8 else "<u2" if symbols <= 2**16 else "<u4")


def encode_rows(rows: Rows) -> list[bytes | None]:
    """Write each row; equal rows are equal bytes, and 0 and -0 stay apart. None is undefined."""
    contents = _encode_sparse(rows) if rows.is_sparse else _encode_dense(rows)
    if rows.undefined is None:
        return [*contents]
    pairs = zip(contents, rows.undefined.tolist(), strict=True)
    return [None if is_undefined else content for content, is_undefined in pairs]


def _encode_dense(rows: Rows) -> list[bytes]:
    beside = [] if rows.outside is None else [rows.outside]
    table = np.column_stack((rows.values, *beside)).astype("<f8", copy=False)
    content, size = table.tobytes(), 8 * table.shape[1]
    return [_DENSE + content[begin : begin + size] for begin in range(0, len(content), size)]


def _encode_sparse(rows: Rows) -> list[bytes]:
    if rows.outside is None:
        return [_SPARSE + content for content in pack_rows(rows)]
    outside = rows.outside.astype("<f8").tobytes()
    return [
        _SPARSE_OUTSIDE + outside[8 * place : 8 * place + 8] + content
        for place, content in enumerate(pack_rows(rows))
    ]


def decode_rows(contents: Sequence[bytes | None], width: int) -> Rows:
    """Read what `encode_rows` has written; what is not a distribution is a `BadRowError`.

    Examples
    --------
    >>> rows = Rows.sparse(4, [0, 2, 3], [0, 2, 0], [0.5, 0.25, 1.0], rest=[0.25, 0.0])
    >>> decode_rows(encode_rows(rows), 4).to_dense()
    array([[0.5  , 0.125, 0.25 , 0.125],
           [1.   , 0.   , 0.   , 0.   ]])
    """
    groups: dict[bytes | int, list[int]] = {}  # dense rows by their sizes, sparse ones by form
    for place, content in enumerate(contents):
        if content is not None:
            form = len(content) if content[:1] == _DENSE else content[:1]
            groups.setdefault(form, []).append(place)
    parts = []
    for form, places in groups.items():
        group = [contents[place] or b"" for place in places]
        is_dense = isinstance(form, int)
        rows = _decode_dense(group, width) if is_dense else _decode_sparse(group, width)
        try:
            check_rows(rows)
        except BadRowError as error:
            raise BadRowError(str(error), places[error.place]) from error
        parts.append(rows)
    undefined = np.ones(len(contents), dtype=bool)
    if not parts:  # of a table without memory
        nothing = np.broadcast_to(np.zeros(1), (len(contents), width))
        return Rows.dense(nothing, undefined=undefined if len(contents) else None)
    # Parts are joined in the order of groups, and then put back into the order of contents.
    rows = _join(parts)
    order = np.array([place for places in groups.values() for place in places])
    if len(parts) > 1 or len(order) < len(contents):
        into = np.zeros(len(contents), dtype=np.int64)  # undefined words get any row
        into[order] = np.arange(len(order))
        rows = rows.take(into)
    undefined[order] = False
    rows.undefined = undefined if undefined.any() else None
    return rows


def _decode_dense(contents: list[bytes], width: int) -> Rows:
    # The first byte says the form; what is behind the columns is the mass outside.
    table = np.frombuffer(b"".join(contents), np.uint8).reshape(len(contents), -1)[:, 1:]
    if table.shape[1] not in (8 * width, 8 * width + 8):
        raise ValueError(f"a row of {table.shape[1]} bytes does not have {width} columns")
    values = np.ascontiguousarray(table).view("<f8").astype(np.float64, copy=False)
    if values.shape[1] == width:
        return Rows.dense(values)
    return Rows.dense(np.ascontiguousarray(values[:, :width]), outside=values[:, width].copy())


def _decode_sparse(contents: list[bytes], width: int) -> Rows:
    form = contents[0][:1]
    begin = 9 if form == _SPARSE_OUTSIDE else 1
    texts = [content[begin:] for content in contents]
    # A packed row has 16 bytes, and 12 more for each probability.
    sizes = {len(text) - 16 for text in texts}
    if form not in (_SPARSE, _SPARSE_OUTSIDE) or min(sizes) < 0 or any(size % 12 for size in sizes):
        raise ValueError("its bytes are not those of a row")
    rows = unpack_rows(texts, width)
    if form == _SPARSE_OUTSIDE:
        rows.outside = np.frombuffer(b"".join([content[1:9] for content in contents]), "<f8")
    return rows


def check_rows(rows: Rows) -> None:
    """Refuse rows that are not distributions; undefined ones are not looked at."""
    places = np.arange(len(rows))
    if rows.undefined is not None:
        places = (~rows.undefined).nonzero()[0]
        rows = rows.take(places)
    try:
        if rows.is_sparse:
            check_sparse(rows)
            return
        wrong = wrong_rows(rows.values, rounding=0.0, tolerance=_TOLERANCE)
        if wrong.any():
            place = int(wrong.argmax())
            raise BadRowError(f"the row {row_fault(rows.values[place], rounding=0.0)}", place)
    except BadRowError as error:
        raise BadRowError(str(error), int(places[error.place])) from error


def _join(parts: Sequence[Rows]) -> Rows:
    """Put rows one below the other; next to sparse ones, dense ones list all of their columns."""
    if any(part.is_sparse for part in parts):
        parts = [part if part.is_sparse else _list_all(part) for part in parts]
    return Rows.join(parts)


def _list_all(rows: Rows) -> Rows:
    count, width = rows.values.shape
    offsets, columns = np.arange(count + 1) * width, np.tile(np.arange(width), count)
    return Rows.sparse(width, offsets, columns, rows.values.ravel(), outside=rows.outside)
