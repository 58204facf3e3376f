"""Many words at once: one flat array of symbol codes, and where each word begins."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Words:
    """A batch of words as integers.

    Word ``i`` is ``symbols[offsets[i]:offsets[i + 1]]``; symbols are positions in an alphabet.

    Examples
    --------
    >>> batch = Words.of([(0, 1), (), (1,)])
    >>> len(batch), list(batch), batch.symbols.tolist()
    (3, [[0, 1], [], [1]], [0, 1, 1])
    """

    symbols: Codes
    offsets: NDArray[np.int64]

    @classmethod
    def of(cls, words: Iterable[Sequence[int]]) -> Words:
        """Pack words that are already integers.

        Examples
        --------
        >>> Words.of([(0, 1), (), (1,)]).offsets.tolist()
        [0, 2, 2, 3]
        """
        batch = list(words)
        flat = [symbol for word in batch for symbol in word]
        return cls(np.array(flat, dtype=np.int32), offsets_of([len(word) for word in batch]))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __iter__(self) -> Iterator[list[int]]:
        """Iterate over the words as lists of codes."""
        symbols, offsets = self.symbols.tolist(), self.offsets.tolist()
        return (symbols[begin:end] for begin, end in pairwise(offsets))

    def take(self, places: NDArray[np.integer]) -> Words:
        """Return the words at some places."""
        return prefixes_of(self, places, self.lengths[places])

    def part(self, begin: int, end: int) -> Words:
        """Return the words from one place up to another."""
        offsets = self.offsets[begin : end + 1]
        return Words(self.symbols[offsets[0] : offsets[-1]], offsets - offsets[0])

    def parts(self, most: int) -> Iterator[tuple[int, int]]:
        """Cut the batch into parts of at most this many prefixes, and of at least one word.

        Yields
        ------
        begin, end : int
            The place of the first word of a part, and that behind its last one.

        Examples
        --------
        >>> list(Words.of([(0, 1), (), (1,), (0,) * 9, (1, 1)]).parts(5))
        [(0, 2), (2, 3), (3, 4), (4, 5)]
        """
        prefixes = self.offsets + np.arange(len(self.offsets))
        begin = 0
        while begin < len(self):
            end = int(np.searchsorted(prefixes, prefixes[begin] + most, side="right")) - 1
            end = max(end, begin + 1)
            yield begin, end
            begin = end

    @property
    def ends(self) -> NDArray[np.int64]:
        """The place of each word's last entry if every word has one entry more."""
        return self.offsets[1:] + np.arange(len(self))

    @property
    def lengths(self) -> NDArray[np.int64]:
        """The length of every word."""
        return np.diff(self.offsets)


def offsets_of(lengths: Sequence[int] | NDArray[np.int64]) -> NDArray[np.int64]:
    """Where each word begins in the flat array, and where the last one ends."""
    offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def prefixes_of(words: Words, places: NDArray[np.integer], lengths: NDArray[np.int64]) -> Words:
    """Return prefixes of the words at some places, with one length for each.

    Examples
    --------
    >>> words = Words.of([(0, 1), (2, 3, 4)])
    >>> prefixes_of(words, np.array([1, 0, 1]), np.array([2, 1, 3])).symbols.tolist()
    [2, 3, 0, 2, 3, 4]
    """
    offsets = offsets_of(lengths)
    here = np.arange(offsets[-1]) + np.repeat(words.offsets[places] - offsets[:-1], lengths)
    return Words(words.symbols[here], offsets)


def joined(left: Words, right: Words) -> Words:
    """Join each word of one batch with that of another.

    Examples
    --------
    >>> joined(Words.of([(0, 1), ()]), Words.of([(2,), (3, 4)])).symbols.tolist()
    [0, 1, 2, 3, 4]
    """
    offsets = left.offsets + right.offsets
    lengths = np.diff(offsets)
    is_left = np.arange(offsets[-1]) < np.repeat(offsets[:-1] + left.lengths, lengths)
    symbols = np.empty(len(is_left), dtype=np.int32)
    symbols[is_left] = left.symbols
    symbols[~is_left] = right.symbols
    return Words(symbols, offsets)
