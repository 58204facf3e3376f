"""Merge the writers of every model of a store into one."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from pdfalearn.alphabet import shortened
from pdfalearn.errors import StoreError
from pdfalearn.files.named import shown
from pdfalearn.stores._batches import insert, next_writer, read_segment, writers_of
from pdfalearn.stores._connection import transaction
from pdfalearn.stores._merging import ConflictError, merged
from pdfalearn.stores._models import ModelRow, model_rows

_LAST = "SELECT max(written) FROM batches WHERE model = ?"
_DELETE = "DELETE FROM batches WHERE model = ?"


def compact(connection: sqlite3.Connection, path: Path) -> None:
    """Merge the writers of every model in one transaction, then give the space back.

    A writer that went on afterwards would refer to words and rows that are gone. So the connection
    has to be the only one to the file.
    """
    with transaction(connection):
        for model in model_rows(connection):
            _compact_model(connection, path, model)
    connection.execute("VACUUM")


def _compact_model(connection: sqlite3.Connection, path: Path, model: ModelRow) -> None:
    alphabet = model.alphabet(path)
    segments = [
        read_segment(connection, path, model, writer, len(alphabet))
        for writer in writers_of(connection, model)
    ]
    if not segments:
        return
    try:
        whole = merged(segments, len(alphabet))
    except ConflictError as error:
        word = shortened(alphabet.decode(error.codes))
        raise StoreError(
            f"{shown(str(path))}: the model {model.key!r} has given two different answers to the "
            f"word {word}; export its answers to see them, and begin a new store or another key"
        ) from error
    (written,) = connection.execute(_LAST, (model.id,)).fetchone()
    writer = next_writer(connection, model)
    connection.execute(_DELETE, (model.id,))
    insert(connection, model, writer, 0, whole, written)
