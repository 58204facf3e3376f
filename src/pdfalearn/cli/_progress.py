"""The option that chooses how progress is shown, and the context in which it is."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from pdfalearn.displays import ProgressLine

_MOST_SECONDS = 1e6


def _checked(
    _context: click.Context, _option: click.Parameter, seconds: float | None
) -> float | None:
    """Refuse what a clock cannot wait for, such as nan and inf."""
    from pdfalearn.checks import checked_number

    return None if seconds is None else checked_number(seconds, "--log-every", 0, _MOST_SECONDS)


log_every_option = click.option(
    "--log-every",
    type=float,
    callback=_checked,
    metavar="SECONDS",
    show_default="one line that is renewed in a terminal, else 10; none with --json",
    help="Write progress to the standard error, a line every SECONDS; 0 for none.",
)


def shown_progress(
    line: ProgressLine, log_every: float | None, *, as_json: bool
) -> AbstractContextManager[Callable[..., None] | None]:
    """Return a context in which a line is shown; it gives what to call with progress, or None."""
    from pdfalearn.displays import logged, renewed

    if log_every == 0 or (as_json and log_every is None):
        return nullcontext()
    return renewed(line, stays=False) if log_every is None else logged(line, log_every)
