"""Ctrl-C while something is learnt and written."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING, NamedTuple

import pdfalearn
from pdfalearn.cli._models import prints_aside
from pdfalearn.cli._progress import live_progress

if TYPE_CHECKING:
    from pdfalearn import Result


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


class Learnt(NamedTuple):
    """What came out of learning."""

    result: Result | None
    """None if there was not even a first answer."""
    is_interrupted: bool
    """Whether Ctrl-C has ended it."""


def learnt(
    run: Callable[..., Result],
    interrupts: HeldInterrupts,
    *,
    show_progress: bool,
    may_be_endless: bool,
) -> Learnt:
    """Learn; from the end of learning on, Ctrl-C is held back."""
    result, is_interrupted = None, False
    try:
        with (
            live_progress(show_progress, may_be_endless=may_be_endless) as progress,
            prints_aside(),
        ):
            try:
                result = run(progress=progress)
            except pdfalearn.LearningInterrupted as interrupt:
                result, is_interrupted = interrupt.result, True
            interrupts.hold()
    except KeyboardInterrupt:  # before the first question, or just after the last answer
        interrupts.hold()
        is_interrupted = True
    return Learnt(result, is_interrupted)
