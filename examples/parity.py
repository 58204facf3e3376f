"""An object as a model, whose handles are the parity of b in a word.

pdfalearn learn parity:model --kappa 10 --max-length 8
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pdfalearn import Alphabet
from pdfalearn.words import Words


class Parity:
    """After an even number of b a word may end; after an odd one it may not."""

    alphabet, fingerprint, capacity, prefixes_free = Alphabet("ab"), "parity-1", None, True

    def start(self) -> int:
        return 0

    def extend(self, handles: NDArray[np.int64], words: Words) -> NDArray[np.int64]:
        pairs = zip(handles, np.split(words.symbols, words.offsets[1:-1]), strict=True)
        return np.concatenate([(parity + run.cumsum()) % 2 for parity, run in pairs])

    def distributions(self, handles: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.array([[0.4, 0.3, 0.3], [0.0, 0.5, 0.5]])[handles]

    def release(self, handles: NDArray[np.int64]) -> None:
        pass


model = Parity()
