"""Which sizes a frontier has."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from pdfalearn.checks import checked_integer
from pdfalearn.errors import InputError
from pdfalearn.results.frontiers import EVERY

_SERIES = (100, 120, 150, 180, 210, 250, 300, 360, 430, 500, 600, 750, 900)
"""Larger sizes have these first digits: each is about a fifth larger than the one before."""
_MOST_TRANSITIONS = 2**22
"""By default automata have at most this many transitions, but `_AT_LEAST` states."""
_AT_LEAST = 120


def default_sizes(nodes: int, symbols: int) -> list[int]:
    """Return sizes for a number of answers and of symbols.

    Examples
    --------
    >>> default_sizes(20, 2)[-2:], default_sizes(100, 2)[-3:]
    ([32, 36], [120, 150, 180])
    """
    largest = max(1, min(2 * nodes, max(_AT_LEAST, _MOST_TRANSITIONS // symbols)))
    sizes = list(range(1, min(largest, EVERY) + 1))
    scales = [0.1 * 10**power for power in range(9)]
    series = (round(scale * digits) for scale in scales for digits in _SERIES)
    return [*sizes, *(size for size in series if EVERY < size <= largest)]


def checked_sizes(sizes: object) -> list[int] | None:
    """Return sizes as sorted integers; refuse anything else."""
    if sizes is None:
        return None
    if isinstance(sizes, str) or not isinstance(sizes, Iterable):
        raise InputError(f"sizes is {sizes!r}, not a list of integers such as [4, 16, 64]")
    given = [checked_integer(size, "a size", 1) for size in np.asarray(list(sizes), dtype=object)]
    if not given:
        raise InputError("sizes is empty; give at least one number of states")
    return sorted(set(given))
