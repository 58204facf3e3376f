"""The programs that the command line can name as models."""

from __future__ import annotations

import os
import signal
import threading
from types import FrameType
from typing import TYPE_CHECKING

import pdfalearn
from pdfalearn.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pdfalearn import LanguageModel

_PREFIX = "command:"
"""What the names of such models begin with."""


def is_program(name: str) -> bool:
    """Return whether a name is that of a program."""
    return name.startswith(_PREFIX)


def program(name: str, symbols: Iterable[str] | None) -> LanguageModel:
    """Make a model of a program, which ends if this process is told to.

    Parameters
    ----------
    name : str
        ``command:`` and the program with its arguments.
    symbols : iterable of str, optional
        The symbols, without which there is no model.
    """
    if symbols is None:
        raise InputError(f"{name} is a program: say with --alphabet what its symbols are")
    model = pdfalearn.ProgramModel(name.removeprefix(_PREFIX), symbols)
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is signal.SIG_DFL:
                signal.signal(number, _end_with_programs)
    return model


def _end_with_programs(number: int, _frame: FrameType | None) -> None:
    from pdfalearn.models.program.processes import end_all

    end_all()
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
