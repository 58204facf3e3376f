"""A monitor that runs: lines of a file become lines of JSON, an alarm each, over all stops."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from math import inf, nan
from pathlib import Path
from typing import Any

import numpy as np

from pdfalearn.errors import FileFormatError
from pdfalearn.files import lock_file, show_name
from pdfalearn.text import count_text, shorten
from pdfalearn.watching.following import Follower
from pdfalearn.watching.log_lines import LogReader, ParsedLines, read_time
from pdfalearn.watching.monitor import Monitor

_SWEEP_SECONDS = 1.0
# Of a longer line an alarm has both ends.
_MOST_CHARACTERS = 1000


@dataclass
class JsonEvents:
    """Reads events from lines of JSON: objects with a session, an event and perhaps a time.

    Examples
    --------
    >>> JsonEvents().parse(['{"session": "x", "event": "in", "time": 3}'])
    ParsedLines(sessions=['x'], events=['in'], times=array([3.]))
    """

    session: str = "session"
    event: str = "event"
    time: str = "time"

    def parse(self, lines: Iterable[str]) -> ParsedLines:
        """Return the session, event and time of each line; what is not an event has no session."""
        rows = [self._read(line) for line in lines]
        sessions, events, times = (list(column) for column in zip(*rows, strict=True))
        return ParsedLines(sessions, events, np.array(times, dtype=np.float64))

    def _read(self, line: str) -> tuple[Any, Any, float]:
        try:
            members = json.loads(line)
            session, event = members[self.session], members[self.event]
            moment = members.get(self.time, nan)
            if not {type(session), type(event)} <= {str, int}:
                raise ValueError(line)
            return session, event, read_time(moment) if isinstance(moment, str) else float(moment)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError):
            return None, "", nan


@dataclass
class AlarmFile:
    """A file of alarms, one a line, to which no alarm is written twice."""

    path: Path
    known: set[tuple[int, str]] = field(default_factory=set)

    def resume(self, size: int, known: Iterable[tuple[int, str]]) -> None:
        """Note the alarms that were written after a size, and remove half a line at the end.

        A file that is shorter was emptied meanwhile, and is read from its beginning. Nothing is
        removed from a file that is not one of alarms.
        """
        self.known = {(begun, score) for begun, score in known}
        end = begin = size if size <= self.size() else 0
        if not self.path.is_file():  # there is nothing to read, or no end of it
            return
        try:
            with self.path.open("rb") as stream:
                stream.seek(max(0, begin - 1))
                if begin and stream.read(1) != b"\n":
                    raise ValueError("the state ends within a line of this file")
                for line in stream:
                    if line.endswith(b"\n"):
                        members, end = json.loads(line), end + len(line)
                        self.known.add((members["begun"], members["score"]))
        except (ValueError, KeyError, TypeError) as error:
            raise FileFormatError(
                f"{show_name(str(self.path))} has a line that is not an alarm of this monitor: "
                "move it away, or give another file"
            ) from error
        os.truncate(self.path, end)

    def size(self) -> int:
        """Return how many bytes it has."""
        return self.path.stat().st_size if self.path.exists() else 0

    def append(self, texts: list[str]) -> None:
        """Write lines to the end, and wait until the disk has them."""
        try:
            with self.path.open("ab") as stream:
                stream.write("".join(texts).encode())
                stream.flush()
                if self.path.is_file():
                    os.fsync(stream.fileno())
        except OSError as error:
            error.filename = str(self.path)
            raise


@dataclass
class Watcher:
    """Reads lines, and returns alarms; what is open, and where the file was, is kept in a file.

    Silence and terminals end sessions. The end of the file does where it is read to it once (not
    ``is_endless``, no ``state``), and the monitor has no ``idle``: so were the thresholds set, too.
    """

    monitor: Monitor
    follower: Follower
    reader: LogReader | JsonEvents
    state: Path | None = None
    output: AlarmFile | None = None
    save_seconds: float = 10.0
    evicted: list[dict[str, Any]] = field(default_factory=list)
    """What the monitor's ``on_evict`` has noted, to be written beside the alarms."""
    is_stopped: bool = False
    """Set it to stop at the next place where nothing is lost."""
    raised: int = 0
    """How many alarms this run has handed over."""
    tally: dict[str, int] = field(
        default_factory=lambda: dict.fromkeys(("lines", "outside", "undated", "dated"), 0)
    )
    """How many lines there were, how many without a session, and without and with a time."""

    def run(self) -> Iterator[str]:
        """Yield a line of JSON for each alarm, until the file ends or it is stopped.

        The state is saved only where every alarm before it was handed over: after a kill, some
        alarms may come twice, but not in the file of alarms, and none is lost.
        """
        with self.follower.files, ExitStack() as locks:
            if self.state is not None:
                locks.enter_context(lock_file(Path(f"{self.state}.lock"), "another monitor"))
            self._resume()
            saved = swept = heard = time.monotonic()
            for lines in self.follower.blocks():
                alarms = self._observe(lines) if lines else []
                now = time.monotonic()
                if lines:
                    heard = now
                elif now - swept > _SWEEP_SECONDS:
                    # Nothing is written, and time goes on.
                    swept = now
                    silent = self.monitor.sweep(self.monitor.now + now - heard)
                    alarms = list(map(asdict, silent))
                yield from self._write(alarms)
                if self.is_stopped:
                    break
                if self.state is not None and now - saved > self.save_seconds:
                    self._save(self.state)
                    saved = time.monotonic()
            if not self.is_stopped:
                is_end = self.monitor.idle == inf and self.state is None
                last = self.monitor.end_all() if is_end else self.monitor.sweep()
                yield from self._write(list(map(asdict, last)))
            if self.state is not None:
                self._save(self.state)

    def _resume(self) -> None:
        """Go on from a state, or write the first one; look at what the file of alarms is."""
        note: dict[str, Any] = {}
        if self.state is not None and self.state.exists():
            note = self.monitor.restore(self.state)
            self.follower.resume(note["position"])
            self.tally.update(note["tally"])
        if self.output is not None:
            self.output.resume(note.get("output", 0), note.get("known", ()))
            if "output" not in note:  # they are another monitor's
                self.output.known.clear()
        self.follower.is_resumed = self.state is not None
        # After a kill it has to be known where alarms began.
        if self.state is not None and not note:
            self._save(self.state)

    def summary(self) -> list[str]:
        """Return what is worth a line about all that was read."""
        counts, reader = self.monitor.counts, self.reader
        outside = "lines without a session"
        if isinstance(reader, JsonEvents):
            names = f"{reader.session!r} and {reader.event!r}"
            outside = f"lines that are not an object of JSON with {names}"
        texts = {
            outside: self.tally["outside"],
            "lines that are not UTF-8, read with replacements": self.follower.undecodable,
            "lines without a time": self.tally["undated"] if self.tally["dated"] else 0,
            "events unknown to the automaton": counts["unknown"],
            "events later than the next ones of their session": counts["late"],
            "long silences of the whole log, or jumps of its clock": counts["jumps"],
            "sessions evicted before their end": counts["evicted"],
        }
        first = (
            f"{self.tally['lines']:,} lines, {counts['events']:,} events, {counts['ended']:,} "
            f"sessions ended and {len(self.monitor):,} open, {counts['alarms']:,} alarms"
        )
        return [first, *(f"{text}: {count:,}" for text, count in texts.items() if count)]

    def foreign_text(self) -> str:
        """Return what is to be said if the automaton knows no event of the log, else nothing."""
        reader, counts = self.reader, self.monitor.counts
        if counts["events"] > counts["unknown"]:
            return ""
        event = next(iter(self.monitor.alphabet), "login")
        if isinstance(reader, JsonEvents):
            members = {
                reader.session: "s1",
                reader.event: event,
                reader.time: "2026-01-31T12:00:00",
            }
            made = f"lines of JSON such as {json.dumps(members, default=str)}"
        else:
            pattern = f", with a session as {reader.session!r} finds it" if reader.session else ""
            made = f"raw lines such as {event!r}{pattern}"
        lines = count_text(self.tally["lines"], "lines")
        return f"no event is known to the automaton, in {lines}; it was made for {made}"

    def _observe(self, lines: list[str]) -> list[dict[str, Any]]:
        """Return the alarms of lines, each with the line of its event."""
        sessions, events, times = self.reader.parse(lines)
        kept = [place for place, one in enumerate(sessions) if one is not None]
        if len(kept) < len(lines):
            sessions, events = [sessions[i] for i in kept], [events[i] for i in kept]
            times = None if times is None else times[kept]
        tally, dated = self.tally, 0 if times is None else int(np.isfinite(times).sum())
        if not tally["dated"] + dated:
            is_first = bool(kept) and times is not None and not tally["undated"]
            if is_first and isinstance(self.reader, LogReader):
                text = self.reader.undated_text(lines[kept[0]])
                self.follower.note(f"{text}; until then the time is that of reading")
            times = np.full(len(events), time.time())
        found = len(lines), len(lines) - len(kept), len(kept) - dated, dated
        for name, count in zip(tally, found, strict=True):
            tally[name] += count
        before = self.monitor.counts["events"]
        alarms = list(map(asdict, self.monitor.observe_many(sessions, events, times)))
        for one in alarms:
            if one["number"] >= before:
                one["line"] = shorten(lines[kept[one["number"] - before]], _MOST_CHARACTERS)
        return alarms

    def _write(self, alarms: list[dict[str, Any]]) -> Iterator[str]:
        found = alarms + [{**one, "score": "evicted"} for one in self.evicted]
        self.evicted.clear()
        if self.output is not None:
            known = self.output.known
            keys = [(one["begun"], one["score"]) for one in found]
            found = [one for one, key in zip(found, keys, strict=True) if key not in known]
            known.difference_update(keys)
        self.raised += sum(one["score"] != "evicted" for one in found)
        # What is infinite is a text.
        plain = ({k: str(v) if v in (inf, -inf) else v for k, v in one.items()} for one in found)
        texts = [f"{json.dumps(one, default=str)}\n" for one in plain]
        if self.output is not None and texts:
            self.output.append(texts)
        yield from texts

    def _save(self, state: Path) -> None:
        note: dict[str, Any] = {"position": self.follower.position, "tally": self.tally}
        if self.output is not None:
            note |= {"output": self.output.size(), "known": sorted(self.output.known)}
        self.monitor.save(state, note)
