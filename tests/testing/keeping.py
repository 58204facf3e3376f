"""A PDFA as a model that keeps the states after a bounded number of words."""

from __future__ import annotations

import numpy as np

from pdfalearn import PDFA
from pdfalearn.models.batch import Batch
from pdfalearn.models.protocol import LanguageModel
from pdfalearn.rows import Rows
from pdfalearn.typing import Flags, Integers


class Keeping(LanguageModel):
    """A PDFA whose opened models remember states by the ids of words."""

    fingerprint = "keeping"

    def __init__(self, pdfa: PDFA, room: int | None = None, *, sparse: bool = False) -> None:
        self.pdfa = pdfa
        self.room = room
        """After how many words those that were kept first are forgotten."""
        self.sparse = sparse
        self.alphabet = pdfa.alphabet
        self.opened: list[OpenedKeeping] = []

    def open(self) -> LanguageModel:
        self.opened.append(OpenedKeeping(self))
        return self.opened[-1]


class OpenedKeeping(LanguageModel):
    """What keeps the states of one run."""

    def __init__(self, model: Keeping) -> None:
        self.owner = model
        self.alphabet = model.alphabet
        self.states: dict[int, int] = {0: model.pdfa.initial}
        self.counts: list[int] = []
        """How many rows each batch wanted."""
        self.closed = 0

    def is_known(self, ids: Integers) -> Flags:
        return np.array([word in self.states for word in ids.tolist()], dtype=bool)

    def answer(self, batch: Batch) -> Rows:
        self.counts.append(batch.count)
        self.lead(batch.reaching(self.is_known))
        return self.rows([self.states[word] for word in batch.wanted_ids.tolist()])

    def lead(self, batch: Batch) -> None:
        """Note the states after words."""
        table, room = self.owner.pdfa.table, self.owner.room
        if room is not None:
            for word in list(self.states)[1:-room]:
                if word not in batch.parents:
                    del self.states[word]
        for word, parent, symbol in zip(batch.ids, batch.parents, batch.symbols, strict=True):
            if word:
                self.states[int(word)] = int(table[self.states[int(parent)], symbol])

    def rows(self, states: list[int]) -> Rows:
        """Return the rows of states, of which -1 is undefined."""
        pdfa, numbers = self.owner.pdfa, np.array(states)
        undefined = numbers < 0
        if self.owner.sparse:
            rows = sparse_rows(pdfa, np.maximum(numbers, 0))
            rows.undefined = undefined
            return rows
        return Rows.dense(pdfa.probabilities[numbers], undefined=undefined)

    def close(self) -> None:
        self.closed += 1


def sparse_rows(pdfa: PDFA, states: Integers) -> Rows:
    """List the symbols whose transitions are defined, and the terminal."""
    listed = np.column_stack((np.ones(len(pdfa), dtype=bool), pdfa.transitions >= 0))[states]
    rows, columns = listed.nonzero()
    values = pdfa.probabilities[states][rows, columns]
    offsets = np.append(0, np.cumsum(listed.sum(axis=1)))
    return Rows.sparse(pdfa.probabilities.shape[1], offsets, columns, values)
