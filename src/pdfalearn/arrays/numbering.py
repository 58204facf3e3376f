"""Number the different rows of an array, exactly and fast."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray


def numbered_rows(rows: NDArray[np.generic]) -> NDArray[np.int64]:
    """Number the different rows of a table 0, 1, …: equal numbers iff equal bytes.

    Rows of up to 64 bits are sorted as they are. Wider ones are sorted by a 64-bit hash; should
    two different rows ever share one, the rows themselves are sorted.
    """
    words = as_words(rows)
    numbers, order, opens = _numbered(row_hashes(words))
    if words.shape[1] == 1:
        return numbers
    follows = order[1:][~opens[1:]]
    leads = order[:-1][~opens[1:]]
    if (words[follows] == words[leads]).all():
        return numbers
    whole = words.view(np.dtype((np.void, words.shape[1] * 8))).reshape(-1)
    return np.unique(whole, return_inverse=True)[1]


def row_hashes(words: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return a 64-bit hash of every row; a row of one word is its own."""
    hashes = words[:, 0] if words.shape[1] == 1 else words @ _multipliers(words.shape[1])
    return hashes.view(np.int64)


def as_words(rows: NDArray[np.generic]) -> NDArray[np.uint64]:
    """View every row as 64-bit words, filled up with zero bytes."""
    row_bytes = rows.shape[1] * rows.itemsize
    contiguous = np.ascontiguousarray(rows)
    if row_bytes % 8 == 0:
        return contiguous.view(np.uint64)
    filled = np.zeros((len(rows), row_bytes + -row_bytes % 8), dtype=np.uint8)
    filled[:, :row_bytes] = contiguous.view(np.uint8)
    return filled.view(np.uint64)


@lru_cache(maxsize=8)
def _multipliers(count: int) -> NDArray[np.uint64]:
    """Return well-mixed odd numbers (the finaliser of SplitMix64 over 1, 2, …)."""
    mixed = np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (mixed ^ (mixed >> np.uint64(31))) | np.uint64(1)


def _numbered(
    values: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.intp], NDArray[np.bool_]]:
    """Number the different values; return also their sorted order and where a new value opens."""
    order = np.argsort(values)
    ordered = values[order]
    opens = np.ones(len(values), dtype=bool)
    opens[1:] = ordered[1:] != ordered[:-1]
    numbers = np.empty(len(values), dtype=np.int64)
    numbers[order] = np.cumsum(opens) - 1
    return numbers, order, opens
