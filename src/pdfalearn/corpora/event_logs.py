"""Logs of events: tables with a case and an event column, frames of pandas, and XES."""

from __future__ import annotations

import csv
from array import array
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import chain
from math import isfinite, isnan, nan
from typing import Any, Protocol, runtime_checkable
from xml.parsers import expat

import numpy as np
from numpy.typing import NDArray

from pdfalearn.alphabet import Symbol
from pdfalearn.corpora.readers import MOST_WORDS, CodedPart, Columns, ListedPart, Part
from pdfalearn.corpora.sources import BadInput, Source
from pdfalearn.errors import FileFormatError, InputError
from pdfalearn.text import shorten
from pdfalearn.typing import Floats, Integers
from pdfalearn.words import NO_WORDS, Words, offsets_of

_DELIMITERS = ",;\t|"
_BYTES = 2**16
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
    cases, events = _Numbers(), _Numbers()
    case_codes, event_codes, times = array("q"), array("i"), array("d")
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
        except (csv.Error, ValueError) as error:
            bad.report(first + reader.line_num, str(error))
            continue
        case_codes.append(cases[fields[case]])
        event_codes.append(events[fields[event]])
        times.append(stamp)
    if not case_codes:
        raise bad.refuse("there is no row that can be read")
    yield from _sort_events(
        np.frombuffer(case_codes, dtype=np.int64),
        np.frombuffer(event_codes, dtype=np.int32),
        None if time is None else np.frombuffer(times, dtype=np.float64),
        list(events),
        source.title,
    )


def _rows(source: Source, bad: BadInput) -> Iterator[tuple[int, str]]:
    """Return the lines of a table with their numbers."""
    for number, text in source.blocks(bad):
        yield from enumerate([f"{line}\n" for line in text.split("\n")[:-1]], number)


class _Numbers(dict[str, int]):
    """Numbers names as they come."""

    def __missing__(self, name: str) -> int:
        self[name] = number = len(self)
        return number


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
    cases: Integers, events: NDArray[Any], times: Floats | None, names: Sequence[Symbol], name: str
) -> Iterator[CodedPart]:
    """Return the words of cases, in the order in which these appear first; events by time."""
    keys = (cases,) if times is None else (times, cases)
    order = np.lexsort(keys)  # stable: equal times stay in the order of the file
    words = Words(events[order].astype(np.int32), offsets_of(np.bincount(cases)))
    for begin in range(0, len(words), MOST_WORDS):
        part = words.part(begin, min(begin + MOST_WORDS, len(words)))
        yield CodedPart(name, names, part, begin + 1)


def read_frame(frame: Frame, columns: Columns) -> list[tuple[Symbol, ...]]:
    """Return the words of a frame of pandas, as those of a table in a file."""
    names = [str(column) for column in frame.columns]
    places = _find_columns(names, columns, "the frame")
    found = [frame.iloc[:, one] for one in places if one is not None]
    for column in found:
        if column.isna().any():
            row = int(column.isna().to_numpy().argmax())
            raise InputError(f"the frame has no value in row {row} of the column {column.name!r}")
    cases, _ = _factorize(found[0])
    events, values = _factorize(found[1])
    times = _read_times(found[2]) if found[2:] else None
    parts = _sort_events(cases, events, times, values, "the frame")
    return list(chain.from_iterable(part.decode() for part in parts))


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
            data = stream.read(_BYTES)
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
