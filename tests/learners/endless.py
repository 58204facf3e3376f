"""A model with a distribution of its own after every word."""

from __future__ import annotations

import heapq
from zlib import crc32

import numpy as np

from pdfalearn import Alphabet, LanguageModel
from pdfalearn.models import Rows
from pdfalearn.models.batch import Batch

Codes = tuple[int, ...]


class EndlessModel(LanguageModel):
    """Draws the distribution after a word with the word as seed; few symbols are likely.

    Parameters
    ----------
    symbols : int
        How many symbols there are.
    """

    fingerprint = "endless"

    def __init__(self, symbols: int = 6) -> None:
        self.alphabet = Alphabet("abcdefghijklmnop"[:symbols])

    def row(self, codes: Codes) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        """Return the distribution after a word."""
        random = np.random.default_rng(crc32(bytes(codes)))
        symbols = len(self.alphabet)
        return np.append(0.1, 0.9 * random.dirichlet(np.full(symbols, 0.4)))

    def answer(self, batch: Batch) -> Rows:
        """Return the distributions after words."""
        return Rows.dense(np.array([self.row(tuple(codes)) for codes in batch.words]))

    def probability(self, codes: Codes) -> float:
        """Return the probability that a word begins so."""
        return float(np.prod([self.row(codes[:i])[code + 1] for i, code in enumerate(codes)]))

    def likeliest(self, count: int) -> list[Codes]:
        """Return the likeliest words, the likeliest first."""
        waiting: list[tuple[float, Codes]] = [(-1.0, ())]
        found: list[Codes] = []
        while len(found) < count:
            weight, word = heapq.heappop(waiting)
            found.append(word)
            for code, share in enumerate(self.row(word)[1:].tolist()):
                heapq.heappush(waiting, (weight * share, (*word, code)))
        return found
