"""Models that break the protocol: how they are made and noted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pdfalearn import PDFA, Alphabet, FunctionModel
from pdfalearn.models.protocol import LanguageModel
from pdfalearn.rows import Rows
from tests.models.owning import Owning, OwningSession

TARGET = PDFA(
    alphabet="abc",
    transitions=[[1, 0, -1], [2, 0, 1], [2, 1, 0]],
    probabilities=[[0.2, 0.5, 0.3, 0], [0, 0.25, 0.25, 0.5], [0.5, 0.125, 0.125, 0.25]],
)
"""After the empty word c is undefined; nothing ends after a."""
START = TARGET.initial
Breaking = Callable[[], LanguageModel]
BROKEN: dict[str, tuple[str, Breaking]] = {}


def broken(culprit: str) -> Callable[[Breaking], Breaking]:
    """Note a function that makes a model, and what is to be said about that."""

    def noted(make: Breaking) -> Breaking:
        BROKEN[make.__name__] = culprit, make
        return make

    return noted


def owning(room: int | None = None, *, model: Any = Owning, **members: Any) -> LanguageModel:
    """Make a model whose sessions have other members."""
    made: Owning = model(TARGET, room)
    kind = type("Changed", (OwningSession,), members)
    made.open = lambda: kind(made)  # type: ignore[method-assign]
    return made


def function(answer: Callable[[tuple[Any, ...]], Any]) -> LanguageModel:
    """Make a model of a function of one word over a and b."""
    return FunctionModel(lambda words: [answer(word) for word in words], "ab")


def rows_of(rows: Rows) -> LanguageModel:
    """Make a model over a, b and c that has the same row after every word."""
    model = LanguageModel()
    model.alphabet = Alphabet("abc")
    model.answer = lambda words: rows.take(np.zeros(len(words), dtype=np.int64))  # type: ignore[method-assign]
    return model


def never_again(self: OwningSession, state: int) -> int:
    """Return a new handle, always."""
    handle = len(self.states)
    self.states[handle] = state
    return handle
