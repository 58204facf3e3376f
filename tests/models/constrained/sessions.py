"""Ask sessions, and models that list only some symbols."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from pdfalearn import (
    DFA,
    PDFA,
    AutomatonModel,
    FunctionModel,
    Guided,
    LanguageModel,
    Temperature,
    TopK,
    TopP,
)
from pdfalearn.models.automaton import AutomatonSession
from pdfalearn.models.protocol import Handles, Session
from pdfalearn.rows import Rows
from pdfalearn.words import Words, offsets_of

Wrapping = Callable[[LanguageModel], LanguageModel]

WRAPPINGS: dict[str, Wrapping] = {
    "guided": lambda model: Guided(
        model, DFA(alphabet="ab", transitions=[[0, -1]], accepting=[True])
    ),
    "top-k": lambda model: TopK(model, 2),
    "top-p": lambda model: TopP(model, 0.9),
    "temperature": lambda model: Temperature(model, 0.5),
    "all": lambda model: TopK(TopP(Temperature(model, 2.0), 0.9), 2),
}


def model_of(*rows: list[float]) -> FunctionModel:
    """After a word of length n comes the row n, and the last one for ever."""
    symbols = "abcdefgh"[: len(rows[0]) - 1]
    return FunctionModel(lambda words: [rows[min(len(w), len(rows) - 1)] for w in words], symbols)


def first_rows(model: LanguageModel) -> Rows:
    """The answer to the empty word."""
    session = model.open()
    return session.read(np.array([session.start()]))


def first_row(model: LanguageModel) -> NDArray[np.float64]:
    """The distribution after the empty word."""
    row: NDArray[np.float64] = first_rows(model).to_dense()[0]
    return row


def row_after(model: LanguageModel, word: list[int]) -> list[float]:
    """The distribution after a word, rounded."""
    session = model.open()
    handle = np.array([session.start()])
    if word:
        handle = session.extend(handle, Words.of([word]))[-1:]
    (row,) = session.read(handle).to_dense()
    return [round(value, 6) for value in row.tolist()]


class RowsModel(LanguageModel):
    """Returns the same rows for the words of every batch, the first for the first and so on."""

    def __init__(self, rows: Rows) -> None:
        self.alphabet = AutomatonModel(loop_over(rows.width - 1)).alphabet
        self._rows = rows

    def answer(self, words: Words) -> Rows:
        return self._rows.take(np.arange(len(words)))


def loop_over(symbols: int) -> PDFA:
    """One state, in which only the terminal has any probability."""
    row = [1.0] + [0.0] * symbols
    names = [f"s{number}" for number in range(symbols)]
    return PDFA(alphabet=names, transitions=[[0] * symbols], probabilities=[row])


class SparseModel(AutomatonModel):
    """A PDFA that lists only this many symbols of a distribution, the most probable ones; or all.

    If it lists all, then only those that are defined.
    """

    def __init__(self, pdfa: PDFA, listed: int | None = None) -> None:
        super().__init__(pdfa)
        self.listed = listed

    def open(self) -> AutomatonSession:
        return _SparseSession(self.pdfa, self.listed)


class _SparseSession(AutomatonSession):
    def __init__(self, pdfa: PDFA, listed: int | None) -> None:
        super().__init__(pdfa)
        self._rows = _listed(pdfa, listed)

    def read(self, handles: Handles) -> Rows:
        return self._rows.take(handles)


def _listed(pdfa: PDFA, most: int | None) -> Rows:
    listed = np.ones(pdfa.probabilities.shape, dtype=bool)
    if most is None:
        listed[:, 1:] = pdfa.transitions >= 0
    else:
        listed[:, 1:] = np.argsort(np.argsort(-pdfa.probabilities[:, 1:], axis=1)) < most
    unlisted = np.where(listed, 0.0, pdfa.probabilities)
    return Rows.sparse(
        len(pdfa.alphabet) + 1,
        offsets_of(np.count_nonzero(listed, axis=1)),
        listed.nonzero()[1],
        pdfa.probabilities[listed],
        rest=unlisted.sum(axis=1),
        ceiling=unlisted.max(axis=1),
    )


class SessionOf(LanguageModel):
    """A model with one session that is made already."""

    def __init__(self, model: LanguageModel, session: Session) -> None:
        self.alphabet = model.alphabet
        self._session = session

    def open(self) -> Session:
        return self._session
