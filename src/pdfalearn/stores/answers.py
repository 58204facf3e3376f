"""The answers of one model in a store: find, add, sample and read them."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import count, repeat

import numpy as np
from numpy.typing import NDArray

from pdfalearn.alphabet import Alphabet, Symbol, shorten
from pdfalearn.equivalence import Tolerance, different_rows
from pdfalearn.errors import DamagedStoreError, InputError, StoreError
from pdfalearn.files import show_name
from pdfalearn.row_checks import BadRowError, UndecidedError
from pdfalearn.rows import Rows
from pdfalearn.stores._coding import (
    check_rows,
    decode_rows,
    decode_words,
    encode_rows,
    encode_words,
)
from pdfalearn.stores._sqlite import (
    ModelRow,
    StoreFile,
    add_model,
    find_model,
    make_damage_error,
    write_alphabet,
)
from pdfalearn.typing import Integers
from pdfalearn.words import Words

SAME = 1e-3
"""Two answers to one word that differ by more than this are not those of one model."""

# New rows are remembered up to this size, so that equal ones are stored once.
_SHARED_BYTES = 2**24
# This many answers are read by one statement.
_AT_ONCE = 512
# Answers are read in pieces of about this size.
_READ_BYTES = 2**22

# A row that another answer has already is the number of that answer.
_READ = (
    "SELECT one.id, one.word, one.time, one.checksum, coalesce(other.row, one.row) "
    "FROM answers AS one LEFT JOIN answers AS other ON other.id = one.row WHERE "
)
_READ_NEXT = _READ + "one.id > ? AND one.id <= ? ORDER BY one.id LIMIT ?"
_READ_WORDS = "SELECT id, word, row IS NULL FROM answers WHERE id > ? AND id <= ?"
_LAST = "SELECT coalesce(max(id), ?1) FROM answers WHERE id > ?1 AND id <= ?2"
_INSERT = "INSERT INTO answers VALUES (?, ?, ?, ?, ?)"

_Record = tuple[int, bytes, int, int, bytes | None]


class ModelAnswers:
    """The answers of one model, made by `AnswerStore.answers`.

    The words are in memory from the first use on, each with the number of its answer; the rows are
    read when they are needed. (With an index of the words in the file, adding random words to a
    large store takes three times as long: each changes a page of its own.) Iterating yields every
    word with its distribution, in the order in which they were stored; None stands for the
    distribution of an undefined word. An alphabet that is not that of the file is refused.
    """

    def __init__(self, file: StoreFile, key: str, alphabet: Alphabet | None = None) -> None:
        if alphabet is not None:
            write_alphabet(alphabet)  # refuses symbols that no file can hold
        with file.reading() as connection:
            model = find_model(connection, file.path, key, alphabet)
        if alphabet is None:
            if model is None:
                raise StoreError(f"{show_name(str(file.path))}: there is no model {key!r} in it")
            alphabet = model.alphabet(file.path)
        self._file = file
        self._key = key
        self._alphabet = alphabet
        self._model: ModelRow | None = None
        # The number of each word's answer; negative if the word is undefined.
        self._numbers: dict[bytes, int] = {}
        # The model's last answer in the file when it was read.
        self._last = 0
        self._version = 0
        # The answers that hold rows which were added lately.
        self._shared: dict[bytes, int] = {}
        self._shared_bytes = 0

    def __len__(self) -> int:
        with self._file.reading() as connection:
            self._refresh(connection)
        return len(self._numbers)

    def __iter__(self) -> Iterator[tuple[tuple[Symbol, ...], NDArray[np.float64] | None]]:
        for words, rows in self.batches():
            for place, codes in enumerate(words):
                row = rows.take(np.array([place]))
                is_undefined = row.undefined is not None and row.undefined[0]
                yield self._alphabet.decode(codes), None if is_undefined else row.to_dense()[0]

    def batches(self) -> Iterator[tuple[Words, Rows]]:
        """Read all answers, many at a time, in the order in which they were stored."""
        last, most = 0, max(1, _READ_BYTES // (8 * len(self._alphabet) + 8))
        while True:
            with self._file.reading() as connection:
                self._refresh(connection)
                last = max(last, 0 if self._model is None else self._model.before)
                found = connection.execute(_READ_NEXT, (last, self._last, most)).fetchall()
                if not found:
                    return
                words, rows = self._decode(found)
            yield words, rows
            last = found[-1][0]

    def find(self, words: Words) -> tuple[Integers, Rows]:
        """Return the places of words that are stored, ascending, and their rows.

        An answer that is not as it was written is a `DamagedStoreError` that names it.
        """
        with self._file.reading() as connection:
            self._refresh(connection)
            get = self._numbers.get
            spelled = encode_words(words, len(self._alphabet)) if self._numbers else []
            numbers = np.array([get(word, 0) for word in spelled], dtype=np.int64)
            places = numbers.nonzero()[0]
            return places, self._read_rows(connection, np.abs(numbers[places]))

    def sample(self, count: int, seed: int) -> tuple[Words, Rows]:
        """Return some of the words that are defined, and their rows."""
        with self._file.reading() as connection:
            self._refresh(connection)
            numbers = np.array([0, *self._numbers.values()], dtype=np.int64)
            defined = numbers[numbers > 0]
            random = np.random.default_rng(seed)
            chosen = random.choice(len(defined), min(count, len(defined)), replace=False)
            return self._decode(self._read(connection, np.sort(defined[chosen])))

    def add(self, words: Words, rows: Rows) -> None:
        """Store answers: all of them, or none and an error. Those that are stored are ignored.

        Raises
        ------
        InputError
            If the arrays do not fit together, or a row is not a distribution.
        StoreError
            If a word has another answer already. If the file is locked, may not be written, or the
            disk is full: what was added before is safe, and the same call may be tried again.
        """
        self._check_given(words, rows)
        if not len(words):
            return
        with self._file.writing() as connection:
            self._refresh(connection)
            model = self._model or add_model(connection, self._key, self._alphabet)
            first = max(self._last, model.before) + 1
            spelled = encode_words(words, len(self._alphabet))
            new = self._select_new(connection, words, spelled, rows)
            if len(new) < len(words):
                spelled, rows = [spelled[place] for place in new], rows.take(np.array(new, int))
            contents = encode_rows(rows)
            shared: dict[bytes, int] = {}
            records = self._make_records(model, first, spelled, contents, shared)
            connection.executemany(_INSERT, records)
        # Only now, after the commit, is it known that the answers are there.
        self._model = model
        self._shared_bytes += sum(map(len, shared)) + 100 * len(shared)
        if self._shared_bytes > _SHARED_BYTES:
            self._shared, self._shared_bytes = {}, 0
        self._shared |= shared
        signed = (-at if row is None else at for at, row in enumerate(contents, first))
        self._numbers.update(zip(spelled, signed, strict=True))
        # An interrupt before this is made good when the file is read the next time.
        self._last = first - 1 + len(spelled)

    def _make_records(
        self,
        model: ModelRow,
        first: int,
        spelled: Sequence[bytes],
        contents: Sequence[bytes | None],
        shared: dict[bytes, int],
    ) -> Iterator[tuple[int, bytes, bytes | int | None, int, int]]:
        """Return the records of answers; note the rows that are new, which others may share."""
        time = int(datetime.now(UTC).timestamp())
        seal, crc, known = _seal(model, time), zlib.crc32, self._shared
        pairs = list(zip(spelled, contents, strict=True))
        checksums = [crc(content or b"", crc(word, seal)) for word, content in pairs]
        rows: list[bytes | int | None] = [*contents]
        # A row that is known already is not stored again, but the number of its first answer.
        for place, content in enumerate(contents):
            if content is not None:
                at = known.get(content) or shared.setdefault(content, first + place)
                if at != first + place:
                    rows[place] = at
        # Tuples made by `zip` alone are inserted in less time than those of a generator.
        return zip(count(first), spelled, rows, repeat(time), checksums)

    def _check_given(self, words: Words, rows: Rows) -> None:
        size, symbols = len(self._alphabet), words.symbols
        if len(words) != len(rows):
            raise InputError(f"there are {len(words)} words, but {len(rows)} rows")
        if rows.width != size + 1 or rows.values.ndim != 2 - rows.is_sparse:
            raise InputError(f"the rows have shape {rows.values.shape}, not (words, {size + 1})")
        if len(symbols) and not (symbols.min() >= 0 and symbols.max() < size):
            raise InputError(f"the words have symbols that are not from 0 to {size - 1}")
        try:
            check_rows(rows, np.arange(len(rows)))
        except BadRowError as error:
            raise InputError(f"{self._name_word(words, error.place)}: {error}") from error

    def _select_new(
        self, connection: sqlite3.Connection, words: Words, spelled: Sequence[bytes], rows: Rows
    ) -> list[int]:
        """Return the places of words that are not stored; refuse other answers to those that are.

        Of a word that is given twice, the first place.
        """
        stored, again, firsts = list[int](), list[int](), dict[bytes, int]()
        for place, word in enumerate(spelled):
            if word in self._numbers:
                stored.append(place)
            elif firsts.setdefault(word, place) != place:
                again.append(place)
        if stored:
            numbers = np.array([abs(self._numbers[spelled[place]]) for place in stored])
            self._check_same(words, rows, stored, self._read_rows(connection, numbers))
        if again:
            others = rows.take(np.array([firsts[spelled[place]] for place in again]))
            self._check_same(words, rows, again, others)
        return list(firsts.values())

    def _check_same(self, words: Words, rows: Rows, places: list[int], others: Rows) -> None:
        """Refuse answers to words at some places that are not those of the same model."""
        different = _find_different(rows.take(np.array(places)), others)
        if different is not None:
            raise StoreError(
                f"{show_name(str(self._file.path))}: the model {self._key!r} has given two "
                f"different answers to {self._name_word(words, places[different])}: it has changed "
                "under its name; use another model_id or another store"
            )

    def _name_word(self, words: Words, place: int) -> str:
        [codes] = words.part(place, place + 1)
        return f"the word {shorten(self._alphabet.decode(codes))}"

    def _refresh(self, connection: sqlite3.Connection) -> None:
        """Read the words that are new in the file, whoever has written them."""
        (version,) = connection.execute("PRAGMA data_version").fetchone()
        if version != self._version:  # others have written, and may have moved the rows
            self._version, self._shared, self._shared_bytes = version, {}, 0
        if self._model is None:
            self._model = find_model(connection, self._file.path, self._key, self._alphabet)
            if self._model is None:
                return
        known = max(self._last, self._model.before)
        (last,) = connection.execute(_LAST, (known, self._model.last)).fetchone()
        if last != known:
            for at, word, is_undefined in connection.execute(_READ_WORDS, (known, last)):
                self._numbers[word] = -at if is_undefined else at
        self._last = last

    def _read_rows(self, connection: sqlite3.Connection, numbers: Integers) -> Rows:
        """Return the rows of answers, by their numbers."""
        # In ascending order the file is read from its beginning to its end, each page once.
        if (np.diff(numbers) > 0).all():
            return self._decode_rows(self._read(connection, numbers))
        different, places = np.unique(numbers, return_inverse=True)
        return self._decode_rows(self._read(connection, different)).take(places)

    def _read(self, connection: sqlite3.Connection, numbers: Integers) -> list[_Record]:
        """Read answers by their numbers, which are ascending."""
        found: list[_Record] = []
        for begin in range(0, len(numbers), _AT_ONCE):
            part = numbers[begin : begin + _AT_ONCE].tolist()
            marks = ",".join("?" * len(part))
            found += connection.execute(f"{_READ} one.id IN ({marks}) ORDER BY one.id", part)
        if len(found) != len(numbers):
            missing = set(numbers.tolist()).difference(record[0] for record in found)
            raise self._make_error(min(missing), "it is missing")
        return found

    def _decode(self, records: Sequence[_Record]) -> tuple[Words, Rows]:
        """Return the words and the rows of answers."""
        rows = self._decode_rows(records)
        try:
            return decode_words([record[1] for record in records], len(self._alphabet)), rows
        except ValueError as error:
            raise self._make_error(records[-1][0], f"up to it, {error}") from error

    def _decode_rows(self, records: Sequence[_Record]) -> Rows:
        """Check answers, and return their rows."""
        seals: dict[int, int] = {}
        for number, word, time, checksum, row in records:
            if not (isinstance(word, bytes) and isinstance(row, bytes | None)):
                raise self._make_error(number, "it is not bytes")
            if time not in seals:
                seals[time] = 0 if self._model is None else _seal(self._model, time)
            if checksum != zlib.crc32(row or b"", zlib.crc32(word, seals[time])):
                raise self._make_error(number, "its checksum is wrong")
        try:
            return decode_rows([record[4] for record in records], len(self._alphabet) + 1)
        except ValueError as error:
            place = error.place if isinstance(error, BadRowError) else -1
            raise self._make_error(records[place][0], str(error)) from error

    def _make_error(self, number: int, what: str) -> DamagedStoreError:
        """Return the error for an answer that is not as it was written."""
        place = number - (0 if self._model is None else self._model.before)
        return make_damage_error(self._file.path, f"model {self._key!r}, answer {place}: {what}")


def _seal(model: ModelRow, time: int) -> int:
    """Return where the checksums of a model's answers of some time begin."""
    return zlib.crc32(f"{time}".encode(), model.seal)


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
