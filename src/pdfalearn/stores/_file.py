"""The file of a store while it is open."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic

from pdfalearn.errors import InputError, StoreError
from pdfalearn.files.named import shown
from pdfalearn.stores._connection import opened, opened_alone, touch, transaction
from pdfalearn.stores._failures import translated

SYNC_SECONDS = 0.05
"""A commit waits for the disk if the last one that did so is this long ago, and so does closing.

All others are with the operating system: they survive the death of the process. A power failure can
take those that came so soon after one that waited, and these took no longer than this to ask for.
If every commit waited, writing a million answers in batches of 1,024 would take 1.2 to 5 times as
long, as the disk is idle or busy (see benchmarks/store.py).
"""


class StoreFile:
    """One connection to the file, which a store and its writers share.

    Parameters
    ----------
    path : Path
        The file.
    read_only : bool
        Whether nothing is to be written.
    """

    def __init__(self, path: Path, *, read_only: bool) -> None:
        self.path = path
        self.read_only = read_only
        self.has_written = False
        """Whether one of this store's own writers has begun."""
        self._connection: sqlite3.Connection | None = opened(path, read_only=read_only)
        self._number = path.stat().st_ino
        self._last_sync = monotonic() - SYNC_SECONDS
        self._is_synced = True

    def close(self) -> None:
        """See that all is on the disk, and close the connection, if it is open."""
        connection, self._connection = self._connection, None
        if connection is None:
            return
        try:
            if not self._is_synced:
                self._commit_synced(connection)
        finally:
            connection.close()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Lend the connection."""
        if self._connection is None:
            raise InputError(f"{shown(str(self.path))}: the store is closed; open it again")
        with translated(self.path):
            yield self._connection

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Lend the connection for one transaction."""
        with self.reading() as connection:
            self._check_still_there()
            is_due = monotonic() - self._last_sync >= SYNC_SECONDS
            connection.execute(f"PRAGMA synchronous = {'FULL' if is_due else 'NORMAL'}")
            with transaction(connection):
                yield connection
            self._is_synced = is_due
            if is_due:
                self._last_sync = monotonic()

    @contextmanager
    def alone(self) -> Iterator[sqlite3.Connection]:
        """Lend a connection beside which nobody, in whatever process, has the file open."""
        self.close()
        try:
            connection = opened_alone(self.path)
            try:
                with translated(self.path):
                    yield connection
            finally:
                connection.close()
        finally:
            self._connection = opened(self.path, read_only=False)

    def _commit_synced(self, connection: sqlite3.Connection) -> None:
        """Wait for the disk: the commits before are in the same write-ahead log."""
        with translated(self.path):
            connection.execute("PRAGMA synchronous = FULL")
            with transaction(connection):
                touch(connection)

    def _check_still_there(self) -> None:
        """Refuse to write where nobody will find it: the file was removed or replaced."""
        try:
            is_same = self.path.stat().st_ino == self._number
        except OSError:
            is_same = False
        if not is_same:
            raise StoreError(
                f"{shown(str(self.path))}: the file was removed or replaced while it was in use; "
                "begin again with a new store"
            )

    def check_writable(self) -> None:
        """Refuse to write where only reading was meant."""
        if self.read_only:
            raise InputError(f"{shown(str(self.path))}: the store was opened to be read only")
