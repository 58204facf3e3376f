"""A user's code around which every failure becomes one line."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

import numpy as np

from pdfalearn.cli._importing import failure_text
from pdfalearn.errors import InputError, ModelError
from pdfalearn.models.checking import (
    checked_extension,
    checked_model_members,
    checked_room,
    checked_rows,
    checked_session,
    checked_shared,
    checked_start,
)
from pdfalearn.models.constrained.inner import possible_after
from pdfalearn.models.constrained.wrapper import Wrapper
from pdfalearn.models.protocol import Handles, LanguageModel, Mask, Session
from pdfalearn.row_checks import BadRowError, UndecidedError, given_rows
from pdfalearn.rows import Rows
from pdfalearn.words import Words

Given = ParamSpec("Given")
Returned = TypeVar("Returned")


def explained(function: Callable[Given, Returned], name: str) -> Callable[Given, Returned]:
    """Return a function that says in one line where and why a user's function has failed."""

    def call(*arguments: Given.args, **more: Given.kwargs) -> Returned:
        try:
            return function(*arguments, **more)
        except (InputError, BadRowError, UndecidedError, KeyboardInterrupt):
            raise  # whoever has called knows the word
        except BaseException as error:  # it may even try to exit
            raise ModelError(f"{name} failed with {failure_text(error)}") from error

    return call


class ExplainedModel(Wrapper):
    """A user's model whose failures are told in one line.

    It counts as constrained if the model inside does.

    Parameters
    ----------
    model : LanguageModel
        The model.
    name : str
        How the user has named it.
    fingerprint : str, optional
        Its fingerprint, if it has none of its own.
    """

    def __init__(self, model: LanguageModel, name: str, fingerprint: str | None = None) -> None:
        self._members = explained(checked_model_members, name)(model)
        super().__init__(model)
        self._fingerprint = self._members.fingerprint or fingerprint
        self._name = name

    @property
    def fingerprint(self) -> str | None:  # type: ignore[override]
        """The model's fingerprint."""
        return self._fingerprint

    def open(self) -> Session:
        """Begin a conversation."""
        return self._around(explained(checked_session, self._name)(self.model))

    def _around(self, inner: Session) -> Session:
        return ExplainedSession(inner, len(self.alphabet), self._name)

    def _parameters(self) -> str:
        return ""


class ExplainedSession(Session):
    """The session of such a model, which refuses answers of a wrong form as well.

    Parameters
    ----------
    session : Session
        The session of the model inside.
    symbols : int
        The size of the alphabet.
    name : str
        How the user has named the model.
    """

    def __init__(self, session: Session, symbols: int, name: str) -> None:
        self.shared = explained(checked_shared, name)(session)
        self.room = None if self.shared else explained(checked_room, name)(session)
        self._session = session
        self._symbols = symbols
        self._name = name

    def start(self) -> int:
        """Return a handle of the empty word."""
        return explained(checked_start, self._name)(self._session)

    def extend(self, handles: Handles, words: Words) -> Handles:
        """Continue words."""
        given = explained(self._session.extend, self._name)(handles, words)
        return checked_extension(given, words)

    def read(self, handles: Handles) -> Rows:
        """Return distributions."""
        given = explained(self._session.read, self._name)(handles)
        count, width = len(handles), self._symbols + 1
        if isinstance(given, Rows):
            return checked_rows(given, count, width)
        return given_rows(given, count, width)

    def possible(self, handles: Handles) -> Mask | Words | None:
        """Return which symbols may follow."""
        ask = explained(possible_after, self._name)
        given = ask(self._session, handles, self._symbols)
        if isinstance(given, Words) and not _are_words(given, self._symbols):
            raise ModelError(
                "possible returned Words whose arrays do not fit together: it has to list for each "
                f"handle the numbers of symbols, from 0 to {self._symbols - 1}"
            )
        return given

    def release(self, handles: Handles) -> None:
        """Take back handles."""
        explained(self._session.release, self._name)(handles)

    def close(self) -> None:
        """End the conversation."""
        explained(self._session.close, self._name)()


def _are_words(words: Words, symbols: int) -> bool:
    """Return whether the arrays of words have the right types, shapes and values."""
    codes, offsets = words.symbols, words.offsets
    if not all(
        isinstance(array, np.ndarray) and array.ndim == 1 and array.dtype.kind in "iu"
        for array in (codes, offsets)
    ):
        return False
    fit = offsets[0] == 0 and (np.diff(offsets) >= 0).all() and offsets[-1] == len(codes)
    return bool(fit and (not len(codes) or (codes.min() >= 0 and codes.max() < symbols)))
