"""A live model's rows in a file: a run that was killed goes on, and other models are compared."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple, cast
from zlib import crc32

import numpy as np

from pdfalearn.alphabet import Alphabet
from pdfalearn.checks import wrong_rows
from pdfalearn.errors import FileFormatError, InputError, ModelError
from pdfalearn.exploring.prefixes import Told, ask_model
from pdfalearn.exploring.readings import StateMap
from pdfalearn.files import check_keys, check_numbers, lock_file, parse_json
from pdfalearn.models import (
    Batch,
    CheckedModel,
    LanguageModel,
    attached_answers,
    close_quietly,
    open_model,
)
from pdfalearn.text import shorten
from pdfalearn.typing import Codes, Flags, Floats, Integers

_FORMAT, _VERSION = "pdfalearn answers", 2
# What the last line says: how many rows there are.
_END = "rows in all"
# The parts of a question.
_ASKED = {"languages", "match", "within", "cut_ends", "stops", "prompts"}
_ASKED |= {"prompt", "ends", "symbols", "automaton"}
# What stands last in each line: a checksum of all that stands before it.
_CHECK = ', "crc32": '
# Of larger rows these many columns are kept, the likeliest that leave a question open, and that
# settle it; of the others their sums.
_SMALL, _MOST_LIVE, _MOST_SETTLED = 1024, 512, 64
# This many stored rows are asked for again, and may differ by this much.
_ASKED_AGAIN = 2
_SAME = 1e-3

Question = dict[str, Any]
"""What decides how rows are read, as it stands in a file."""
Key = tuple[int, tuple[int, ...]]
"""The state of the languages after a word, and the word with its prompt."""


class Row(NamedTuple):
    """What is kept of a row."""

    columns: Codes
    values: Floats
    rests: Floats
    """The sums of all other columns, by what they settle; the last is what leaves it open."""
    untold: float

    @classmethod
    def of(cls, row: Floats, untold: float, after: StateMap, kinds: int) -> Row:
        """Keep the likeliest columns of a row in a state of the languages."""
        columns: Integers = row.nonzero()[0]
        if len(row) > _SMALL:
            is_live = after.settled[columns] == kinds - 1
            parts = (columns[is_live], _MOST_LIVE), (columns[~is_live], _MOST_SETTLED)
            columns = np.sort(np.concatenate([_likeliest(row, *part) for part in parts]))
        left = row.copy()
        left[columns] = 0.0
        rests = np.asarray(np.bincount(after.settled, left, kinds), dtype=np.float64)
        return cls(columns.astype(np.int32), row[columns], rests, untold)


def _likeliest(row: Floats, columns: Integers, count: int) -> Integers:
    if len(columns) <= count:
        return columns
    return columns[np.argpartition(-row[columns], count - 1)[:count]]


class Baseline:
    """What a model once answered to a question, read from a file that an exploration wrote.

    Parameters
    ----------
    path : path
        The file.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from pdfalearn import explore
    >>> from pdfalearn.datasets import figure_1
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "march.jsonl")
    ...     explore(figure_1(), {"even": "(aa)*"}).save(file)
    ...     Baseline(file).languages
    {'even': '(aa)*'}
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.header, self.rows, self.size, self.is_whole = _read(self.path)
        self.question: Question = self.header["question"]

    @property
    def languages(self) -> dict[str, str]:
        """The languages that the file has answers for."""
        return dict(self.question["languages"])

    def check(self, question: Question, width: int, kinds: int, key: str | None = None) -> None:
        """Refuse a file that is about another question, or another model, or has other columns."""
        for name, asked in question.items():
            if (stored := self.question.get(name)) != asked:
                raise InputError(
                    f"{self.path} has answers to another question, with {name} "
                    f"{shorten(repr(stored), 200)} and not {shorten(repr(asked), 200)}; ask the "
                    "same question, or name another file"
                )
        if key is not None and self.header["model"] != key:
            raise ModelError(
                f"{self.path} has the rows of another model, {self.header['model']!r}, and not of "
                f"{key!r}; name another file"
            )
        if key is None and not self.is_whole:
            raise FileFormatError(
                f"{self.path} has no end: its run was killed, or a part of the file is lost, and "
                "a baseline is whole; go on with that run, which keeps what is there, or begin anew"
            )
        for (_, word), row in self.rows.items():
            columns = np.append(row.columns, [1 + symbol for symbol in word])
            shares = np.concatenate([row.values, row.rests, [row.untold]])
            are_right = (columns >= 0) & (columns < width) & (len(row.columns) == len(row.values))
            is_wrong = wrong_rows(shares[None], tolerance=_SAME).any() or len(row.rests) != kinds
            if is_wrong or not are_right.all():
                raise FileFormatError(f"{self.path} has wrong rows; write the file anew")


class RecordedRows(CheckedModel):
    """An opened model with the rows that a file has; new ones are written as they come."""

    def __init__(
        self,
        model: LanguageModel | None,
        rows: dict[Key, Row],
        alphabet: Alphabet,
        kinds: int,
        path: Path | None = None,
        read: Callable[[], tuple[dict[Key, Row], bool]] | None = None,
    ) -> None:
        self.model, self.alphabet, self._rows = model, alphabet, rows
        self._kinds, self._path, self._read = kinds, path, read
        self._lock: ExitStack | None = None
        self._size, self._is_ended = -1, False
        self.unread = set(rows)
        """Which rows of the file nobody has asked for yet."""
        self.begin()

    def begin(self) -> None:
        """Let nobody else write to the file until `end`, and read what was written meanwhile."""
        if self._path is None or self._read is None or self._lock is not None:
            return
        with _named_errors(self._path, "written"), ExitStack() as stack:
            lock = self._path.with_name(f"{self._path.name}.lock")
            stack.enter_context(lock_file(lock, "another run"))
            self._path.touch()
            if self._path.stat().st_size != self._size:
                self._rows, self._is_ended = self._read()
                self._size = self._path.stat().st_size
            self._lock = stack.pop_all()

    def tell(
        self, batch: Batch, states: Integers, map_of: Callable[[int], StateMap], whole: Flags
    ) -> Told:
        """Return rows, asked or stored; those that are wanted whole with all of their columns."""
        self.begin()
        width, kinds = 1 + len(self.alphabet), self._kinds
        words = [tuple(word) for word in batch.words]
        keys: list[Key] = list(zip(states.tolist(), words, strict=True))
        self.unread.difference_update(keys)
        known = [self._rows.get(key) for key in keys]
        pairs = zip(known, whole, strict=True)
        missing = np.flatnonzero([r is None or bool(all_ and r.rests.any()) for r, all_ in pairs])
        rests = np.zeros((len(keys), kinds))
        told = Told(np.zeros((len(keys), width)), rests, np.zeros(len(keys)))
        if len(missing) and self.model is not None:
            asked = self._ask(batch.select(missing), keys, missing, map_of)
            told.columns[missing], told.untold[missing] = asked.columns, asked.untold
        for place, key in enumerate(keys):
            row = self._rows.get(key)
            if row is None:  # of a file alone
                told.untold[place] = 1.0
            elif not (whole[place] and self.model is not None and place in missing):
                told.columns[place] = 0.0
                told.columns[place, row.columns] = row.values
                rests[place], told.untold[place] = row.rests, row.untold
                if self.model is None and len(map_of(place).live):
                    told.untold[place] += row.rests[-1]  # nobody can be asked for it
                    rests[place, -1] = 0.0
        return told

    def _ask(
        self, batch: Batch, keys: Sequence[Key], places: Integers, map_of: Callable[[int], StateMap]
    ) -> Told:
        """Ask the model, and write what it told, also if it failed half-way."""
        model = cast("LanguageModel", self.model)

        def note(told: Told, where: Iterable[int]) -> None:
            new: dict[Key, Row] = {}
            for row, untold, place in zip(told.columns, told.untold.tolist(), where, strict=True):
                if keys[place] not in self._rows:
                    new[keys[place]] = Row.of(row, untold, map_of(place), self._kinds)
            if self._path is not None and new:
                _write(self._path, _row_line(new))
                self._is_ended = False
            self._rows |= new

        try:
            told = ask_model(model, batch)
        except BaseException as error:
            partial = attached_answers(error)
            if partial is not None and len(partial.ids):
                where = np.searchsorted(batch.wanted_ids, partial.ids)
                note(Told.of(partial.rows), places[where].tolist())
            raise
        note(told, places.tolist())
        return told

    def end(self) -> None:
        """Write that nothing is missing, unless that is written; then others may write."""
        lock, self._lock = self._lock, None
        if self._path is not None and lock is not None:
            with lock:
                if not self._is_ended:
                    self._size = _write(self._path, _format_line({_END: len(self._rows)}))
                self._is_ended = True

    def close(self) -> None:
        """Close the model."""
        if self.model is not None:
            close_quietly(self.model)
        self.end()


def open_record(
    path: Path,
    question: Question,
    key: str,
    model: LanguageModel,
    opened: LanguageModel,
    kinds: int,
) -> RecordedRows:
    """Return an opened model with the rows of a file, which is made if it is missing."""

    def read() -> tuple[dict[Key, Row], bool]:
        if not (size := path.stat().st_size):
            _write(path, _header_line(question, key))
            return {}, False
        stored = Baseline(path)
        stored.check(question, 1 + len(model.alphabet), kinds, key)
        if stored.size < size:  # a line that a killed process left unfinished
            os.truncate(path, stored.size)
        _compare(path, stored.rows, model)
        return stored.rows, stored.is_whole

    return RecordedRows(opened, {}, model.alphabet, kinds, path, read)


@contextmanager
def _named_errors(path: Path, verb: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InputError(f"{path} could not be {verb}: {error.strerror}") from error


def _compare(path: Path, rows: Mapping[Key, Row], model: LanguageModel) -> None:
    """Refuse a file that has rows of another model."""
    for (_, word), row in list(rows.items())[:_ASKED_AGAIN]:
        opened = open_model(model)  # its numbers of words are not those of the run
        try:
            now = Told.of(opened.answer(Batch.of([word]))).columns[0]
            if (np.abs(now[row.columns] - row.values) > _SAME).any():
                raise ModelError(
                    f"{path} has other rows than the model gives now: if the model is another one, "
                    "give it another model_id and another file"
                )
        finally:
            close_quietly(opened)


def text_of(question: Question, key: str, rows: Mapping[Key, Row]) -> str:
    """Return a whole file."""
    lines = [_row_line(rows)] if rows else []
    lines = [_header_line(question, key), *lines, _format_line({_END: len(rows)})]
    return "".join(f"{line}\n" for line in lines)


def _header_line(question: Question, key: str) -> str:
    header = {"format": _FORMAT, "version": _VERSION, "model": key, "question": question}
    return _format_line(header)


def _format_line(members: Mapping[str, Any]) -> str:
    """Return a line that shows if it was changed."""
    line = json.dumps(members)
    return f"{line[:-1]}{_CHECK}{crc32(line.encode())}}}"


def _read_line(line: bytes) -> dict[str, Any]:
    before, _, check = line.rpartition(_CHECK.encode())
    if str(crc32(before + b"}")).encode() != check.strip().removesuffix(b"}"):
        raise InputError("the line has another checksum")
    return parse_json(before + b"}", "it")


def _write(path: Path, line: str) -> int:
    """Append a line in one call of the system, or nothing of it; return the size of the file."""
    data = f"{line}\n".encode()
    with _named_errors(path, "written"), path.open("ab", buffering=0) as file:
        size = file.tell()
        try:
            while data:
                data = data[file.write(data) :]
        except OSError:  # the disk is full, say
            file.truncate(size)
            raise
        return file.tell()


def _row_line(rows: Mapping[Key, Row]) -> str:
    """Return a line of rows."""
    columns, values, rests, untold = (list(part) for part in zip(*rows.values(), strict=True))
    members = {
        "states": [state for state, _ in rows],
        "words": [list(word) for _, word in rows],
        "counts": list(map(len, columns)),
        "columns": _pack(np.concatenate(columns).astype("<i4")),
        "values": _pack(np.concatenate(values).astype("<f8")),
        "rests": _pack(np.concatenate(rests).astype("<f8")),
        "untold": untold,
    }
    return _format_line(members)


def _pack(array: np.ndarray[Any, Any]) -> str:
    return base64.b64encode(array.tobytes()).decode()


def _read(path: Path) -> tuple[dict[str, Any], dict[Key, Row], int, bool]:
    """Read a file; return its header, its rows, where its last whole line ends, and if it ended."""
    with _named_errors(path, "read"):
        lines = path.read_bytes().splitlines(keepends=True)
    size, rows, is_ended = sum(map(len, lines)), dict[Key, Row](), False
    if lines and not lines[-1].endswith(b"\n"):
        size -= len(lines.pop())
    header, number = dict[str, Any](), 1
    try:
        header = _read_line(lines[0])
        if header["format"] != _FORMAT or header["version"] != _VERSION:
            raise InputError("another format")
        header = {name: header[name] for name in ("model", "question")}
        question = check_keys(header["question"], _ASKED, "its question")
        dict(question["languages"] | question["prompts"])
        check_numbers([*question["prompts"].values(), question["prompt"]], "prompts", 2, 2**31)
        for line in lines[1:]:
            number += 1
            members = _read_line(line)
            if is_ended := _END in members:
                if members[_END] != len(rows):
                    raise InputError("there are fewer rows or more before it")
            else:
                _read_rows(members, rows)
    except (ValueError, KeyError, IndexError, TypeError) as error:
        is_other = f"{path} is not a file of answers, as explore(…, store=FILE) writes it, or"
        where = is_other if number == 1 else f"{path}, line {number}:"
        why = f" ({error})" if isinstance(error, InputError) else ""
        raise FileFormatError(
            f"{where} a part of it is lost or changed{why}; write the file anew"
        ) from error
    return header, rows, size, is_ended and size == sum(map(len, lines))


def _read_rows(members: Mapping[str, Any], rows: dict[Key, Row]) -> None:
    def unpack(name: str, kind: str) -> Any:
        return np.frombuffer(base64.b64decode(members[name]), kind)

    states, counts = (check_numbers(members[name], name, 1, 2**31) for name in ("states", "counts"))
    words = check_numbers(members["words"], "words", 2, 2**31)
    untold = check_numbers(members["untold"], "untold", 1)
    cuts = np.cumsum(counts)[:-1]
    columns = np.split(unpack("columns", "<i4"), cuts)
    values = np.split(unpack("values", "<f8"), cuts)
    rests = unpack("rests", "<f8").reshape(len(words), -1)
    each = zip(columns, values, rests, untold, strict=True)
    for state, word, row in zip(states, words, each, strict=True):
        rows[state, tuple(word)] = Row(*row)
