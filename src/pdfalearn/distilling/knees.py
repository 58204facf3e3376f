"""Where a curve of losses bends."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

_STEP = 1.2
_LEAST = 0.4
"""Curves that bend less than this have no knee."""
_EARLIER = 0.25
"""The knee is where this share of the fall is left."""


def knee(states: Sequence[int], losses: Sequence[float]) -> int | None:
    """Return the number of states where a curve bends most, or None if it hardly bends.

    The bend at s is [ℓ(s/1.2) - ℓ(s)] - [ℓ(s) - ℓ(1.2·s)], with steps of at least one state, where
    ℓ is the logarithm of the least loss of any automaton of at most that size.

    Parameters
    ----------
    states : sequence of int
        Sizes, the smallest first.
    losses : sequence of float
        The loss on training words at each.

    Examples
    --------
    >>> knee([1, 2, 3, 4, 5, 6], [1, 0.8, 0.6, 0.01, 0.0099, 0.0098])
    4
    >>> knee([1, 2, 3, 4], [1, 0.8, 0.64, 0.51]) is None
    True
    """
    sizes = np.asarray(states)
    logs = np.log(np.maximum(np.minimum.accumulate(losses), 1e-12))

    def envelope(size: float) -> float:
        return float(logs[max(0, int(np.searchsorted(sizes, size, "right")) - 1)])

    best, place = _LEAST, None
    for size in sizes[1:-1].tolist():
        below, above = min(size - 1, size / _STEP), max(size + 1, size * _STEP)
        bend = envelope(below) - 2 * envelope(size) + envelope(above)
        if below >= sizes[0] and above <= sizes[-1] and bend > best:
            best, place = bend, size
    if place is None:
        return None
    # Within the step the loss may have fallen earlier.
    high, low = envelope(min(place - 1, place / _STEP)), envelope(place)
    enough = low + _EARLIER * (high - low)
    return int(sizes[int((logs <= enough).argmax())])
