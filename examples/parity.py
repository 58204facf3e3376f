"""An object as a model, whose handles are the parity of b in a word.

pdfalearn learn parity:model --kappa 10 --max-length 8
"""

import numpy as np

from pdfalearn import Alphabet


class Parity:
    """After an even number of b a word may end; after an odd one it may not."""

    alphabet, fingerprint, capacity, prefixes_free = Alphabet("ab"), "parity-1", None, True

    def start(self):
        return 0

    def extend(self, handles, words):
        runs = np.split(words.symbols, words.offsets[1:-1])
        return np.concatenate(
            [(h + run.cumsum()) % 2 for h, run in zip(handles, runs, strict=True)]
        )

    def distributions(self, handles):
        return np.array([[0.4, 0.3, 0.3], [0.0, 0.5, 0.5]])[handles]

    def release(self, handles):
        pass


model = Parity()
