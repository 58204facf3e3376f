"""The words of a conversation: what each is, and which copy holds it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pdfalearn.arrays.growing import grown
from pdfalearn.arrays.spelling import spelled
from pdfalearn.models.protocol import Handles
from pdfalearn.words import Words

_GROWTH = 1.1
"""The index of words is made anew when their number has grown by this factor."""


class WordTable:
    """Words that got a number each: the word before the last symbol, and that symbol.

    A word takes 40 bytes. They are all forgotten together.

    Parameters
    ----------
    symbols : int
        The size of the alphabet.
    """

    def __init__(self, symbols: int) -> None:
        self._alphabet_size = symbols
        self._parents: Handles = np.full(64, -1, dtype=np.int64)
        self._symbols: NDArray[np.int32] = np.full(64, -1, dtype=np.int32)
        self.lengths: NDArray[np.int32] = np.zeros(64, dtype=np.int32)
        """How long words are."""
        self.holders: NDArray[np.int32] = np.full(64, -1, dtype=np.int32)
        """The number of the copy's conversation that holds each; -1 if none does."""
        self.handles: Handles = np.full(64, -1, dtype=np.int64)
        """The handles there."""
        self.seats: NDArray[np.int32] = np.full(64, -1, dtype=np.int32)
        """The seat of the copy that has answered; -1 if none has."""
        self.size = 1
        """How many words there are."""
        self._index: tuple[int, Handles, Handles] = (0, self._parents[:0], self._parents[:0])

    def add(self, bases: Handles, words: Words) -> Handles:
        """Note longer words, one for every symbol; return their numbers."""
        count = len(words.symbols)
        new = np.arange(self.size, self.size + count)
        size = self.size + count
        for name in ("_parents", "_symbols", "lengths", "holders", "handles", "seats"):
            setattr(self, name, grown(getattr(self, name), size))
        parents = new - 1
        begun = words.lengths > 0
        parents[words.offsets[:-1][begun]] = bases[begun]
        self._parents[new] = parents
        self._symbols[new] = words.symbols
        within = np.arange(count) - np.repeat(words.offsets[:-1], words.lengths)
        self.lengths[new] = np.repeat(self.lengths[bases], words.lengths) + within + 1
        self.size = size  # at last: another thread may look for words meanwhile
        return new

    def spell(self, numbers: Handles) -> Words:
        """Return whole words."""
        return Words(*spelled(self._parents, self._symbols, numbers))

    def find(self, words: Words) -> Handles:
        """Return the numbers of words; -1 for those that are not found.

        Words that were added a moment ago may not be.
        """
        keys, order = self._sorted()
        found = np.zeros(len(words), dtype=np.int64)
        active = (words.lengths > 0).nonzero()[0]
        step = 0
        while len(active):
            symbols = words.symbols[words.offsets[active] + step]
            wanted = found[active] * self._alphabet_size + symbols
            places = np.minimum(np.searchsorted(keys, wanted), max(0, len(keys) - 1))
            hit = keys[places] == wanted if len(keys) else np.zeros(len(wanted), dtype=bool)
            found[active] = np.where(hit, order[places] if len(keys) else -1, -1)
            step += 1
            active = active[hit & (words.lengths[active] > step)]
        return found

    def _sorted(self) -> tuple[Handles, Handles]:
        """Return the key of every word but the empty one, sorted, and the words in this order."""
        size, keys, order = self._index
        if self.size > _GROWTH * size:
            numbers = np.arange(1, self.size)
            unsorted = self._parents[numbers] * self._alphabet_size + self._symbols[numbers]
            by_key = np.argsort(unsorted, kind="stable")
            keys, order = unsorted[by_key], numbers[by_key]
            self._index = (self.size, keys, order)
        return keys, order
