"""Show a line while something runs: renewed in a terminal or a notebook, or now and then."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from pdfalearn.displays.lines import (
    DistillingLine,
    LearningLine,
    ProgressLine,
    RunsLine,
    SweepLine,
)
from pdfalearn.errors import InputError
from pdfalearn.text import described

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

Update = Callable[..., None]
News = TypeVar("News")
Wanted = Callable[[News], None] | bool | Literal["log"] | None
"""What the argument ``progress`` of long functions may be."""
_LINES: dict[str, Callable[..., ProgressLine]] = {
    "learning": LearningLine,
    "distilling": DistillingLine,
    "sweeping": SweepLine,
    "experiments": RunsLine,
}

SECONDS_BETWEEN_LINES = 10.0
"""How long it takes from one line to the next, where lines are written one below the other."""
_UPDATES_PER_SECOND = 8
_CELL_UPDATES_PER_SECOND = 4


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
