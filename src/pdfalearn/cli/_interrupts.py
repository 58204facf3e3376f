"""Ctrl-C while something is found and written."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from types import FrameType
from typing import TypeVar

from pdfalearn.cli._models import prints_aside

Thing = TypeVar("Thing")


class HeldInterrupts:
    """Holds a Ctrl-C back once there is something to write; a second one gets through.

    In other threads than the main one, and where Ctrl-C is ignored, nothing is changed.
    """

    def __init__(self) -> None:
        self.is_pressed = False
        """Whether a Ctrl-C is held back."""
        self._is_held = False

    def __enter__(self) -> HeldInterrupts:
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_held:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            self._is_held = False

    def hold(self) -> None:
        """Hold back from here to the end of the block."""
        is_main = threading.current_thread() is threading.main_thread()
        if is_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, self._note)
            self._is_held = True

    def _note(self, signum: int, frame: FrameType | None) -> None:
        if self.is_pressed:
            raise KeyboardInterrupt
        self.is_pressed = True


def outcome_of(
    run: Callable[..., Thing],
    interrupts: HeldInterrupts,
    shown: AbstractContextManager[Callable[..., None] | None],
    salvaged: Callable[[KeyboardInterrupt], Thing | None],
) -> tuple[Thing | None, bool]:
    """Run something long; from its end on, Ctrl-C is held back.

    Parameters
    ----------
    run : callable
        What to run, with the argument ``progress``.
    interrupts : HeldInterrupts
        Where Ctrl-C is held back.
    shown : context manager
        Shows progress; gives what to call with it, or None.
    salvaged : callable
        Returns what was found until an interrupt, if anything was.

    Returns
    -------
    tuple
        What was found, if anything was, and whether Ctrl-C has ended the run.
    """
    result, is_interrupted = None, False
    try:
        with shown as progress, prints_aside():
            try:
                result = run(progress=progress)
            except KeyboardInterrupt as interrupt:
                result, is_interrupted = salvaged(interrupt), True
            interrupts.hold()
    except KeyboardInterrupt:  # just after the last answer
        interrupts.hold()
        is_interrupted = True
    return result, is_interrupted
