"""What it means when SQLite fails, and what can be done about it."""

from __future__ import annotations

import sqlite3
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pdfalearn.errors import DamagedStoreError, StoreError
from pdfalearn.files.named import shown

_BEGIN_ANEW = "restore it from a copy, or move it away and begin a new store"

_LONGEST_REASON = 400
"""An error shows no more characters of what is wrong with a store."""

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
    sqlite3.SQLITE_CONSTRAINT: (
        "this writer's last batch was stored, but it was interrupted; make a new writer"
    ),
}


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Turn what SQLite raises into an error that names the file and the remedy."""
    try:
        yield
    except (sqlite3.ProgrammingError, sqlite3.InterfaceError):
        raise  # a mistake in this package
    except UnicodeDecodeError as error:  # of SQLite's own words about what it cannot read
        raise damaged(path, repr(error.object[:200])) from error
    except sqlite3.Error as error:
        meaning = _MEANINGS.get(code_of(error))
        if meaning is None:
            raise damaged(path, str(error)) from error
        raise StoreError(f"{shown(str(path))}: {meaning} (SQLite: {error})") from error


def damaged(path: Path, what: str) -> DamagedStoreError:
    """Make the error for a store that does not hold what was written."""
    short = textwrap.shorten(what, _LONGEST_REASON)
    return DamagedStoreError(f"{shown(str(path))}: damaged or cut off: {short}; {_BEGIN_ANEW}")


def code_of(error: sqlite3.Error) -> int:
    """Return SQLite's primary code; that of a damaged file if the module itself complains."""
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF
