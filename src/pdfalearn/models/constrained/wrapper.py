"""What all wrappers have in common: they pass on what they do not change."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from hashlib import sha256

from pdfalearn.models.automaton import as_model
from pdfalearn.models.constrained.inner import extended, opened, possible_after, started
from pdfalearn.models.cost import QueryCost
from pdfalearn.models.protocol import Handles, LanguageModel, Mask, Session
from pdfalearn.pdfa import PDFA
from pdfalearn.rows import Rows
from pdfalearn.words import Words


class Wrapper(LanguageModel, ABC):
    """A model around another one, with the same alphabet.

    Parameters
    ----------
    model : PDFA or LanguageModel
        The model inside.
    """

    def __init__(self, model: PDFA | LanguageModel) -> None:
        self.model: LanguageModel = as_model(model)
        self.alphabet = self.model.alphabet
        self.cost = self._cost(self.model.cost)

    @property
    def fingerprint(self) -> str | None:  # type: ignore[override]
        """A hash of the inner one and of what the wrapper does; None if the model has none."""
        inner = self.model.fingerprint
        does = f"{type(self).__name__}({self._parameters()})"
        return None if inner is None else sha256(f"{does} of {inner}".encode()).hexdigest()

    def _cost(self, inner: QueryCost) -> QueryCost:
        """Return what asking costs, given what it costs to ask the model inside."""
        return inner

    def open(self) -> Session:
        """Begin a conversation with the model inside."""
        inner = opened(self.model)
        try:
            return self._around(inner)
        except BaseException:
            inner.close()
            raise

    def answers_by_copy(self, word: Sequence[int]) -> dict[str, str]:
        """Return what each copy of the model inside answers."""
        return self.model.answers_by_copy(word)

    @abstractmethod
    def _around(self, inner: Session) -> Session:
        """Return a session around one of the model inside."""

    @abstractmethod
    def _parameters(self) -> str:
        """Return what tells this wrapper from others of its class."""


class WrapperSession(Session, ABC):
    """A session around another one, with the same handles.

    Parameters
    ----------
    inner : Session
        The session of the model inside.
    symbols : int
        The size of the alphabet.
    """

    def __init__(self, inner: Session, symbols: int) -> None:
        self.inner = inner
        self.symbols = symbols
        self.shared = inner.shared
        self.room = inner.room

    def start(self) -> int:
        """Return a handle of the empty word."""
        return started(self.inner)

    def extend(self, handles: Handles, words: Words) -> Handles:
        """Continue words as the model inside does."""
        return extended(self.inner, handles, words)

    @abstractmethod
    def read(self, handles: Handles) -> Rows:
        """Return the changed distributions."""

    def possible(self, handles: Handles) -> Mask | Words | None:
        """Return what the model inside knows."""
        return possible_after(self.inner, handles, self.symbols)

    def release(self, handles: Handles) -> None:
        """Pass on that handles will not be used again."""
        self.inner.release(handles)

    def close(self) -> None:
        """End the conversation with the model inside."""
        self.inner.close()
