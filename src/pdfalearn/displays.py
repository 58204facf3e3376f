"""Show a line while something runs: renewed in a terminal or a notebook, written or logged.

A line remembers the latest news, and is made when a display asks for it.
"""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from pdfalearn.equivalence import relation_text
from pdfalearn.errors import InputError
from pdfalearn.results import StateGrowth
from pdfalearn.text import LABELS, count_text, described

if TYPE_CHECKING:
    from rich.console import Console

    from pdfalearn.results import DistillingProgress, Progress, SweepProgress

Update = Callable[..., None]
News = TypeVar("News")
# What the argument ``progress`` of long functions may be.
Wanted = Callable[[News], None] | bool | Literal["log"] | None
# How long it takes from one line to the next, where lines are written one below the other.
SECONDS_BETWEEN_LINES = 10.0
_UPDATES_PER_SECOND = 8
_CELL_UPDATES_PER_SECOND = 4
_PHASES = {
    "words": "drawing words",
    "questions": "asking blind spots",
    "automata": "searching",
    "merging": "merging prefixes",
    "teacher": "training a teacher",
    "taught": "searching with the teacher",
    "larger": "searching for larger automata",
    "measuring": "measuring",
}
# The width of a bar, in characters.
_BAR = 20

# The package's only logger. It is not made in ``pdfalearn/__init__.py``, as importing logging would
# take a third of the time that importing the package takes.
LOGGER = logging.getLogger("pdfalearn")
LOGGER.addHandler(logging.NullHandler())


class ProgressLine:
    """One line, made when a display asks for it: an update only remembers the latest news."""

    def __init__(self, label: str) -> None:
        self._label = label
        self._begin = time.monotonic()
        self._latest: Any = None

    def update(self, news: Any, /) -> None:
        """Remember the latest news."""
        self._latest = news

    @property
    def text(self) -> str:
        """The line."""
        return f"{self._label}: {', '.join(self._parts(time.monotonic() - self._begin))}"

    def _parts(self, seconds: float) -> Iterator[str]:
        """Yield the parts of the line, among them the time since it was made."""
        raise NotImplementedError


class LearningLine(ProgressLine):
    """How far learning has come; where it may be endless, that no end is in sight."""

    def __init__(self, *, may_be_endless: bool) -> None:
        super().__init__("learning")
        self._growth = StateGrowth() if may_be_endless else None

    def update(self, progress: Progress, /) -> None:
        """Remember the latest progress."""
        super().update(progress)
        if self._growth is not None:
            self._growth.note(progress.words, progress.states)

    def _parts(self, seconds: float) -> Iterator[str]:
        if self._latest is not None:
            yield from _figures(self._latest)
            if seconds >= 1:
                yield f"{self._latest.words / seconds:,.0f} words a second"
        yield duration(seconds)
        if self._growth is not None and self._growth.is_steady:
            yield "no end in sight: see distill"


class ExploringLine(ProgressLine):
    """How far the bounds on a live model's answers have closed."""

    def __init__(self) -> None:
        super().__init__("asking")

    def _parts(self, seconds: float) -> Iterator[str]:
        if self._latest is not None:
            yield count_text(self._latest.calls, "calls")
            yield f"any match from {self._latest.low:.6f} to {self._latest.high:.6f}"
        yield duration(seconds)


class DistillingLine(ProgressLine):
    """How far distilling has come, of a model within a budget or of recorded words."""

    def __init__(self, max_symbols: int | None = None, *, is_of_words: bool = False) -> None:
        super().__init__("distilling")
        self._max_symbols, self._is_of_words = max_symbols, is_of_words

    def _parts(self, seconds: float) -> Iterator[str]:
        if self._latest is not None:
            yield from self._describe(self._latest)
        yield duration(seconds)

    def _describe(self, latest: DistillingProgress) -> Iterator[str]:
        part = "" if latest.member is None else f" ({latest.member[0]} of {latest.member[1]})"
        yield _PHASES[latest.phase] + part
        if self._is_of_words:
            yield count_text(latest.words, "words")
            yield f"about {latest.share:.0%} done"
        else:
            yield from self._describe_budget(latest)
        if latest.states is not None:
            yield count_text(latest.states, LABELS["states"])
        measure = "cross_entropy" if self._is_of_words else "divergence"
        for part in ("training", "held_out"):
            value = getattr(latest, f"{part}_divergence")
            if value is not None:
                yield f"{LABELS[f'{part}_{measure}']} {value:.3g}"
        yield from _cost(latest.cost)

    def _describe_budget(self, latest: DistillingProgress) -> Iterator[str]:
        yield count_text(latest.words, LABELS["words_drawn"])
        left = 1 - latest.share
        if self._max_symbols is None:
            yield f"{left:.0%} of the budget left"
        else:
            yield f"{left * self._max_symbols:,.0f} symbols left"


class SweepLine(ProgressLine):
    """How far a sweep has come."""

    def __init__(self, runs: int) -> None:
        super().__init__("sweep")
        self._runs = runs

    def _parts(self, seconds: float) -> Iterator[str]:
        latest: SweepProgress | None = self._latest
        if latest is None or latest.equivalence is None:
            yield f"{self._runs} run{'s' * (self._runs != 1)} to come"
        else:
            yield f"run {latest.run} of {latest.runs} with {relation_text(latest.equivalence)}"
            if latest.learning is not None:
                yield from _figures(latest.learning)
        yield duration(seconds)


class RunsLine(ProgressLine):
    """How many of some runs are done, and how long the rest may take."""

    def __init__(self, label: str) -> None:
        super().__init__(label)
        self._found: int | None = None

    def update(self, done: int, total: int, /) -> None:  # type: ignore[override]
        """Remember how many are done; those of the first call were done before."""
        if self._found is None:
            self._found = done
        super().update((done, total))

    def _parts(self, seconds: float) -> Iterator[str]:
        done, total = self._latest or (0, 0)
        if total:
            filled = _BAR * done // total
            bar = "#" * filled + "-" * (_BAR - filled)
            yield f"[{bar}] {done:,} of {total:,} runs"
        yield duration(seconds)
        here = done - (self._found or 0)
        if here and done < total:
            yield f"about {duration(seconds / here * (total - done))} left"


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


def show_progress(
    progress: object, line: Callable[..., ProgressLine], **facts: Any
) -> AbstractContextManager[Update | None]:
    """Return a context in which progress is shown; it gives what to call with news, or None.

    A callable is called itself; True shows a line that is renewed, in a terminal or in a cell of a
    notebook, and "log" logs a line every few seconds. The line is made of the facts.

    Examples
    --------
    >>> with show_progress(print, SweepLine, runs=3) as report:
    ...     report("news")
    news
    >>> show_progress(3, SweepLine, runs=3)
    Traceback (most recent call last):
    ...
    pdfalearn.errors.InputError: progress 3 is not True, False, "log" or a function to call
    """
    if progress is None or progress is False:
        return nullcontext()
    if callable(progress):
        return nullcontext(progress)
    if progress is True:
        return renewed(line(**facts), stays=True)
    if isinstance(progress, str) and progress == "log":
        return logged(line(**facts), write=LOGGER.info)
    raise InputError(
        f'progress {described(progress)} is not True, False, "log" or a function to call'
    )


def renewed(line: ProgressLine, *, stays: bool) -> AbstractContextManager[Update]:
    """Show a line that is renewed in its place; where that cannot be done, line by line.

    The context gives what to call with news. In a terminal the last line stays if it is to.
    """
    if _is_notebook():
        return _in_cell(line)
    terminal = _terminal()
    return logged(line) if terminal is None else _in_terminal(line, terminal, stays=stays)


def _write_line(text: str) -> None:
    # A standard error that is gone must not cost what has been found.
    with suppress(OSError, ValueError, AttributeError):
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()


@contextmanager
def logged(
    line: ProgressLine, seconds: float | None = None, *, write: Callable[[str], None] = _write_line
) -> Iterator[Update]:
    """Write a line every few seconds, by default to the standard error.

    The context gives what to call with news.
    """
    interval = SECONDS_BETWEEN_LINES if seconds is None else seconds
    is_over = threading.Event()

    def write_lines() -> None:
        while not is_over.wait(interval):
            write(line.text)

    writer = threading.Thread(target=write_lines, name="pdfalearn progress", daemon=True)
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


@contextmanager
def _in_terminal(line: ProgressLine, console: Console, *, stays: bool) -> Iterator[Update]:
    """Renew a line in a terminal."""
    from rich.live import Live
    from rich.text import Text

    display = Live(
        get_renderable=lambda: Text(line.text, no_wrap=True, overflow="ellipsis"),
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
