"""Alarms: which scores are above which thresholds, and at which event they first are."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import inf, log
from typing import Any

import numpy as np

from pdfalearn.alphabet import Symbol
from pdfalearn.checks import check_number
from pdfalearn.errors import InputError
from pdfalearn.text import shorten
from pdfalearn.typing import Codes, Floats, Integers
from pdfalearn.watching.calibrating import TOLERANCE, Thresholds
from pdfalearn.watching.open_sessions import Segments
from pdfalearn.watching.reaching import Ahead
from pdfalearn.watching.session_scores import (
    SCORES,
    Records,
    Scale,
    Steps,
    deviations,
    peaks_of,
)
from pdfalearn.words import Words


@dataclass(frozen=True)
class Alarm:
    """A session has become odd.

    Examples
    --------
    >>> from pdfalearn import Monitor
    >>> from pdfalearn.datasets import figure_1
    >>> [alarm] = Monitor(figure_1(), {"largest": 5.0}).observe("x", "unheard-of")
    >>> alarm.score, round(alarm.value, 2), alarm.expected_instead
    ('largest', 20.72, (('a', 1.0),))
    """

    session: Hashable
    score: str
    value: float
    threshold: float
    event: Symbol
    """The event with which it became so; None if the automaton does not have it."""
    after: int
    """How many events of the session came before."""
    surprisal: float
    expected_instead: tuple[tuple[Symbol, float], ...]
    """The likeliest symbols there, with their probabilities."""
    reaching: Mapping[str, float]
    """How likely the session will now come to an event, or be in a language."""
    time: float
    begun: int
    """The number of the session's first event among all events: with the score, it tells one alarm
    from all others, also where the name of a session comes again."""

    def members(self) -> dict[str, Any]:
        """Return what stands in JSON."""
        return asdict(self)


def check_thresholds(
    given: Thresholds | Mapping[str, float] | None, scores: Iterable[str]
) -> dict[str, float]:
    """Return the threshold of each score that raises alarms, in the order of the scores."""
    if not isinstance(given, Thresholds | Mapping | None):
        raise InputError(
            f"thresholds is {shorten(repr(given), 60)}; give what calibrate returns, or a number "
            "for each score, as in {'largest': 12.0}"
        )
    chosen: dict[str, Any] = dict(given) if isinstance(given, Mapping) else {}
    if isinstance(given, Thresholds):
        chosen = {score: getattr(given, score, None) for score in scores}
    for score, threshold in chosen.items():
        if score not in SCORES:
            raise InputError(f"score {score!r} is not one of {', '.join(SCORES)}")
        check_number(threshold, f"the threshold of {score}", 0, inf)
    return {score: float(chosen[score]) for score in SCORES if score in chosen}


def raise_alarms(
    thresholds: Mapping[str, float],
    scale: Scale,
    ahead: Mapping[str, Ahead],
    reached: Iterable[Codes],
    found: Segments,
    words: Words,
    records: Records,
    steps: Steps,
    names: Sequence[Hashable],
) -> list[Alarm]:
    """Return the first alarm of each score and session, in the order of the events.

    ``words`` are the events of ``found``, session by session, and ``records`` those after them, in
    which the alarms are noted; ``reached`` has what was done for each language after each event.
    """
    sessions = np.repeat(np.arange(len(words)), words.lengths)
    alarms = []
    for _, place, bit, value in _find_crossings(thresholds, records, steps, words, found):
        state, column = int(steps.states[place]), int(found.columns[place])
        after, record = scale.move(state, column), records[sessions[place]]
        ways = zip(ahead.items(), reached, strict=True) if column else ()
        alarms.append(
            Alarm(
                session=names[int(found.places[place])],
                score=SCORES[bit],
                value=value,
                threshold=thresholds[SCORES[bit]],
                event=scale.name_of(column),
                after=int(record["events"]) - int(words.offsets[sessions[place] + 1]) + place,
                surprisal=float(steps.costs[place]),
                expected_instead=scale.likeliest(state),
                reaching={
                    name: float(way.probabilities[after, done[place]]) for (name, way), done in ways
                },
                time=float(found.clocks[place]),
                begun=int(record["begun"]),
            )
        )
    return alarms


def _find_crossings(
    thresholds: Mapping[str, float], records: Records, steps: Steps, words: Words, found: Segments
) -> list[tuple[int, int, int, float]]:
    """Return where sessions first come above thresholds, and note in their records that they have.

    Each crossing has the number of its event, its place, that of the score in `SCORES`, and the
    value; they are sorted. The sum is looked at only where a session has ended.
    """
    sessions = np.repeat(np.arange(len(words)), words.lengths)
    lasts = words.offsets[1:] - 1
    raised = list[tuple[int, int, int, float]]()
    for score, threshold in thresholds.items():
        bit = SCORES.index(score)
        if score == "peaks":
            where, values = _find_peaks(threshold + TOLERANCE, records, steps, words, bit)
        elif score == "sum":
            sums = np.abs(deviations(records))
            where = lasts[(found.columns[lasts] == 0) & (sums > threshold + TOLERANCE)]
            values = sums[sessions[where]]
        else:
            costs = steps.costs if score == "largest" else steps.windows
            where = np.flatnonzero(costs > threshold + TOLERANCE)
            values = costs[where]
        those, first = np.unique(sessions[where], return_index=True)
        is_new = records["alarmed"][those] & (1 << bit) == 0
        records["alarmed"][those] |= 1 << bit
        for place, value in zip(where[first[is_new]], values[first[is_new]], strict=True):
            raised.append((int(found.numbers[place]), int(place), bit, float(value)))
    return sorted(raised)


def is_above(
    thresholds: Mapping[str, float],
    alarmed: int,
    known: Sequence[Any],
    window: float,
    *,
    is_end: bool,
) -> bool:
    """Return whether a session may now be above a threshold for the first time.

    The arguments are what `Scale.advance_one` returns, and which scores had their alarms.
    """
    surprisal, expected, variance, cost, peaks = known[7:12]
    for score, threshold in thresholds.items():
        if alarmed & (1 << SCORES.index(score)):
            continue
        if score == "peaks":
            is_odd = log(max(peaks, 1.0)) > threshold
        elif score == "sum":
            is_odd = is_end and (surprisal - expected) ** 2 >= threshold**2 * variance
        else:
            is_odd = (cost if score == "largest" else window) > threshold
        if is_odd:
            return True
    return False


def _find_peaks(
    threshold: float, records: Records, steps: Steps, words: Words, bit: int
) -> tuple[Integers, Floats]:
    """Return the events at which sums of peaks first are above a threshold, and their values."""
    above = (np.log(np.maximum(records["peaks"], 1.0)) > threshold) & (
        records["alarmed"] & (1 << bit) == 0
    )
    places, values = list[int](), list[float]()
    for session in np.flatnonzero(above).tolist():  # which are few
        begin, end = words.offsets[session : session + 2].tolist()
        sums = np.cumsum(peaks_of(steps.costs[begin:end]))
        logs = np.log(np.maximum(sums + (records["peaks"][session] - sums[-1]), 1.0))
        logs[-1] = np.log(records["peaks"][session])
        first = int((logs > threshold).argmax())
        places.append(begin + first)
        values.append(float(logs[first]))
    return np.array(places, dtype=np.int64), np.array(values, dtype=np.float64)
