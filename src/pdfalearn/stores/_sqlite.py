"""The SQLite file of a store: open it, check its tables, write transactions, explain failures."""

from __future__ import annotations

import sqlite3
import stat
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic

from pdfalearn.errors import DamagedStoreError, InputError, StoreError
from pdfalearn.files import show_name

APPLICATION = int.from_bytes(b"PDFA", "big")
VERSION = 3

BUSY_SECONDS = 10.0
"""How long a connection waits for others that write."""

SYNC_SECONDS = 0.05
"""A commit waits for the disk if the last one that did so is this long ago, and so does closing.

All others are with the operating system: they survive the death of the process. A power failure can
take those that came so soon after one that waited, and these took no longer than this to ask for.
If every commit waited, writing a million answers in batches of 1,024 would take 1.2 to 5 times as
long, as the disk is idle or busy (see benchmarks/store.py).
"""

_PAGE_BYTES = 8192
"""Batches of a thousand answers are written a tenth faster than with SQLite's 4096."""

_CACHE_KIB = 16384
"""Answers are found in any order; with SQLite's 2,048 that takes a third longer."""

_TABLES = {
    "models": """CREATE TABLE models (
        id INTEGER PRIMARY KEY,
        key TEXT NOT NULL UNIQUE,
        alphabet TEXT NOT NULL
    )""",
    "answers": """CREATE TABLE answers (
        id INTEGER PRIMARY KEY,
        model INTEGER NOT NULL REFERENCES models (id),
        word BLOB NOT NULL,
        row BLOB,
        time INTEGER NOT NULL,
        checksum INTEGER NOT NULL
    )""",
}
_INDEX = "sqlite_autoindex_models_1"
"""What SQLite makes by itself for the keys of models."""

_PERMISSIONS = "check the permissions of the file and of its folder"
_IN_USE = "another process uses it and did not let go in time; wait until that ends, or end it"
_MEANINGS = {
    sqlite3.SQLITE_BUSY: _IN_USE,
    sqlite3.SQLITE_LOCKED: _IN_USE,
    sqlite3.SQLITE_PROTOCOL: _IN_USE,
    sqlite3.SQLITE_READONLY: f"may not be written to; {_PERMISSIONS}",
    sqlite3.SQLITE_CANTOPEN: f"cannot be opened; {_PERMISSIONS}",
    sqlite3.SQLITE_FULL: (
        "the disk is full; make room and go on: all that was written before is safe"
    ),
    sqlite3.SQLITE_IOERR: (
        "the disk refuses to read or write; check its state and your quota: all that was written "
        "before is safe"
    ),
    sqlite3.SQLITE_NOTADB: "not a store of answers; name another file",
}
"""What SQLite's codes mean; all others mean damage."""

_CLOSED_FOLDER = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)
"""The codes of a folder in which SQLite may not create the files it wants beside a store."""


class StoreFile:
    """One connection to the file, which a store and the answers of its models share.

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
        self._connection: sqlite3.Connection | None = _open(path, read_only=read_only)
        self._inode = path.stat().st_ino
        self._last_sync = monotonic() - SYNC_SECONDS
        self._is_synced = True

    def close(self) -> None:
        """See that all is on the disk, and close the connection, if it is open."""
        connection, self._connection = self._connection, None
        if connection is None:
            return
        try:
            if not self._is_synced:
                # The commits before are in the same write-ahead log: one that waits is enough.
                with explain_failures(self.path):
                    connection.execute("PRAGMA synchronous = FULL")
                    with _transaction(connection):
                        _write_version(connection)
                self._is_synced = True
        finally:
            connection.close()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Lend the connection."""
        if self._connection is None:
            raise InputError(f"{show_name(str(self.path))}: the store is closed; open it again")
        with explain_failures(self.path):
            yield self._connection

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Lend the connection for one transaction."""
        self.check_writable()
        with self.reading() as connection:
            self._check_still_there()
            is_due = monotonic() - self._last_sync >= SYNC_SECONDS
            connection.execute(f"PRAGMA synchronous = {'FULL' if is_due else 'NORMAL'}")
            with _transaction(connection):
                yield connection
            self._is_synced = is_due
            if is_due:
                self._last_sync = monotonic()

    def check_writable(self) -> None:
        """Refuse to write where only reading was meant."""
        if self.read_only:
            raise InputError(f"{show_name(str(self.path))}: the store was opened to be read only")

    def _check_still_there(self) -> None:
        """Refuse to write where nobody will find it: the file was removed or replaced."""
        try:
            is_same = self.path.stat().st_ino == self._inode
        except OSError:
            is_same = False
        if not is_same:
            raise StoreError(
                f"{show_name(str(self.path))}: the file was removed or replaced while in use; "
                "begin again with a new store"
            )


@contextmanager
def explain_failures(path: Path) -> Iterator[None]:
    """Turn what SQLite raises into an error that names the file and the remedy."""
    try:
        yield
    except (sqlite3.ProgrammingError, sqlite3.InterfaceError):
        raise  # a mistake in this package
    except UnicodeDecodeError as error:  # of SQLite's own words about what it cannot read
        raise make_damage_error(path, repr(error.object[:200])) from error
    except sqlite3.Error as error:
        meaning = _MEANINGS.get(_code_of(error))
        if meaning is None:
            raise make_damage_error(path, str(error)) from error
        raise StoreError(f"{show_name(str(path))}: {meaning} (SQLite: {error})") from error


def make_damage_error(path: Path, what: str) -> DamagedStoreError:
    """Return the error for a store that does not hold what was written."""
    return DamagedStoreError(
        f"{show_name(str(path))}: damaged or cut off: {textwrap.shorten(what, 400)}; "
        "restore it from a copy, or move it away and begin a new store"
    )


def _open(path: Path, *, read_only: bool) -> sqlite3.Connection:
    """Open a store; a file that is new or empty becomes one unless it is only to be read."""
    _check_kind(path, must_exist=read_only)
    with explain_failures(path):
        connection = _open_to_read(path) if read_only else _open_to_write(path)
        connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
        return connection


def _check_kind(path: Path, *, must_exist: bool) -> None:
    """Refuse folders and devices, which SQLite would report badly or take for empty files."""
    name = show_name(str(path))
    try:
        mode = path.stat().st_mode
    except FileNotFoundError as error:
        if must_exist:
            raise StoreError(f"{name}: there is no such file; name a store") from error
        if not path.parent.is_dir():
            raise StoreError(f"{name}: there is no such folder; make it first") from error
        return
    if not stat.S_ISREG(mode):
        raise StoreError(f"{name}: not a regular file; name another")


def _connect(path: Path, option: str) -> sqlite3.Connection:
    address = f"{path.resolve().as_uri()}?{option}"
    connection = sqlite3.connect(address, uri=True, timeout=BUSY_SECONDS, isolation_level=None)
    connection.execute("PRAGMA trusted_schema = OFF")  # the schema may be anyone's until checked
    return connection


def _open_to_write(path: Path) -> sqlite3.Connection:
    connection = _connect(path, "mode=rwc")
    try:
        connection.execute(f"PRAGMA page_size = {_PAGE_BYTES}")
        connection.execute("PRAGMA synchronous = FULL")
        with _transaction(connection):
            if _is_new(connection):
                for statement in _TABLES.values():
                    connection.execute(statement)
                connection.execute(f"PRAGMA application_id = {APPLICATION}")
                _write_version(connection)
        with _transaction(connection, end="ROLLBACK"):
            _check_format(connection, path)
            _write_version(connection)  # whoever may not write must learn so now
        connection.execute("PRAGMA journal_mode = WAL")
    except BaseException:
        connection.close()
        raise
    return connection


def _open_to_read(path: Path) -> sqlite3.Connection:
    """Open to read; if allowed, as a connection that could write, which leaves no files behind."""
    connection = _connect(path, "mode=rw")
    try:
        connection.execute("PRAGMA query_only = ON")
        try:
            _check_format(connection, path)
        except sqlite3.OperationalError as error:
            target = path.resolve()  # the last writer that closes removes the write-ahead log
            is_in_use = target.with_name(f"{target.name}-wal").exists()
            if is_in_use or _code_of(error) not in _CLOSED_FOLDER:
                raise
            connection.close()
            connection = _connect(path, "immutable=1")
            _check_format(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


@contextmanager
def _transaction(connection: sqlite3.Connection, end: str = "COMMIT") -> Iterator[None]:
    """Write all or nothing, while nobody else writes."""
    try:
        connection.execute("BEGIN IMMEDIATE")
        yield
        connection.execute(end)
    except BaseException:
        if connection.in_transaction:  # SQLite itself may have rolled back
            connection.execute("ROLLBACK")
        raise


@contextmanager
def read_snapshot(connection: sqlite3.Connection) -> Iterator[None]:
    """Read the same state of the file throughout, whatever others write."""
    try:
        connection.execute("BEGIN")
        yield
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _is_new(connection: sqlite3.Connection) -> bool:
    (objects,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    return not (objects or _header(connection, "application_id", "user_version") != (0, 0))


def _check_format(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse files of others, of other formats, and tables that are not those of a store."""
    application, version = _header(connection, "application_id", "user_version")
    name = show_name(str(path))
    if application != APPLICATION:
        if _is_new(connection):
            raise StoreError(f"{name}: empty, nothing was ever stored; name another file")
        raise StoreError(f"{name}: an SQLite file of something else; name another file")
    if version > VERSION:
        raise StoreError(
            f"{name}: its format {version} is newer than {VERSION}, the last that this pdfalearn "
            "knows; upgrade pdfalearn"
        )
    if version < 1:
        raise make_damage_error(path, f"format {version} does not exist")
    if version < VERSION:
        raise StoreError(
            f"{name}: its format {version} is that of an older pdfalearn, which this one does not "
            "read; use another file"
        )
    if fault := _find_schema_fault(connection):
        raise make_damage_error(path, fault)


def _find_schema_fault(connection: sqlite3.Connection) -> str | None:
    """Return what a store's schema has too much or lacks; None if it is as it was made.

    Triggers, views and the like could run somebody else's code when answers are stored.
    """
    missing = {("table", name) for name in _TABLES} | {("index", _INDEX)}
    for kind, name, table, statement in connection.execute(
        "SELECT type, name, tbl_name, sql FROM sqlite_master"
    ):
        if (kind, name) not in missing:
            return f"there is the {kind} {name!r}, which no store has"
        missing.remove((kind, name))
        if kind == "table" and str(statement).split() != _TABLES[name].split():
            return f"the table {name!r} is not that of a store"
        if kind == "index" and (statement is not None or table != "models"):
            return f"the index {name!r} is not that of a store"
    for kind, name in sorted(missing, reverse=True):  # tables before their indices
        return f"the {kind} {name!r} is missing"
    return None


def _header(connection: sqlite3.Connection, *names: str) -> tuple[int, ...]:
    return tuple(int(connection.execute(f"PRAGMA {name}").fetchone()[0]) for name in names)


def _write_version(connection: sqlite3.Connection) -> None:
    """Write the format's version, which a store has already."""
    connection.execute(f"PRAGMA user_version = {VERSION}")


def _code_of(error: sqlite3.Error) -> int:
    """Return SQLite's primary code; that of a damaged file if the module itself complains."""
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF
