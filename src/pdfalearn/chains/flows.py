"""What is gained on the way of a word: one linear system, solved without cancellation.

The words that an automaton makes are such a flow, too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from pdfalearn.arrays import reaching
from pdfalearn.chains.systems import solver_of
from pdfalearn.errors import InputError
from pdfalearn.pdfa import PDFA
from pdfalearn.reachability import reachable_in
from pdfalearn.typing import Flags, Floats, Integers
from pdfalearn.words import offsets_of

_FEW = 3_000
"""Systems of up to this many places are solved for at once, others first passed through."""
_ROWS = 8192
"""Values of this many places are passed back at once."""
_ROUND = 8
"""Passes between two looks at how much still changes."""
_FEW_ROUNDS = 64
_MOST_ROUNDS = 4096
_ROUNDING = 2.0**-51
_SLOWEST = 0.999
"""Passes that shrink changes by no more than this are not worth while."""
_LEAPS = 3
"""The changes to come are extrapolated after each of this many first rounds."""
_MOST_REFINEMENTS = 4


@dataclass(frozen=True, eq=False)
class Flow:
    """Places that words pass, the weights with which they pass on, and those with which they leave.

    Weights of a place need not sum to 1: all is relative to their sum. Edges stand in the order of
    their sources.
    """

    sources: Integers
    successors: Integers
    weights: Floats
    leaving: Floats

    def __len__(self) -> int:
        return len(self.leaving)

    def values(self, gains: Floats) -> Floats:
        """Return what is expected to be gained from every place on; infinite where it never ends.

        Parameters
        ----------
        gains : array of float
            What each visit of a place brings, times the sum of the place's weights; none negative.

        Notes
        -----
        The values solve dᵢxᵢ = gᵢ + Σ wᵢⱼxⱼ over j ≠ i, where dᵢ is the sum of what leads to
        other places or leaves. It is added up and not subtracted from 1, so that loops near 1
        cost no digits; the solution is refined with residuals in extended precision.
        """
        if (self.leaving > 0).all():
            return self._solve(gains)
        useful = reaching(self.sources, self.successors, gains > 0)
        lost = ~useful[self.successors]
        lost_weights = sums_by(self.sources[lost], self.weights[lost], len(self))
        ends = reaching(self.sources, self.successors, (self.leaving + lost_weights > 0) | ~useful)
        endless = reaching(self.sources, self.successors, ~ends)
        values = np.where(endless, np.inf, 0.0)
        kept = useful & ~endless
        values[kept] = self.restrict_to(kept)._solve(gains[kept])
        return values

    def restrict_to(self, kept: Flags) -> Flow:
        """Return the flow within some places; what leads to others leaves."""
        numbers = np.cumsum(kept) - 1
        inside = kept[self.sources] & kept[self.successors]
        outward = kept[self.sources] & ~kept[self.successors]
        left = sums_by(self.sources[outward], self.weights[outward], len(self))
        return Flow(
            numbers[self.sources[inside]],
            numbers[self.successors[inside]],
            self.weights[inside],
            (self.leaving + left)[kept],
        )

    def residual(self, values: Floats, gains: Floats) -> Floats:
        """Return how far values are from solving the system, in each place."""
        return np.asarray(self._system.residual(values, gains))

    def scaled_values(self, gains: Floats, costs: Floats) -> Floats:
        """Return the values times exp(costs), where they themselves might be too small to write.

        Parameters
        ----------
        gains : array of float
            As for ``values``, times exp(costs). Every place reaches one where something is gained.
        costs : array of float
            Of no place more than those of a successor, minus the logarithm of the weight.
        """
        return self._system.scale(costs).solution(gains)

    def _solve(self, gains: Floats) -> Floats:
        if not gains.any():
            return np.zeros(len(self))
        return self._system.solution(gains)

    @cached_property
    def _system(self) -> _System:
        return _System.of(self)


@dataclass(frozen=True, eq=False)
class _System:
    """The system without loops: diagonal · x = gains + others · x."""

    sources: Integers
    successors: Integers
    weights: Floats
    offsets: Integers
    """Where the edges of every place begin, and where the last ones end."""
    diagonal: NDArray[np.longdouble]

    @classmethod
    def of(cls, flow: Flow) -> _System:
        others = flow.sources != flow.successors
        edges = (flow.sources, flow.successors, flow.weights)
        if not others.all():
            edges = (flow.sources[others], flow.successors[others], flow.weights[others])
        offsets = offsets_of(np.bincount(edges[0], minlength=len(flow)))
        sums = _sums(offsets, edges[2].astype(np.longdouble))
        return cls(*edges, offsets=offsets, diagonal=sums + flow.leaving)

    def scale(self, costs: Floats) -> _System:
        """Return the system of the values times exp(costs)."""
        factors = np.exp(costs[self.sources] - costs[self.successors])
        return replace(self, weights=self.weights * factors)

    def solution(self, gains: Floats) -> Floats:
        passed = None if len(gains) <= _FEW else self._pass_until_steady(gains, _FEW_ROUNDS)
        if passed is not None:
            return passed
        found = solver_of(self._matrix(), gains)
        if found is None:
            passed = self._pass_until_steady(gains, _MOST_ROUNDS)
            if passed is None:
                raise InputError("words are too long for an exact answer; draw words instead")
            return passed
        solve, values = found
        refined = values.astype(np.longdouble)
        for _ in range(_MOST_REFINEMENTS):
            change = solve(self.residual(refined, gains).astype(np.float64))
            refined += change
            if np.abs(change).max() <= 2.0**-56 * np.abs(refined).max():
                break
        return np.maximum(refined.astype(np.float64), 0.0)

    def residual(self, values: NDArray[np.floating], gains: Floats) -> NDArray[np.longdouble]:
        passed_on = np.multiply(self.weights, values[self.successors], dtype=np.longdouble)
        return gains - self.diagonal * values + _sums(self.offsets, passed_on)

    def _matrix(self) -> csr_array[np.float64]:
        size = len(self.diagonal)
        places = np.arange(size)
        return csr_array(
            (
                np.concatenate((self.diagonal.astype(np.float64), -self.weights)),
                (np.append(places, self.sources), np.append(places, self.successors)),
            ),
            shape=(size, size),
        )

    @cached_property
    def _moves(self) -> csr_array[np.float64]:
        """The matrix that passes values back, divided by the diagonal."""
        size = len(self.diagonal)
        shares = self.weights / self.diagonal.astype(np.float64)[self.sources]
        arrays = (shares, self.successors.astype(np.int32), self.offsets.astype(np.int32))
        return csr_array(arrays, shape=(size, size))

    @cached_property
    def _blocks(self) -> list[tuple[slice, csr_array[np.float64]]]:
        """The rows of the matrix in blocks, the last ones first."""
        moves, size = self._moves, len(self.diagonal)
        cuts = [*range(0, size, _ROWS), size]
        blocks = []
        for begin, end in pairwise(cuts):
            edges = slice(*moves.indptr[[begin, end]].tolist())
            begins = moves.indptr[begin : end + 1] - edges.start
            arrays = moves.data[edges], moves.indices[edges], begins
            blocks.append((slice(begin, end), csr_array(arrays, shape=(end - begin, size))))
        return blocks[::-1]

    def _pass_until_steady(self, gains: Floats, rounds: int) -> Floats | None:
        """Pass values back until they change no more; None if that takes too long.

        As in the iteration of Gauss and Seidel, blocks already see what later ones have come to.
        Most edges lead to later places where places are numbered breadth first.
        """
        at_once = gains / self.diagonal.astype(np.float64)
        values, last = at_once.copy(), np.inf
        for number in range(rounds):
            self._pass(values, at_once, _ROUND - 2)
            earlier = values.copy()
            self._pass(values, at_once)
            before = values.copy()
            self._pass(values, at_once)
            with np.errstate(invalid="ignore", divide="ignore"):
                change = float(np.nan_to_num(np.abs((values - before) / values), nan=0.0).max())
            if change <= _ROUNDING:
                return values
            if change < 1e-3 and change > last * _SLOWEST**_ROUND:
                return None
            last = change
            if number < _LEAPS:
                values = _leap(earlier, before, values)
        return None

    def _pass(self, values: Floats, at_once: Floats, times: int = 1) -> None:
        for _ in range(times):
            for rows, moves in self._blocks:
                values[rows] = np.asarray(moves @ values) + at_once[rows]


def _leap(earlier: Floats, before: Floats, values: Floats) -> Floats:
    """Add all changes to come, if they went on to shrink as the last two did.

    What shrinks most slowly is then gone, and the passes that follow deal with the rest.
    """
    change, old = values - before, before - earlier
    rate = float(change @ old) / float(old @ old)
    if not 0 < rate < _SLOWEST:
        return values
    return np.asarray(values + change * (rate / (1 - rate)))


def sums_by(places: Integers, values: Floats, size: int) -> Floats:
    """Add up values by places, which may come in any order."""
    return np.asarray(np.bincount(places, values, size), dtype=np.float64)


def _sums(offsets: Integers, values: NDArray[np.longdouble]) -> NDArray[np.longdouble]:
    """Add up the values of every place's edges."""
    sums = np.zeros(len(offsets) - 1, dtype=np.longdouble)
    moving = offsets[:-1] < offsets[1:]
    if len(values):
        sums[moving] = np.add.reduceat(values, offsets[:-1][moving])
    return sums


@dataclass(frozen=True, eq=False)
class Reached:
    """The states that words of positive probability reach, breadth first.

    Rows are as they are in the automaton: all that is computed from them is relative to their sums.
    """

    pdfa: PDFA
    states: Integers
    """The automaton's states; the first one is initial."""
    symbols: Integers
    """The symbol of every edge of ``flow``."""
    flow: Flow
    """What leaves are words that end."""

    @classmethod
    def of(cls, pdfa: PDFA) -> Reached:
        """Find the states, and the edges between them."""
        possible = np.where(pdfa.probabilities[:, 1:] > 0, pdfa.transitions, np.int32(-1))
        part = reachable_in(possible, pdfa.initial)
        states = part.states.astype(np.int64)
        sources, symbols = (possible[states] >= 0).nonzero()
        successors = part.numbers(len(pdfa))[possible[states[sources], symbols]]
        weights = pdfa.probabilities[states[sources], symbols + 1]
        flow = Flow(
            sources, successors.astype(np.int64), weights, pdfa.probabilities[states, 0].copy()
        )
        return cls(pdfa, states, symbols, flow)

    @cached_property
    def sums(self) -> Floats:
        """The sums of the rows."""
        return np.asarray(self.pdfa.probabilities.sum(axis=1)[self.states])

    @cached_property
    def endless(self) -> NDArray[np.bool_]:
        """The places from which no word ends."""
        if (self.flow.leaving > 0).all():
            return np.zeros(len(self.flow), dtype=bool)
        return ~reaching(self.flow.sources, self.flow.successors, self.flow.leaving > 0)

    @property
    def endless_states(self) -> tuple[int, ...]:
        """The automaton's states from which no word ends."""
        return tuple(self.states[self.endless].tolist())

    @cached_property
    def endless_mass(self) -> float:
        """The probability that a word never ends."""
        endless = self.endless
        if endless[0] or not endless.any():
            return float(endless[0])
        flow, into = self.flow, endless[self.flow.successors] & ~endless[self.flow.sources]
        gains = sums_by(flow.sources[into], flow.weights[into], len(flow))[~endless]
        return float(flow.restrict_to(~endless).values(gains)[0])


def ending_probabilities(pdfa: PDFA) -> Floats:
    """Return the probability that a word ends, from every state on; 1 for states never reached.

    Examples
    --------
    >>> from pdfalearn.datasets import figure_1
    >>> ending_probabilities(figure_1())
    array([1., 1.])
    """
    ending = np.ones(len(pdfa))
    if (pdfa.probabilities[:, 0] > 0).all():
        return ending
    reached = Reached.of(pdfa)
    if reached.endless.any():
        ending[reached.states] = reached.flow.values(reached.flow.leaving)
    return ending
