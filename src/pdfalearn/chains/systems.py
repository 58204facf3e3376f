"""Sparse linear systems of places that pass values on: solved, refined, and checked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import bicgstab, splu, spsolve_triangular

from pdfalearn.errors import InputError
from pdfalearn.typing import Floats, Integers
from pdfalearn.words import offsets_of

Solver = Callable[[Floats], Floats]

_ACCURACY = 1e-12
# Systems of at most this many unknowns are eliminated at once; larger ones as a last resort.
_DIRECT = 3_000
_MOST_DIRECT = 15_000
# Values of this many places are passed back at once.
_ROWS = 8192
# Passes between two looks at how much still changes.
_ROUND = 8
_FEW_ROUNDS = 64
# Edges passed through before it is given up.
_MOST_WORK = 2**33
_ROUNDING = 2.0**-51
# Passes that shrink changes by no more than this are not worth while.
_SLOWEST, _SLOWEST_OF_FEW = 0.999, 0.95
# Systems of at most this many unknowns are eliminated without a single pass.
_TINY = 100
# The changes to come are extrapolated after each of this many first rounds.
_LEAPS = 3
_MOST_REFINEMENTS = 4


@dataclass(frozen=True, eq=False)
class System:
    """The system diagonal · x = gains + weights · x, in the order of the sources, without loops."""

    sources: Integers
    successors: Integers
    weights: Floats
    diagonal: NDArray[np.longdouble]

    @classmethod
    def of(
        cls, sources: Integers, successors: Integers, weights: Floats, leaving: Floats
    ) -> System:
        """Leave loops out: the diagonal is the sum of what leads to other places or leaves."""
        others = sources != successors
        if not others.all():
            sources, successors, weights = sources[others], successors[others], weights[others]
        alone = cls(sources, successors, weights, leaving.astype(np.longdouble))
        return replace(alone, diagonal=alone.diagonal + alone._sum_edges(weights))

    def transpose(self) -> System:
        """Return the system in which values are passed on and not back."""
        size = len(self.diagonal)
        edges = csr_array((self.weights, self.successors, self._offsets), shape=(size, size))
        turned = edges.tocsc()  # by counting, five times as fast as sorting
        sources = np.repeat(np.arange(size), np.diff(turned.indptr))
        weights = np.asarray(turned.data, dtype=np.float64)
        return System(sources, turned.indices.astype(np.int64), weights, self.diagonal)

    def scale(self, costs: Floats) -> System:
        """Return the system of the values times exp(costs)."""
        factors = np.exp(costs[self.sources] - costs[self.successors])
        return replace(self, weights=self.weights * factors)

    def solution(self, gains: Floats) -> Floats:
        """Solve for the values, none of which is negative, as no gain is."""
        if not gains.any():
            return np.zeros(len(gains))
        values, is_steady, rounds = np.zeros(len(gains)), False, _FEW_ROUNDS
        if len(gains) > _TINY:
            values, is_steady = self._pass_until_steady(gains, rounds)
        # What passes have left is smooth: approximations of it do not break down, as they do where
        # all is gained in one place. The more passes, the less there is but what shrinks slowest.
        while not is_steady:
            left = self.residual(values, gains).astype(np.float64)
            if (found := solver_of(self._matrix(), left)) is not None:
                return self._refine(values, gains, *found)
            rounds *= 4
            if rounds * _ROUND * len(self.sources) > _MOST_WORK:
                raise InputError("words are too long for an exact answer; draw words instead")
            values, is_steady = self._pass_until_steady(gains, rounds, values)
        return values

    def _refine(self, values: Floats, gains: Floats, solve: Solver, change: Floats) -> Floats:
        """Add what solves for the rest."""
        # Residuals in extended precision bring back the digits that elimination has cost.
        refined = values.astype(np.longdouble) + change
        for _ in range(_MOST_REFINEMENTS):
            change = solve(self.residual(refined, gains).astype(np.float64))
            refined += change
            if np.abs(change).max() <= 2.0**-56 * np.abs(refined).max():
                break
        return np.maximum(refined.astype(np.float64), 0.0)

    def residual(self, values: NDArray[np.floating], gains: Floats) -> NDArray[np.longdouble]:
        """Return how far values are from solving the system, in each place."""
        passed_on = np.multiply(self.weights, values[self.successors], dtype=np.longdouble)
        return gains - self.diagonal * values + self._sum_edges(passed_on)

    @cached_property
    def _offsets(self) -> Integers:
        """Where the edges of every place begin, and where the last ones end."""
        return offsets_of(np.bincount(self.sources, minlength=len(self.diagonal)))

    def _sum_edges(self, values: NDArray[np.floating]) -> NDArray[np.longdouble]:
        """Add up the values of every place's edges."""
        sums = np.zeros(len(self.diagonal), dtype=np.longdouble)
        begins, ends = self._offsets[:-1], self._offsets[1:]
        if len(values):
            # Where a place has no edges, reduceat would take the next one's.
            moving = begins < ends
            sums[moving] = np.add.reduceat(values.astype(np.longdouble), begins[moving])
        return sums

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
    def _blocks(self) -> list[tuple[slice, csr_array[np.float64]]]:
        """The rows of the matrix that passes values back, over the diagonal, in blocks."""
        size = len(self.diagonal)
        shares = self.weights / self.diagonal.astype(np.float64)[self.sources]
        columns = self.successors.astype(np.int32)
        blocks = []
        for begin, end in pairwise([*range(0, size, _ROWS), size]):
            edges = slice(*self._offsets[[begin, end]].tolist())
            begins = (self._offsets[begin : end + 1] - edges.start).astype(np.int32)
            arrays = shares[edges], columns[edges], begins
            blocks.append((slice(begin, end), csr_array(arrays, shape=(end - begin, size))))
        # First come the blocks that others depend on: those that most edges lead to.
        is_forward = 2 * np.count_nonzero(self.successors > self.sources) > len(self.sources)
        return blocks[::-1] if is_forward else blocks

    def _pass_until_steady(
        self, gains: Floats, rounds: int, values: Floats | None = None
    ) -> tuple[Floats, bool]:
        """Pass values back until they change no more, or that takes too long; return which.

        As in the iteration of Gauss and Seidel, blocks already see what others have come to. Where
        values are given, passes go on from them, however slowly they change.
        """
        at_once = gains / self.diagonal.astype(np.float64)
        is_first, last = values is None, np.inf
        values = at_once.copy() if values is None else values
        slowest = _SLOWEST if len(values) > _DIRECT else _SLOWEST_OF_FEW
        for number in range(rounds):
            self._pass(values, at_once, _ROUND - 2)
            earlier = values.copy()
            self._pass(values, at_once)
            before = values.copy()
            self._pass(values, at_once)
            with np.errstate(invalid="ignore", divide="ignore"):
                change = float(np.nan_to_num(np.abs((values - before) / values), nan=0.0).max())
            if change <= _ROUNDING:
                return values, True
            if is_first and change < 1e-3 and change > last * slowest**_ROUND:
                break
            last = change
            # Early on the slowest part of the change dominates, and can be guessed to its end.
            if is_first and number < _LEAPS:
                values = _leap(earlier, before, values)
        return values, False

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


def solver_of(system: csr_array[np.float64], right: Floats) -> tuple[Solver, Floats] | None:
    """Return a way to solve a system that is accurate for one right side, and the solution of it.

    The same elimination serves all right sides. Systems of more than 3,000 unknowns are solved by
    substitution where no unknown depends on itself; others are approximated by BiCGSTAB, and if
    that fails, and up to 15,000, eliminated.

    Examples
    --------
    >>> solver_of(csr_array(np.array([[2.0, 0.0], [0.0, 4.0]])), np.ones(2))[1]
    array([0.5 , 0.25])
    """
    makers = [_eliminate]
    if len(right) > _DIRECT:
        makers = [_substitute, _approximate]
    if _DIRECT < len(right) <= _MOST_DIRECT:
        makers.append(_eliminate)
    for maker in makers:
        solve = maker(system)
        solution = solve(right)
        largest = np.abs(solution).max()
        if np.abs(system @ solution - right).max() <= _ACCURACY * largest:
            return solve, solution
    return None


def _eliminate(system: csr_array[np.float64]) -> Solver:
    try:
        factors = splu(system.tocsc())
    except RuntimeError:  # it is singular: words that end so seldom never do but for rounding
        return lambda right: np.full(len(right), np.nan)
    return lambda right: np.asarray(factors.solve(right))


def _substitute(system: csr_array[np.float64]) -> Solver:
    """Solve for one unknown after the other, in an order in which each needs only earlier ones."""
    size = system.shape[0]
    count, labels = connected_components(system, connection="strong")
    edges = system.tocoo()
    first, second = labels[edges.coords[0]], labels[edges.coords[1]]
    # Strong components are numbered in a topological order; which way round is not documented.
    order = np.argsort(labels if (first >= second).all() else -labels)
    if count < size or not ((first >= second).all() or (first <= second).all()):
        return lambda right: np.full(size, np.nan)
    triangle = system[order][:, order].tocsr()

    def solve(right: Floats) -> Floats:
        solution = np.empty(size)
        solution[order] = spsolve_triangular(triangle, right[order], lower=True)
        return solution

    return solve


def _approximate(system: csr_array[np.float64]) -> Solver:
    return lambda right: np.asarray(
        bicgstab(system, right, rtol=_ACCURACY, atol=0.0, maxiter=300)[0]
    )
