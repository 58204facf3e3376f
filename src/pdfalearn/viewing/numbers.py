"""Numbers as pictures show them."""

from __future__ import annotations

from math import floor, log10

_MOST_DECIMALS = 6


def probability_text(probability: float, digits: int) -> str:
    """Write a probability, with as many digits of what it lacks to 1 where that is little.

    Examples
    --------
    >>> [probability_text(value, 2) for value in (0, 1 / 3, 2 / 3, 0.9973, 1, 1e-7)]
    ['0', '0.33', '0.67', '0.9973', '1', '1e-07']
    """
    lack = 1 - probability
    if not 0 < lack < 0.5:
        return f"{probability:.{digits}g}"
    decimals = min(_MOST_DECIMALS, digits - floor(log10(lack)) - 1)
    return f"{probability:.{decimals}f}".rstrip("0").rstrip(".")
