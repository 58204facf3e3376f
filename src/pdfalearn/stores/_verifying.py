"""Look through a whole store for damage."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import NamedTuple

from pdfalearn.stores._batches import bad_batch, parsed, read_batches, writers_of
from pdfalearn.stores._connection import snapshot
from pdfalearn.stores._failures import damaged
from pdfalearn.stores._models import ModelRow, model_rows


class Verified(NamedTuple):
    """What has been looked through, and is as it was written."""

    models: int
    writers: int
    batches: int
    answers: int


def verify(connection: sqlite3.Connection, path: Path) -> Verified:
    """Check SQLite's structures, the checksum of every batch, and that its arrays make sense."""
    (message,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
    if message != "ok":
        raise damaged(path, f"SQLite finds {message!r}")
    with snapshot(connection):
        return _verify_models(connection, path)


def _verify_models(connection: sqlite3.Connection, path: Path) -> Verified:
    models = model_rows(connection)
    counts = [
        _verify_writer(connection, path, model, writer)
        for model in models
        for writer in writers_of(connection, model)
    ]
    batches, answers = (sum(column) for column in zip(*counts, strict=True)) if counts else (0, 0)
    (total,) = connection.execute("SELECT count(*) FROM batches").fetchone()
    if total != batches:
        raise damaged(path, f"{total - batches} batches belong to no model")
    return Verified(len(models), len(counts), batches, answers)


def _verify_writer(
    connection: sqlite3.Connection, path: Path, model: ModelRow, writer: int
) -> tuple[int, int]:
    """Check the batches of a writer; return how many there are, and how many answers."""
    alphabet_size = len(model.alphabet(path))
    nodes, rows, batches, answers = 1, 0, 0, 0
    for batch in read_batches(connection, path, model, writer):
        try:
            part = parsed(batch.blobs, alphabet_size, nodes, rows)
        except ValueError as error:
            raise bad_batch(path, model, writer, batch.sequence, str(error)) from error
        nodes += len(part.parents)
        rows += len(part.rows)
        batches += 1
        answers += len(part.nodes)
    return batches, answers
