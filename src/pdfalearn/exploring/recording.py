"""A live model's rows in a file: a run that was killed goes on, and other models are compared."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, cast
from zlib import crc32

import numpy as np

from pdfalearn.alphabet import Alphabet
from pdfalearn.errors import FileFormatError, InputError, ModelError
from pdfalearn.exploring.prefixes import Told
from pdfalearn.exploring.readings import StateMap
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

    def check(self, question: Question, key: str | None = None) -> None:
        """Refuse a file that is about another question, or another model."""
        for name, asked in question.items():
            if (stored := self.question.get(name)) != asked:
                raise InputError(
                    f"{self.path} has answers to another question: its {name} are "
                    f"{shorten(repr(stored), 200)}, and not {shorten(repr(asked), 200)}; ask the "
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

    def make_rows(self, alphabet: Alphabet, kinds: int) -> RecordedRows:
        """Return what answers from the file alone."""
        return RecordedRows(None, self.rows, alphabet, kinds)


class RecordedRows(CheckedModel):
    """An opened model with the rows that a file has; new ones are written as they come."""

    def __init__(
        self,
        model: LanguageModel | None,
        rows: dict[Key, Row],
        alphabet: Alphabet,
        kinds: int,
        path: Path | None = None,
        *,
        is_ended: bool = False,
    ) -> None:
        self.model, self.alphabet, self._rows = model, alphabet, rows
        self._kinds, self._path, self._is_ended = kinds, path, is_ended

    def tell(
        self, batch: Batch, states: Integers, map_of: Callable[[int], StateMap], whole: Flags
    ) -> Told:
        """Return rows, asked or stored; those that are wanted whole with all of their columns."""
        width, kinds = 1 + len(self.alphabet), self._kinds
        words = [tuple(word) for word in batch.words]
        keys: list[Key] = list(zip(states.tolist(), words, strict=True))
        known = [self._rows.get(key) for key in keys]
        missing = np.array(
            [
                row is None or (all_ and row.rests.any())
                for row, all_ in zip(known, whole, strict=True)
            ]
        ).nonzero()[0]
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
        self,
        batch: Batch,
        keys: Sequence[Key],
        places: Integers,
        map_of: Callable[[int], StateMap],
    ) -> Told:
        """Ask the model, and write what it told, also if it failed half-way."""
        model = cast("LanguageModel", self.model)

        def note(told: Told, where: Iterable[int]) -> None:
            new: dict[Key, Row] = {}
            for row, untold, place in zip(told.columns, told.untold.tolist(), where, strict=True):
                if keys[place] not in self._rows:
                    new[keys[place]] = Row.of(row, untold, map_of(place), self._kinds)
            if self._path is not None and new:
                _write(self._path, [_row_line(new)])
                self._is_ended = False
            self._rows |= new

        try:
            told = Told.of(model.answer(batch))
        except BaseException as error:
            partial = attached_answers(error)
            if partial is not None and len(partial.ids):
                where = np.searchsorted(batch.wanted_ids, partial.ids)
                note(Told.of(partial.rows), places[where].tolist())
            raise
        note(told, places.tolist())
        return told

    def end(self) -> None:
        """Write that nothing is missing, unless that is written."""
        if self._path is not None and not self._is_ended:
            _write(self._path, [_end_line(self._rows)])
            self._is_ended = True

    def close(self) -> None:
        """Close the model."""
        if self.model is not None:
            close_quietly(self.model)
        self.end()


def open_record(
    path: str | Path,
    question: Question,
    key: str,
    model: LanguageModel,
    opened: LanguageModel,
    kinds: int,
) -> RecordedRows:
    """Return an opened model with the rows of a file, which is made if it is missing."""
    path = Path(path)
    rows, is_ended = dict[Key, Row](), False
    if path.exists() and path.stat().st_size:
        stored = Baseline(path)
        stored.check(question, key)
        rows, is_ended = stored.rows, stored.is_whole
        if stored.size < path.stat().st_size:  # a line that a killed process left unfinished
            os.truncate(path, stored.size)
    else:
        _write(path, [_header_line(question, key)], os.O_TRUNC)
    _compare(path, rows, model)
    return RecordedRows(opened, rows, model.alphabet, kinds, path, is_ended=is_ended)


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
    lines = _header_line(question, key), *([_row_line(rows)] if rows else []), _end_line(rows)
    return "".join(f"{line}\n" for line in lines)


def _header_line(question: Question, key: str) -> str:
    header = {"format": _FORMAT, "version": _VERSION, "model": key, "question": question}
    return _format_line(header)


def _end_line(rows: Mapping[Key, Row]) -> str:
    return _format_line({_END: len(rows)})


def _format_line(members: Mapping[str, Any]) -> str:
    """Return a line that shows if it was changed."""
    line = json.dumps(members)
    return f"{line[:-1]}{_CHECK}{crc32(line.encode())}}}"


def _read_line(line: bytes) -> dict[str, Any]:
    before, _, check = line.rpartition(_CHECK.encode())
    if crc32(before + b"}") != int(check.strip().removesuffix(b"}")):
        raise ValueError("the line has another checksum")
    members = json.loads(before + b"}")
    return dict(members)


def _write(path: Path, lines: Sequence[str], how: int = os.O_APPEND) -> None:
    """Write lines in one call of the system, so that nobody sees a part of them."""
    data = "".join(line + "\n" for line in lines).encode()
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | how, 0o644)
        try:
            while data:
                data = data[os.write(descriptor, data) :]
        finally:
            os.close(descriptor)
    except OSError as error:
        raise InputError(f"{path} could not be written: {error.strerror}") from error


def _row_line(rows: Mapping[Key, Row]) -> str:
    """Return a line of rows."""
    parts = zip(*rows.values(), strict=True)
    columns, values, rests, untold = (list(part) for part in parts)
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
    try:
        lines = path.read_bytes().splitlines(keepends=True)
    except OSError as error:
        raise InputError(f"{path} could not be read: {error.strerror}") from error
    size, rows, is_ended = sum(map(len, lines)), dict[Key, Row](), False
    if lines and not lines[-1].endswith(b"\n"):
        size -= len(lines.pop())
    header, number = dict[str, Any](), 1
    try:
        header = _read_line(lines[0])
        if header["format"] != _FORMAT or header["version"] != _VERSION:
            raise ValueError("another format")
        header = {name: header[name] for name in ("model", "question")}
        for line in lines[1:]:
            number += 1
            members = _read_line(line)
            if is_ended := _END in members:
                if members[_END] != len(rows):
                    raise ValueError("there are fewer rows or more before it")
            else:
                _read_rows(members, rows)
    except (ValueError, KeyError, IndexError, TypeError) as error:
        is_other = f"{path} is not a file of answers, as explore(…, store=FILE) writes it, or"
        where = is_other if number == 1 else f"{path}, line {number}:"
        raise FileFormatError(
            f"{where} a part of it is lost or changed ({error}); write the file anew"
        ) from error
    return header, rows, size, is_ended and size == sum(map(len, lines))


def _read_rows(members: Mapping[str, Any], rows: dict[Key, Row]) -> None:
    def unpack(name: str, kind: str) -> Any:
        return np.frombuffer(base64.b64decode(members[name]), kind)

    count = len(members["words"])
    cuts = np.cumsum(members["counts"])[:-1]
    columns = np.split(unpack("columns", "<i4"), cuts)
    values = np.split(unpack("values", "<f8"), cuts)
    rests = unpack("rests", "<f8").reshape(count, -1)
    for number, (state, word) in enumerate(zip(members["states"], members["words"], strict=True)):
        untold = float(members["untold"][number])
        rows[int(state), tuple(word)] = Row(columns[number], values[number], rests[number], untold)
