"""Many sessions at once, followed through an automaton, with alarms."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from itertools import repeat
from math import inf
from typing import Any

import numpy as np

from pdfalearn.alphabet import Symbol
from pdfalearn.checks import check_integer, check_number
from pdfalearn.errors import FileFormatError, InputError
from pdfalearn.languages import LanguageLike
from pdfalearn.pdfa import PDFA
from pdfalearn.typing import Codes, Floats, Integers
from pdfalearn.watching.alarms import Alarm, check_thresholds, is_above, raise_alarms
from pdfalearn.watching.calibrating import Thresholds
from pdfalearn.watching.open_sessions import Clock, OpenSessions, Segments
from pdfalearn.watching.reaching import Ahead, event_ahead, language_ahead
from pdfalearn.watching.session_scores import (
    OTHER,
    WINDOW,
    Records,
    Scale,
    describe_record,
)
from pdfalearn.words import Words, visited_states

# Sessions are evicted each time that this many events have come, however these are handed over: so
# the same events give the same alarms in batches of any sizes.
_ROUND = 2**14
# So many events at once are taken one by one, which is faster.
_FEW = 64


class Monitor:
    """Follows the sessions of a log through an automaton, and raises alarms.

    Parameters
    ----------
    pdfa : PDFA
        What is usual. Its rows are divided by their sums.
    thresholds : Thresholds or mapping of str to float, optional
        What `calibrate` returns, or a threshold for each score that raises alarms. Without any,
        there is no alarm, and `session` says what is known.
    scores : iterable of str
        Which of the thresholds of `calibrate` raise alarms: "peaks", the surprisals of the oddest
        events together, which finds most; "largest", that of one event; "window", what several
        events side by side cost beyond expectation; "sum", the deviation of a whole session in
        either direction, known at its end.
    window, other : optional
        How many events the window has, and the probability of an event that is unknown or
        impossible; by default those of the thresholds, or 10 and 1e-9.
    events : iterable of symbols
        For each of them, alarms and `session` say how likely the session will come to it.
    languages : mapping of str to language, optional
        Languages by name, for the same: how likely the whole session will be in it.
    idle : float
        A session that has been silent for longer, in units of the times, is evicted.
    idle_ends : bool
        Whether such a session has ended, as if its terminal had come. Otherwise nobody knows.
    most_open : int
        At most about this many sessions are kept: up to 16,384 more come before those that have
        been silent longest are evicted.
    on_evict : callable, optional
        Called with what is known of each session that is evicted, as `session` returns it, and with
        "reason": "idle" or "number".

    Notes
    -----
    A session begins with its first event, and ends with the terminal; the next event of its name
    begins a new one. Each score raises one alarm a session. The clock that tells which
    are idle is the median of the times of the last three events, so that one wrong time does not
    move it; events count in the order in which they come, whatever their times.

    Examples
    --------
    >>> from pdfalearn.datasets import figure_1
    >>> monitor = Monitor(figure_1(), {"largest": 5.0})
    >>> monitor.observe("x", "a")
    []
    >>> [alarm] = monitor.observe_many(["y", "x", "x"], ["a", "b", "$"])
    >>> alarm.session, alarm.event, alarm.after, round(alarm.value, 2), alarm.expected_instead
    ('x', None, 1, 20.72, (('$', 0.5), ('a', 0.5)))
    >>> len(monitor), monitor.session("y")["events"]
    (1, 1)
    """

    def __init__(
        self,
        pdfa: PDFA,
        thresholds: Thresholds | Mapping[str, float] | None = None,
        *,
        scores: Iterable[str] = ("peaks",),
        window: int | None = None,
        other: float | None = None,
        events: Iterable[Symbol] = (),
        languages: Mapping[str, LanguageLike] | None = None,
        idle: float = inf,
        idle_ends: bool = False,
        most_open: int = 1_000_000,
        on_evict: Callable[[dict[str, Any]], object] | None = None,
    ) -> None:
        usual, is_set = (WINDOW, OTHER), isinstance(thresholds, Thresholds)
        if isinstance(thresholds, Thresholds):
            usual = thresholds.events, thresholds.other
        self._scale = Scale(
            pdfa, usual[1] if other is None else other, usual[0] if window is None else window
        )
        if is_set and (self._scale.window, self._scale.other) != usual:
            raise InputError(
                f"the thresholds hold for window={usual[0]} and other={usual[1]:g}; leave these "
                "out, or calibrate anew"
            )
        self._thresholds = check_thresholds(thresholds, scores)
        self._ahead: dict[str, Ahead] = {str(one): event_ahead(pdfa, one) for one in events}
        for name, language in (languages or {}).items():
            self._ahead[str(name)] = language_ahead(pdfa, language)
        self._idle = check_number(idle, "idle", 0, inf)
        self._idle_ends = bool(idle_ends)
        self._most_open = check_integer(most_open, "most_open", 1)
        self._on_evict = on_evict
        columns: dict[Symbol, int] = {one: column for column, one in enumerate(pdfa.alphabet, 1)}
        # A file's "3" is also an automaton's 3.
        texts: dict[Symbol, int] = {str(symbol): column for symbol, column in columns.items()}
        self._columns: dict[Symbol, int] = {
            str(pdfa.terminal): 0,
            **texts,
            **columns,
            pdfa.terminal: 0,
        }
        self._open = OpenSessions(lambda count: self._scale.new_records(count, len(self._ahead)))
        self._clock = Clock()
        self.counts = dict.fromkeys(("events", "ended", "evicted", "alarms", "late", "jumps"), 0)
        """What has come so far. Late events have times before that of their session's last event;
        jumps are changes of the clock by more than ``idle``."""

    def __len__(self) -> int:
        return len(self._open)

    @property
    def now(self) -> float:
        """The time of the clock."""
        return self._clock.now

    def observe(self, session: Hashable, event: Symbol, time: float | None = None) -> list[Alarm]:
        """Take the next event of a session, or its terminal; return the alarms, mostly none."""
        return self.observe_many([session], [event], None if time is None else [time])

    def observe_many(
        self,
        sessions: Sequence[Hashable],
        events: Sequence[Symbol],
        times: Sequence[float] | Floats | None = None,
    ) -> list[Alarm]:
        """Take many events, each with the name of its session, in the order in which they came.

        Parameters
        ----------
        sessions, events : sequences of the same length
            A terminal ends a session.
        times : sequence of float, optional
            The time of each event, in seconds, say; NaN counts as the time of the event before.
            Without times, the clock stands still, and no session is ever idle.
        """
        sessions, events = list(sessions), list(events)
        if len(sessions) != len(events) or (times is not None and len(times) != len(events)):
            raise InputError("there have to be as many sessions as events, and as many times")
        try:
            coded = map(self._columns.get, events, repeat(self._scale.unknown))
            columns = np.fromiter(coded, np.int32, len(events))
        except TypeError as error:
            raise InputError(f"an event is not hashable ({error})") from error
        given = None if times is None else np.asarray(times, dtype=np.float64)
        alarms, begin, are_few = list[Alarm](), 0, len(events) <= _FEW
        while begin < len(events):
            if are_few:
                time = None if given is None else given.item(begin)
                if self._take_one(sessions[begin], int(columns[begin]), time):
                    begin += 1
                    continue
            left = _ROUND - self.counts["events"] % _ROUND
            end = begin + 1 if are_few else min(len(events), begin + left)
            part = slice(begin, end)
            times_now = None if given is None else given[part]
            alarms += self._observe(sessions[part], columns[part], times_now)
            if self.counts["events"] % _ROUND == 0:
                alarms += self.sweep()
            begin = end
        return alarms

    def sweep(self, now: float | None = None) -> list[Alarm]:
        """Evict the sessions that are idle at a time, by default that of the clock."""
        records, places = self._open.records, self._open.all_places()
        clock = self._clock.now if now is None else check_number(now, "now", -inf, inf)
        # After a jump backwards no session is of a time that is still to come.
        records["clock"][places] = np.minimum(records["clock"][places], clock)
        is_idle = clock - records["clock"][places] > self._idle
        idle, rest = places[is_idle], places[~is_idle]
        silent = rest[: max(0, len(rest) - self._most_open)]
        alarms = self._end(idle) if self._idle_ends else []
        for gone, reason in ((idle[: 0 if self._idle_ends else None], "idle"), (silent, "number")):
            self._report(gone, records[gone], reason)
            self._open.forget(gone)
        return alarms

    def end_all(self) -> list[Alarm]:
        """Take the terminal of every open session: a log that has come to its end."""
        return self._end(self._open.all_places())

    def session(self, name: Hashable) -> dict[str, Any] | None:
        """Return what is known of an open session: its scores, and where it is oddest."""
        place = self._open.place_of(name)
        return None if place is None else self._describe(name, self._open.records[place])

    def save(self, path: str | os.PathLike[str], note: Mapping[str, Any] | None = None) -> None:
        """Write all open sessions to a file in .npz, with a note, such as where the log was."""
        header = {"made_for": self._fingerprint, "clock": self._clock.last, "counts": self.counts}
        self._open.save(path, {**header, "note": dict(note or {})})

    def restore(self, path: str | os.PathLike[str]) -> dict[str, Any]:
        """Go on with the sessions of a file that `save` wrote; return its note."""

        def check(header: dict[str, Any]) -> None:
            if header.get("made_for") != self._fingerprint:
                raise FileFormatError(
                    "is of a monitor of another automaton, or with another window, other, events "
                    "or languages; make the monitor as it was, or begin with a new file"
                )

        header = self._open.restore(path, check)
        self._clock.last = header["clock"]
        self.counts.update(header["counts"])
        note: dict[str, Any] = header["note"]
        return note

    @property
    def _fingerprint(self) -> str:
        pdfa, scale = self._scale.pdfa, self._scale
        settings = (pdfa.alphabet.symbols, pdfa.terminal, pdfa.initial, scale.window, scale.other)
        digest = hashlib.sha256(repr((settings, sorted(self._ahead))).encode("utf-8", "replace"))
        digest.update(pdfa.transitions.tobytes() + pdfa.probabilities.tobytes())
        return digest.hexdigest()

    def _take_one(self, name: Hashable, column: int, time: float | None) -> bool:
        """Take an event if nothing is special about it: no alarm, no silence, no wrong time.

        Else return False; arrays take it then. That is the same, and fifty times slower.
        """
        number = self.counts["events"]
        after, last = self._clock.peek(time)
        try:
            place, record = self._open.record_of(name)
        except TypeError:
            return False
        before, begun, _, alarmed, done, *known = record
        if place < 0:
            before, begun = after, number
        is_jump = self._clock.last is not None and abs(last[2] - self._clock.now) > self._idle
        is_late = time is not None and time < before
        if (number + 1) % _ROUND == 0 or is_jump or is_late or after - before > self._idle:
            return False
        found, side = self._scale.advance_one(known, column)
        if is_above(self._thresholds, alarmed, found, side, is_end=column == 0):
            return False
        self.counts["events"] += 1
        if time is not None:
            self._clock.last = last
        if column == 0:
            self.counts["ended"] += 1
            if place >= 0:
                self._open.forget(np.array([place]))
            return True
        ways = zip(self._ahead.values(), done.tolist(), strict=True)
        done = [ahead.moves.item(place, column) for ahead, place in ways]
        place = self._open.add(name) if place < 0 else place
        self._open.records[place] = (after, begun, number, alarmed, done, *found)
        return True

    def _observe(
        self, names: Sequence[Hashable], columns: Codes, times: Floats | None
    ) -> list[Alarm]:
        """Take the events of a part of a round."""
        begin = self.counts["events"]
        clocks = np.full(len(names), self._clock.now)
        if times is not None:
            clocks, jumps = self._clock.move(times, self._idle)
            self.counts["jumps"] += jumps
        self.counts["events"] += len(names)
        places = self._open.places_of(names)
        order = np.argsort(places, kind="stable")
        places, columns, after = places[order], columns[order], clocks[order]
        is_first = np.append(True, places[1:] != places[:-1])
        records = self._open.records
        before = np.append(0.0, after[:-1])
        begun = records["events"][places[is_first]] > 0
        before[is_first] = np.where(begun, records["clock"][places[is_first]], after[is_first])
        is_new = np.append(False, columns[:-1] == 0) & ~is_first
        if times is not None:
            is_late = (times[order] < before) & ~is_new
            is_late[is_first] &= begun
            self.counts["late"] += int(np.count_nonzero(is_late))
        is_gap = (after - before > self._idle) & ~is_new
        gaps = np.flatnonzero(is_gap)
        found = Segments(
            columns, places, after, begin + order, is_first | is_new | is_gap, is_first
        )
        if self._idle_ends:
            return self._advance(found.insert_ends(gaps, before[gaps]) if len(gaps) else found)
        gone = places[is_gap & is_first]
        self._report(gone, records[gone], "idle")
        records[gone] = self._scale.new_records(1, len(self._ahead))
        return self._advance(found)

    def _end(self, places: Integers) -> list[Alarm]:
        """Take the terminal of open sessions."""
        records = self._open.records[places]
        columns, yes = np.zeros(len(places), dtype=np.int32), np.ones(len(places), dtype=bool)
        return self._advance(
            Segments(columns, places, records["clock"], records["touched"], yes, yes)
        )

    def _advance(self, found: Segments) -> list[Alarm]:
        """Add events to the records of their sessions, and return the alarms."""
        begins = np.flatnonzero(found.is_begin)
        if not len(begins):
            return []
        words = Words(found.columns, np.append(begins, len(found.columns)))
        lasts, places = words.offsets[1:] - 1, found.places[begins]
        is_first = found.is_first[begins]
        records = self._scale.new_records(len(begins), len(self._ahead))
        records[is_first] = self._open.records[places[is_first]]
        fresh = records["events"] == 0
        records["begun"][fresh] = found.numbers[begins[fresh]]
        steps = self._scale.advance(records, words)
        reached = self._look_ahead(records, words)
        records["clock"], records["touched"] = found.clocks[lasts], found.numbers[lasts]
        is_end = found.columns[lasts] == 0
        alarms = raise_alarms(
            self._thresholds,
            self._scale,
            self._ahead,
            reached,
            found,
            words,
            records,
            steps,
            self._open.names,
        )
        self.counts["alarms"] += len(alarms)
        is_last = np.append(places[1:] != places[:-1], True)
        gone = ~is_end & ~is_last
        self._report(places[gone], records[gone], "idle")
        kept = is_last & ~is_end
        self._open.records[places[kept]] = records[kept]
        self._open.forget(places[is_last & is_end])
        self.counts["ended"] += int(np.count_nonzero(is_end))
        return alarms

    def _look_ahead(self, records: Records, words: Words) -> list[Codes]:
        """Follow what is to come; return what sessions have done after each event."""
        reached, is_after = list[Codes](), np.ones(len(words.symbols) + len(words), dtype=bool)
        is_after[words.offsets[:-1] + np.arange(len(words))] = False
        for number, ahead in enumerate(self._ahead.values()):
            visited = visited_states(ahead.moves, records["languages"][:, number], words)
            reached.append(visited[is_after])
            records["languages"][:, number] = visited[words.ends]
        return reached

    def _report(self, places: Integers, records: Records, reason: str) -> None:
        """Hand over what is known of sessions that are evicted."""
        self.counts["evicted"] += len(places)
        if self._on_evict is not None:
            for place, record in zip(places.tolist(), records, strict=True):
                known = self._describe(self._open.names[place], record)
                self._on_evict({**known, "reason": reason})

    def _describe(self, name: Hashable, record: np.void) -> dict[str, Any]:
        known = describe_record(self._scale, record)
        state, ways = int(record["state"]), enumerate(self._ahead.items())
        reaching = {
            ahead_name: float(ahead.probabilities[state, record["languages"][number]])
            for number, (ahead_name, ahead) in ways
        }
        more = {"state": state, "latest": float(record["latest"]), "begun": int(record["begun"])}
        return {"session": name, **known, **more, "reaching": reaching}
