"""Live progress on the terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from pdfalearn.cli._output import console

if TYPE_CHECKING:
    from rich.text import Text

    from pdfalearn import Progress
    from pdfalearn.learning.growth import StateGrowth

_UPDATES_PER_SECOND = 8


@contextmanager
def live_progress(
    wanted: bool, *, may_be_endless: bool
) -> Iterator[Callable[[Progress], None] | None]:
    """Show the latest progress while the block runs; give what to call with it.

    That is None, and nothing is shown, if it is not wanted or the standard error is no terminal.
    Where learning may be endless, the line says that no end is in sight.
    """
    if not wanted or sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    from rich.live import Live

    from pdfalearn.learning.growth import StateGrowth

    line = _Line(StateGrowth() if may_be_endless else None)
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
        with suppress(OSError):  # a terminal that is gone must not cost what has been learnt
            display.stop()


class _Line:
    """One line, made when the display asks for it: an update only remembers what came last."""

    def __init__(self, growth: StateGrowth | None) -> None:
        self._growth = growth
        self._begin = time.monotonic()
        self._latest: Progress | None = None

    def update(self, progress: Progress) -> None:
        self._latest = progress
        if self._growth is not None:
            self._growth.note(progress.words, progress.states)

    def __rich__(self) -> Text:
        from rich.text import Text

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
        return Text(", ".join(parts), no_wrap=True, overflow="ellipsis")
