"""Alarms, and the thresholds above which they are raised."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from math import inf
from typing import Any

from pdfalearn.alphabet import Symbol
from pdfalearn.checks import check_number
from pdfalearn.errors import InputError
from pdfalearn.text import shorten
from pdfalearn.watching.calibrating import Thresholds
from pdfalearn.watching.session_scores import SCORES


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
