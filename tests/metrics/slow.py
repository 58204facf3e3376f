"""The metrics once more, slow and plain: one pair of distributions, one word at a time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise, permutations

import numpy as np

from pdfalearn import PDFA, Tolerance
from pdfalearn.equivalence import Equivalence

Row = Sequence[float] | None
"""A distribution, None where the word is undefined."""

CLOSE = 2.0**-49


def word_error(row: Row, other: Row) -> float:
    if row is None or other is None:
        return float(row is not other)
    best = {i for i, p in enumerate(row) if p >= max(row) - CLOSE}
    guesses = [i for i, p in enumerate(other) if p >= max(other) - CLOSE]
    return sum(guess not in best for guess in guesses) / len(guesses)


def ndcg(row: Row, other: Row, k: int) -> float:
    """Average over every order of the symbols that does not contradict the candidate."""
    if row is None or other is None:
        return float(row is other)
    ideal = _gain(sorted(row, reverse=True), k)
    orders = [
        order
        for order in permutations(range(len(other)))
        if all(other[a] >= other[b] - CLOSE for a, b in pairwise(order))
    ]
    return sum(_gain([row[i] for i in order], k) for order in orders) / len(orders) / ideal


def _gain(probabilities: Sequence[float], k: int) -> float:
    return sum(p / math.log2(place + 2) for place, p in enumerate(probabilities[:k]))


def l1(row: Row, other: Row) -> float:
    if row is None or other is None:
        return 0.0 if row is other else 2.0
    return sum(abs(p - q) for p, q in zip(row, other, strict=True))


def kl(row: Row, other: Row) -> float:
    if row is None or other is None:
        return 0.0 if row is other else math.inf
    total = 0.0
    for p, q in zip(row, other, strict=True):
        if p > 0:
            total += math.inf if q == 0 else p * math.log(p / q)
    return total


def different(row: Row, other: Row, equivalence: Equivalence | Tolerance) -> float:
    if row is None or other is None:
        return float(row is not other)
    if isinstance(equivalence, Tolerance):
        return float(
            any(abs(p - q) > equivalence.tolerance + CLOSE for p, q in zip(row, other, strict=True))
        )
    return float(
        equivalence.keys(np.array([row])).tobytes() != equivalence.keys(np.array([other])).tobytes()
    )


def row_after(pdfa: PDFA, word: Sequence[object], symbols: Sequence[object]) -> Row:
    """Return the distribution after a word with its symbols in a given order."""
    row = pdfa.next_distribution(word)
    if row is None:
        return None
    return [float(row[0]), *(float(row[pdfa.alphabet.index(s) + 1]) for s in symbols)]


def log_probability(pdfa: PDFA, word: Sequence[object]) -> float:
    total, state = 0.0, pdfa.initial
    for symbol in word:
        code = pdfa.alphabet.index(symbol)
        probability = float(pdfa.probabilities[state, code + 1])
        if probability == 0:
            return -math.inf
        total += math.log(probability)
        state = int(pdfa.transitions[state, code])
    stop = float(pdfa.probabilities[state, 0])
    return total + math.log(stop) if stop else -math.inf
