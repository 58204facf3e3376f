"""Samplers for tests of distilling, and what they drew."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pdfalearn import PDFA, Alphabet
from pdfalearn.alphabet import Symbol, Word
from pdfalearn.learners import ObservationTree
from pdfalearn.samplers import Words

HELD_OUT = 4
"""One word in this many is held out as long as there are few."""


class Listed:
    """Draws the words of a list, one after the other and over again."""

    name = "words of a list"

    def __init__(self, words: Sequence[Word]) -> None:
        self.drawn: list[tuple[int, ...]] = []
        self._words = words

    def draw(
        self,
        count: int,
        hypothesis: PDFA,
        observations: ObservationTree,
        random: np.random.Generator,
    ) -> Words:
        places = range(len(self.drawn), len(self.drawn) + count)
        batch = hypothesis.alphabet.encode_words(
            self._words[place % len(self._words)] for place in places
        )
        self.drawn += [tuple(codes) for codes in batch]
        return batch

    def unreachable_symbols(self, alphabet: Alphabet) -> list[Symbol]:
        return []

    @property
    def training(self) -> list[tuple[int, ...]]:
        """The words that were drawn to learn from, if all were used."""
        return [word for place, word in enumerate(self.drawn) if (place + 1) % HELD_OUT]


def prefixes(words: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Return all prefixes of words, as often as they come."""
    return [word[:end] for word in words for end in range(len(word) + 1)]
