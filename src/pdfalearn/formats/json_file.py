"""PDFA as JSON text, plain or gzipped."""

from __future__ import annotations

import json
import reprlib
import zlib
from collections.abc import Iterator
from itertools import chain
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from pdfalearn.errors import FileFormatError, InputError
from pdfalearn.files.json_text import PIECE, inflate_all, join_pieces, mebibytes, read_all
from pdfalearn.formats._header import checked_header, header_text, parsed
from pdfalearn.pdfa import PDFA

TEXT_LIMIT = 128 * 2**20
"""The most bytes of JSON text, before compression, that are written or read."""

LISTS_LIMIT = 5_000_000
"""The most lists in a JSON text: Python needs many times the memory that their brackets take."""

KEYS_LIMIT = 1_000_000
STRINGS_LIMIT = 5_000_000
"""The most keys and strings, for the same reason; colons and quotes in symbols count too."""


def write(pdfa: PDFA, stream: BinaryIO) -> None:
    """Write a PDFA as JSON, one row of its tables a line."""
    stream.write(_text(pdfa))


def write_gzipped(pdfa: PDFA, stream: BinaryIO) -> None:
    """Write a PDFA as gzipped JSON: the same PDFA gives the same bytes, whenever it is written."""
    stream.write(zlib.compress(_text(pdfa), wbits=31))  # 31: gzip, without name or time


def read(stream: BinaryIO) -> PDFA:
    """Read a PDFA from JSON."""
    return _pdfa(read_all(stream, TEXT_LIMIT, _too_large()))


def read_gzipped(stream: BinaryIO) -> PDFA:
    """Read a PDFA from gzipped JSON."""
    return _pdfa(inflate_all(stream, TEXT_LIMIT, _too_large()))


def _too_large() -> FileFormatError:
    return FileFormatError(
        f"more than {mebibytes(TEXT_LIMIT)} of JSON text; large PDFA go into .npz files"
    )


def _text(pdfa: PDFA) -> bytes:
    size = f"{len(pdfa)} states and {len(pdfa.alphabet)} symbols"
    too_large = InputError(
        f"{size} are more than {mebibytes(TEXT_LIMIT)} of JSON text; save as .npz"
    )
    if 2 * len(pdfa) + 3 > LISTS_LIMIT:
        raise too_large
    text = join_pieces(_pieces(pdfa), TEXT_LIMIT, too_large)
    if excess := _excess(text):
        raise InputError(f"its symbols look to JSON like {excess}; save as .npz")
    return text


def _pieces(pdfa: PDFA) -> Iterator[bytes]:
    yield header_text(pdfa).removesuffix(b"}")
    tables: dict[str, NDArray[Any]] = {
        "transitions": pdfa.transitions,
        "probabilities": pdfa.probabilities,
    }
    for name, table in tables.items():
        yield f',\n"{name}":['.encode()
        rows = max(1, PIECE // table.shape[1])
        for begin in range(0, len(table), rows):
            text = json.dumps(table[begin : begin + rows].tolist(), separators=(",", ":"))
            yield (",\n" if begin else "\n").encode()
            yield text[1:-1].replace("],[", "],\n[").encode()
        yield b"]"
    yield b"}\n"


def _pdfa(text: bytes) -> PDFA:
    if excess := _excess(text):
        raise FileFormatError(f"{excess}; large PDFA go into .npz files")
    document = parsed(text)
    alphabet, initial = checked_header(document, ("transitions", "probabilities"))
    columns = len(alphabet)
    return PDFA(
        alphabet=alphabet,
        transitions=_table(document, "transitions", columns, np.int64),
        probabilities=_table(document, "probabilities", columns + 1, np.float64),
        initial=initial,
    )


def _excess(text: bytes) -> str | None:
    """Return what a text has too many of to be parsed; None if it may be parsed."""
    counts = {
        "lists": (text.count(b"["), LISTS_LIMIT),
        "keys": (text.count(b":"), KEYS_LIMIT),
        "strings": (text.count(b'"') // 2, STRINGS_LIMIT),
    }
    for what, (count, limit) in counts.items():
        if count > limit:
            return f"more than {limit:,} {what}"
    return None


def _table(
    document: dict[str, Any], name: str, columns: int, dtype: type[np.number[Any]]
) -> NDArray[Any]:
    rows = document[name]
    if not isinstance(rows, list):
        raise FileFormatError(f"{name} {reprlib.repr(rows)} are not a list of rows")
    for state, row in enumerate(rows):
        if not isinstance(row, list) or len(row) != columns:
            raise FileFormatError(
                f"{name} of state {state}: {reprlib.repr(row)} is not a list of {columns} numbers"
            )
    kinds: set[type] = {int} if dtype is np.int64 else {int, float}
    try:
        if not kinds.issuperset(map(type, chain.from_iterable(rows))):
            raise TypeError
        flat = np.fromiter(chain.from_iterable(rows), dtype, len(rows) * columns)
    except (TypeError, OverflowError) as error:
        raise FileFormatError(_culprit(rows, name, kinds)) from error
    return flat.reshape(len(rows), columns)


def _culprit(rows: list[list[Any]], name: str, kinds: set[type]) -> str:
    what = "a probability" if float in kinds else "a state's number"
    for state, row in enumerate(rows):
        for column, value in enumerate(row):
            if type(value) not in kinds or not -(2**63) <= value < 2**63:
                return (
                    f"{name} of state {state}, entry {column}: {reprlib.repr(value)} is not {what}"
                )
    raise AssertionError(f"all {name} are as they should be")
