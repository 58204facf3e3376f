"""How far something long has come, as one line of text."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Protocol

from pdfalearn.equivalence.relations import relation_text
from pdfalearn.results.signs import StateGrowth
from pdfalearn.text import LABELS, count_text

if TYPE_CHECKING:
    from pdfalearn.results.frontiers import DistillingProgress
    from pdfalearn.results.learning_runs import Progress
    from pdfalearn.results.sweeps import SweepProgress

_PHASES = {
    "words": "drawing words",
    "questions": "asking blind spots",
    "automata": "searching",
    "measuring": "measuring",
}
_BAR = 20
"""The width of a bar, in characters."""


class ProgressLine(Protocol):
    """One line, made when a display asks for it: an update only remembers what came last."""

    @property
    def update(self) -> Any:
        """Remember the latest news."""

    @property
    def text(self) -> str:
        """The line."""


class LearningLine:
    """How far learning has come; where it may be endless, that no end is in sight."""

    def __init__(self, *, may_be_endless: bool) -> None:
        self._growth = StateGrowth() if may_be_endless else None
        self._begin = time.monotonic()
        self._latest: Progress | None = None

    def update(self, progress: Progress) -> None:
        """Remember the latest progress."""
        self._latest = progress
        if self._growth is not None:
            self._growth.note(progress.words, progress.states)

    @property
    def text(self) -> str:
        """The line."""
        return f"learning: {', '.join(self._parts())}"

    def _parts(self) -> Iterator[str]:
        latest, seconds = self._latest, time.monotonic() - self._begin
        if latest is not None:
            yield from _figures(latest)
            if seconds >= 1:
                yield f"{latest.words / seconds:,.0f} words a second"
        yield duration(seconds)
        if self._growth is not None and self._growth.is_steady:
            yield "no end in sight: see distill"


class DistillingLine:
    """How far distilling has come."""

    def __init__(self, max_symbols: int | None) -> None:
        self._max_symbols = max_symbols
        self._begin = time.monotonic()
        self._latest: DistillingProgress | None = None

    def update(self, progress: DistillingProgress) -> None:
        """Remember the latest progress."""
        self._latest = progress

    @property
    def text(self) -> str:
        """The line."""
        return f"distilling: {', '.join(self._parts())}"

    def _parts(self) -> Iterator[str]:
        if self._latest is not None:
            yield from self._told(self._latest)
        yield duration(time.monotonic() - self._begin)

    def _told(self, latest: DistillingProgress) -> Iterator[str]:
        yield _PHASES[latest.phase]
        yield count_text(latest.words, LABELS["words_drawn"])
        yield self._left(latest)
        if latest.states is not None:
            yield count_text(latest.states, LABELS["states"])
        for name in ("training_divergence", "held_out_divergence"):
            value = getattr(latest, name)
            if value is not None:
                yield f"{LABELS[name]} {value:.3g}"
        yield from _cost(latest.cost)

    def _left(self, latest: DistillingProgress) -> str:
        left = 1 - latest.share
        if self._max_symbols is None:
            return f"{left:.0%} of the budget left"
        return f"{left * self._max_symbols:,.0f} symbols left"


class SweepLine:
    """How far a sweep has come."""

    def __init__(self, runs: int) -> None:
        self._runs = runs
        self._begin = time.monotonic()
        self._latest: SweepProgress | None = None

    def update(self, progress: SweepProgress) -> None:
        """Remember the latest progress."""
        self._latest = progress

    @property
    def text(self) -> str:
        """The line."""
        return f"sweep: {', '.join(self._parts())}"

    def _parts(self) -> Iterator[str]:
        latest = self._latest
        if latest is None or latest.by is None:
            yield f"{self._runs} run{'s' * (self._runs != 1)} to come"
        else:
            yield f"run {latest.run} of {latest.runs} with {relation_text(latest.by)}"
            if latest.learning is not None:
                yield from _figures(latest.learning)
        yield duration(time.monotonic() - self._begin)


class RunsLine:
    """How many of some runs are done, and how long the rest may take."""

    def __init__(self, label: str) -> None:
        self._label = label
        self._begin = time.monotonic()
        self._found: int | None = None
        self._done = self._total = 0

    def update(self, done: int, total: int) -> None:
        """Remember how many are done; those of the first call were done before."""
        if self._found is None:
            self._found = done
        self._done, self._total = done, total

    @property
    def text(self) -> str:
        """The line."""
        return f"{self._label}: {', '.join(self._parts())}"

    def _parts(self) -> Iterator[str]:
        seconds = time.monotonic() - self._begin
        if self._total:
            filled = _BAR * self._done // self._total
            bar = "#" * filled + "-" * (_BAR - filled)
            yield f"[{bar}] {self._done:,} of {self._total:,} runs"
        yield duration(seconds)
        here = self._done - (self._found or 0)
        if here and self._done < self._total:
            yield f"about {duration(seconds / here * (self._total - self._done))} left"


def _figures(progress: Progress) -> Iterator[str]:
    for name in ("states", "words", "equivalence_queries"):
        yield count_text(getattr(progress, name), LABELS[name])
    yield from _cost(progress.cost)


def _cost(cost: float) -> Iterator[str]:
    if cost:
        yield f"{LABELS['cost']} {cost:,.10g}"


def duration(seconds: float) -> str:
    """Write how long something takes.

    Examples
    --------
    >>> duration(9.96), duration(75), duration(3725)
    ('10.0 s', '1:15 min', '1:02:05 h')
    """
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(int(seconds), 60)
    if minutes < 60:
        return f"{minutes}:{rest:02} min"
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02} h"
