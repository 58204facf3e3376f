"""Elimination without a subtraction: what hardly ever ends keeps all of its digits.

The algorithm of Grassmann, Taksar and Heyman (1985). What leaves a place is the sum of what leads
to the places that are left and of what leaves for good; it is never taken as 1 minus the rest. So
every number is a sum of products and quotients of positive numbers, and is right to nearly all
digits, however near to 1 cycles are (O'Cinneide 1993: entrywise, and whatever the condition).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from pdfalearn.errors import InputError
from pdfalearn.typing import Floats

# Places are eliminated in blocks of this many, so that most of the work is products of tables.
_BLOCK = 64
# Sums that are smaller lose digits to underflow.
_SMALLEST = 1e-306
TOO_LONG = "words are too long for an exact answer; draw words instead"
"""What is said of chains that hardly end, where no answer would have its digits."""


@dataclass(frozen=True, eq=False)
class Elimination:
    """The system diagonal · x = gains + weights · x, eliminated from the first place to the last.

    With F for ``factors``, aᵢ = gainsᵢ + Σ Fᵢⱼaⱼ over j < i, and xᵢ = aᵢ/dᵢ + Σ Fᵢⱼxⱼ over j > i.
    """

    factors: Floats
    pivots: Floats

    @classmethod
    def of(cls, weights: Floats, leaving: Floats) -> Elimination:
        """Eliminate; ``weights`` are overwritten, and those of loops do not count.

        Examples
        --------
        >>> hardly = Elimination.of(np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([1e-17, 3e-17]))
        >>> hardly.solution(np.array([1e-17, 0.0]))
        array([0.25, 0.25])
        """
        size, leaving, pivots = len(leaving), leaving.copy(), np.empty(len(leaving))
        for begin in range(0, size, _BLOCK):
            end = min(begin + _BLOCK, size)
            for place in range(begin, end):
                rest, inner = slice(place + 1, size), slice(place + 1, end)
                pivots[place] = pivot = leaving[place] + weights[place, rest].sum()
                if not pivot >= _SMALLEST:
                    raise InputError(TOO_LONG)
                # Who leads here leads to all successors instead: at once within the block.
                weights[place, rest] /= pivot
                into = weights[rest, place]
                leaving[rest] += into * (leaving[place] / pivot)
                weights[inner, rest] += np.outer(into[: end - place - 1], weights[place, rest])
                weights[end:, inner] += np.outer(into[end - place - 1 :], weights[place, inner])
            weights[end:, end:] += weights[end:, begin:end] @ weights[begin:end, end:]
        return cls(np.triu(weights, 1) + np.tril(weights, -1) / pivots, pivots)

    def transpose(self) -> Elimination:
        """Return the elimination of the system in which values are passed on and not back."""
        return Elimination(self.factors.T, self.pivots)

    def scale(self, costs: Floats) -> Elimination:
        """Return the elimination of the system of the values times exp(costs)."""
        with np.errstate(divide="ignore"):
            logs = np.log(self.factors)
        return Elimination(np.exp(logs + costs[:, None] - costs), self.pivots)

    def solution(self, gains: Floats) -> Floats:
        """Solve for the values."""
        signed = -self.factors
        reduced = solve_triangular(
            signed, gains, lower=True, unit_diagonal=True, check_finite=False
        )
        reduced = reduced / self.pivots
        values = solve_triangular(signed, reduced, unit_diagonal=True, check_finite=False)
        if not np.isfinite(values).all():
            raise InputError(TOO_LONG)
        return np.asarray(values)
