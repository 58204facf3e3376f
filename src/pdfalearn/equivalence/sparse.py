"""Keys of distributions of which only some columns are listed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pdfalearn.rows import Rows
from pdfalearn.typing import Codes, Flags, Integers
from pdfalearn.words import offsets_of

Keys = NDArray[np.generic]

# Rows are made dense in parts of about this many numbers.
_NUMBERS_AT_ONCE = 2**21


class SparseKeys(NamedTuple):
    """Keys of many rows without what they all have in common.

    Two rows are in the same class iff their columns and their keys are the same, byte by byte.
    """

    offsets: Integers
    """Row i has the columns and keys from ``offsets[i]`` to ``offsets[i + 1]``."""
    columns: Codes
    """The columns of the keys, ascending in each row."""
    keys: Keys
    """What is not dropped, in a type that is the same for all rows."""


def without_zeros(rows: Rows, keys: Keys) -> SparseKeys:
    """Drop the keys that are 0, where there is a key for every value of the rows."""
    kept = keys != 0
    if rows.offsets is None or rows.columns is None:
        return _cut_table(keys, kept)
    offsets = np.append(0, np.cumsum(kept))[rows.offsets]
    return SparseKeys(offsets, rows.columns[kept], keys[kept])


def _cut_table(keys: Keys, kept: Flags) -> SparseKeys:
    """Keep some keys of a table."""
    columns = kept.nonzero()[1].astype(np.int32)
    return SparseKeys(offsets_of(np.count_nonzero(kept, axis=1)), columns, keys[kept])


def keys_by_tables(rows: Rows, keys_of: Callable[[NDArray[np.float64]], Keys]) -> SparseKeys:
    """Compute keys of rows that are made dense, a few at a time.

    Dropped is what is as in the key of the distribution in which only the terminal is possible:
    that takes nothing away, as it is the same for every row.
    """
    terminal = np.zeros((1, rows.width))
    terminal[0, 0] = 1.0
    parts = []
    for _, part in pieces_of(rows) if len(rows) else [(0, rows)]:
        keys = keys_of(np.concatenate((terminal, part.to_dense())))
        parts.append(_cut_table(keys[1:], keys[1:] != keys[0]))
    return SparseKeys(
        offsets_of(np.concatenate([np.diff(part.offsets) for part in parts])),
        np.concatenate([part.columns for part in parts]),
        np.concatenate([part.keys for part in parts]),
    )


def pieces_of(rows: Rows) -> Iterator[tuple[int, Rows]]:
    """Cut rows into pieces that may be made dense; return where each begins."""
    most = max(1, _NUMBERS_AT_ONCE // rows.width)
    for begin in range(0, len(rows), most):
        yield begin, rows.take(np.arange(begin, min(begin + most, len(rows))))


def different_keys(some: SparseKeys, others: SparseKeys) -> Flags:
    """Return for each pair of rows whether their keys are different."""
    lengths = np.diff(some.offsets)
    different: Flags = lengths != np.diff(others.offsets)
    same = (~different).nonzero()[0]
    lengths = lengths[same]
    # The entries of all pairs of equal length, one pair after the other, on both sides.
    steps = np.arange(lengths.sum())
    begins = offsets_of(lengths)[:-1]
    left = steps + np.repeat(some.offsets[same] - begins, lengths)
    right = steps + np.repeat(others.offsets[same] - begins, lengths)
    differ = some.columns[left] != others.columns[right]
    differ |= np.asarray(some.keys[left] != others.keys[right])
    different[np.repeat(same, lengths)[differ]] = True
    return different
