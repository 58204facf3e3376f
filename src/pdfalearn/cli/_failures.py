"""Exit codes, and failures in one line."""

from __future__ import annotations

import io
import os
import sys
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from pdfalearn.cli._output import print_aside
from pdfalearn.errors import InputError, MissingExtraError
from pdfalearn.text import escaped, shorten

BAD_INPUT = 2
INTERRUPTED = 130
TERMINATED = 143
CLOSED_PIPE = 141

_LONGEST_MESSAGE = 2000


def prepare_streams() -> None:
    """Escape what the terminal's encoding cannot write, rather than crash on it."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def escape_tracebacks() -> None:
    """Show control characters escaped where Python itself reports bugs and warnings, too."""

    def print_traceback(*failure: Any) -> None:
        lines = traceback.format_exception(*failure)
        click.echo(_escaped_lines("".join(lines)), err=True, nl=False)

    sys.excepthook = print_traceback
    plain, here = warnings.formatwarning, str(Path(__file__).parents[1])

    def format_warning(message: Any, category: Any, filename: str, *more: Any, **rest: Any) -> str:
        if issubclass(category, UserWarning) and filename.startswith(here):
            return f"note: {escaped(str(message))}\n"
        return _escaped_lines(plain(message, category, filename, *more, **rest))

    warnings.formatwarning = format_warning


def exit_code_of(run: Callable[[], object]) -> int:
    """Run a command and return its exit code; what the user can mend is one line of error."""
    try:
        result = run()
    except click.Abort:
        return _report("interrupted", INTERRUPTED)
    except (click.ClickException, InputError, MissingExtraError, MemoryError, OSError) as error:
        return _report(_message_of(error))
    finally:
        _give_up_unwritten_output()
    return result if isinstance(result, int) else 0


def _report(message: str, code: int = BAD_INPUT) -> int:
    line = escaped(" ".join(message.strip("\n").split("\n")))
    print_aside(f"error: {shorten(line, _LONGEST_MESSAGE)}")
    return code


def _message_of(error: Exception) -> str:
    if isinstance(error, click.UsageError):
        command = error.ctx.command_path if error.ctx else "pdfalearn"
        return f"{error.format_message()} (see '{command} --help')"
    if isinstance(error, MemoryError):
        return f"not enough memory: {error}"
    if isinstance(error, OSError):
        reason, name = error.strerror or str(error), error.filename2 or error.filename
        return reason if name is None else f"{escaped(str(name))}: {reason}"
    return error.format_message() if isinstance(error, click.ClickException) else str(error)


def _escaped_lines(text: str) -> str:
    return "".join(f"{escaped(line)}\n" for line in text.removesuffix("\n").split("\n"))


def _give_up_unwritten_output() -> None:
    """Drop what a closed pipe or a full disk refused, or Python would try again when it exits."""
    if sys.stdout is None:  # it was closed before the program began
        return
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
