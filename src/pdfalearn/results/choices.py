"""Which of several automata to take, by their losses on the same words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

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


_IMPOSSIBLE = 20.0
"""Where automata are compared, a position whose divergence is infinite counts as this many nats."""
NOTHING = 1e-6
"""Smaller differences of divergences do not count."""


def standard_error(losses: Floats, lengths: Floats) -> float:
    """Return the standard error of the ratio of sums over words that were drawn independently."""
    count = len(losses)
    if count < 2:
        return float("inf")
    ratio = losses.sum() / lengths.sum()
    spread = ((losses - ratio * lengths) ** 2).sum() / (count - 1)
    return float(np.sqrt(spread * count) / lengths.sum())


def comparable(losses: Floats, infinite: Floats) -> Floats:
    """Return losses that can be compared between automata, even if some of them are infinite."""
    return np.asarray(losses + _IMPOSSIBLE * infinite)


def not_worse(losses: Floats, lengths: Floats) -> NDArray[np.bool_]:
    """Return which of some automata, in the order of size, no smaller one beats clearly.

    "Clearly" means by two standard errors of the difference over the same words.
    """
    kept = np.ones(len(losses), dtype=bool)
    best = 0
    for place in range(1, len(losses)):
        difference = losses[place] - losses[best]
        mean = float(difference.sum() / lengths.sum())
        kept[place] = mean <= max(2 * standard_error(difference, lengths), NOTHING)
        if mean < 0:
            best = place
    return kept


def smallest_good(losses: Floats, lengths: Floats) -> int:
    """Return the first of some automata that is not worse than the best by a standard error.

    Parameters
    ----------
    losses : array of float, shape (automata, words)
        The sums of divergences, in the order of size.
    lengths : array of float
        How many positions every word has.
    """
    best = losses[int(losses.sum(axis=1).argmin())]
    for place, these in enumerate(losses):
        difference = these - best
        mean = float(difference.sum() / lengths.sum())
        if mean <= max(standard_error(difference, lengths), NOTHING):
            return place
    return int(losses.sum(axis=1).argmin())
