"""A durable store of answers: one SQLite file for the answers of many models."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

from pdfalearn.alphabet import Alphabet
from pdfalearn.errors import StoreError
from pdfalearn.files.named import checked_name, shown
from pdfalearn.stores._models import checked_key, find_key, model_rows
from pdfalearn.stores._sqlite import StoreFile, make_damage_error, read_snapshot
from pdfalearn.stores.answers import ModelAnswers

_FACTS = """
    SELECT
        count(*),
        sum(length(numbers)) / 4,
        sum(length(words) + length(numbers) + length(rows)),
        max(written)
    FROM batches WHERE model = ? HAVING count(*) > 0
"""


@dataclass(frozen=True)
class StoredModel:
    """What a store holds of one model.

    Examples
    --------
    >>> import tempfile
    >>> from pdfalearn import Rows
    >>> from pdfalearn.words import Words
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with AnswerStore(f"{folder}/answers.db") as store:
    ...         answers = store.answers("coin", Alphabet("ab"))
    ...         answers.add(Words.of([()]), Rows.sparse(3, [0, 2], [0, 1], [0.5, 0.5]))
    ...         (model,) = store.models()
    >>> model.alphabet, model.batches, model.answers
    (Alphabet(('a', 'b'), terminal='$'), 1, 1)
    """

    key: str
    """What tells the model from others."""
    alphabet: Alphabet
    """Its symbols and its terminal."""
    batches: int
    """How many batches of answers were written."""
    answers: int
    """How many answers; each word has one."""
    bytes: int
    """How many bytes these take."""
    first: str
    """When the first answer was written, in UTC."""
    last: str
    """When the last one was."""


class Verified(NamedTuple):
    """What has been looked through, and is as it was written."""

    models: int
    batches: int
    answers: int


class AnswerStore:
    """A file of answers, safe against crashes, that several processes may use at once.

    What was added survives the death of the process; a power failure can cost the answers of the
    last twentieth of a second. Each process, and each thread, opens the store for itself. The file
    must not be on a network drive, where SQLite cannot share it. While it is open, SQLite keeps
    files beside it that end in ``-wal`` and ``-shm``: they belong to it.

    Parameters
    ----------
    path : str or os.PathLike
        The file; a new one is created unless it is only to be read.
    read_only : bool
        Whether to refuse everything that writes.

    Raises
    ------
    StoreError
        If there is no such file to read, if it is not a store, is damaged or of another format, is
        locked for ten seconds by another process, or may not be written.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> from pdfalearn import Rows
    >>> from pdfalearn.words import Words
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name, "answers.db")
    >>> rows = Rows.dense(np.array([[0.5, 0.5, 0], [0, 0, 0]]), undefined=np.array([False, True]))
    >>> with AnswerStore(path) as store:
    ...     store.answers("coin", Alphabet("ab")).add(Words.of([(), (1,)]), rows)
    >>> with AnswerStore(path, read_only=True) as store:
    ...     for word, distribution in store.answers("coin"):
    ...         print(word, distribution)
    () [0.5 0.5 0. ]
    ('b',) None
    >>> folder.cleanup()
    """

    def __init__(self, path: str | os.PathLike[str], *, read_only: bool = False) -> None:
        self._file = StoreFile(Path(checked_name(path)), read_only=read_only)

    @property
    def path(self) -> Path:
        """The file."""
        return self._file.path

    def __enter__(self) -> AnswerStore:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; afterwards neither the store nor its answers can be used."""
        self._file.close()

    def answers(self, key: str, alphabet: Alphabet | None = None) -> ModelAnswers:
        """Return the answers of a model, to find, to add and to read them.

        Parameters
        ----------
        key : str
            One line of text that identifies the model and its settings among all others.
        alphabet : Alphabet, optional
            The model's alphabet; its symbols are strings or integers. It is needed for a model of
            which nothing is stored.

        Raises
        ------
        StoreError
            If the key is known with another alphabet, or not known and no alphabet given.
        """
        key = checked_key(key)
        if alphabet is None:
            with self._file.reading() as connection:
                model = find_key(connection, key)
            if model is None:
                raise StoreError(f"{shown(str(self.path))}: there is no model {key!r} in it")
            alphabet = model.alphabet(self.path)
        return ModelAnswers(self._file, key, alphabet)

    def models(self) -> list[StoredModel]:
        """Return what the store holds of each model, in the order of their first writing."""
        with self._file.reading() as connection:
            return [
                StoredModel(
                    model.key, model.alphabet(self.path), batches, answers, size, model.begun, last
                )
                for model in model_rows(connection)
                for batches, answers, size, last in connection.execute(_FACTS, (model.id,))
            ]

    def verify(self) -> Verified:
        """Check everything, and return the counts of what was found to be right.

        SQLite's own structures, the checksum of every batch, and whether its content can be right:
        symbols of the alphabet, numbers of rows that exist, and rows that are distributions.

        Raises
        ------
        DamagedStoreError
            If anything is not as it was written.
        """
        with self._file.reading() as connection:
            (message,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
            if message != "ok":
                raise make_damage_error(self.path, f"SQLite finds {message!r}")
            with read_snapshot(connection):
                models = [model.key for model in model_rows(connection)]
                counts = [self.answers(key).verify() for key in models]
                (total,) = connection.execute("SELECT count(*) FROM batches").fetchone()
        batches, answers = (sum(column) for column in zip((0, 0), *counts, strict=True))
        if total != batches:
            raise make_damage_error(self.path, f"{total - batches} batches belong to no model")
        return Verified(len(models), batches, answers)

    def compact(self) -> None:
        """Write everything anew in large batches, with equal rows once, and give the space back.

        A crash in the middle leaves the old content. Nobody else may have the store open, not even
        to read: what others know of the places of answers in the file would be wrong.

        Raises
        ------
        StoreError
            If another process has the store open.
        """
        with self._file.rewriting() as connection:
            for model in model_rows(connection):
                self.answers(model.key).rewrite(connection)
