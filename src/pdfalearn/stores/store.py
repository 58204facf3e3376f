"""A durable store of answers: one SQLite file for the answers of many models."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

import numpy as np
from numpy.typing import NDArray

from pdfalearn.alphabet import Alphabet, Symbol
from pdfalearn.errors import InputError
from pdfalearn.files.named import checked_name, shown
from pdfalearn.stores._batches import read_segment, writers_of
from pdfalearn.stores._compacting import compact
from pdfalearn.stores._file import StoreFile
from pdfalearn.stores._models import checked_key, find_key, model_rows
from pdfalearn.stores._verifying import Verified, verify
from pdfalearn.stores.segments import Segment
from pdfalearn.stores.writer import Writer

_FACTS = """
    SELECT
        count(DISTINCT writer),
        count(*),
        sum(length(nodes)) / 4,
        sum(length(parents) + length(symbols) + length(nodes) + length(numbers) + length(rows)
            + length(listed)),
        max(written)
    FROM batches WHERE model = ? HAVING count(*) > 0
"""


@dataclass(frozen=True)
class StoredModel:
    """What a store holds of one model.

    Examples
    --------
    >>> import tempfile
    >>> from pdfalearn import figure_3, learn
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = learn(figure_3(), store=f"{folder}/answers.db")
    ...     with AnswerStore(f"{folder}/answers.db", read_only=True) as store:
    ...         (model,) = store.models()
    >>> model.alphabet, model.writers, model.answers > 0
    (Alphabet(('0', '1'), terminal='$'), 1, True)
    """

    key: str
    """What tells the model from others."""
    alphabet: Alphabet
    """Its symbols and its terminal."""
    writers: int
    """How many runs have written, each in a numbering of its own."""
    batches: int
    """How many batches they have written."""
    answers: int
    """How many answers; a word that several writers have asked for counts for each."""
    bytes: int
    """How many bytes these take."""
    first: str
    """When the first answer was written, in UTC."""
    last: str
    """When the last one was."""


class AnswerStore:
    """A file of answers, safe against crashes, that several processes may use at once.

    What `Writer.append` has written survives the death of the process; a power failure can cost
    the answers of the last twentieth of a second. Each process, and each thread, opens the store
    for itself. The file must not be on a network drive, where SQLite cannot share it. While it is
    open, SQLite keeps files beside it that end in ``-wal`` and ``-shm``: they belong to it.

    Parameters
    ----------
    path : str or os.PathLike
        The file; a new one is created unless it is only to be read.
    read_only : bool
        Whether to refuse everything that writes.

    Raises
    ------
    StoreError
        If there is no such file to read, if it is not a store, is damaged or of a newer format, is
        locked for ten seconds by another process, or may not be written.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name, "answers.db")
    >>> with AnswerStore(path) as store:
    ...     writer = store.writer("coin", Alphabet("ab"))
    ...     writer.append([0], [1], [0, 1], [0, -1], [[0.5, 0.5, 0.0]])
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
        """Close the file; afterwards neither the store nor its writers can be used."""
        self._file.close()

    def writer(self, key: str, alphabet: Alphabet) -> Writer:
        """Make a writer of a model's answers, which numbers words and rows anew.

        Parameters
        ----------
        key : str
            One line of text that identifies the model and its settings among all others.
        alphabet : Alphabet
            The model's alphabet; its symbols are strings or integers.

        Raises
        ------
        StoreError
            If the key is known with another alphabet.
        """
        return Writer(self._file, checked_key(key), alphabet)

    def segments(self, key: str) -> Iterator[Segment]:
        """Read all answers of a model, writer by writer in the order in which they began.

        A word may be in several segments. A key that is not known has no segments.

        Raises
        ------
        DamagedStoreError
            If a batch is not as it was written; the message names it.
        """
        with self._file.reading() as connection:
            model = find_key(connection, checked_key(key))
            if model is None:
                return
            alphabet_size = len(model.alphabet(self.path))
            writers = writers_of(connection, model)
        for writer in writers:
            with self._file.reading() as connection:
                segment = read_segment(connection, self.path, model, writer, alphabet_size)
            yield segment

    def answers(self, key: str) -> Iterator[tuple[tuple[Symbol, ...], NDArray[np.float64] | None]]:
        """Read all answers of a model one by one: words, and their distributions.

        Undefined words have None. A word that several writers have stored comes several times.
        """
        alphabets = {model.key: model.alphabet for model in self.models()}
        for segment in self.segments(key):
            pairs = zip(segment.nodes.tolist(), segment.numbers.tolist(), strict=True)
            for node, number in pairs:
                word = alphabets[key].decode(segment.word(node))
                yield word, None if number < 0 else _row(segment, number)

    def models(self) -> list[StoredModel]:
        """Return what the store holds of each model, in the order of their first writing."""
        with self._file.reading() as connection:
            return [
                StoredModel(
                    key=model.key,
                    alphabet=model.alphabet(self.path),
                    writers=writers,
                    batches=batches,
                    answers=answers,
                    bytes=size,
                    first=model.begun,
                    last=last,
                )
                for model in model_rows(connection)
                for writers, batches, answers, size, last in connection.execute(_FACTS, (model.id,))
            ]

    def verify(self) -> Verified:
        """Check everything, and return the counts of what was found to be right.

        SQLite's own structures, the checksum of every batch, and whether its arrays can be right:
        parents before their children, symbols of the alphabet, numbers of rows that exist, and
        rows that are distributions.

        Raises
        ------
        DamagedStoreError
            If anything is not as it was written.
        """
        with self._file.reading() as connection:
            return verify(connection, self.path)

    def compact(self) -> None:
        """Merge the writers of each model into one, and give the space back.

        Words and rows that several writers have stored are kept once. A crash in the middle leaves
        the old content. Nobody else may have the store open, not even to read: a run that goes on
        writing refers to what it has written before, and must find that in its place.

        Raises
        ------
        StoreError
            If another process has the store open, or if a word has two different answers.
        """
        self._file.check_writable()
        if self._file.has_written:
            raise InputError(
                f"{shown(str(self.path))}: one of its writers has begun here; close the store, and "
                "compact it when it is open again"
            )
        with self._file.alone() as connection:
            compact(connection, self.path)


def _row(segment: Segment, number: int) -> NDArray[np.float64]:
    """Return a distribution as an array; what is not listed shares what is left."""
    table = segment.rows.take(np.array([number])).to_dense()
    return np.asarray(table[0])
