"""The models of a store: their keys and alphabets."""

from __future__ import annotations

import json
import sqlite3
import zlib
from pathlib import Path
from typing import NamedTuple

from pdfalearn.alphabet import Alphabet, shortened
from pdfalearn.errors import InputError, StoreError
from pdfalearn.files import show_name
from pdfalearn.io import check_symbols
from pdfalearn.stores._sqlite import make_damage_error


class ModelRow(NamedTuple):
    """A model as it stands in the file."""

    id: int
    key: str
    alphabet_text: str

    @property
    def seal(self) -> int:
        """Where the checksums of its answers begin, so that none fits another model."""
        return zlib.crc32(f"{self.key}\n{self.alphabet_text}".encode())

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
        raise StoreError(
            f"{show_name(str(path))}: the model {key!r} is there with the alphabet "
            f"{_describe(known)}, not {_describe(alphabet)}; give this model a key of its own"
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


def check_key(key: object) -> str:
    """Return a model's key, or refuse what cannot be one."""
    if not isinstance(key, str) or not key or not key.isprintable():
        raise InputError(f"the key {key!r} of a model is not a line of text; give one")
    return key


def _describe(alphabet: Alphabet) -> str:
    return f"{shortened(alphabet.symbols)} and the terminal {alphabet.terminal!r}"
