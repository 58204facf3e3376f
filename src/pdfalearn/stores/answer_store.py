"""A durable store of answers: one SQLite file for the answers of many models."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from pdfalearn.alphabet import Alphabet
from pdfalearn.errors import InputError
from pdfalearn.files import check_name
from pdfalearn.models import LanguageModel, check_members
from pdfalearn.stores._sqlite import StoreFile, make_damage_error, read_models, transaction
from pdfalearn.stores.answers import ModelAnswers

# This much of a hash tells models apart, and can be read in a table.
_KEY_DIGITS = 20


def model_key(model: LanguageModel, model_id: str | None) -> str:
    """Name a model in a store."""
    fingerprint = check_members(model).fingerprint
    if model_id is not None:
        if not isinstance(model_id, str) or not model_id.strip():
            raise InputError(f"model_id {model_id!r} is not a name: give a text of your choice")
        if "#" in model_id:
            raise InputError(f"model_id {model_id!r} has a #, which stands before a model's hash")
    elif not fingerprint:
        raise InputError(
            "a model without fingerprint needs a model_id (--model-id) to keep its answers in a "
            "store: a name of your choice for this model with these settings"
        )
    if not fingerprint:
        return str(model_id)
    return f"{model_id or ''}#{sha256(fingerprint.encode()).hexdigest()[:_KEY_DIGITS]}"


_FACTS = """
    SELECT
        count(*),
        sum(length(word) + CASE typeof(row) WHEN 'blob' THEN length(row) ELSE 0 END),
        min(time), max(time)
    FROM answers WHERE id > :before AND id <= :before + (1 << 32) HAVING count(*) > 0
"""
# The number of all answers, and what it is if none of those before a model's last is missing. The
# number of an answer less 1, without its last 32 bits, is that of its model less 1.
_COUNT = """SELECT coalesce(sum(found), 0), coalesce(sum(last), 0) FROM (SELECT count(*) AS found,
    max(id) - (max(id) - 1 >> 32 << 32) AS last FROM answers GROUP BY id - 1 >> 32)"""


@dataclass(frozen=True)
class StoredModel:
    """What a store holds of one model.

    Examples
    --------
    >>> import tempfile
    >>> from pdfalearn.models import Rows
    >>> from pdfalearn.words import Words
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with AnswerStore(f"{folder}/answers.db") as store:
    ...         answers = store.answers("coin", Alphabet("ab"))
    ...         answers.add(Words.of([()]), Rows.sparse(3, [0, 2], [0, 1], [0.5, 0.5]))
    ...         (model,) = store.models()
    >>> model.alphabet, model.answers
    (Alphabet(('a', 'b'), terminal='$'), 1)
    """

    key: str
    """What tells the model from others."""
    alphabet: Alphabet
    """Its symbols and its terminal."""
    answers: int
    """How many answers; each word has one."""
    bytes: int
    """How many bytes their words and different rows take."""
    first: str
    """When the first answer was written, in UTC."""
    last: str
    """When the last one was."""


class Verified(NamedTuple):
    """What has been looked through, and is as it was written."""

    models: int
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
    >>> from pdfalearn.models import Rows
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
        self._file = StoreFile(Path(check_name(path)), read_only=read_only)

    @property
    def path(self) -> Path:
        """The file."""
        return self._file.path

    def __enter__(self) -> AnswerStore:
        return self

    def __exit__(self, *error: object) -> None:
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
        if not isinstance(key, str) or not key or not key.isprintable():
            raise InputError(f"the key {key!r} of a model is not a line of text; give one")
        return ModelAnswers(self._file, key, alphabet)

    def models(self) -> list[StoredModel]:
        """Return what the store holds of each model, in the order of their first writing."""
        with self._file.reading() as connection:
            return [
                StoredModel(
                    model.key,
                    model.alphabet(self.path),
                    count,
                    size,
                    *(datetime.fromtimestamp(time, UTC).isoformat() for time in times),
                )
                for model in read_models(connection)
                for count, size, *times in connection.execute(_FACTS, {"before": model.before})
            ]

    def verify(self) -> Verified:
        """Check everything, and return the counts of what was found to be right.

        SQLite's own structures, the checksum of every answer, and whether it can be right: symbols
        of the alphabet, and rows that are distributions.

        Raises
        ------
        DamagedStoreError
            If anything is not as it was written.
        """
        with self._file.reading() as connection:
            (message,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
            if message != "ok":
                raise make_damage_error(self.path, f"SQLite finds {message!r}")
            with transaction(connection, "BEGIN", end="ROLLBACK"):
                models = read_models(connection)
                answers = (ModelAnswers(self._file, model.key) for model in models)
                count = sum(len(words) for one in answers for words, _ in one.batches())
                total, last = connection.execute(_COUNT).fetchone()
        if total != count:
            raise make_damage_error(self.path, f"{total - count} answers belong to no model")
        if total != last:
            raise make_damage_error(self.path, f"of {last} answers, {last - total} are missing")
        return Verified(len(models), count)
