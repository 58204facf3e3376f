"""What a session says about the symbols that may follow."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pdfalearn.errors import ModelError
from pdfalearn.models.protocol import Mask
from pdfalearn.words import Words


def excluded_symbols(given: object, count: int, symbols: int) -> Mask:
    """Return which symbols cannot follow each word; refuse a wrong form.

    Examples
    --------
    >>> excluded_symbols(Words.of([[0, 1], [1]]), 2, 3)
    array([[False, False,  True],
           [ True, False,  True]])
    """
    if given is None:
        return np.zeros((count, symbols), dtype=bool)
    if isinstance(given, np.ndarray):
        return _excluded_by_mask(given, count, symbols)
    if isinstance(given, Words):
        return _excluded_by_lists(given, count, symbols)
    raise ModelError(f"possible returned a {type(given).__name__}: {_remedy(count, symbols)}")


def _excluded_by_mask(mask: NDArray[Any], count: int, symbols: int) -> Mask:
    if mask.shape != (count, symbols) or mask.dtype != bool:
        what = f"an array of {mask.dtype} of shape {mask.shape}"
        raise ModelError(f"possible returned {what}: {_remedy(count, symbols)}")
    return ~mask


def _excluded_by_lists(listed: Words, count: int, symbols: int) -> Mask:
    if len(listed) != count:
        what = f"Words of {len(listed)} words"
        raise ModelError(f"possible returned {what}: {_remedy(count, symbols)}")
    if len(listed.symbols) and not 0 <= listed.symbols.min() <= listed.symbols.max() < symbols:
        wrong = listed.symbols[(listed.symbols < 0) | (listed.symbols >= symbols)][0]
        raise ModelError(f"possible lists the symbol {wrong}: {_remedy(count, symbols)}")
    excluded = np.ones((count, symbols), dtype=bool)
    excluded[np.repeat(np.arange(count), listed.lengths), listed.symbols] = False
    return excluded


def _remedy(count: int, symbols: int) -> str:
    return (
        f"for {count} handles it has to return an array of bool of shape ({count}, {symbols}), "
        f"Words of {count} lists of symbols from 0 to {symbols - 1}, or None"
    )
