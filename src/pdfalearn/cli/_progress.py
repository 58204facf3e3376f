"""Live progress on the terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Protocol

from pdfalearn.cli._output import console

if TYPE_CHECKING:
    from rich.text import Text

    from pdfalearn import DistillingProgress, Progress

_UPDATES_PER_SECOND = 8
_PHASES = {
    "words": "drawing words",
    "questions": "asking blind spots",
    "automata": "searching",
    "measuring": "measuring",
}


class ProgressLine(Protocol):
    """One line, made when the display asks for it: an update only remembers what came last."""

    def update(self, progress: Any) -> None:
        """Remember the latest progress."""

    def __rich__(self) -> Text:
        """Return the line."""


@contextmanager
def live_progress(line: ProgressLine | None) -> Iterator[Callable[[Any], None] | None]:
    """Show a line while the block runs; yield what to call with progress.

    It is None, and nothing is shown, if there is no line or the standard error is not a terminal.
    """
    if line is None or sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    from rich.live import Live

    display = Live(
        line,
        console=console(stderr=True),
        refresh_per_second=_UPDATES_PER_SECOND,
        transient=True,
        redirect_stdout=False,
    )
    try:
        display.start()
        yield line.update
    finally:
        with suppress(OSError):  # a terminal that is gone must not cost what has been found
            display.stop()


class LearningLine:
    """How far learning has come; where it may be endless, that no end is in sight."""

    def __init__(self, *, may_be_endless: bool) -> None:
        from pdfalearn.learning.growth import StateGrowth

        self._growth = StateGrowth() if may_be_endless else None
        self._begin = time.monotonic()
        self._latest: Progress | None = None

    def update(self, progress: Progress) -> None:
        """Remember the latest progress."""
        self._latest = progress
        if self._growth is not None:
            self._growth.note(progress.words, progress.states)

    def __rich__(self) -> Text:
        """Return the line."""
        parts = ["learning"]
        if self._latest is not None:
            parts = [
                f"{self._latest.states:,} states",
                f"{self._latest.words:,} membership queries",
                f"{self._latest.equivalence_queries:,} equivalence queries",
                *([f"cost {self._latest.cost:,.10g}"] if self._latest.cost else []),
            ]
        seconds = time.monotonic() - self._begin
        if self._latest is not None and seconds >= 1:
            parts.append(f"{self._latest.words / seconds:,.0f} words a second")
        parts.append(f"{seconds:.1f} s")
        if self._growth is not None and self._growth.is_steady:
            parts.append("no end in sight: see distill")
        return _text(parts)


class DistillingLine:
    """How far distilling has come."""

    def __init__(self, max_symbols: int | None) -> None:
        self._max_symbols = max_symbols
        self._begin = time.monotonic()
        self._latest: DistillingProgress | None = None

    def update(self, progress: DistillingProgress) -> None:
        """Remember the latest progress."""
        self._latest = progress

    def __rich__(self) -> Text:
        """Return the line."""
        latest = self._latest
        parts = ["distilling"] if latest is None else [_PHASES[latest.phase], self._left(latest)]
        if latest is not None and latest.states is not None:
            parts.append(f"{latest.states:,} states")
        if latest is not None and latest.training_divergence is not None:
            parts.append(f"KL {latest.training_divergence:.3g}")
        if latest is not None and latest.held_out_divergence is not None:
            parts.append(f"held-out {latest.held_out_divergence:.3g}")
        if latest is not None and latest.cost:
            parts.append(f"cost {latest.cost:,.10g}")
        return _text([*parts, f"{time.monotonic() - self._begin:.1f} s"])

    def _left(self, latest: DistillingProgress) -> str:
        left = 1 - latest.share
        if self._max_symbols is None:
            return f"{left:.0%} of the budget left"
        return f"{left * self._max_symbols:,.0f} symbols left"


def _text(parts: list[str]) -> Text:
    from rich.text import Text

    return Text(", ".join(parts), no_wrap=True, overflow="ellipsis")
