"""The answers of one model in a store: find, add, sample and read them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from pdfalearn.alphabet import Alphabet, Symbol, shortened
from pdfalearn.equivalence.relations import Tolerance, different_rows
from pdfalearn.errors import InputError, StoreError
from pdfalearn.files.named import shown
from pdfalearn.row_checks import BadRowError, UndecidedError
from pdfalearn.rows import Rows
from pdfalearn.stores._coding import Numbers, check_rows, encode_rows
from pdfalearn.stores._index import NOT_STORED, Hashes, WordIndex, hash_words
from pdfalearn.stores._log import BATCH_BYTES, UNDEFINED, AnswerLog, Chunk
from pdfalearn.stores._models import alphabet_text, find_model, now, registered
from pdfalearn.stores._sqlite import StoreFile, read_snapshot
from pdfalearn.words import Words

SAME = 1e-3
"""Two answers to one word that differ by more than this are not those of one model."""

_SHARED_BYTES = 2**24
"""New rows are remembered up to this size, so that equal ones are stored once."""


class ModelAnswers:
    """The answers of one model, made by `AnswerStore.answers`.

    Words are found by an index of hashes, read at first use; rows are read when they are needed.
    Iterating yields every word with its distribution, in the order in which they were stored; None
    stands for the distribution of an undefined word.

    Parameters
    ----------
    file : StoreFile
        The open file.
    key : str
        Which model.
    alphabet : Alphabet
        The model's alphabet; one that is not that of the file is refused.
    """

    def __init__(self, file: StoreFile, key: str, alphabet: Alphabet) -> None:
        alphabet_text(alphabet)
        with file.reading() as connection:
            find_model(connection, file.path, key, alphabet)
        self._file = file
        self._key = key
        self._alphabet = alphabet
        self._forget()

    def _forget(self) -> None:
        """Forget all that is known of the file's content."""
        self._edition = self._file.editions
        self._log: AnswerLog | None = None
        self._index = WordIndex()
        # The numbers of rows that were stored lately: dense ones, sparse ones.
        self._shared: tuple[dict[bytes, int], dict[bytes, int]] = {}, {}
        self._shared_bytes = 0

    def __len__(self) -> int:
        with self._reading():
            return len(self._index)

    def __iter__(self) -> Iterator[tuple[tuple[Symbol, ...], NDArray[np.float64] | None]]:
        for words, rows in self.batches():
            for place, codes in enumerate(words):
                row = rows.take(np.array([place]))
                is_undefined = row.undefined is not None and row.undefined[0]
                yield self._alphabet.decode(codes), None if is_undefined else row.to_dense()[0]

    def batches(self) -> Iterator[tuple[Words, Rows]]:
        """Read all answers, many at a time, in the order in which they were stored."""
        sequence, most = 0, BATCH_BYTES // (2 * len(self._alphabet) + 2)  # four bytes a number
        while True:
            with self._reading() as (connection, log):
                chunk = log.read(connection, sequence, most) if log else None
                if log is None or chunk is None:
                    return
                rows = log.read_rows(connection, chunk.numbers)
            yield chunk.words, rows
            sequence += len(chunk.batches)

    def find(self, words: Words) -> tuple[Numbers, Rows]:
        """Find the words that are stored.

        Returns
        -------
        places : array of int
            The places of these words, ascending.
        rows : Rows
            Their rows; undefined ones are marked.

        Raises
        ------
        DamagedStoreError
            If a batch is not as it was written; the message names it.
        """
        with self._reading() as (connection, log):
            if log is None:
                return np.empty(0, dtype=np.int64), self._no_rows
            numbers = self._index.find(*hash_words(words, len(self._alphabet)))
            places = (numbers != NOT_STORED).nonzero()[0]
            return places, log.read_rows(connection, numbers[places])

    def sample(self, count: int, seed: int) -> tuple[Words, Rows]:
        """Return some of the words that are defined, and their rows."""
        with self._reading() as (connection, log):
            if log is None:
                return Words.of([]), self._no_rows
            ends = np.cumsum([0, *(batch.defined for batch in log.batches)])
            random, total = np.random.default_rng(seed), int(ends[-1])
            words, numbers = list[list[int]](), list[int]()
            for place in np.sort(random.choice(total, min(count, total), replace=False)).tolist():
                sequence = int(np.searchsorted(ends, place, side="right")) - 1
                chunk = log.read(connection, sequence, 0)
                if chunk is None:
                    raise log.make_error(sequence, "it is missing")
                here = (chunk.numbers != UNDEFINED).nonzero()[0][place - ends[sequence]]
                words += list(chunk.words.take(here[None]))
                numbers.append(int(chunk.numbers[here]))
            return Words.of(words), log.read_rows(connection, np.array(numbers, dtype=np.int64))

    def add(self, words: Words, rows: Rows) -> None:
        """Store answers: all of them, or none and an error. Those that are stored are ignored.

        Parameters
        ----------
        words : Words
            The words.
        rows : Rows
            A row for each.

        Raises
        ------
        InputError
            If the arrays do not fit together, or a row is not a distribution.
        StoreError
            If a word has another answer already. If the file is locked, may not be written, or the
            disk is full: what was added before is safe, and the same call may be tried again.
        """
        self._file.check_writable()
        self._check_given(words, rows)
        if not len(words):
            return
        with self._file.writing() as connection:
            log = self._refresh(connection)
            if log is None:
                path = self._file.path
                model = registered(connection, path, self._key, self._alphabet)
                log = AnswerLog(path, model, len(self._alphabet))
            written = self._write(connection, log, words, rows, now())
        self._note(log, *written)

    def verify(self) -> tuple[int, int]:
        """Read every batch and its rows; return how many batches and answers there are."""
        self._forget()
        with self._file.reading() as connection:
            log = self._refresh(connection, most=0)
            if log is None:
                return 0, 0
            for sequence in range(len(log.batches)):
                log.check_rows(connection, sequence)
            return len(log.batches), len(self._index)

    def rewrite(self, connection: sqlite3.Connection) -> None:
        """Write all answers anew in large batches, with equal rows once; only if alone."""
        model = find_model(connection, self._file.path, self._key, self._alphabet)
        if model is None:
            return
        last = "SELECT max(written) FROM batches WHERE model = ?"
        (time,) = connection.execute(last, (model.id,)).fetchone()
        aside = model._replace(id=-model.id)
        new = ModelAnswers(self._file, self._key, self._alphabet)
        log = AnswerLog(self._file.path, aside, len(self._alphabet))
        for words, rows in self.batches():
            new._note(log, *new._write(connection, log, words, rows, time))
        connection.execute("DELETE FROM batches WHERE model = ?", (model.id,))
        connection.execute("UPDATE batches SET model = ? WHERE model = ?", (model.id, aside.id))

    @property
    def _no_rows(self) -> Rows:
        return Rows.dense(np.empty((0, len(self._alphabet) + 1)))

    @contextmanager
    def _reading(self) -> Iterator[tuple[sqlite3.Connection, AnswerLog | None]]:
        """Lend a connection and the log, which do not change meanwhile; None: nothing is stored."""
        with self._file.reading() as connection, read_snapshot(connection):
            yield connection, self._refresh(connection)

    def _refresh(self, connection: sqlite3.Connection, most: int = BATCH_BYTES) -> AnswerLog | None:
        """Read the words of all batches that are new in the file, whoever has written them."""
        if self._edition != self._file.editions:
            self._forget()
        if self._log is None:
            path = self._file.path
            model = find_model(connection, path, self._key, self._alphabet)
            if model is None:
                return None
            self._log = AnswerLog(path, model, len(self._alphabet))
        log = self._log
        while (chunk := log.read(connection, len(log.batches), most)) is not None:
            self._note(log, chunk, hash_words(chunk.words, len(self._alphabet)), {}, False)
        return log

    def _note(
        self,
        log: AnswerLog,
        chunk: Chunk,
        hashes: tuple[Hashes, Hashes],
        new_rows: dict[bytes, int],
        is_sparse: bool,
    ) -> None:
        """Note answers that are in the file now."""
        try:
            self._index.add(*hashes, chunk.numbers)
            log.note(chunk.batches)
            self._log = log
            self._shared_bytes += sum(map(len, new_rows)) + 100 * len(new_rows)
            if self._shared_bytes > _SHARED_BYTES:
                self._shared, self._shared_bytes = ({}, {}), 0
            self._shared[is_sparse].update(new_rows)
        except BaseException:  # an interrupt: what is half noted has to be read again
            self._forget()
            raise

    def _check_given(self, words: Words, rows: Rows) -> None:
        size, symbols = len(self._alphabet), words.symbols
        if len(words) != len(rows):
            raise InputError(f"there are {len(words)} words, but {len(rows)} rows")
        if rows.width != size + 1 or rows.values.ndim != 2 - rows.is_sparse:
            raise InputError(f"the rows have shape {rows.values.shape}, not (words, {size + 1})")
        if len(symbols) and not (symbols.min() >= 0 and symbols.max() < size):
            raise InputError(f"the words have symbols that are not from 0 to {size - 1}")
        try:
            check_rows(rows)
        except BadRowError as error:
            raise InputError(f"{self._name_word(words, error.place)}: {error}") from error

    def _write(
        self, connection: sqlite3.Connection, log: AnswerLog, words: Words, rows: Rows, time: str
    ) -> tuple[Chunk, tuple[Hashes, Hashes], dict[bytes, int], bool]:
        """Write what is new; return what is to be noted after the commit."""
        first, second = hash_words(words, len(self._alphabet))
        new = self._select_new(connection, log, words, rows, first, second)
        if len(new) < len(words):
            words, rows, first, second = words.take(new), rows.take(new), first[new], second[new]
        numbers = np.full(len(rows), UNDEFINED, dtype=np.int64)
        is_defined = slice(None) if rows.undefined is None else ~rows.undefined
        shared, count, new_rows = self._shared[rows.is_sparse], log.row_count, dict[bytes, int]()
        numbers[is_defined] = [
            shared[content]
            if content in shared
            else new_rows.setdefault(content, count + len(new_rows))
            for content in encode_rows(rows.take(np.arange(len(rows))[is_defined]))
        ]
        chunk = log.append(
            connection, words, numbers, list(new_rows), is_sparse=rows.is_sparse, time=time
        )
        return chunk, (first, second), new_rows, rows.is_sparse

    def _select_new(
        self,
        connection: sqlite3.Connection,
        log: AnswerLog,
        words: Words,
        rows: Rows,
        first: Hashes,
        second: Hashes,
    ) -> Numbers:
        """Return the places of words that are not stored; refuse other answers to those that are.

        Of a word that is given twice, the first place.
        """
        numbers, firsts = self._index.find(first, second), _find_firsts(first, second)
        is_stored, is_repeated = numbers != NOT_STORED, firsts != np.arange(len(words))
        if is_stored.any():
            stored = log.read_rows(connection, numbers[is_stored])
            self._check_same(words, rows, is_stored.nonzero()[0], stored)
        if is_repeated.any():
            given = rows.take(firsts[is_repeated])
            self._check_same(words, rows, is_repeated.nonzero()[0], given)
        return np.flatnonzero(~is_stored & ~is_repeated)

    def _check_same(self, words: Words, rows: Rows, places: Numbers, others: Rows) -> None:
        """Refuse answers to words at some places that are not those of the same model."""
        different = _find_different(rows.take(places), others)
        if different is not None:
            word = self._name_word(words, int(places[different]))
            raise StoreError(
                f"{shown(str(self._file.path))}: the model {self._key!r} has given two different "
                f"answers to {word}: it has changed under its name; use another model_id or "
                "another store"
            )

    def _name_word(self, words: Words, place: int) -> str:
        [codes] = words.part(place, place + 1)
        return f"the word {shortened(self._alphabet.decode(codes))}"


def _find_firsts(first: Hashes, second: Hashes) -> Numbers:
    """Return for each word the place of the first word that is equal to it."""
    order = np.argsort(first, kind="stable")
    one, two = first[order], second[order]
    begins = np.ones(len(order), dtype=bool)
    begins[1:] = (one[1:] != one[:-1]) | (two[1:] != two[:-1])
    firsts = np.empty(len(order), dtype=np.int64)
    firsts[order] = order[begins][np.cumsum(begins) - 1]
    return firsts


def _find_different(rows: Rows, others: Rows) -> int | None:
    """Return the first place where two answers are not those of one model; None if there is none.

    Where sparse rows leave that open, they are taken to be the same.
    """
    one, two = (
        np.zeros(len(part), dtype=bool) if part.undefined is None else part.undefined
        for part in (rows, others)
    )
    different = one != two
    both = (~one & ~two).nonzero()[0]
    rows, others = rows.take(both), others.take(both)
    try:
        different[both] = different_rows(Tolerance(SAME), rows, others)
    except UndecidedError:
        if len(both) > 1:
            pairs = ((rows.take(one), others.take(one)) for one in np.arange(len(both))[:, None])
            different[both] = [_find_different(*pair) is not None for pair in pairs]
    return int(different.argmax()) if different.any() else None
