"""Many words at once: one flat array of symbol codes, and where each word begins."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Words:
    """A batch of words as integers.

    Word ``i`` is ``symbols[offsets[i]:offsets[i + 1]]``; symbols are positions in an alphabet.
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

    @property
    def ends(self) -> NDArray[np.int64]:
        """Where each word's last entry stands when every word is given one entry more."""
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
