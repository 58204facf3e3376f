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

from pdfalearn.chains.elimination import TOO_LONG, Elimination
from pdfalearn.errors import InputError
from pdfalearn.typing import Floats, Integers
from pdfalearn.words import offsets_of

Solver = Callable[[Floats], Floats]

_ACCURACY = 1e-12
MOST_ELIMINATED = 3_000
"""Strong components of at most this many places are eliminated without a subtraction."""
ELIMINATION_ERROR = 2.0**-50
"""The relative error of n places that are eliminated is at most this, times n³."""
# Larger systems are eliminated with subtractions, up to this many unknowns.
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
# Approximations are proved to be right to this share: those of small systems, and of large ones.
_SURE, _CERTAIN = 1e-11, 1e-9


@dataclass(frozen=True, eq=False)
class System:
    """The system diagonal · x = gains + weights · x, in the order of the sources, without loops."""

    sources: Integers
    successors: Integers
    weights: Floats
    leaving: Floats
    """What leaves each place for good; it and what leads to other places make the diagonal."""
    diagonal: NDArray[np.longdouble]
    is_turned: bool = False
    """Whether values are passed on and not back: edges lead from successors to sources."""
    costs: Floats | None = None
    """If given, the system is solved for the values times exp(costs)."""

    @classmethod
    def of(
        cls, sources: Integers, successors: Integers, weights: Floats, leaving: Floats
    ) -> System:
        """Leave loops out: the diagonal is the sum of what leads to other places or leaves."""
        others = sources != successors
        if not others.all():
            sources, successors, weights = sources[others], successors[others], weights[others]
        alone = cls(sources, successors, weights, leaving, leaving.astype(np.longdouble))
        return replace(alone, diagonal=alone.diagonal + alone._sum_edges(weights))

    def transpose(self) -> System:
        """Return the system in which values are passed on and not back."""
        size = len(self.diagonal)
        edges = csr_array((self.weights, self.successors, self._offsets), shape=(size, size))
        turned = edges.tocsc()  # by counting, five times as fast as sorting
        sources = np.repeat(np.arange(size), np.diff(turned.indptr))
        weights = np.asarray(turned.data, dtype=np.float64)
        successors = turned.indices.astype(np.int64)
        return System(sources, successors, weights, self.leaving, self.diagonal, is_turned=True)

    def scale(self, costs: Floats) -> System:
        """Return the system of the values times exp(costs)."""
        return replace(self, costs=costs)

    @cached_property
    def _scaled(self) -> Floats:
        """The weights with which values are passed back, scaled by the costs."""
        if self.costs is None:
            return self.weights
        factors = np.exp(self.costs[self.sources] - self.costs[self.successors])
        return np.asarray(self.weights * factors)

    def solution(self, gains: Floats) -> Floats:
        """Solve for the values, none of which is negative, as no gain is.

        Small systems, and those of small components, are eliminated without a subtraction, unless
        a few passes suffice. Larger ones are approximated, and the answer is checked.
        """
        if not gains.any():
            return np.zeros(len(gains))
        if len(gains) <= _TINY:
            return self._eliminate(gains)
        # The second column is how many steps ways have: it shows whether they all have ended.
        columns, rounds = np.stack((gains, self.diagonal.astype(np.float64)), axis=1), _FEW_ROUNDS
        values, is_steady = self._pass_until_steady(columns, rounds)
        if is_steady:
            return np.asarray(values[:, 0])
        if len(gains) <= MOST_ELIMINATED:  # sparse elimination is faster, where it is good enough
            solved = self._approximate(values[:, 0], gains, _SURE)
            if solved is not None and solved[1]:
                return solved[0].astype(np.float64)
        if (found := self._solve_components(gains)) is not None:
            return found
        # What passes have left is smooth: approximations of it do not break down, as they do where
        # all is gained in one place. The more passes, the less there is but what shrinks slowest.
        while not is_steady:
            if (solved := self._approximate(values[:, 0], gains, _CERTAIN)) is not None:
                if solved[1]:
                    return solved[0].astype(np.float64)
                values[:, 0] = solved[0]
            rounds *= 4
            if rounds * _ROUND * len(self.sources) > _MOST_WORK:
                raise InputError(TOO_LONG)
            values, is_steady = self._pass_until_steady(columns, rounds, values)
        return np.asarray(values[:, 0])

    def _approximate(
        self, values: Floats, gains: Floats, most: float
    ) -> tuple[NDArray[np.longdouble], bool] | None:
        """Solve for what values lack; return whether it is proved to be off by a share at most."""
        left = self.residual(values, gains).astype(np.float64)
        if (solver := solver_of(self._matrix(), left)) is None:
            return None
        refined = self._refine(values, gains, *solver)
        return refined, self._is_certain(refined, gains, solver[0], most)

    def _eliminate(self, gains: Floats) -> Floats:
        """Eliminate all places, without a subtraction."""
        size = len(gains)
        begins, ends = self.sources, self.successors
        if self.is_turned:
            begins, ends = ends, begins
        table = np.bincount(begins * size + ends, self.weights, size * size).astype(np.float64)
        eliminated = Elimination.of(table.reshape(size, size), self.leaving)
        if self.is_turned:
            eliminated = eliminated.transpose()
        if self.costs is not None:
            eliminated = eliminated.scale(self.costs)
        return eliminated.solution(gains)

    def _solve_components(self, gains: Floats) -> Floats | None:
        """Eliminate one strong component after the other; None if one of them is too large."""
        size = len(gains)
        edges = np.ones(len(self.sources), dtype=np.int8), (self.sources, self.successors)
        graph = csr_array(edges, shape=(size, size))
        count, labels = connected_components(graph, connection="strong")
        sizes = np.bincount(labels)
        if sizes.max() > MOST_ELIMINATED:
            return None
        # Strong components are numbered in a topological order; which way round is not documented.
        if (labels[self.sources] < labels[self.successors]).any():
            labels = count - 1 - labels
            sizes = sizes[::-1]
        order = np.argsort(labels, kind="stable")
        if count == size:
            return _substitute(self._matrix(), order)(gains)
        begins = offsets_of(sizes)
        local = np.empty(size, dtype=np.int64)
        local[order] = np.arange(size) - np.repeat(begins[:-1], sizes)
        crossing = labels[self.sources] != labels[self.successors]
        left = (self.successors if self.is_turned else self.sources)[crossing]
        leaving = self.leaving + np.bincount(left, self.weights[crossing], size)
        by_label = np.argsort(labels[self.sources], kind="stable")
        edge_begins = offsets_of(np.bincount(labels[self.sources], minlength=count))
        values = np.zeros(size)
        for label in range(count):
            places = order[begins[label] : begins[label + 1]]
            own = by_label[edge_begins[label] : edge_begins[label + 1]]
            out, inside = own[crossing[own]], own[~crossing[own]]
            brought = self._scaled[out] * values[self.successors[out]]
            gained = gains[places] + np.bincount(local[self.sources[out]], brought, len(places))
            if not gained.any():
                continue
            component = replace(
                self,
                sources=local[self.sources[inside]],
                successors=local[self.successors[inside]],
                weights=self.weights[inside],
                leaving=leaving[places],
                costs=None if self.costs is None else self.costs[places],
            )
            values[places] = component._eliminate(gained)
        return values

    def _refine(
        self, values: Floats, gains: Floats, solve: Solver, change: Floats
    ) -> NDArray[np.longdouble]:
        """Add what solves for the rest."""
        # Residuals in extended precision bring back the digits that elimination has cost.
        refined = values.astype(np.longdouble) + change
        for _ in range(_MOST_REFINEMENTS):
            change = solve(self.residual(refined, gains).astype(np.float64))
            refined += change
            if (np.abs(change) <= 2.0**-56 * np.abs(refined)).all():
                break
        return np.asarray(np.maximum(refined, 0.0))

    def _is_certain(
        self, values: NDArray[np.longdouble], gains: Floats, solve: Solver, most: float
    ) -> bool:
        """Return whether values are off by this share at most, which is proved and not believed.

        With A for the system, D for its diagonal and r for the residual of x, and ω = max |r|/(Dx),
        x is off by A⁻¹|r| ≤ ω·A⁻¹Dx ≤ 2ωy, for any y with Ay ≥ Dx/2, as A⁻¹ is nowhere negative.
        """
        wanted = (self.diagonal * values).astype(np.float64)
        if not np.isfinite(wanted).all():
            return False
        residual = np.abs(self.residual(values, gains)) + np.finfo(np.longdouble).eps * 8 * wanted
        with np.errstate(invalid="ignore", divide="ignore"):
            share = np.where(residual > 0, residual / wanted, 0.0).max()
        if not share < 1:
            return False
        steps = self._refine(np.zeros(len(gains)), wanted, solve, solve(wanted))
        if not (self.residual(steps, wanted) <= wanted / 2).all():
            return False
        return bool((2 * share * steps <= most * values).all())

    def residual(self, values: NDArray[np.floating], gains: Floats) -> NDArray[np.longdouble]:
        """Return how far values are from solving the system, in each place."""
        passed_on = np.multiply(self._scaled, values[self.successors], dtype=np.longdouble)
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
                np.concatenate((self.diagonal.astype(np.float64), -self._scaled)),
                (np.append(places, self.sources), np.append(places, self.successors)),
            ),
            shape=(size, size),
        )

    @cached_property
    def _blocks(self) -> list[tuple[slice, csr_array[np.float64]]]:
        """The rows of the matrix that passes values back, over the diagonal, in blocks."""
        size = len(self.diagonal)
        shares = self._scaled / self.diagonal.astype(np.float64)[self.sources]
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
        """Pass columns of values back until none changes, or that takes too long; return which.

        As in the iteration of Gauss and Seidel, blocks already see what others have come to. Where
        values are given, passes go on from them, however slowly they change.
        """
        at_once = gains / self.diagonal.astype(np.float64)[:, None]
        is_first, last = values is None, np.inf
        values = at_once.copy() if values is None else values
        slowest = _SLOWEST if len(values) > MOST_ELIMINATED else _SLOWEST_OF_FEW
        for number in range(rounds):
            shares = np.zeros(values.shape)
            with np.errstate(over="ignore", invalid="ignore"):
                self._pass(values, at_once, _ROUND - 2)
                earlier = values.copy()
                self._pass(values, at_once)
                before = values.copy()
                self._pass(values, at_once)
                np.divide(np.abs(values - before), values, out=shares, where=values != 0)
            change = float(shares.max())  # NaN, which is never steady, once values overflow
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
    with np.errstate(invalid="ignore", divide="ignore"):
        rates = (change * old).sum(axis=0) / (old * old).sum(axis=0)
        leaps = np.where((rates > 0) & (rates < _SLOWEST), rates / (1 - rates), 0.0)
    return np.asarray(values + change * leaps)


def solver_of(system: csr_array[np.float64], right: Floats) -> tuple[Solver, Floats] | None:
    """Return a way to solve a system that is accurate for one right side, and the solution of it.

    An elimination serves all right sides; of more than 3,000 unknowns BiCGSTAB comes first, and of
    more than 15,000 it is all.

    Examples
    --------
    >>> solver_of(csr_array(np.array([[2.0, 0.0], [0.0, 4.0]])), np.ones(2))[1]
    array([0.5 , 0.25])
    """
    makers = [_approximate, _factorise] if len(right) > MOST_ELIMINATED else [_factorise]
    if len(right) > _MOST_DIRECT:
        makers = [_approximate]
    for maker in makers:
        solve = maker(system)
        solution = solve(right)
        largest = np.abs(solution).max()
        if np.abs(system @ solution - right).max() <= _ACCURACY * largest:
            return solve, solution
    return None


def _factorise(system: csr_array[np.float64]) -> Solver:
    try:
        factors = splu(system.tocsc())
    except RuntimeError:  # it is singular: words that end so seldom never do but for rounding
        return lambda right: np.full(len(right), np.nan)
    return lambda right: np.asarray(factors.solve(right))


def _substitute(system: csr_array[np.float64], order: Integers) -> Solver:
    """Solve for one unknown after the other, in an order in which each needs only earlier ones."""
    triangle = system[order][:, order].tocsr()

    def solve(right: Floats) -> Floats:
        solution = np.empty(len(order))
        solution[order] = spsolve_triangular(triangle, right[order], lower=True)
        return solution

    return solve


def _approximate(system: csr_array[np.float64]) -> Solver:
    return lambda right: np.asarray(
        bicgstab(system, right, rtol=_ACCURACY, atol=0.0, maxiter=300)[0]
    )
