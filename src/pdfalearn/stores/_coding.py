"""Words and rows as bytes, and back; a `ValueError` says what is wrong with bytes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from pdfalearn.checks import SUM_TOLERANCE, row_fault, wrong_rows
from pdfalearn.packed_rows import pack_rows, unpack_rows
from pdfalearn.row_checks import BadRowError, check_sparse
from pdfalearn.rows import Rows
from pdfalearn.typing import Floats, Integers
from pdfalearn.words import Words, offsets_of

# The first byte of a row says of which form it is; a capital has a mass outside behind it.
_DENSE, _SPARSE = b"d", b"s"

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
    form, texts = (_SPARSE, pack_rows(rows)) if rows.is_sparse else (_DENSE, _split(rows.values))
    heads = [form] * len(texts)
    if rows.outside is not None:
        heads = [form.upper() + outside for outside in _split(rows.outside[:, None])]
    flags = [False] * len(texts) if rows.undefined is None else rows.undefined.tolist()
    parts = zip(heads, texts, flags, strict=True)
    return [None if is_undefined else head + text for head, text, is_undefined in parts]


def _split(table: Floats) -> list[bytes]:
    content, size = table.astype("<f8", copy=False).tobytes(), 8 * table.shape[1]
    return [content[begin : begin + size] for begin in range(0, len(content), size)]


def decode_rows(contents: Sequence[bytes | None], width: int) -> Rows:
    """Read what `encode_rows` has written; what is not a distribution is a `BadRowError`."""
    groups: dict[bytes, list[int]] = {}
    for place, content in enumerate(contents):
        if content is not None:
            groups.setdefault(content[:1], []).append(place)
    parts = []
    for form, places in groups.items():
        rows = _decode_group([contents[place] or b"" for place in places], form, width)
        check_rows(rows, np.array(places))
        parts.append(rows)
    undefined = np.ones(len(contents), dtype=bool)
    if not parts:  # of a table without memory
        nothing = np.broadcast_to(np.zeros(1), (len(contents), width))
        return Rows.dense(nothing, undefined=undefined if len(contents) else None)
    # Next to sparse rows, dense ones list all of their columns.
    if any(part.is_sparse for part in parts):
        parts = [_list_all(part) for part in parts]
    # Parts are joined in the order of groups, and then put back into the order of contents.
    rows = Rows.join(parts)
    order = np.array([place for places in groups.values() for place in places])
    if len(parts) > 1 or len(order) < len(contents):
        into = np.zeros(len(contents), dtype=np.int64)  # undefined words get any row
        into[order] = np.arange(len(order))
        rows = rows.take(into)
    undefined[order] = False
    rows.undefined = undefined if undefined.any() else None
    return rows


def _decode_group(contents: list[bytes], form: bytes, width: int) -> Rows:
    begin = 9 if form.isupper() else 1
    texts = [content[begin:] for content in contents]
    sizes = {len(text) for text in texts}
    if form.lower() == _DENSE:
        if sizes != {8 * width}:
            raise ValueError(f"a row of {max(sizes)} bytes does not have {width} columns")
        values = np.frombuffer(b"".join(texts), "<f8").reshape(-1, width)
        rows = Rows.dense(values.astype(np.float64, copy=False))
    # A packed row has 16 bytes, and 12 more for each probability.
    elif form.lower() == _SPARSE and min(sizes) >= 16 and all(size % 12 == 4 for size in sizes):
        rows = unpack_rows(texts, width)
    else:
        raise ValueError("its bytes are not those of a row")
    if form.isupper():
        rows.outside = np.frombuffer(b"".join([content[1:9] for content in contents]), "<f8")
    return rows


def check_rows(rows: Rows, places: Integers) -> None:
    """Refuse rows at some places that are not distributions; undefined ones are not looked at."""
    if rows.undefined is not None:
        defined = (~rows.undefined).nonzero()[0]
        rows, places = rows.take(defined), places[defined]
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


def _list_all(rows: Rows) -> Rows:
    if rows.is_sparse:
        return rows
    count, width = rows.values.shape
    offsets, columns = np.arange(count + 1) * width, np.tile(np.arange(width), count)
    return Rows.sparse(width, offsets, columns, rows.values.ravel(), outside=rows.outside)
