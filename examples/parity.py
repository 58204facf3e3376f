"""A model that can go on from a word: its handles are the parity of b in the word.

pdfalearn learn parity.py:model --kappa 10 --max-length 8
"""

from __future__ import annotations

import numpy as np

from pdfalearn import Alphabet, LanguageModel
from pdfalearn.models.cost import FREE
from pdfalearn.models.protocol import Handles, Session
from pdfalearn.rows import Rows
from pdfalearn.words import Words


class Parity(LanguageModel):
    """After an even number of b a word may end; after an odd one it may not."""

    alphabet, fingerprint, cost = Alphabet("ab"), "parity-1", FREE

    def open(self) -> Session:
        return ParitySession()


class ParitySession(Session):
    """Words of the same parity share a handle, 0 or 1."""

    shared = True

    def start(self) -> int:
        return 0

    def extend(self, handles: Handles, words: Words) -> Handles:
        pairs = zip(handles, np.split(words.symbols, words.offsets[1:-1]), strict=True)
        return np.concatenate([(parity + run.cumsum()) % 2 for parity, run in pairs])

    def read(self, handles: Handles) -> Rows:
        return Rows.dense(np.array([[0.4, 0.3, 0.3], [0.0, 0.5, 0.5]])[handles])


model = Parity()
