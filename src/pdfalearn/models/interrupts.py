"""Ctrl-C that stops a run where nothing is half done."""

from __future__ import annotations

import signal
import threading
from types import FrameType


class Interrupts:
    """Holds a Ctrl-C back until a run is at a place where it can stop.

    Inside a ``with`` block a first Ctrl-C is noted, and raised as a `KeyboardInterrupt` before the
    model is called the next time, or at once while it is being called. A second one is raised at
    once in any case. Nothing is changed in threads other than the main one, or where a program
    handles Ctrl-C itself.
    """

    def __init__(self) -> None:
        self._is_pending = False
        self._is_calling = False
        self._installed = False

    def __enter__(self) -> Interrupts:
        is_main = threading.current_thread() is threading.main_thread()
        if is_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, self._noted)
            self._installed = True
        return self

    def __exit__(self, *_: object) -> None:
        if self._installed:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            self._installed = False

    def _noted(self, signum: int, frame: FrameType | None) -> None:
        if self._is_calling or self._is_pending:
            self._is_pending = False
            raise KeyboardInterrupt
        self._is_pending = True

    def check(self) -> None:
        """Raise a Ctrl-C that was held back."""
        if self._is_pending:
            self._is_pending = False
            raise KeyboardInterrupt

    def begin_call(self) -> None:
        """Note that code begins which may be stopped anywhere."""
        self.check()
        self._is_calling = True

    def end_call(self) -> None:
        """Note that it has ended."""
        self._is_calling = False
