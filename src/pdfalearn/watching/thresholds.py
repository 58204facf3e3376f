"""Thresholds with a false alarm rate that held-out words can promise, and alarms above them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import astuple, dataclass
from math import ceil, inf
from typing import Any

import numpy as np
from scipy.special import betaincinv, gammainc

from pdfalearn.alphabet import Symbol
from pdfalearn.checks import check_number, check_share
from pdfalearn.corpora import Corpus, CorpusLike, as_corpus, count_steps
from pdfalearn.errors import InputError
from pdfalearn.pdfa import PDFA
from pdfalearn.text import shorten
from pdfalearn.typing import Floats
from pdfalearn.watching.session_scores import OTHER, SCORES, WINDOW, score_sessions

TOO_NEAR = 1e-6
"""Words that are so near by chance are those that an automaton was made of."""
# A step that is expected less often than this says little about how near words are.
_OFTEN = 5.0
# Sums in another order differ by no more, so that sessions that are alike stay on the same side.
TOLERANCE = 1e-6


@dataclass(frozen=True)
class Thresholds:
    """Above which scores a session is odd; what they promise, and on what that rests.

    Examples
    --------
    >>> from pdfalearn.datasets import figure_1
    >>> limits = calibrate(figure_1(), figure_1().sample(99, seed=1).words, 0.05)
    >>> limits.above, [round(share, 3) for share in limits.interval]
    (4, [0.017, 0.1])
    """

    peaks: float
    largest: float
    window: float
    sum: float
    false_alarms: float
    """A fresh usual session is above any one of the thresholds with at most this probability."""
    words: int
    """The held-out words."""
    above: int
    """At most this many of them are above a threshold."""
    events: int
    """How many events the window has."""
    other: float
    """The probability of unknown and impossible events."""
    unknown: int = 0
    """How many of the words have an event that the automaton does not know."""
    nearness: float = 1.0
    """How likely fresh words take the automaton's steps in shares as near to its rows as these do:
    about 0 if it was made of them, and then nothing is promised."""

    def __post_init__(self) -> None:
        for value in astuple(self):
            check_number(value, "a threshold, or what it rests on,", 0, inf)

    @property
    def interval(self) -> tuple[float, float]:
        """Where the rate of these thresholds is, with 95%, if no two scores are the same.

        The promise is about the mean over many such calibrations; one of them has a rate of its
        own. Where scores are the same the rate is lower.
        """
        least, most = betaincinv(self.above + 1, self.words - self.above, [0.025, 0.975])
        return float(least), float(most)


def calibrate(
    pdfa: PDFA,
    usual_words: CorpusLike,
    false_alarms: float = 0.001,
    *,
    other: float = OTHER,
    window: int = WINDOW,
) -> Thresholds:
    """Set the threshold of each score of a session by words that are usual.

    Parameters
    ----------
    pdfa : PDFA
        What is usual.
    usual_words : Corpus, or what it is made of
        Usual words that the automaton was *not* made of: words that it has seen are less surprising
        to it than fresh ones, and would promise too much.
    false_alarms : float
        The probability that a fresh usual word is above a threshold.
    other : float
        The probability of unknown and impossible events.
    window : int
        How many events count for the score "window".

    Raises
    ------
    InputError
        If there are too few words to promise this, with how many are needed.

    Notes
    -----
    With n held-out words, the threshold is the k-th smallest score, k = ⌈(n + 1)(1 − α)⌉. If a
    fresh word is drawn as they were, its score is as likely at each rank among theirs: it is above
    the threshold with probability at most 1 − k/(n + 1) ≤ α, whatever the automaton. That needs
    n ≥ 1/α − 1. Each score has this rate by itself; who watches several adds up their rates.

    Examples
    --------
    >>> from pdfalearn.datasets import figure_1
    >>> found = calibrate(figure_1(), figure_1().sample(999, seed=1).words, 0.01)
    >>> round(found.largest, 3), found.words, found.above
    (0.693, 999, 9)
    >>> calibrate(figure_1(), ["a", "aa"], 0.01)
    Traceback (most recent call last):
    pdfalearn.errors.InputError: too few words: 2, and for a false alarm rate of 0.01 at least 99 \
are needed; with 2, the least that can be promised is 0.333
    """
    rate = check_share(false_alarms, "false_alarms")
    words = as_corpus(usual_words)
    found = score_sessions(pdfa, words, other=other, window=window)
    count = len(found)
    unknown, events = (found.records[name] for name in ("unknown", "events"))
    if unknown.sum() and unknown.sum() >= (events - 1).sum():  # all but the ends
        raise InputError(
            "the automaton knows no event of the usual words, so nothing about them can be "
            "promised: give words of the kind that it was made of"
        )
    # Rounded, as (n + 1)(1 - α) may be a little above an integer where it is one.
    rank = ceil(round((count + 1) * (1 - rate), 9))
    if rank > count:
        needed = ceil(round(1 / rate, 9)) - 1
        raise InputError(
            f"too few words: {count:,}, and for a false alarm rate of {rate:g} at least {needed:,} "
            f"are needed; with {count:,}, the least that can be promised is {1 / (count + 1):.3g}"
        )
    limits = {one: float(np.partition(found.values(one), rank - 1)[rank - 1]) for one in SCORES}
    return Thresholds(
        **limits,
        false_alarms=rate,
        words=count,
        above=count - rank,
        events=found.scale.window,
        other=found.scale.other,
        unknown=int((unknown > 0).sum()),
        nearness=_measure_nearness(pdfa, found.scale.rows, words),
    )


def _measure_nearness(pdfa: PDFA, rows: Floats, words: Corpus) -> float:
    """Return the probability of a Pearson statistic as small as that of these words."""
    try:
        counts = count_steps(pdfa, words).table
    except InputError:  # a word is impossible, so the automaton was not made of it
        return 1.0
    expected = counts.sum(axis=1, keepdims=True) * rows
    often = expected >= _OFTEN
    freedom = np.maximum(often.sum(axis=1) - 1, 0).sum()
    if not freedom:
        return 1.0
    statistic = ((counts - expected)[often] ** 2 / expected[often]).sum()
    return float(gammainc(freedom / 2, statistic / 2))


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
    """The event with which it became so; None if the automaton does not have it. Of the scores over
    several events it may be a usual one, which came on top of those before."""
    after: int
    """How many events of the session came before."""
    surprisal: float
    """That of this event alone."""
    expected_instead: tuple[tuple[Symbol, float], ...]
    """The likeliest symbols there, with their probabilities."""
    reaching: Mapping[str, float]
    """How likely the session will now come to an event, or be in a language."""
    time: float
    begun: int
    """The number of the session's first event among all events: with the score, it tells one alarm
    from all others, also where the name of a session comes again."""
    number: int
    """The number of the event, or of the session's last one if the end was found by silence."""


def check_thresholds(
    given: Thresholds | Mapping[str, float] | None, scores: Iterable[str]
) -> dict[str, float]:
    """Return the threshold of each score that raises alarms, in the order of the scores."""
    if not isinstance(given, Thresholds | Mapping | None):
        raise InputError(
            f"thresholds is {shorten(repr(given), 60)}; give what calibrate returns, or a number "
            "for each score, as in {'largest': 12.0}"
        )
    is_made = isinstance(given, Thresholds)
    chosen: Any = {one: getattr(given, one, None) for one in scores} if is_made else given or {}
    for score, threshold in chosen.items():
        if score not in SCORES:
            raise InputError(f"score {score!r} is not one of {', '.join(SCORES)}")
        check_number(threshold, f"the threshold of {score}", 0, inf)
    return {score: float(chosen[score]) for score in SCORES if score in chosen}
