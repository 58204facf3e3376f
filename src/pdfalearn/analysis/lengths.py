"""How long words of an automaton are: mean, variance, distribution and quantiles."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from math import inf, sqrt

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from pdfalearn.chains import Reached, least_costs, sums_by
from pdfalearn.checks import checked_integer, checked_number
from pdfalearn.errors import InputError
from pdfalearn.pdfa import PDFA, checked_pdfa
from pdfalearn.typing import Floats

_STEPS = 2_000
"""Lengths up to this one are counted one by one, before powers of the moves are tried."""
_MOST_DENSE = 500
"""The powers are tables of up to this many states."""
_MOST_WORK = 2**33
"""Transitions passed through before it is given up."""


@dataclass(frozen=True, eq=False)
class Length:
    """The length of words drawn from an automaton, the terminal not counted.

    Examples
    --------
    >>> from pdfalearn.datasets import figure_1
    >>> found = length(figure_1())
    >>> round(found.mean, 6), round(found.deviation, 6), found.quantile(0.9), found.endless_mass
    (2.0, 1.414214, 4.0, 0.0)
    """

    mean: float
    """Infinite if words may never end."""
    error: float
    """A bound on the error of ``mean``, from the residual of the solution."""
    endless_mass: float
    """The probability that a word never ends."""
    endless_states: tuple[int, ...]
    """The states from which no word ends."""
    _reached: Reached = field(repr=False)
    _means: Floats = field(repr=False)

    @cached_property
    def variance(self) -> float:
        """Infinite if words may never end."""
        if self.mean == inf:
            return inf
        return float(self._reached.flow.values(_squares(self._reached, self._means))[0])

    @property
    def deviation(self) -> float:
        """The standard deviation."""
        return sqrt(self.variance)

    def distribution(self, most: int) -> Floats:
        """Return the probabilities of the lengths 0, 1, …, ``most``.

        Examples
        --------
        >>> from pdfalearn.datasets import figure_1
        >>> length(figure_1()).distribution(3)
        array([0.   , 0.5  , 0.25 , 0.125])
        """
        most = checked_integer(most, "the greatest length", 0)
        moves, ends = _moves_and_ends(self._reached)
        here, probabilities = _start(len(ends)), np.zeros(most + 1)
        for step in range(most + 1):
            probabilities[step] = here @ ends
            here = np.asarray(moves @ here)
        return probabilities

    def quantile(self, share: float) -> float:
        """Return the least length such that at least this share of the words is not longer.

        It is infinite if the words that end have a smaller share than this.

        Examples
        --------
        >>> from pdfalearn.datasets import figure_1
        >>> length(figure_1()).quantile(0.9)
        4.0
        """
        share = checked_number(share, "quantile", 0.0, 1.0)
        if share == 0:
            return _shortest(self._reached)
        # Words that are not longer than n: those that make no step more than n.
        longer = 1.0 - share
        if self.endless_mass > longer or (longer == 0 and _unbounded(self._reached)):
            return inf
        return float(_steps_until(self._reached, longer * (1 + 2.0**-50)))


def length(pdfa: PDFA) -> Length:
    """Compute how long words drawn from an automaton are.

    Parameters
    ----------
    pdfa : PDFA
        The automaton. Its rows are divided by their sums.

    Returns
    -------
    Length
        The mean at once; variance, ``distribution`` and ``quantile`` when asked.

    Notes
    -----
    The mean length xᵢ from state i on solves (tᵢ + Σ pᵢⱼ)·xᵢ = Σ pᵢⱼ(1 + xⱼ), where j ≠ i on the
    left: what leaves a state is added up and never subtracted from 1. Up to 15,000 states the
    system is eliminated where need be, and refined with residuals in extended precision. The
    largest residual bounds the relative error of the mean length + 1, as one position more or
    less in every place is just that much of all positions.

    Examples
    --------
    >>> from pdfalearn.datasets import figure_1
    >>> result = length(figure_1())
    >>> round(result.mean, 12), round(result.variance, 12), result.endless_mass
    (2.0, 2.0, 0.0)
    """
    reached = Reached.of(checked_pdfa(pdfa, "pdfa"))
    mass = reached.endless_mass
    if reached.endless.any():
        return Length(inf, 0.0, mass, reached.endless_states, reached, np.empty(0))
    flow = reached.flow
    gains = reached.sums - flow.leaving
    means = flow.values(gains)
    residual = np.abs(flow.residual(means, gains)) / reached.sums
    error = float(residual.max() + np.finfo(np.longdouble).eps * means.max()) * (means[0] + 1)
    return Length(float(means[0]), float(error), mass, (), reached, means)


def _squares(reached: Reached, means: Floats) -> Floats:
    """Return by how much the expectation changes in one step, squared, on average."""
    flow = reached.flow
    changes = 1 + means[flow.successors] - means[flow.sources]
    steps = sums_by(flow.sources, flow.weights * changes**2, len(flow))
    return np.asarray(steps + flow.leaving * means**2)


def _moves_and_ends(reached: Reached) -> tuple[csr_array[np.float64], Floats]:
    """Return the matrix that passes probability on by one symbol, and the chances to end."""
    flow, size = reached.flow, len(reached.flow)
    weights = flow.weights / reached.sums[flow.sources]
    moves = csr_array((weights, (flow.successors, flow.sources)), shape=(size, size))
    return moves, np.asarray(flow.leaving / reached.sums)


def _start(size: int) -> Floats:
    start = np.zeros(size)
    start[0] = 1.0
    return start


def _shortest(reached: Reached) -> float:
    """Return the length of the shortest word; infinite if no word ends."""
    flow = reached.flow
    ends = np.where(flow.leaving > 0, 0.0, inf)
    return float(least_costs(flow.sources, flow.successors, np.ones(len(flow.sources)), ends)[0])


def _unbounded(reached: Reached) -> bool:
    """Return whether there are words of any length: whether words come back to a state."""
    moves, _ = _moves_and_ends(reached)
    count, _ = connected_components(moves, connection="strong")
    return bool(count < moves.shape[0] or (moves.diagonal() > 0).any())


def _steps_until(reached: Reached, bound: float) -> int:
    """Return the least n such that words of more than n symbols have this probability at most."""
    moves, ends = _moves_and_ends(reached)
    here, steps = np.asarray(moves @ _start(len(ends))), 0
    while here.sum() > bound:
        if steps >= _STEPS and len(ends) <= _MOST_DENSE:
            return steps + _leaps_until(moves.toarray(), here, bound)
        if steps * max(moves.nnz, 1000) > _MOST_WORK:
            raise InputError(
                f"words are too long: {here.sum():.3g} of them have more than {steps:,} symbols; "
                "take a smaller quantile, or draw words instead"
            )
        here = np.asarray(moves @ here)
        steps += 1
    return steps


def _leaps_until(moves: Floats, here: Floats, bound: float) -> int:
    """Return how many steps more it takes, by powers of the moves: 1, 2, 4, … steps at once."""
    powers = [moves]
    while (powers[-1] @ here).sum() > bound:
        powers.append(powers[-1] @ powers[-1])
    steps = 0
    for exponent in reversed(range(len(powers))):
        there = powers[exponent] @ here
        if there.sum() > bound:
            here, steps = there, steps + 2**exponent
    return steps + 1
