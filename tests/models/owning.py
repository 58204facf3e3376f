"""A PDFA as a model whose handles belong to one word each."""

from __future__ import annotations

import numpy as np

from pdfalearn import PDFA
from pdfalearn.models.protocol import Handles, LanguageModel, Session
from pdfalearn.rows import Rows
from pdfalearn.words import Words


class Owning(LanguageModel):
    """A PDFA whose sessions watch their handles."""

    def __init__(self, pdfa: PDFA, room: int | None = None, *, sparse: bool = False) -> None:
        self.pdfa = pdfa
        self.room = room
        self.sparse = sparse
        self.alphabet = pdfa.alphabet
        self.sessions: list[OwningSession] = []

    def open(self) -> Session:
        self.sessions.append(OwningSession(self))
        return self.sessions[-1]


class OwningSession(Session):
    """Fails when more handles than there is room for are alive, or when they are used after."""

    def __init__(self, model: Owning) -> None:
        self.model = model
        self.room = model.room
        self.states: dict[int, int] = {}
        """The states of the handles that are alive."""
        self.batches: list[int] = []
        """How many rows were read at once."""
        self.symbols = 0
        self.most_alive = 0
        self.closed = 0
        self._free: list[int] = []

    def start(self) -> int:
        return self.handle_of(self.model.pdfa.initial)

    def handle_of(self, state: int) -> int:
        """Return a handle for a state: the one that was released last, or a new one."""
        handle = self._free.pop() if self._free else len(self.states)
        assert handle not in self.states
        self.states[handle] = state
        self.most_alive = max(self.most_alive, len(self.states))
        assert self.room is None or len(self.states) <= self.room
        return handle

    def extend(self, handles: Handles, words: Words) -> Handles:
        found = []
        self.symbols += len(words.symbols)
        for handle, word in zip(handles.tolist(), words, strict=True):
            state = self.states[handle]
            for symbol in word:
                state = int(self.model.pdfa.table[state, symbol])
                found.append(-1 if state < 0 else self.handle_of(state))
        return np.array(found, dtype=np.int64)

    def read(self, handles: Handles) -> Rows:
        self.batches.append(len(handles))
        states = [self.states[handle] for handle in handles.tolist()]
        if self.model.sparse:
            return sparse_rows(self.model.pdfa, states)
        return Rows.dense(self.model.pdfa.probabilities[states])

    def release(self, handles: Handles) -> None:
        for handle in handles.tolist():
            del self.states[handle]
            self._free.append(handle)

    def close(self) -> None:
        self.closed += 1


def sparse_rows(pdfa: PDFA, states: list[int]) -> Rows:
    """List the symbols whose transitions are defined, and the terminal."""
    listed = np.column_stack((np.ones(len(pdfa), dtype=bool), pdfa.transitions >= 0))[states]
    rows, columns = listed.nonzero()
    values = pdfa.probabilities[states][rows, columns]
    offsets = np.append(0, np.cumsum(listed.sum(axis=1)))
    return Rows.sparse(pdfa.probabilities.shape[1], offsets, columns, values)
