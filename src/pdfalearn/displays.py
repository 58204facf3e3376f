"""Show a line while something runs: renewed in a terminal or a notebook, or now and then.

A line remembers the latest news, and is written when a display asks for it.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

from pdfalearn.equivalence import relation_text
from pdfalearn.errors import InputError
from pdfalearn.results import StateGrowth
from pdfalearn.text import LABELS, count_text, described

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from pdfalearn.results import DistillingProgress, Progress, SweepProgress

Update = Callable[..., None]
News = TypeVar("News")
Wanted = Callable[[News], None] | bool | Literal["log"] | None
"""What the argument ``progress`` of long functions may be."""
SECONDS_BETWEEN_LINES = 10.0
"""How long it takes from one line to the next, where lines are written one below the other."""
_UPDATES_PER_SECOND = 8
_CELL_UPDATES_PER_SECOND = 4
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
        if latest is None or latest.equivalence is None:
            yield f"{self._runs} run{'s' * (self._runs != 1)} to come"
        else:
            yield f"run {latest.run} of {latest.runs} with {relation_text(latest.equivalence)}"
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


_LINES: dict[str, Callable[..., ProgressLine]] = {
    "learning": LearningLine,
    "distilling": DistillingLine,
    "sweeping": SweepLine,
    "experiments": RunsLine,
}


def show_progress(
    progress: object, kind: str, **facts: Any
) -> AbstractContextManager[Update | None]:
    """Return a context in which progress is shown; it gives what to call with news, or None.

    Parameters
    ----------
    progress : callable, bool, "log" or None
        What the user has given: a callable is called itself; True shows a line that is renewed, in
        a terminal or in a cell of a notebook, and "log" writes a line every few seconds.
    kind : {"learning", "distilling", "sweeping", "experiments"}
        What is going on.
    **facts
        What the line of this kind needs to know.

    Examples
    --------
    >>> with show_progress(print, "learning") as report:
    ...     report("news")
    news
    >>> show_progress(3, "learning")
    Traceback (most recent call last):
    ...
    pdfalearn.errors.InputError: progress 3 is not True, False, "log" or a function to call
    """
    if progress is None or progress is False:
        return nullcontext()
    if callable(progress):
        return nullcontext(progress)
    if progress is True:
        return renewed(_LINES[kind](**facts), stays=True)
    if isinstance(progress, str) and progress == "log":
        return logged(_LINES[kind](**facts))
    raise InputError(
        f'progress {described(progress)} is not True, False, "log" or a function to call'
    )


def renewed(line: ProgressLine, *, stays: bool) -> AbstractContextManager[Update]:
    """Show a line that is renewed in its place; where that cannot be done, line by line.

    Parameters
    ----------
    line : ProgressLine
        The line; the context gives what to call with news.
    stays : bool
        Whether the last line stays in a terminal.
    """
    if _is_notebook():
        return _in_cell(line)
    terminal = _terminal()
    return logged(line) if terminal is None else _in_terminal(line, terminal, stays=stays)


@contextmanager
def logged(line: ProgressLine, seconds: float = SECONDS_BETWEEN_LINES) -> Iterator[Update]:
    """Write a line to the standard error at regular intervals.

    Parameters
    ----------
    line : ProgressLine
        The line; the context gives what to call with news.
    seconds : float
        How many seconds there are between two lines, and before the first.
    """
    is_over = threading.Event()

    def write() -> None:
        while not is_over.wait(seconds):
            # A standard error that is gone must not cost what has been found.
            with suppress(OSError, ValueError, AttributeError):
                sys.stderr.write(f"{line.text}\n")
                sys.stderr.flush()

    writer = threading.Thread(target=write, name="pdfalearn progress", daemon=True)
    writer.start()
    try:
        yield line.update
    finally:
        is_over.set()
        writer.join()


def _is_notebook() -> bool:
    """Return whether this process is a notebook's kernel; nothing is imported to find out."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return getattr(shell, "kernel", None) is not None


@contextmanager
def _in_cell(line: ProgressLine) -> Iterator[Update]:
    """Renew a line in the output of a notebook's cell."""
    from IPython.display import display

    show: Callable[..., Any] = display
    shown = show({"text/plain": line.text}, raw=True, display_id=True)
    next_time = 0.0

    def update(*news: Any) -> None:
        nonlocal next_time
        line.update(*news)
        if time.monotonic() >= next_time:
            shown.update({"text/plain": line.text}, raw=True)
            next_time = time.monotonic() + 1 / _CELL_UPDATES_PER_SECOND

    try:
        yield update
    finally:
        shown.update({"text/plain": line.text}, raw=True)


def _terminal() -> Console | None:
    """Return the standard error, if it is a terminal on which a line can be renewed."""
    if sys.stderr is None or not sys.stderr.isatty():
        return None
    from rich.console import Console

    console = Console(stderr=True, markup=False, emoji=False, highlight=False)
    return None if console.is_dumb_terminal else console


class _Renewed:
    """What a live display asks for its line."""

    def __init__(self, line: ProgressLine) -> None:
        self._line = line

    def __rich__(self) -> Text:
        from rich.text import Text

        return Text(self._line.text, no_wrap=True, overflow="ellipsis")


@contextmanager
def _in_terminal(line: ProgressLine, console: Console, *, stays: bool) -> Iterator[Update]:
    """Renew a line in a terminal."""
    from rich.live import Live

    display = Live(
        _Renewed(line),
        console=console,
        refresh_per_second=_UPDATES_PER_SECOND,
        transient=not stays,
        redirect_stdout=sys.stdout is not None and sys.stdout.isatty(),
    )
    try:
        display.start()
        yield line.update
    finally:
        with suppress(OSError):  # a terminal that is gone must not cost what has been found
            display.stop()
