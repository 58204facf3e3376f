"""An index of words, by hashes: whether they are stored, and the numbers of their rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pdfalearn.stores._coding import Numbers, choose_type
from pdfalearn.words import Words, offsets_of

Hashes = NDArray[np.uint64]

NOT_STORED = -2
"""The number of a word that is not in an index."""


class WordIndex:
    """Numbers of words by their two hashes: 24 bytes a word.

    Sorted runs, each at least four times as long as the next, so that few have to be searched and a
    word is seldom sorted again. Of two words with the same first hash, one is not found: that costs
    a question, no more.

    Examples
    --------
    >>> index = WordIndex()
    >>> index.add(*hash_words(Words.of([(0, 1), (1,)]), 2), np.array([0, 1]))
    >>> index.find(*hash_words(Words.of([(1,), (), (0, 1)]), 2))
    array([ 1, -2,  0])
    """

    def __init__(self) -> None:
        self._runs: list[tuple[Hashes, Hashes, Numbers]] = []

    def __len__(self) -> int:
        return sum(len(first) for first, _, _ in self._runs)

    def find(self, first: Hashes, second: Hashes) -> Numbers:
        """Return the number of every word; `NOT_STORED` where it has none."""
        numbers = np.full(len(first), NOT_STORED, dtype=np.int64)
        order = np.argsort(first)  # searching in ascending order is twice as fast
        first, second = first[order], second[order]
        for one, other, known in self._runs:
            places = np.searchsorted(one, first)
            places[places == len(one)] = 0
            same = (one[places] == first) & (other[places] == second)
            numbers[order[same]] = known[places[same]]
        return numbers

    def add(self, first: Hashes, second: Hashes, numbers: Numbers) -> None:
        """Add words that are not there."""
        runs, new = self._runs.copy(), [(first, second, numbers)]
        size = len(first)
        while runs and len(runs[-1][0]) < 4 * size:
            new.append(runs.pop())
            size += len(new[-1][0])
        one, other, known = (np.concatenate(parts) for parts in zip(*reversed(new), strict=True))
        order = np.argsort(one, kind="stable")
        self._runs = [*runs, (one[order], other[order], known[order])]


def hash_words(words: Words, symbols: int) -> tuple[Hashes, Hashes]:
    """Return two hashes of every word over so many symbols: sums over eight symbols at a time.

    Together they have 128 bits: among 10⁹ words two agree with a probability below 10⁻²⁰.
    """
    lanes = 8 // choose_type(symbols).itemsize
    # Every word begins at a new integer of 64 bits; symbols are counted from 1, so that what is
    # filled up with 0 differs from every symbol.
    counts = -(-words.lengths // lanes)
    offsets = offsets_of(counts)
    flat = np.zeros(lanes * offsets[-1], dtype=choose_type(symbols))
    shifts = lanes * offsets[:-1] - words.offsets[:-1]
    flat[np.arange(len(words.symbols)) + np.repeat(shifts, words.lengths)] = words.symbols + 1
    mixed = flat.view(np.uint64)
    places = np.arange(offsets[-1]) - np.repeat(offsets[:-1], counts)
    mixed = (mixed ^ (mixed >> np.uint64(32))) * np.uint64(0x9E3779B97F4A7C15)
    mixed += places.astype(np.uint64) * np.uint64(0xD1B54A32D192ED03)
    hashes = []
    for multiplier in (0xBF58476D1CE4E5B9, 0x94D049BB133111EB):
        for shift in (30, 27):
            mixed ^= mixed >> np.uint64(shift)
            mixed *= np.uint64(multiplier)
        sums = np.zeros(len(mixed) + 1, dtype=np.uint64)
        np.cumsum(mixed ^ (mixed >> np.uint64(31)), out=sums[1:])
        hashes.append(sums[offsets[1:]] - sums[offsets[:-1]])
    return hashes[0], hashes[1]
