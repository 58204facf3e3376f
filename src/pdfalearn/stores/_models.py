"""The models of a store: their keys and alphabets."""

from __future__ import annotations

import json
import sqlite3
import zlib
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from pdfalearn.alphabet import Alphabet, shortened
from pdfalearn.errors import InputError, StoreError
from pdfalearn.files.named import shown
from pdfalearn.formats.file_symbols import check_symbols
from pdfalearn.stores._failures import damaged

_ALL = "SELECT id, key, alphabet, begun FROM models ORDER BY id"
_BY_KEY = "SELECT id, key, alphabet, begun FROM models WHERE key = ?"
_ADD = "INSERT INTO models (key, alphabet, begun) VALUES (?, ?, ?)"


class ModelRow(NamedTuple):
    """A model as it stands in the file."""

    id: int
    key: str
    alphabet_text: str
    begun: str

    @property
    def seal(self) -> int:
        """Where the checksums of its batches begin, so that none fits another model."""
        return zlib.crc32(f"{self.key}\n{self.alphabet_text}".encode())

    def alphabet(self, path: Path) -> Alphabet:
        """Read the alphabet."""
        try:
            document = json.loads(self.alphabet_text)
            return Alphabet(document["symbols"], document["terminal"])
        except (ValueError, TypeError, KeyError) as error:
            raise damaged(path, f"the alphabet of the model {self.key!r}: {error}") from error


def now() -> str:
    """Return the time in UTC, as it is in the file."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def model_rows(connection: sqlite3.Connection) -> list[ModelRow]:
    """Return all models, in the order in which they were first written."""
    return [ModelRow(*row) for row in connection.execute(_ALL)]


def find_model(
    connection: sqlite3.Connection, path: Path, key: str, alphabet: Alphabet
) -> ModelRow | None:
    """Return the model of a key, if there is one; with another alphabet it is refused."""
    model = find_key(connection, key)
    if model is not None and (known := model.alphabet(path)) != alphabet:
        raise StoreError(
            f"{shown(str(path))}: the model {key!r} is there with the alphabet "
            f"{_text(known)}, not {_text(alphabet)}; give this model a key of its own"
        )
    return model


def find_key(connection: sqlite3.Connection, key: str) -> ModelRow | None:
    """Return the model of a key, if there is one."""
    row = connection.execute(_BY_KEY, (key,)).fetchone()
    return None if row is None else ModelRow(*row)


def registered(
    connection: sqlite3.Connection, path: Path, key: str, alphabet: Alphabet
) -> ModelRow:
    """Return the model of a key; one that is new is written."""
    model = find_model(connection, path, key, alphabet)
    if model is None:
        text, begun = alphabet_text(alphabet), now()
        connection.execute(_ADD, (key, text, begun))
        (number,) = connection.execute("SELECT last_insert_rowid()").fetchone()
        model = ModelRow(number, key, text, begun)
    return model


def alphabet_text(alphabet: Alphabet) -> str:
    """Write an alphabet as JSON; a symbol that files cannot hold is an `InputError`."""
    check_symbols((*alphabet.symbols, alphabet.terminal))
    return json.dumps({"symbols": alphabet.symbols, "terminal": alphabet.terminal})


def checked_key(key: object) -> str:
    """Return a model's key, or refuse what cannot be one."""
    if not isinstance(key, str) or not key or not key.isprintable():
        raise InputError(f"the key {key!r} of a model is not a line of text; give one")
    return key


def _text(alphabet: Alphabet) -> str:
    return f"{shortened(alphabet.symbols)} and the terminal {alphabet.terminal!r}"
