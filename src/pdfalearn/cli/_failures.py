"""Exit codes, and failures in one line."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable

import click

from pdfalearn.errors import InputError, MissingExtraError
from pdfalearn.text import shortened

BAD_INPUT = 2
INTERRUPTED = 130
CLOSED_PIPE = 141

_LONGEST_MESSAGE = 2000


def prepare_streams() -> None:
    """Escape what the terminal's encoding cannot write, rather than crash on it."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def exit_code_of(run: Callable[[], object]) -> int:
    """Run a command and give its exit code; whatever the user can mend is one line of error."""
    try:
        result = run()
    except click.Abort:
        return _failed("interrupted", INTERRUPTED)
    except click.UsageError as error:
        return _failed(_usage_message(error))
    except click.ClickException as error:
        return _failed(error.format_message())
    except (InputError, MissingExtraError) as error:
        return _failed(str(error))
    except MemoryError as error:
        return _failed(f"not enough memory: {error}")
    except OSError as error:
        return _failed(_system_message(error))
    finally:
        _give_up_unwritten_output()
    return result if isinstance(result, int) else 0


def _failed(message: str, code: int = BAD_INPUT) -> int:
    line = shortened(" ".join(message.splitlines()), _LONGEST_MESSAGE)
    click.echo(f"error: {line}", err=True)
    return code


def _usage_message(error: click.UsageError) -> str:
    command = error.ctx.command_path if error.ctx else "pdfalearn"
    return f"{error.format_message()} (see '{command} --help')"


def _system_message(error: OSError) -> str:
    reason = error.strerror or str(error)
    name = error.filename2 or error.filename
    return reason if name is None else f"{name}: {reason}"


def _give_up_unwritten_output() -> None:
    """Drop what a closed pipe or a full disk refused, or Python would try again when it exits."""
    if sys.stdout is None:  # it was closed before the program began
        return
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
