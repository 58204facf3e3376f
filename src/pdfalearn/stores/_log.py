"""The answers of one model as batches in a file: append them, and read them again."""

from __future__ import annotations

import sqlite3
import zlib
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import groupby, pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pdfalearn.errors import DamagedStoreError
from pdfalearn.rows import Rows
from pdfalearn.stores._coding import (
    DENSE,
    SPARSE,
    Numbers,
    decode_rows,
    decode_words,
    encode_words,
    join_rows,
)
from pdfalearn.stores._models import ModelRow
from pdfalearn.stores._sqlite import make_damage_error
from pdfalearn.words import Words

UNDEFINED = -1
"""The number of an undefined word's row."""

BATCH_BYTES = 2**20
"""What has more bytes is written as several batches; rows are read as many bytes at a time."""

_CACHED = 256
"""Rows stay in memory up to this many times these bytes."""

_INSERT = "INSERT INTO batches VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
_READ = (
    "SELECT sequence, written, new_rows, checksum, length(rows), words, numbers FROM batches "
    "WHERE model = ? AND sequence >= ? ORDER BY sequence"
)
_READ_ROWS = (
    "SELECT sequence, new_rows, checksum, rows_checksum, rows FROM batches "
    "WHERE model = ? AND sequence BETWEEN ? AND ? ORDER BY sequence"
)


class Batch(NamedTuple):
    """What is remembered of a batch: its defined words, its new rows, and the bytes of these."""

    defined: int
    new_rows: int
    bytes: int


class Chunk(NamedTuple):
    """Batches that were written or read together: words, and the numbers of their rows."""

    batches: list[Batch]
    words: Words
    numbers: Numbers


class AnswerLog:
    """The batches of one model, in the order in which they were written.

    Rows are numbered as they are stored, from 0 on. A batch has words, the numbers of their rows,
    and those of these rows that are new. Nothing is compressed: probabilities hardly get smaller,
    and writing would take six times as long.

    Parameters
    ----------
    path : Path
        The file, for errors.
    model : ModelRow
        Which model.
    alphabet_size : int
        The number of symbols.
    """

    def __init__(self, path: Path, model: ModelRow, alphabet_size: int) -> None:
        self._path = path
        self._model = model
        self._symbols = alphabet_size
        self.batches: list[Batch] = []
        self.row_count = 0
        # Units are batches whose rows are read together: the first row and batch of each.
        self._units: list[tuple[int, int]] = []
        self._unit_bytes = BATCH_BYTES
        self._cache: OrderedDict[tuple[int, int], Rows] = OrderedDict()

    def append(
        self,
        connection: sqlite3.Connection,
        words: Words,
        numbers: Numbers,
        new_rows: Sequence[bytes],
        *,
        is_sparse: bool,
        time: str,
    ) -> Chunk:
        """Write answers as batches; the caller has to `note` them once they are committed.

        Parameters
        ----------
        connection : sqlite3.Connection
            A connection in a transaction.
        words : Words
            The words.
        numbers : array of int
            The number of each word's row; new rows have the next numbers, in their order.
        new_rows : sequence of bytes
            The new rows, as `encode_rows` has made them.
        is_sparse : bool
            Whether they are sparse.
        time : str
            When this was written.
        """
        batches: list[Batch] = []
        known = 0
        for begin, end in _cut(words, sum(map(len, new_rows))):
            listed = numbers[begin:end]
            until = max(known, int(listed.max()) + 1 - self.row_count)
            rows = b"".join((SPARSE if is_sparse else DENSE, *new_rows[known:until]))
            batch = Batch(int((listed != UNDEFINED).sum()), until - known, len(rows))
            sequence = len(self.batches) + len(batches)
            spelled = encode_words(words.part(begin, end), self._symbols)
            blobs = (spelled, listed.astype("<i4").tobytes())
            checksum = self._sum_up(sequence, time, batch.new_rows, *blobs)
            row = (self._model.id, sequence, time, *blobs, batch.new_rows, checksum)
            connection.execute(_INSERT, (*row, rows, zlib.crc32(rows, checksum)))
            batches.append(batch)
            known = until
        return Chunk(batches, words, numbers)

    def note(self, batches: list[Batch]) -> None:
        """Note the next batches, which are in the file now."""
        for batch in batches:
            if self._unit_bytes >= BATCH_BYTES:
                self._units.append((self.row_count, len(self.batches)))
                self._unit_bytes = 0
            self._unit_bytes += batch.bytes
            self.row_count += batch.new_rows
            self.batches.append(batch)

    def read(self, connection: sqlite3.Connection, sequence: int, most: int) -> Chunk | None:
        """Read the words of batches from one on, up to about so many bytes; None if there is none.

        At least one batch is read.
        """
        batches, spelled, listed = list[Batch](), list[bytes](), list[Numbers]()
        size, rows = 0, self.row_count if sequence == len(self.batches) else 0
        with closing(connection.execute(_READ, (self._model.id, sequence))) as cursor:
            for place, time, new_rows, checksum, row_bytes, words, numbers in cursor:
                if place != sequence + len(batches):
                    raise self.make_error(sequence + len(batches), "it is missing")
                if not (isinstance(words, bytes) and isinstance(numbers, bytes)):
                    raise self.make_error(place, "its arrays are not bytes")
                if checksum != self._sum_up(place, time, new_rows, words, numbers):
                    raise self.make_error(place, "its checksum is wrong")
                spelled.append(words)
                listed.append(np.frombuffer(numbers, "<i4").astype(np.int64))
                batches.append(Batch(int((listed[-1] != UNDEFINED).sum()), new_rows, row_bytes))
                rows += new_rows
                size += len(words) + len(numbers)
                if size > most:
                    break
        if not batches:
            return None
        try:
            chunk = Chunk(
                batches, decode_words(b"".join(spelled), self._symbols), np.concatenate(listed)
            )
            _check_numbers(chunk, max(rows, self.row_count))
        except ValueError as error:
            raise self.make_error(sequence + len(batches) - 1, f"up to it, {error}") from error
        return chunk

    def read_rows(self, connection: sqlite3.Connection, numbers: Numbers) -> Rows:
        """Return the rows of some numbers; they are undefined where a number is `UNDEFINED`."""
        is_defined = numbers != UNDEFINED
        wanted = numbers[is_defined]
        if not len(wanted):
            nothing = np.broadcast_to(np.zeros(1), (len(numbers), self._symbols + 1))
            return Rows.dense(nothing, undefined=~is_defined if len(numbers) else None)
        begins = np.array([row for row, _ in self._units])
        units = np.searchsorted(begins, wanted, side="right") - 1
        order = np.argsort(units, kind="stable")
        parts = []
        for unit, places in groupby(order.tolist(), key=units.tolist().__getitem__):
            here = wanted[list(places)]
            parts.append(self._read_unit(connection, unit).take(here - begins[unit]))
        # What the rows of undefined words hold does not matter.
        into = np.zeros(len(numbers), dtype=np.int64)
        into[is_defined.nonzero()[0][order]] = np.arange(len(wanted))
        rows = join_rows(parts).take(into)
        rows.undefined = None if is_defined.all() else ~is_defined
        return rows

    def check_rows(self, connection: sqlite3.Connection, sequence: int) -> None:
        """Read the rows of one batch, and check them."""
        self._decode(connection, sequence, sequence)

    def _read_unit(self, connection: sqlite3.Connection, unit: int) -> Rows:
        """Return the rows of a unit; the last ones that were asked for are in memory."""
        first = self._units[unit][1]
        is_last = unit + 1 == len(self._units)
        last = (len(self.batches) if is_last else self._units[unit + 1][1]) - 1
        rows = self._cache.pop((first, last), None)
        if rows is None:
            rows = self._decode(connection, first, last)
        self._cache[first, last] = rows
        if len(self._cache) > _CACHED:
            self._cache.popitem(last=False)
        return rows

    def _decode(self, connection: sqlite3.Connection, first: int, last: int) -> Rows:
        """Read the rows of batches that follow each other."""
        parts = []
        read = self._read_contents(connection, first, last)
        # Batches of one form and one size of rows are decoded together.
        for _, group in groupby(read, key=lambda row: (row[2][:1], (len(row[2]) - 1) / row[1])):
            batches = list(group)
            form = batches[0][2][:1]
            content = b"".join((form, *(rows[1:] for _, _, rows in batches)))
            try:
                parts.append(
                    decode_rows(content, sum(row[1] for row in batches), self._symbols + 1)
                )
            except ValueError as error:
                raise self.make_error(batches[-1][0], f"up to it, {error}") from error
        return join_rows(parts) if parts else Rows.dense(np.empty((0, self._symbols + 1)))

    def _read_contents(
        self, connection: sqlite3.Connection, first: int, last: int
    ) -> Iterator[tuple[int, int, bytes]]:
        """Yield the sequence number of batches, how many new rows they have, and these."""
        sequence = first - 1
        for row in connection.execute(_READ_ROWS, (self._model.id, first, last)):
            sequence, count, checksum, rows_checksum, rows = row
            if not isinstance(rows, bytes):
                raise self.make_error(sequence, "its arrays are not bytes")
            if rows_checksum != zlib.crc32(rows, checksum):
                raise self.make_error(sequence, "its checksum is wrong")
            if count != self.batches[sequence].new_rows:
                raise self.make_error(sequence, "it has another number of rows than before")
            if count:
                yield sequence, count, rows
        if sequence != last:
            raise self.make_error(last, "it is missing")

    def _sum_up(self, sequence: int, time: str, new_rows: int, *blobs: bytes) -> int:
        checksum = zlib.crc32(f"{sequence}\n{time}\n{new_rows}\n".encode(), self._model.seal)
        for blob in blobs:
            checksum = zlib.crc32(blob, checksum)
        return checksum

    def make_error(self, sequence: int, what: str) -> DamagedStoreError:
        """Return the error for a batch that is not as it was written."""
        return make_damage_error(self._path, f"model {self._model.key!r}, batch {sequence}: {what}")


def _cut(words: Words, row_bytes: int) -> Iterator[tuple[int, int]]:
    """Yield the begins and ends of batches that have about `BATCH_BYTES`."""
    sizes = words.lengths + row_bytes // max(1, len(words))
    borders = np.diff(np.cumsum(sizes) // BATCH_BYTES).nonzero()[0] + 1
    return pairwise([0, *borders.tolist(), len(words)])


def _check_numbers(chunk: Chunk, rows: int) -> None:
    numbers = chunk.numbers
    if len(chunk.words) != len(numbers):
        raise ValueError(f"there are {len(chunk.words)} words, but {len(numbers)} numbers of rows")
    bad = (numbers < UNDEFINED) | (numbers >= rows)
    if bad.any():
        raise ValueError(f"number {numbers[bad.argmax()]} is not one of {rows} rows, nor -1")
