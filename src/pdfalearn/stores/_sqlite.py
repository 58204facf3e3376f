"""The SQLite file of a store: its tables, transactions, models, and what its failures mean."""

from __future__ import annotations

import json
import sqlite3
import stat
import textwrap
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import NamedTuple

from pdfalearn.alphabet import Alphabet, shorten
from pdfalearn.errors import DamagedStoreError, InputError, StoreError
from pdfalearn.files import show_name
from pdfalearn.io import check_symbols

APPLICATION = int.from_bytes(b"PDFA", "big")
VERSION = 1

BUSY_SECONDS = 10.0
"""How long a connection waits for others that write."""

SYNC_SECONDS = 0.05
"""A commit waits for the disk if the last one that did so is this long ago, and so does closing.

All others are with the operating system: they survive the death of the process. A power failure can
take those that came so soon after one that waited, and these took no longer than this to ask for.
If every commit waited, writing a million answers in batches of 1,024 would take 1.2 to 5 times as
long, as the disk is idle or busy (see benchmarks/store.py).
"""

# Batches of a thousand answers are written a tenth faster than with SQLite's 4096.
_PAGE_BYTES = 8192

# Answers are found in any order; with SQLite's 2,048 that takes a third longer.
_CACHE_KIB = 16384

# Each model has this many numbers for its answers. So they lie together, and are read without those
# of others. An index of the models does that, too, but with it adding takes 12 to 26 % longer.
NUMBERS = 2**32

_TABLES = {
    "models": """CREATE TABLE models (
        id INTEGER PRIMARY KEY,
        key TEXT NOT NULL UNIQUE,
        alphabet TEXT NOT NULL
    )""",
    "answers": """CREATE TABLE answers (
        id INTEGER PRIMARY KEY,
        word BLOB NOT NULL,
        row BLOB,
        time INTEGER NOT NULL,
        checksum INTEGER NOT NULL
    )""",
}
_WRITE_VERSION = f"PRAGMA user_version = {VERSION}"
# What SQLite makes by itself for the keys of models.
_INDEX = "sqlite_autoindex_models_1"

_PERMISSIONS = "check the permissions of the file and of its folder"
_IN_USE = "another process uses it and did not let go in time; wait until that ends, or end it"
# What SQLite's codes mean; all others mean damage.
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


class StoreFile:
    """One connection to the file, which a store and the answers of its models share."""

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
                with _explain_failures(self.path):
                    connection.execute("PRAGMA synchronous = FULL")
                    with transaction(connection):
                        connection.execute(_WRITE_VERSION)
                self._is_synced = True
        finally:
            connection.close()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Lend the connection."""
        if self._connection is None:
            raise InputError(f"{show_name(str(self.path))}: the store is closed; open it again")
        with _explain_failures(self.path):
            yield self._connection

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Lend the connection for one transaction."""
        if self.read_only:
            raise InputError(f"{show_name(str(self.path))}: the store was opened to be read only")
        with self.reading() as connection:
            # What is written to a file that was removed or replaced nobody would find.
            if not self.path.exists() or self.path.stat().st_ino != self._inode:
                raise StoreError(
                    f"{show_name(str(self.path))}: the file was removed or replaced while in use; "
                    "begin again with a new store"
                )
            is_due = monotonic() - self._last_sync >= SYNC_SECONDS
            connection.execute(f"PRAGMA synchronous = {'FULL' if is_due else 'NORMAL'}")
            with transaction(connection):
                yield connection
            self._is_synced = is_due
            if is_due:
                self._last_sync = monotonic()


@contextmanager
def _explain_failures(path: Path) -> Iterator[None]:
    """Turn what SQLite raises into an error that names the file and the remedy."""
    try:
        yield
    except (sqlite3.ProgrammingError, sqlite3.InterfaceError):
        raise  # a mistake in this package
    except UnicodeDecodeError as error:  # of SQLite's own words about what it cannot read
        raise make_damage_error(path, repr(error.object[:200])) from error
    except sqlite3.Error as error:
        # The primary code; that of a damaged file if the module itself complains.
        meaning = _MEANINGS.get(getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF)
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
    with _explain_failures(path):
        connection = _connect(path, "mode=rw" if read_only else "mode=rwc")
        try:
            if not read_only:
                _prepare(connection, path)
            else:  # as one that could be written to, which leaves no files behind
                connection.execute("PRAGMA query_only = ON")
                _check_format(connection, path)
            connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
        except BaseException:
            connection.close()
            raise
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


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    """Make a new file a store, and see that this one can be written to."""
    connection.execute(f"PRAGMA page_size = {_PAGE_BYTES}")
    connection.execute("PRAGMA synchronous = FULL")
    # Of two processes that open a new file at once, the second finds the tables of the first.
    with transaction(connection):
        if _is_new(connection):
            for statement in (*_TABLES.values(), f"PRAGMA application_id = {APPLICATION}"):
                connection.execute(statement)
            connection.execute(_WRITE_VERSION)
    with transaction(connection, end="ROLLBACK"):
        _check_format(connection, path)
        connection.execute(_WRITE_VERSION)  # whoever may not write must learn so now
    connection.execute("PRAGMA journal_mode = WAL")


@contextmanager
def transaction(
    connection: sqlite3.Connection, begin: str = "BEGIN IMMEDIATE", end: str = "COMMIT"
) -> Iterator[None]:
    """Write all or nothing, while nobody else writes; after "BEGIN", read one state of the file."""
    try:
        connection.execute(begin)
        yield
        connection.execute(end)
    except BaseException:
        if connection.in_transaction:  # SQLite itself may have rolled back
            connection.execute("ROLLBACK")
        raise


def _is_new(connection: sqlite3.Connection) -> bool:
    (objects,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    return not objects and _read_header(connection) == (0, 0)


def _check_format(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse files of others, of other formats, and tables that are not those of a store."""
    application, version = _read_header(connection)
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
    # Triggers, views and the like could run somebody else's code when answers are stored.
    query = "SELECT type, name, tbl_name, sql FROM sqlite_master"
    found = {(*names, " ".join(str(text).split())) for *names, text in connection.execute(query)}
    expected = {
        *(("table", name, name, " ".join(text.split())) for name, text in _TABLES.items()),
        ("index", _INDEX, "models", "None"),
    }
    # In reverse, tables come before their indices.
    for odd, what in ((found - expected, "not that of a store"), (expected - found, "missing")):
        for kind, name, *_ in sorted(odd, reverse=True):
            raise make_damage_error(path, f"the {kind} {name!r} is {what}")


def _read_header(connection: sqlite3.Connection) -> tuple[int, int]:
    """Return the number of the application and the version."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return application, version


class ModelRow(NamedTuple):
    """A model as it stands in the file."""

    id: int
    key: str
    alphabet_text: str

    @property
    def seal(self) -> int:
        """Where the checksums of its answers begin, so that none fits another model."""
        return zlib.crc32(f"{self.key}\n{self.alphabet_text}".encode())

    @property
    def before(self) -> int:
        """The number before those of its answers; one that SQLite can hold, also if damaged."""
        return (self.id - 1) % 2**30 * NUMBERS

    def alphabet(self, path: Path) -> Alphabet:
        """Read the alphabet."""
        try:
            document = json.loads(self.alphabet_text)
            return Alphabet(document["symbols"], document["terminal"])
        except (ValueError, TypeError, KeyError) as error:
            what = f"the alphabet of the model {self.key!r}: {error}"
            raise make_damage_error(path, what) from error


def read_models(connection: sqlite3.Connection) -> list[ModelRow]:
    """Return all models, in the order in which they were first written."""
    return [ModelRow(*row) for row in connection.execute("SELECT * FROM models ORDER BY id")]


def find_model(
    connection: sqlite3.Connection, path: Path, key: str, alphabet: Alphabet | None = None
) -> ModelRow | None:
    """Return the model of a key, if there is one; with another alphabet it is refused."""
    row = connection.execute("SELECT * FROM models WHERE key = ?", (key,)).fetchone()
    model = None if row is None else ModelRow(*row)
    if model and alphabet is not None and (known := model.alphabet(path)) != alphabet:
        there, given = (
            f"{shorten(one.symbols)} and the terminal {one.terminal!r}" for one in (known, alphabet)
        )
        raise StoreError(
            f"{show_name(str(path))}: the model {key!r} is there with the alphabet {there}, not "
            f"{given}; give this model a key of its own"
        )
    return model


def add_model(connection: sqlite3.Connection, key: str, alphabet: Alphabet) -> ModelRow:
    """Write a model that is not in the file."""
    text = write_alphabet(alphabet)
    cursor = connection.execute("INSERT INTO models (key, alphabet) VALUES (?, ?)", (key, text))
    return ModelRow(int(cursor.lastrowid or 0), key, text)


def write_alphabet(alphabet: Alphabet) -> str:
    """Write an alphabet as JSON; a symbol that files cannot hold is an `InputError`."""
    check_symbols((*alphabet.symbols, alphabet.terminal))
    return json.dumps({"symbols": alphabet.symbols, "terminal": alphabet.terminal})
