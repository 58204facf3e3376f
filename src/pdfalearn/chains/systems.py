"""Solve sparse linear systems, by elimination or by approximation, and check what comes out."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import bicgstab, gmres, splu, spsolve_triangular

from pdfalearn.typing import Floats

Solver = Callable[[Floats], Floats]

_ACCURACY = 1e-12
_DIRECT = 3_000
"""Systems of at most this many unknowns are eliminated at once; larger ones as a last resort."""
_MOST_DIRECT = 15_000


def solve_system(system: csr_array[np.float64], right: Floats) -> Floats | None:
    """Return the solution x of system · x = right; None if no way reaches the accuracy.

    Examples
    --------
    >>> solve_system(csr_array(np.array([[2.0, 0.0], [0.0, 4.0]])), np.ones(2))
    array([0.5 , 0.25])
    """
    found = solver_of(system, right)
    return None if found is None else found[1]


def solver_of(system: csr_array[np.float64], right: Floats) -> tuple[Solver, Floats] | None:
    """Return a way to solve a system that is accurate for one right side, and the solution of it.

    The same elimination serves all right sides. Systems of more than 3,000 unknowns are solved by
    substitution where no unknown depends on itself; others are approximated by BiCGSTAB or else by
    GMRES, and if both fail, and up to 15,000, eliminated.
    """
    makers = [_elimination]
    if len(right) > _DIRECT:
        makers = [_substitution, _quick_approximation, _approximation]
    if _DIRECT < len(right) <= _MOST_DIRECT:
        makers.append(_elimination)
    for maker in makers:
        solve = maker(system)
        solution = solve(right)
        largest = np.abs(solution).max()
        if np.abs(system @ solution - right).max() <= _ACCURACY * largest:
            return solve, solution
    return None


def _elimination(system: csr_array[np.float64]) -> Solver:
    try:
        factors = splu(system.tocsc())
    except RuntimeError:  # it is singular: words that end so seldom never do but for rounding
        return lambda right: np.full(len(right), np.nan)
    return lambda right: np.asarray(factors.solve(right))


def _substitution(system: csr_array[np.float64]) -> Solver:
    """Solve for one unknown after the other, in an order in which each needs only earlier ones."""
    size = system.shape[0]
    count, labels = connected_components(system, connection="strong")
    edges = system.tocoo()
    first, second = labels[edges.coords[0]], labels[edges.coords[1]]
    order = np.argsort(labels if (first >= second).all() else -labels)
    if count < size or not ((first >= second).all() or (first <= second).all()):
        return lambda right: np.full(size, np.nan)
    triangle = system[order][:, order].tocsr()

    def solve(right: Floats) -> Floats:
        solution = np.empty(size)
        solution[order] = spsolve_triangular(triangle, right[order], lower=True)
        return solution

    return solve


def _quick_approximation(system: csr_array[np.float64]) -> Solver:
    def solve(right: Floats) -> Floats:
        solution, _ = bicgstab(system, right, rtol=_ACCURACY, atol=0.0, maxiter=300)
        return np.asarray(solution)

    return solve


def _approximation(system: csr_array[np.float64]) -> Solver:
    def solve(right: Floats) -> Floats:
        tolerance = _ACCURACY / 100
        solution, _ = gmres(system, right, rtol=tolerance, atol=0.0, restart=100, maxiter=2)
        return np.asarray(solution)

    return solve
