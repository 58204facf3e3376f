"""Many sessions at once, followed through an automaton, with alarms."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from itertools import repeat
from math import inf
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pdfalearn.alphabet import Symbol
from pdfalearn.checks import check_integer, check_number
from pdfalearn.errors import InputError
from pdfalearn.languages import LanguageLike
from pdfalearn.pdfa import PDFA
from pdfalearn.typing import Codes, Flags, Floats, Integers
from pdfalearn.watching.open_sessions import Clock, OpenSessions, as_times
from pdfalearn.watching.reaching import Ahead, event_ahead, language_ahead
from pdfalearn.watching.session_scores import (
    OTHER,
    SCORES,
    WINDOW,
    Scale,
    SessionScores,
    plain_values,
)
from pdfalearn.watching.thresholds import TOLERANCE, Alarm, Thresholds, check_thresholds
from pdfalearn.words import Words, visited_states

# Sessions are evicted each time that this many events have come, however these are handed over: so
# the same events give the same alarms in batches of any sizes.
_ROUND = 2**14
# This many events at once, or fewer, are taken one by one, which is faster.
_FEW = 32
# Where the number of events is in a record.
_EVENTS = 6


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
    begins a new one. Each score raises one alarm a session. Which are idle is told by the median of
    the times of the last three events, so that one wrong time evicts no other session; events count
    in the order in which they come, whatever their times.

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
        if isinstance(thresholds, Thresholds):
            if (window, other) != (None, None):
                raise InputError("thresholds have their own window and other: leave these out")
            window, other = thresholds.events, thresholds.other
        other = OTHER if other is None else other
        self._scale = Scale(pdfa, other, WINDOW if window is None else window)
        limits = check_thresholds(thresholds, scores)
        self._thresholds = {1 << SCORES.index(one): (one, limit) for one, limit in limits.items()}
        self._ahead: dict[str, Ahead] = {str(one): event_ahead(pdfa, one) for one in events}
        for name, language in (languages or {}).items():
            self._ahead[str(name)] = language_ahead(pdfa, language)
        self.idle = check_number(idle, "idle", 0, inf)
        self._idle_ends = bool(idle_ends)
        self._most_open, self._on_evict = check_integer(most_open, "most_open", 1), on_evict
        self.alphabet, symbols = pdfa.alphabet, (pdfa.terminal, *pdfa.alphabet)
        # A file's "3" is also an automaton's 3, and the other way round, as for a corpus.
        self._columns: dict[Symbol, int] = {str(one): place for place, one in enumerate(symbols)}
        self._columns |= {one: place for place, one in enumerate(symbols)}
        self._open = OpenSessions(lambda count: self._scale.new_records(count, len(self._ahead)))
        self._clock = Clock()
        kinds = ("events", "unknown", "ended", "evicted", "alarms", "late", "jumps")
        self.counts = dict.fromkeys(kinds, 0)
        """What has come so far; late events have times before that of their session's last one,
        and jumps are changes of the clock by more than ``idle``."""

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
        sessions: Sequence[Hashable] | NDArray[Any],
        events: Sequence[Symbol] | NDArray[Any],
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
        events = list(events)
        # What arrays hold are values of NumPy, which no file can.
        sessions = sessions.tolist() if hasattr(sessions, "tolist") else list(sessions)
        if len(sessions) != len(events) or (times is not None and len(times) != len(events)):
            raise InputError("there have to be as many sessions as events, and as many times")
        try:
            found = map(self._columns.get, events, repeat(self._scale.unknown))
            columns = np.fromiter(found, np.int32, len(events))
        except TypeError as error:
            raise InputError(f"an event is not hashable ({error})") from error
        for place in np.flatnonzero(columns == self._scale.unknown).tolist():
            columns[place] = self._columns.get(str(events[place]), self._scale.unknown)
        self.counts["unknown"] += int(np.count_nonzero(columns == self._scale.unknown))
        given = None if times is None else as_times(times)
        take, most = (self._take_one, 1) if len(events) <= _FEW else (self._take_many, _ROUND)
        alarms, begin = list[Alarm](), 0
        while begin < len(events):
            left = _ROUND - self.counts["events"] % _ROUND
            part = slice(begin, begin + min(most, left))
            alarms += take(sessions[part], columns[part], None if given is None else given[part])
            if self.counts["events"] % _ROUND == 0:
                alarms += self.sweep()
            begin = part.stop
        return alarms

    def sweep(self, now: float | None = None) -> list[Alarm]:
        """Evict the sessions that are idle at a time, by default that of the clock."""
        records, places = self._open.records, self._open.all_places()
        clock = self._clock.now if now is None else check_number(now, "now", -inf, inf)
        # After a jump backwards no session is of a time that is still to come.
        records["clock"][places] = np.minimum(records["clock"][places], clock)
        is_idle = clock - records["clock"][places] > self.idle
        idle, rest = places[is_idle], places[~is_idle]
        silent = rest[: max(0, len(rest) - self._most_open)]
        alarms = self._end(idle) if self._idle_ends else self._evict(idle, "idle")
        return alarms + self._evict(silent, "number")

    def end_all(self) -> list[Alarm]:
        """Take the terminal of every open session: a log that has come to its end."""
        return self._end(self._open.all_places())

    def session(self, name: Hashable) -> dict[str, Any] | None:
        """Return what is known of an open session: its scores, and where it is oddest."""
        place = self._open.place_of(name)
        return None if place < 0 else self._describe(place)

    def save(self, path: str | os.PathLike[str], note: Mapping[str, Any] | None = None) -> None:
        """Write all open sessions to a file in .npz, with a note, such as where the log was."""
        header = {"made_for": self._fingerprint, "clock": self._clock.last, "counts": self.counts}
        self._open.save(path, {**header, "note": dict(note or {})})

    def restore(self, path: str | os.PathLike[str]) -> dict[str, Any]:
        """Go on with the sessions of a file that `save` wrote; return its note."""
        header = self._open.restore(path, self._fingerprint)
        self._clock.last = header["clock"]
        self.counts.update(header["counts"])
        return dict(header["note"])

    @property
    def _fingerprint(self) -> str:
        pdfa, scale = self._scale.pdfa, self._scale
        settings = (pdfa.alphabet.symbols, pdfa.terminal, pdfa.initial, scale.window, scale.other)
        digest = hashlib.sha256(repr((settings, sorted(self._ahead))).encode("utf-8", "replace"))
        digest.update(pdfa.transitions.tobytes() + pdfa.probabilities.tobytes())
        return digest.hexdigest()

    def _take_one(
        self, names: Sequence[Hashable], columns: Codes, times: Floats | None
    ) -> list[Alarm]:
        """Take one event: without arrays it is thirty times faster."""
        place, number, clock = self._open.place_of(names[0]), self.counts["events"], self.now
        if times is not None:
            clock, is_jump = self._clock.move_one(times.item(), self.idle)
            self.counts["jumps"] += is_jump
            if place >= 0 and times[0] < self._open.records["clock"][place]:
                self.counts["late"] += 1
        self.counts["events"] += 1
        return self._take(names[0], columns.item(), clock, number)

    def _take(self, name: Hashable, column: int, clock: float, number: int) -> list[Alarm]:
        """Take an event of a session, which may have been silent for too long."""
        if (place := self._open.place_of(name)) < 0:
            place = self._open.add(name)
        record, alarms = plain_values(self._open.records[place]), list[Alarm]()
        if record[_EVENTS] and clock - record[0] > self.idle:
            gone = np.array([place])
            alarms = self._end(gone) if self._idle_ends else self._evict(gone, "idle")
            place, record = self._open.add(name), self._open.fresh
        record, raised = self._step(name, record, column, clock, number)
        self._open.records[place] = record
        if column == 0:
            self.counts["ended"] += 1
            self._open.forget([place])
        return alarms + raised

    def _step(
        self, name: Hashable, record: Sequence[Any], column: int, clock: float, number: int
    ) -> tuple[tuple[Any, ...], list[Alarm]]:
        """Add an event to a record; return it, and the first alarm of each score."""
        _, begun, _, alarmed, done, *known = record
        begun = begun if record[_EVENTS] else number
        found, values = self._scale.advance_one(known, column)
        ways = zip(self._ahead.values(), done, strict=True)
        done, alarms = [way.moves.item(one, column) for way, one in ways], list[Alarm]()
        for bit, (score, threshold) in self._thresholds.items():
            value = values[score]
            if alarmed & bit or value <= threshold + TOLERANCE or (score == "sum" and column):
                continue
            alarmed |= bit
            alarms.append(
                Alarm(
                    session=name,
                    score=score,
                    value=value,
                    threshold=threshold,
                    event=self._scale.name_of(column),
                    after=known[1],
                    surprisal=values["largest"],
                    expected_instead=self._scale.likeliest(known[0]),
                    reaching=self._reaching(found[0], done) if column else {},
                    time=clock,
                    begun=begun,
                    number=number,
                )
            )
        self.counts["alarms"] += len(alarms)
        return (clock, begun, number, alarmed, done, *found), alarms

    def _take_many(
        self, names: Sequence[Hashable], columns: Codes, times: Floats | None
    ) -> list[Alarm]:
        """Take the events of a part of a round."""
        clocks = np.full(len(names), self._clock.now)
        if times is not None:
            clocks, jumps = self._clock.move(times, self.idle)
            self.counts["jumps"] += jumps
        places = self._open.places_of(names)
        order = np.argsort(places, kind="stable")
        numbers = self.counts["events"] + order
        self.counts["events"] += len(names)
        places, columns, clocks = places[order], columns[order], clocks[order]
        is_first = np.append(True, places[1:] != places[:-1])
        is_new = np.append(False, columns[:-1] == 0) & ~is_first
        records = self._open.records[places[is_first]]
        before = np.append(0.0, clocks[:-1])
        before[is_first] = np.where(records["events"] > 0, records["clock"], clocks[is_first])
        if times is not None:
            self.counts["late"] += int(np.count_nonzero((times[order] < before) & ~is_new))
        # Sessions that were silent for too long, which are few, go on event by event.
        is_silent = np.isin(places, places[(clocks - before > self.idle) & ~is_new])
        some = ~is_silent
        alarms = self._advance(
            columns[some], places[some], clocks[some], numbers[some], is_first[some], is_new[some]
        )
        for one in np.flatnonzero(is_silent).tolist():
            event = int(columns[one]), clocks.item(one), numbers.item(one)
            alarms += self._take(names[order[one]], *event)
        return alarms

    def _end(self, places: Integers) -> list[Alarm]:
        """Take the terminal of open sessions."""
        records = self._open.records[places]
        columns, yes = np.zeros(len(places), dtype=np.int32), np.ones(len(places), dtype=bool)
        return self._advance(columns, places, records["clock"], records["touched"], yes, ~yes)

    def _advance(
        self,
        columns: Codes,
        places: Integers,
        clocks: Floats,
        numbers: Integers,
        is_first: Flags,
        is_new: Flags,
    ) -> list[Alarm]:
        """Add events to the records of their sessions, and return the alarms by their numbers.

        Events are sorted by session: ``is_first`` tells the first one of each, ``is_new`` those
        that begin a session anew.
        """
        begins = np.flatnonzero(is_first | is_new)
        if not len(begins):
            return []
        words = Words(columns, np.append(begins, len(columns)))
        lasts, places, is_first = words.offsets[1:] - 1, places[begins], is_first[begins]
        records = self._scale.new_records(len(begins), len(self._ahead))
        records[is_first] = self._open.records[places[is_first]]
        begun, before = records["events"] > 0, records.copy()
        records["begun"] = np.where(begun, records["begun"], numbers[begins])
        self._scale.advance(records, words)
        for way, ahead in enumerate(self._ahead.values()):
            visited = visited_states(ahead.moves, records["languages"][:, way], words)
            records["languages"][:, way] = visited[words.ends]
        records["clock"], records["touched"] = clocks[lasts], numbers[lasts]
        is_end, alarms = columns[lasts] == 0, list[tuple[int, Alarm]]()
        # Sessions that may have alarms, which are few, take their events once more, one by one.
        is_odd, scores = np.zeros(len(records), dtype=bool), SessionScores(self._scale, records)
        for bit, (score, threshold) in self._thresholds.items():
            is_above = (scores.values(score) > threshold) & (records["alarmed"] & bit == 0)
            is_odd |= is_above & is_end if score == "sum" else is_above
        for one in np.flatnonzero(is_odd).tolist():
            name, record = self._open.names[places[one]], plain_values(before[one])
            for event in range(begins[one], lasts[one] + 1):
                known = int(columns[event]), clocks.item(event), numbers.item(event)
                record, raised = self._step(name, record, *known)
                alarms += [(known[2], alarm) for alarm in raised]
            records["alarmed"][one] = record[3]
        is_last = np.append(places[1:] != places[:-1], True)
        kept = is_last & ~is_end
        self._open.records[places[kept]] = records[kept]
        self._open.forget(places[is_last & is_end].tolist())
        self.counts["ended"] += int(np.count_nonzero(is_end))
        return [alarm for _, alarm in sorted(alarms, key=itemgetter(0))]

    def _evict(self, places: Integers, reason: str) -> list[Alarm]:
        """Let sessions go, and hand over what is known of them; there is no alarm."""
        self.counts["evicted"] += len(places)
        if self._on_evict is not None:
            for place in places.tolist():
                self._on_evict({**self._describe(place), "reason": reason})
        self._open.forget(places.tolist())
        return []

    def _describe(self, place: int) -> dict[str, Any]:
        record = self._open.records[place]
        known = SessionScores(self._scale, self._open.records[[place]]).describe(0)
        state = int(record["state"])
        more = {"state": state, "latest": float(record["latest"]), "begun": int(record["begun"])}
        ways = self._reaching(state, record["languages"].tolist())
        return {"session": self._open.names[place], **known, **more, "reaching": ways}

    def _reaching(self, state: int, done: list[int]) -> dict[str, float]:
        """Return how likely a session comes to what is ahead."""
        ways = zip(self._ahead.items(), done, strict=True)
        return {name: way.probabilities.item(state, one) for (name, way), one in ways}
