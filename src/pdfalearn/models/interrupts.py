"""Ctrl-C that stops a run where nothing is half done."""

from __future__ import annotations

import signal
import threading
from collections.abc import Sequence
from types import FrameType

from pdfalearn.alphabet import Alphabet
from pdfalearn.models.checking import (
    checked_room,
    checked_session,
    checked_shared,
    checked_start,
    close_quietly,
)
from pdfalearn.models.cost import QueryCost
from pdfalearn.models.protocol import Handles, LanguageModel, Mask, Session
from pdfalearn.rows import Rows
from pdfalearn.words import Words


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


class InterruptibleModel(LanguageModel):
    """A model that Ctrl-C stops while it is called, and before.

    Parameters
    ----------
    model : LanguageModel
        The model inside.
    interrupts : Interrupts
        What holds back a Ctrl-C.
    """

    def __init__(self, model: LanguageModel, interrupts: Interrupts) -> None:
        self.alphabet: Alphabet = model.alphabet
        self.cost: QueryCost = model.cost
        self._model = model
        self._interrupts = interrupts

    def open(self) -> Session:
        """Begin a conversation."""
        self._interrupts.begin_call()
        try:
            inner = checked_session(self._model)
        finally:
            self._interrupts.end_call()
        try:
            return InterruptibleSession(inner, self._interrupts)
        except BaseException:
            close_quietly(inner)
            raise

    def answers_by_copy(self, word: Sequence[int]) -> dict[str, str]:
        """Return what each copy of the model inside answers."""
        return self._model.answers_by_copy(word)


class InterruptibleSession(Session):
    """The session of an interruptible model."""

    def __init__(self, session: Session, interrupts: Interrupts) -> None:
        self.shared = checked_shared(session)
        self.room = checked_room(session)
        self.inner = session
        self._interrupts = interrupts

    def start(self) -> int:
        """Return a handle of the empty word."""
        self._interrupts.begin_call()
        try:
            return checked_start(self.inner)
        finally:
            self._interrupts.end_call()

    def extend(self, handles: Handles, words: Words) -> Handles:
        """Continue words."""
        self._interrupts.begin_call()
        try:
            return self.inner.extend(handles, words)
        finally:
            self._interrupts.end_call()

    def read(self, handles: Handles) -> Rows:
        """Return distributions."""
        self._interrupts.begin_call()
        try:
            return self.inner.read(handles)
        finally:
            self._interrupts.end_call()

    def possible(self, handles: Handles) -> Mask | Words | None:
        """Return which symbols may follow."""
        return self.inner.possible(handles)

    def release(self, handles: Handles) -> None:
        """Take back handles."""
        self.inner.release(handles)

    def close(self) -> None:
        """End the conversation."""
        self.inner.close()
