"""A function as a model.

pdfalearn learn weather.py:tomorrow --alphabet "sun rain" --kappa 10 --max-length 8
"""

from __future__ import annotations


def tomorrow(words: list[tuple[str, ...]]) -> list[list[float]]:
    """Return for each word the probabilities of the end, of sun and of rain after it."""
    return [[0.5, 0.1, 0.4] if word[-2:] == ("rain", "rain") else [0.2, 0.5, 0.3] for word in words]
