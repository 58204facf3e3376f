"""Batches of answers as rows of the table, each with its checksum."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pdfalearn.errors import DamagedStoreError
from pdfalearn.rows import Rows
from pdfalearn.stores._failures import damaged
from pdfalearn.stores._models import ModelRow
from pdfalearn.stores.segments import Segment, stored_rows

_INTEGERS = np.dtype("<i4")
_FLOATS = np.dtype("<f8")
"""How numbers are in the file, whatever the machine."""

MOST_BYTES = 2**26
"""What has more bytes is written as several batches; SQLite takes 10⁹ in one."""

_WRITERS = "SELECT DISTINCT writer FROM batches WHERE model = ? ORDER BY writer"
_NEXT_WRITER = "SELECT coalesce(max(writer), 0) + 1 FROM batches WHERE model = ?"
_READ = (
    "SELECT writer, sequence, written, checksum, parents, symbols, nodes, numbers, rows, "
    "listed "
    "FROM batches WHERE model = ? AND writer = ? ORDER BY sequence"
)
_INSERT = "INSERT INTO batches VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"


class Batch(NamedTuple):
    """One row of the table; its blobs are the arrays of a part of a segment.

    They are not compressed: probabilities hardly get smaller, and writing takes six times as long.
    """

    writer: int
    sequence: int
    written: str
    checksum: int
    blobs: Sequence[bytes]

    def computed_checksum(self, model: ModelRow) -> int:
        """Sum up all that is in the row."""
        place = f"{self.writer}\n{self.sequence}\n{self.written}\n"
        checksum = zlib.crc32(place.encode(), model.seal)
        for blob in self.blobs:
            checksum = zlib.crc32(blob, checksum)
        return checksum


def writers_of(connection: sqlite3.Connection, model: ModelRow) -> list[int]:
    """Return the writers of a model in the order in which they began."""
    return [writer for (writer,) in connection.execute(_WRITERS, (model.id,))]


def next_writer(connection: sqlite3.Connection, model: ModelRow) -> int:
    """Return the number of a model's next writer; only in the transaction of its first batch."""
    (number,) = connection.execute(_NEXT_WRITER, (model.id,)).fetchone()
    return int(number)


def insert(
    connection: sqlite3.Connection,
    model: ModelRow,
    writer: int,
    sequence: int,
    part: Segment,
    written: str,
) -> int:
    """Write a part of a segment; return the sequence number after its last batch."""
    for piece in _pieces(part):
        blobs = [
            array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes()
            for array in piece.arrays()
        ]
        batch = Batch(writer, sequence, written, 0, blobs)
        checksum = batch.computed_checksum(model)
        connection.execute(_INSERT, (model.id, writer, sequence, written, checksum, *blobs))
        sequence += 1
    return sequence


def read_batches(
    connection: sqlite3.Connection, path: Path, model: ModelRow, writer: int
) -> Iterator[Batch]:
    """Read a writer's batches in order; one that is missing or damaged is an error."""
    for place, row in enumerate(connection.execute(_READ, (model.id, writer))):
        number, sequence, written, checksum, *blobs = row
        batch = Batch(number, sequence, written, checksum, blobs)
        if batch.sequence != place:
            raise bad_batch(path, model, writer, place, "it is missing")
        if not all(isinstance(blob, bytes) for blob in batch.blobs):
            raise bad_batch(path, model, writer, place, "its arrays are not bytes")
        if batch.checksum != batch.computed_checksum(model):
            raise bad_batch(path, model, writer, place, "its checksum is wrong")
        yield batch


def read_segment(
    connection: sqlite3.Connection, path: Path, model: ModelRow, writer: int, alphabet_size: int
) -> Segment:
    """Read all that a writer has written."""
    buffers = [bytearray() for _ in range(4)]
    parts: list[Rows] = []
    last = 0
    try:
        for batch in read_batches(connection, path, model, writer):
            last = batch.sequence
            *integers, values, listed = batch.blobs
            for buffer, blob in zip(buffers, integers, strict=True):
                buffer += blob
            parts.append(_rows(values, listed, alphabet_size))
        return _segment(buffers, _joined(parts, alphabet_size), alphabet_size)
    except ValueError as error:
        if isinstance(error, DamagedStoreError):
            raise
        raise bad_batch(path, model, writer, last, f"up to it, {error}") from error


def parsed(
    blobs: Sequence[bytes | bytearray],
    alphabet_size: int,
    nodes_before: int = 1,
    rows_before: int = 0,
) -> Segment:
    """Make arrays of bytes; a `ValueError` says what is wrong with them."""
    *integers, values, listed = blobs
    rows = _rows(values, listed, alphabet_size)
    return _segment(integers, rows, alphabet_size, nodes_before, rows_before)


def _joined(parts: list[Rows], alphabet_size: int) -> Rows:
    """Put the rows of batches one below the other; batches without rows are left out."""
    some = [part for part in parts if len(part)]
    return Rows.joined(some) if some else Rows.dense(np.empty((0, alphabet_size + 1)))


def _rows(values: bytes | bytearray, listed: bytes | bytearray, alphabet_size: int) -> Rows:
    floats, integers = np.frombuffer(values, _FLOATS), np.frombuffer(listed, _INTEGERS)
    return stored_rows(floats, integers, alphabet_size)


def _segment(
    blobs: Sequence[bytes | bytearray],
    rows: Rows,
    alphabet_size: int,
    nodes_before: int = 1,
    rows_before: int = 0,
) -> Segment:
    parents, symbols, nodes, numbers = (np.frombuffer(blob, _INTEGERS) for blob in blobs)
    return Segment.of(
        parents,
        symbols,
        nodes,
        numbers,
        rows,
        alphabet_size=alphabet_size,
        nodes_before=nodes_before,
        rows_before=rows_before,
    )


def bad_batch(
    path: Path, model: ModelRow, writer: int, sequence: int, what: str
) -> DamagedStoreError:
    """Make the error for a batch that is not as it was written."""
    return damaged(path, f"model {model.key!r}, writer {writer}, batch {sequence}: {what}")


def _pieces(part: Segment) -> Iterator[Segment]:
    """Cut what is too large: rows first, then words, then answers, so that references go back."""
    if sum(array.nbytes for array in part.arrays()) <= MOST_BYTES:
        yield part
        return
    none = slice(0)
    for rows in _slices(len(part.rows), part.rows.nbytes):
        yield part.cut(none, none, rows)
    for nodes in _slices(len(part.parents), 2 * part.parents.nbytes):
        yield part.cut(nodes, none, none)
    for answers in _slices(len(part.nodes), 2 * part.nodes.nbytes):
        yield part.cut(none, answers, none)


def _slices(count: int, size: int) -> Iterator[slice]:
    step = max(1, count * MOST_BYTES // max(1, size))
    return (slice(begin, begin + step) for begin in range(0, count, step))
