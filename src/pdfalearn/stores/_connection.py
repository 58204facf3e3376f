"""Open the SQLite file of a store: its format and its settings."""

from __future__ import annotations

import sqlite3
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pdfalearn.errors import StoreError
from pdfalearn.files.named import shown
from pdfalearn.stores._failures import code_of, damaged, translated
from pdfalearn.stores._schema import create_tables, schema_fault

APPLICATION = int.from_bytes(b"PDFA", "big")
VERSION = 2

BUSY_SECONDS = 10.0
"""How long a connection waits for others that write."""

_PAGE_BYTES = 8192
"""Batches of a thousand answers are written a tenth faster than with SQLite's 4096."""


def opened(path: Path, *, read_only: bool) -> sqlite3.Connection:
    """Open a store; a file that is new or empty becomes one unless it is only to be read."""
    _check_kind(path, must_exist=read_only)
    with translated(path):
        return _readable(path) if read_only else _writable(path, "mode=rwc")


def opened_alone(path: Path) -> sqlite3.Connection:
    """Open a store that nobody else has open, and keep everyone out until it is closed."""
    _check_kind(path, must_exist=True)
    with translated(path):
        # The mode is set before anything is read: only so are readers locked out too.
        return _writable(path, "mode=rw", "PRAGMA locking_mode = EXCLUSIVE")


@contextmanager
def transaction(connection: sqlite3.Connection, end: str = "COMMIT") -> Iterator[None]:
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
def snapshot(connection: sqlite3.Connection) -> Iterator[None]:
    """Read the same state of the file throughout, whatever others write."""
    try:
        connection.execute("BEGIN")
        yield
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def touch(connection: sqlite3.Connection) -> None:
    """Write the format's version, which a store has already."""
    connection.execute(f"PRAGMA user_version = {VERSION}")


def _check_kind(path: Path, *, must_exist: bool) -> None:
    """Refuse folders and devices, which SQLite would report badly or take for empty files."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError as error:
        if must_exist:
            raise StoreError(f"{_name(path)}: there is no such file; name a store") from error
        if not path.parent.is_dir():
            raise StoreError(f"{_name(path)}: there is no such folder; make it first") from error
        return
    if not stat.S_ISREG(mode):
        raise StoreError(f"{_name(path)}: not a regular file; name another")


def _connected(path: Path, option: str) -> sqlite3.Connection:
    address = f"{path.resolve().as_uri()}?{option}"
    connection = sqlite3.connect(address, uri=True, timeout=BUSY_SECONDS, isolation_level=None)
    connection.execute("PRAGMA trusted_schema = OFF")  # the schema may be anyone's until checked
    return connection


def _writable(path: Path, option: str, *first: str) -> sqlite3.Connection:
    connection = _connected(path, option)
    try:
        for statement in first:
            connection.execute(statement)
        connection.execute(f"PRAGMA page_size = {_PAGE_BYTES}")  # heeded by new files only
        connection.execute("PRAGMA synchronous = FULL")
        with transaction(connection):
            if _is_new(connection):
                create_tables(connection)
                connection.execute(f"PRAGMA application_id = {APPLICATION}")
                touch(connection)
        with transaction(connection, end="ROLLBACK"):
            _check_format(connection, path)
            touch(connection)  # whoever may not write must learn so now
        connection.execute("PRAGMA journal_mode = WAL")
    except BaseException:
        connection.close()
        raise
    return connection


def _readable(path: Path) -> sqlite3.Connection:
    """Open to read; if allowed, as a connection that could write, which leaves no files behind."""
    connection = _connected(path, "mode=rw")
    try:
        connection.execute("PRAGMA query_only = ON")
        try:
            _check_format(connection, path)
        except sqlite3.OperationalError as error:
            if not _is_still(path) or code_of(error) not in _CLOSED_FOLDER:
                raise
            connection.close()
            connection = _connected(path, "immutable=1")
            _check_format(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


_CLOSED_FOLDER = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)
"""What it is called when SQLite may not create the files it wants to have beside a store."""


def _is_still(path: Path) -> bool:
    """Return whether nobody is writing: the last writer that closes removes the write-ahead log."""
    target = path.resolve()
    return not target.with_name(f"{target.name}-wal").exists()


def _is_new(connection: sqlite3.Connection) -> bool:
    (objects,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    marks = _header(connection, "application_id") or _header(connection, "user_version")
    return not (objects or marks)


def _check_format(connection: sqlite3.Connection, path: Path) -> None:
    application = _header(connection, "application_id")
    version = _header(connection, "user_version")
    if application != APPLICATION:
        if _is_new(connection):
            raise StoreError(f"{_name(path)}: empty, nothing was ever stored; name another file")
        raise StoreError(f"{_name(path)}: an SQLite file of something else; name another file")
    if version > VERSION:
        raise StoreError(
            f"{_name(path)}: its format {version} is newer than {VERSION}, the last that this "
            "pdfalearn knows; upgrade pdfalearn"
        )
    if version < 1:
        raise damaged(path, f"format {version} does not exist")
    if version < VERSION:
        raise StoreError(
            f"{_name(path)}: its format {version} is that of an older pdfalearn, which this one "
            "does not read; use another file"
        )
    if fault := schema_fault(connection):
        raise damaged(path, fault)


def _header(connection: sqlite3.Connection, name: str) -> int:
    (value,) = connection.execute(f"PRAGMA {name}").fetchone()
    return int(value)


def _name(path: Path) -> str:
    return shown(str(path))
