"""Logs of events: tables with a case and an event column, lines of JSON, frames, and XES."""

from __future__ import annotations

import csv
import json
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import chain
from math import isfinite, isnan, nan
from typing import Any, Protocol, runtime_checkable
from xml.parsers import expat

import numpy as np
from numpy.typing import NDArray

from pdfalearn.alphabet import Symbol
from pdfalearn.corpora.readers import (
    MOST_WORDS,
    CodedPart,
    Columns,
    ListedPart,
    Part,
    read_json_lines,
)
from pdfalearn.corpora.sources import BadInput, Source
from pdfalearn.errors import FileFormatError, InputError
from pdfalearn.text import shorten
from pdfalearn.typing import Floats, Integers
from pdfalearn.words import NO_WORDS, Words, offsets_of

_DELIMITERS = ",;\t|"
_BYTES = 2**16
# What else the fields of an event are called in JSON, and the event that ends its session.
_FIELDS = Columns("session", "event", "time")
_END = "$"
# An error names at most this many characters of a table's columns.
_MOST_SHOWN = 200


@runtime_checkable
class Frame(Protocol):
    """A frame of pandas, as far as it is used here."""

    @property
    def columns(self) -> Any:
        """The names of its columns."""

    @property
    def iloc(self) -> Any:
        """Its columns by their places."""


def read_csv(source: Source, bad: BadInput, columns: Columns) -> Iterator[Part]:
    """Read a table with a header, all of it, as the rows of its cases are mixed.

    A row takes 20 bytes of memory, while rows are sorted 32, and each case and event its name once.
    """
    rows = _rows(source, bad)
    first, header = next(rows, (0, ""))
    if not first:
        raise bad.refuse("there is nothing in the file; a table begins with the names of columns")
    delimiter = max(_DELIMITERS, key=lambda one: len(next(csv.reader([header], delimiter=one), [])))
    names = [name.strip() for name in next(csv.reader([header], delimiter=delimiter))]
    case, event, time = _find_columns(names, columns, source.title)
    yield CodedPart(source.title, [], NO_WORDS, 1)  # the header is right
    log = _Log(time is not None)
    reader = csv.reader((line for _, line in rows), delimiter=delimiter, strict=True)
    width = max(case, event, time if time is not None else 0)
    while True:
        try:
            fields = next(reader, None)
            if fields is None:
                break
            if not fields:
                continue
            if len(fields) <= width or not fields[event] or not fields[case]:
                raise ValueError(f"the row has no case or event: {shorten(repr(fields), 80)}")
            stamp = 0.0 if time is None else _read_time(fields[time])
        except FileFormatError:
            raise
        except (csv.Error, ValueError) as error:
            bad.report(first + reader.line_num, str(error))
            continue
        log.add(fields[case], fields[event], stamp)
    if not log.cases:
        raise bad.refuse("there is no row that can be read")
    yield from log.parts(source.title)


def read_json(source: Source, bad: BadInput, columns: Columns) -> Iterator[Part]:
    """Read lines of JSON: a word each, or an event each if the first of them is one."""
    rows = _rows(source, BadInput(source, is_skipped=True))
    first = next((line for _, line in rows if line.strip()), "")
    try:
        members = json.loads(first)
    except (ValueError, RecursionError):
        members = None
    if not isinstance(members, dict):
        yield from read_json_lines(source, bad, columns)
        return
    pairs = zip(columns, Columns(), _FIELDS, strict=True)
    named: list[Any] = [
        short if one == usual and one not in members else one for one, usual, short in pairs
    ]
    case, event, time = named
    is_event = {type(members.get(case)), type(members.get(event))} <= {str, int}
    if is_event or not any(isinstance(one, list) for one in members.values()):
        if columns.time == Columns().time and time not in members:
            named[2] = None
        _find_columns(list(members), Columns(*named), source.title)
        yield from _read_events(source, bad, *named)
    else:
        yield from read_json_lines(source, bad, columns)


def _read_events(
    source: Source, bad: BadInput, case: str, event: str, time: str | None
) -> Iterator[Part]:
    """Read an object a line, as a monitor does: the terminal ends a session."""
    log, ended = _Log(time is not None), Counter[Symbol]()
    for number, line in _rows(source, bad):
        if not line.strip():
            continue
        try:
            members = json.loads(line)
            session, name = members[case], members[event]
            if not {type(session), type(name)} <= {str, int}:
                raise ValueError(f"its {case!r} or {event!r} is neither a text nor an integer")
            stamp = 0.0 if time is None else _read_time(str(members[time]))
        except (KeyError, TypeError) as error:
            names = ", ".join(repr(one) for one in (case, event, time) if one is not None)
            bad.report(number, f"not an object with {names} ({error})")
        except (ValueError, RecursionError) as error:
            bad.report(number, str(error))
        else:
            word = (session, ended[session])
            if name == _END:
                _ = log.cases[word]  # which may be the empty word
                ended[session] += 1
            else:
                log.add(word, name, stamp)
    if not log.cases:
        raise bad.refuse("there is no line that can be read")
    yield from log.parts(source.title)


def _rows(source: Source, bad: BadInput) -> Iterator[tuple[int, str]]:
    """Return the lines of a table with their numbers."""
    for first, text in source.blocks(bad):
        yield from enumerate([f"{line}\n" for line in text.split("\n")[:-1]], first)


class _Numbers(dict[Symbol, int]):
    """Numbers names as they come."""

    def __missing__(self, name: Symbol) -> int:
        self[name] = number = len(self)
        return number


class _Log:
    """The events of a file, as three columns of numbers."""

    def __init__(self, is_timed: bool) -> None:
        self.cases, self._events, self._is_timed = _Numbers(), _Numbers(), is_timed
        self._columns = array("q"), array("i"), array("d")

    def add(self, case: Symbol, event: Symbol, time: float) -> None:
        cases, events, times = self._columns
        cases.append(self.cases[case])
        events.append(self._events[event])
        times.append(time)

    def parts(self, name: str) -> Iterator[CodedPart]:
        """Return the words of all cases, a part at a time."""
        cases, events, times = map(np.asarray, self._columns)
        given = times if self._is_timed else None
        return _sort_events(cases, events, given, list(self._events), name, len(self.cases))


def _find_columns(names: Sequence[str], columns: Columns, name: str) -> tuple[int, int, int | None]:
    """Return the places of the columns; that of the time may be missing if nobody named it."""
    places: list[Any] = []
    for key, column in columns._asdict().items():
        if column in names:
            places.append(names.index(column))
        elif column is None or (key == "time" and column == Columns().time):
            places.append(None)
        else:
            shown = shorten(", ".join(map(repr, names)), _MOST_SHOWN)
            raise FileFormatError(
                f"{name}: there is no column {column!r}; the columns are {shown}: say by "
                f"{key}= (--{key}) which one it is"
            )
    case, event, time = places
    return case, event, time


def _read_time(text: str) -> float:
    """Read a time in ISO 8601, or a number; without a zone it counts as UTC."""
    try:
        number = float(text)
        if isfinite(number):
            return number
    except ValueError:
        pass
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError as error:
        raise ValueError(
            f"{text!r} is neither a time, as 2026-01-31T12:00:00, nor a number"
        ) from error
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _sort_events(
    cases: Integers,
    events: NDArray[Any],
    times: Floats | None,
    names: Sequence[Symbol],
    name: str,
    count: int = 0,
) -> Iterator[CodedPart]:
    """Return the words of cases, in the order in which these appear first; events by time."""
    keys = (cases,) if times is None else (times, cases)
    order = np.lexsort(keys)  # stable: equal times stay in the order of the file
    words = Words(events[order].astype(np.int32), offsets_of(np.bincount(cases, minlength=count)))
    for begin in range(0, len(words), MOST_WORDS):
        part = words.part(begin, min(begin + MOST_WORDS, len(words)))
        yield CodedPart(name, names, part, begin + 1)


def read_frame(
    frame: Frame, columns: Columns, *, skip_bad: bool
) -> tuple[list[tuple[Symbol, ...]], int]:
    """Return the words of a frame of pandas, as those of a table in a file.

    Also return how many rows were left out, as they lack a value.
    """
    names = [str(column) for column in frame.columns]
    places = _find_columns(names, columns, "the frame")
    found = [frame.iloc[:, one] for one in places if one is not None]
    lacking = np.column_stack([column.isna() for column in found])
    if lacking.any() and not skip_bad:
        row, place = (int(one) for one in np.argwhere(lacking)[0])
        raise InputError(
            f"the frame has no value in row {row} of the column {found[place].name!r}; drop such "
            "rows by its method dropna, or leave them out by skip_bad=True"
        )
    found = [column[~lacking.any(axis=1)] for column in found]
    cases, _ = _factorize(found[0])
    events, values = _factorize(found[1])
    times = _read_times(found[2]) if found[2:] else None
    parts = _sort_events(cases, events, times, values, "the frame")
    words = list(chain.from_iterable(part.decode() for part in parts))
    return words, int(lacking.any(axis=1).sum())


def _read_times(column: Any) -> Floats:
    """Return the times of a column, or their order; texts are read as those of a file."""
    if column.dtype.kind in "iufmM":
        return np.asarray(column.rank(method="dense").to_numpy(np.float64))
    codes, values = _factorize(column)
    times = np.zeros(len(values))
    for code, value in enumerate(values):
        try:
            times[code] = _read_time(str(value))
        except ValueError as error:
            row = int((codes == code).argmax())
            raise InputError(
                f"the frame, row {row} of the column {column.name!r}: {error}; make times of it "
                "by pandas.to_datetime"
            ) from error
    return times[codes]


def _factorize(column: Any) -> tuple[Integers, list[Symbol]]:
    """Number the values of a column as they come."""
    codes, values = column.factorize()
    return codes.astype(np.int64), values.tolist()


class _XesHandler:
    """Collects the traces of a log in XES while it is parsed."""

    def __init__(self, columns: Columns, bad: BadInput, parser: expat.XMLParserType) -> None:
        self._columns, self._bad, self._parser = columns, bad, parser
        self._path: list[str] = []
        self._events: list[tuple[float, str]] = []
        self._event: dict[str, str] = {}
        self.words: list[list[str]] = []
        parser.StartElementHandler = self._begin
        parser.EndElementHandler = self._end
        parser.EntityDeclHandler = self._refuse_entity

    def _refuse_entity(self, *_: object) -> None:
        raise ValueError("declares entities, which logs do not need and which can be a bomb")

    def _begin(self, tag: str, attributes: dict[str, str]) -> None:
        # Only what stands in an event itself counts, not what is nested deeper.
        tag = tag.rpartition(":")[2]
        if self._path and self._path[-1] == "event" and "key" in attributes:
            self._event[attributes["key"]] = attributes.get("value", "")
        elif tag == "trace":
            self._events = []
        elif tag == "event":
            self._event = {}
        self._path.append(tag)

    def _end(self, tag: str) -> None:
        tag = self._path.pop()
        if tag == "event":
            self._add_event()
        elif tag == "trace":
            if not any(isnan(time) for time, _ in self._events):
                self._events.sort(key=lambda one: one[0])  # stable
            self.words.append([name for _, name in self._events])

    def _add_event(self) -> None:
        name = self._event.get(self._columns.event)
        if name is None:
            message = f"an event without {self._columns.event!r}; event= (--event) names another"
            self._bad.report(self._parser.CurrentLineNumber, message)
            return
        text = self._event.get(self._columns.time) if self._columns.time is not None else None
        try:
            time = nan if text is None else _read_time(text)
        except ValueError as error:
            self._bad.report(self._parser.CurrentLineNumber, str(error))
            return
        self._events.append((time, name))


def read_xes(source: Source, bad: BadInput, columns: Columns) -> Iterator[Part]:
    """Read a log of XES trace by trace; events are sorted by time where all of them have one."""
    parser = expat.ParserCreate()
    handler, done = _XesHandler(columns, bad, parser), 0
    with source.open() as stream:
        is_more = True
        while is_more:
            data = stream.read1(_BYTES)  # `read` would lose what comes before a damage
            is_more = bool(data)
            try:
                parser.Parse(data, not is_more)
            except expat.ExpatError as error:
                line = f"{source.title}, line {error.lineno}"
                raise FileFormatError(f"{line}: not XML ({error}); get the log again") from error
            except ValueError as error:
                if isinstance(error, FileFormatError):
                    raise
                raise bad.refuse(str(error)) from error
            words, handler.words = handler.words, []
            if words:
                yield ListedPart(
                    source.title, "trace", range(done + 1, done + len(words) + 1), words
                )
            done += len(words)
    if not done:
        raise bad.refuse("there is no trace; a log of XES has traces, and in them events")
