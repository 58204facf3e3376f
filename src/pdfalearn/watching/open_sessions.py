"""The open sessions of a monitor: their names, what is known of them, and files of them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import repeat
from math import isfinite
from typing import Any, BinaryIO

import numpy as np

from pdfalearn.errors import FileFormatError, InputError
from pdfalearn.files import (
    check_kind,
    check_sizes,
    open_archive,
    parse_json,
    read_array,
    read_named,
    write_archive,
    write_named,
)
from pdfalearn.text import described
from pdfalearn.typing import Floats, Integers
from pdfalearn.watching.session_scores import Records, plain_values

_FIRST = 1024
_MEMBERS = ("header.json", "names.json", "records.npy")


class Clock:
    """The time of a log: the median of the times of its last three events.

    So one wrong time does not move it. It only tells which sessions are idle: whether one was
    silent before its next event is told by the times of its own events.
    """

    def __init__(self) -> None:
        # The times of the last two events, and the clock.
        self.last: list[float] | None = None

    @property
    def now(self) -> float:
        """The time after the last event; 0 if there was none."""
        return 0.0 if self.last is None else self.last[2]

    def move_one(self, time: float, most: float) -> tuple[float, bool]:
        """Do what `move` does for one event."""
        now = time if isfinite(time) else self.now
        one, two, clock = self.last or [now] * 3
        self.last = [two, now, max(min(one, two), min(max(one, two), now))]
        return now, abs(self.last[2] - clock) > most

    def move(self, times: Floats, most: float) -> tuple[Floats, int]:
        """Go on; return the time of each event, and how often the clock jumped by more than most.

        An event without a time (NaN) has that of the one before.
        """
        known = np.maximum.accumulate(np.where(np.isfinite(times), np.arange(len(times)), -1))
        filled = np.where(known < 0, self.now, times[known])
        last = self.last or [filled[0]] * 3
        series = np.concatenate((last[:2], filled))
        one, two = series[:-2], series[1:-1]
        clocks = np.maximum(np.minimum(one, two), np.minimum(np.maximum(one, two), filled))
        jumps = np.abs(np.diff(clocks, prepend=last[2])) > most
        self.last = [*series[-2:].tolist(), float(clocks[-1])]
        return filled, int(np.count_nonzero(jumps))


def as_times(times: Sequence[float] | Floats) -> Floats:
    """Return times as numbers; of dates the unit is not known."""
    try:
        found = np.asarray(times)
        if found.dtype.kind not in "mM":
            return found.astype(np.float64)
    except (TypeError, ValueError):
        pass
    raise InputError("times have to be numbers, such as seconds: of dates give .timestamp()")


class OpenSessions:
    """Sessions by name, each with a record in one table, which grows as it must."""

    def __init__(self, make: Callable[[int], Records]) -> None:
        self._make = make
        self.fresh: tuple[Any, ...] = plain_values(make(1)[0])
        """The record of a session that has not begun."""
        self._places: dict[Hashable, int] = {}
        self.names: list[Hashable] = []
        self._free: list[int] = []
        self.records = make(_FIRST)

    def __len__(self) -> int:
        return len(self._places)

    def places_of(self, names: Sequence[Hashable]) -> Integers:
        """Return the places of sessions; those that are new get one."""
        try:
            found = np.fromiter(map(self._places.get, names, repeat(-1)), np.int64, len(names))
        except TypeError as error:
            raise InputError(f"the name of a session is not hashable ({error})") from error
        for number in np.flatnonzero(found < 0).tolist():
            name = names[number]
            place = self._places.get(name)
            if place is None:
                place = self.add(name)
            found[number] = place
        return found

    def add(self, name: Hashable) -> int:
        """Return the place of a session that is new."""
        if self._free:
            place = self._free.pop()
            self.names[place] = name
        else:
            place = len(self.names)
            self.names.append(name)
            if place == len(self.records):
                self.records = np.concatenate((self.records, self._make(place)))
        self._places[name] = place
        self.records[place] = self.fresh
        return place

    def place_of(self, name: Hashable) -> int:
        """Return the place of a session's record, -1 if it is not open."""
        try:
            return self._places.get(name, -1)
        except TypeError as error:
            raise InputError(f"the name of a session is not hashable ({error})") from error

    def forget(self, places: Iterable[int]) -> None:
        """Remove sessions."""
        for place in places:
            del self._places[self.names[place]]
            self.names[place] = None
            self._free.append(place)

    def all_places(self) -> Integers:
        """Return the places of all open sessions, those that were silent longest first."""
        places = np.fromiter(self._places.values(), np.int64, len(self._places))
        return places[np.argsort(self.records["touched"][places], kind="stable")]

    def save(self, path: str | os.PathLike[str], header: dict[str, Any]) -> None:
        """Write all sessions to a file, whole or not at all."""
        places = self.all_places()
        names = [self.names[place] for place in places.tolist()]
        wrong = [name for name in names if type(name) is not str and type(name) is not int]
        if wrong:
            raise InputError(
                f"the session {described(wrong[0])} cannot be in a file: only names that are "
                "strings or integers can"
            )
        kept = np.ascontiguousarray(self.records[places])
        table = kept.view(np.uint8).reshape(len(kept), self.records.itemsize)
        texts = [json.dumps({"format": "monitor", "version": 1, **header}), json.dumps(names)]
        contents: list[Any] = [*(text.encode() for text in texts), table]
        members = dict(zip(_MEMBERS, contents, strict=True))
        write_named(members, path, {".npz": lambda made, stream: write_archive(stream, made)})

    def restore(self, path: str | os.PathLike[str], made_for: str) -> dict[str, Any]:
        """Replace all sessions by those of a file of the same monitor; return its header."""

        def read(stream: BinaryIO) -> dict[str, Any]:
            with open_archive(stream) as archive:
                if sorted(archive.namelist()) != sorted(_MEMBERS):
                    raise FileFormatError("is not the file of a monitor")
                check_sizes(archive, stream)
                header = parse_json(archive.read(_MEMBERS[0]), "its header")
                check_kind(header, "monitor")
                if header.get("made_for") != made_for:
                    raise FileFormatError(
                        "is of a monitor of another automaton, or with another window, other, "
                        "events or languages; make the monitor as it was, or begin with a new file"
                    )
                names = json.loads(archive.read(_MEMBERS[1]))
                table = read_array(archive, _MEMBERS[2], ("|u1",))
            if table.shape != (len(names), self.records.itemsize):
                raise FileFormatError(
                    "its sessions are not those of this monitor; damaged: begin with a new one"
                )
            self.__init__(self._make)  # type: ignore[misc]
            places = self.places_of(names)
            data = np.ascontiguousarray(table).reshape(-1).view(self.records.dtype)
            self.records[places] = data
            return header

        return read_named(path, {".npz": read})
