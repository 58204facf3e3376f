"""An interval for the mean of values from 0 to 1, drawn one after the other, by betting on them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pdfalearn.typing import Floats

# Before anything is drawn, the variance is guessed as if there were so much of a value of each end.
_GUESSED = 0.3
# At most this share of the capital is bet, so that one value cannot lose all of it.
_MOST_BET = 0.97
_HALVINGS = 40


def choose_stake(values: Floats, count: int, risk: float) -> float:
    """Return what to bet on the next values, if there will be this many in all."""
    weight = len(values) + _GUESSED
    mean = (values.sum() + _GUESSED / 2) / weight
    variance = (((values - mean) ** 2).sum() + _GUESSED / 4) / weight
    return float(np.sqrt(2 * np.log(2 / risk) / (count * variance)))


def bound_mean(
    least: Sequence[float] | Floats,
    most: Sequence[float] | Floats,
    stakes: Sequence[float] | Floats,
    risk: float,
) -> tuple[float, float]:
    """Return an interval that misses the mean with at most this risk.

    Whoever bets on values above a number that is not below their mean wins nothing on average,
    whatever the stakes are, if each was chosen before its value was seen. So the capital comes to
    2/risk with a probability of at most risk/2 (Ville), at any time; and likewise below. Of values
    that are known in part only, both ends are given. It is the interval of Waudby-Smith and Ramdas,
    "Estimating means of bounded random variables by betting" (2024), section 4.

    Examples
    --------
    >>> low, high = bound_mean([0.25] * 100, [0.25] * 100, [1.0] * 100, 0.05)
    >>> round(low, 3), round(high, 3)
    (0.214, 0.288)
    """
    bets = np.asarray(stakes)
    low = _bound_below(np.asarray(least), bets, risk / 2)
    return low, max(low, 1 - _bound_below(1 - np.asarray(most), bets, risk / 2))


def _bound_below(values: Floats, stakes: Floats, risk: float) -> float:
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        mean = (low + high) / 2
        # The capital falls as the mean grows, as less is bet and won.
        gains = np.log1p(np.minimum(stakes, _MOST_BET / mean) * (values - mean))
        if np.cumsum(gains).max(initial=0.0) >= -np.log(risk):
            low = mean
        else:
            high = mean
    return low
