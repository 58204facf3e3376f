"""Which symbols may follow, as tables of bits and as lists."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pdfalearn.models.protocol import Mask
from pdfalearn.rows import Flags, Numbers
from pdfalearn.words import Words, offsets_of


def as_mask(possible: Mask | Words, symbols: int) -> Mask:
    """Return a table with a column for every symbol.

    Examples
    --------
    >>> as_mask(Words.of([[2], [0, 1]]), 3)
    array([[False, False,  True],
           [ True,  True, False]])
    """
    if not isinstance(possible, Words):
        return possible
    mask = np.zeros((len(possible), symbols), dtype=bool)
    mask[_row_numbers(possible), possible.symbols] = True
    return mask


def as_words(possible: Mask | Words) -> Words:
    """Return lists of symbols."""
    if isinstance(possible, Words):
        return possible
    offsets = offsets_of(np.count_nonzero(possible, axis=1))
    return Words(possible.nonzero()[1].astype(np.int32), offsets)


def without_others(words: Words, possible: Mask | Words, symbols: int) -> Words:
    """Return what lists of symbols have in common with what else is possible."""
    kept = are_in(_row_numbers(words), words.symbols, possible, symbols)
    return Words(words.symbols[kept], np.append(0, np.cumsum(kept))[words.offsets])


def are_in(
    rows: Numbers, codes: NDArray[np.integer], possible: Mask | Words, symbols: int
) -> Flags:
    """Return for each row and symbol whether the symbol is possible there."""
    if not isinstance(possible, Words):
        return np.asarray(possible[rows, codes])
    there = _row_numbers(possible) * symbols + possible.symbols
    return np.isin(rows * symbols + codes, there)


def merged(some: Words, others: Words, is_some: Flags) -> Words:
    """Put lists into one batch, where it is said of each place from which of the two it is.

    Examples
    --------
    >>> both = merged(Words.of([[2], [0, 1]]), Words.of([[7]]), np.array([True, False, True]))
    >>> list(both)
    [[2], [7], [0, 1]]
    """
    lengths = np.append(some.lengths, others.lengths)
    symbols = np.append(some.symbols, others.symbols)
    order = np.argsort(np.append(is_some.nonzero()[0], (~is_some).nonzero()[0]))
    return Words(symbols, offsets_of(lengths)).take(order)


def _row_numbers(words: Words) -> Numbers:
    return np.repeat(np.arange(len(words)), words.lengths)
