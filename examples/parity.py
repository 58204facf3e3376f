"""A model that keeps something: the parity of b in every word of a run.

pdfalearn learn parity.py:model --kappa 10 --max-length 8
"""

from __future__ import annotations

import numpy as np

from pdfalearn import Alphabet, LanguageModel
from pdfalearn.models import Batch, Rows
from pdfalearn.models.protocol import FREE
from pdfalearn.typing import Flags, Integers

ROWS = np.array([[0.4, 0.3, 0.3], [0.0, 0.5, 0.5]])


class Parity(LanguageModel):
    """After an even number of b a word may end; after an odd one it may not."""

    alphabet, fingerprint, cost = Alphabet("ab"), "parity-1", FREE

    def open(self) -> OpenedParity:
        return OpenedParity()


class OpenedParity(LanguageModel):
    """Remembers the parities of words, 0 or 1, by their ids."""

    def __init__(self) -> None:
        self.parities = {0: 0}

    def is_known(self, ids: Integers) -> Flags:
        return np.array([word in self.parities for word in ids.tolist()], dtype=bool)

    def answer(self, batch: Batch) -> Rows:
        asked = batch.reaching(self.is_known)
        for word, parent, symbol in zip(asked.ids, asked.parents, asked.symbols, strict=True):
            if word > 0:
                self.parities[word] = (self.parities[parent] + int(symbol)) % 2
        return Rows.shared(ROWS, np.array([self.parities[word] for word in batch.wanted_ids]))


model = Parity()
