"""Compare the futures of states: what follows them, some symbols ahead; plain arrays in and out."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from pdfalearn.distilling.evidence import find_runs
from pdfalearn.distilling.machines import Machine
from pdfalearn.typing import Floats, Integers

Numbers = NDArray[np.floating[Any]]

# About this many numbers are computed at once.
_MOST_CELLS = 2**18
# More states than these are compared in single precision.
_MOST_DOUBLE = 512
_PART = 64
_TINY = 1e-30


def future_costs(
    local: Numbers,
    lefts: NDArray[np.integer],
    rows: Numbers,
    rights: Integers,
    sweeps: int,
    likely: float = 0.0,
) -> Numbers:
    """Return D(p ‖ q) = local(p, q) + Σ row_p(a)·D(τ(p,a) ‖ τ(q,a)), some symbols ahead.

    ``lefts`` and ``rights`` are the transitions of p and q; only symbols that are more than
    ``likely`` count. Where q has no transition, it would take p's, and nothing more is lost. A last
    row and column of 0 stand for undefined states.
    """
    costs = np.zeros((len(lefts) + 1, len(rights) + 1), local.dtype)
    costs[:-1, :-1] = local
    symbols, states = (rows[:, 1:] > likely).T.nonzero()
    runs = find_runs(symbols)
    for _ in range(sweeps):
        following = local.copy()
        for begin, end, symbol in runs:
            # Parts of the left states keep what is gathered at once within the cache.
            for first in range(begin, end, _PART):
                here = states[first : min(end, first + _PART)]
                found = costs[lefts[here, symbol]].take(rights[:, symbol], axis=1)
                found *= rows[here, symbol + 1, None]
                following[here] += found
        costs[:-1, :-1] = following
    return costs


def merge_costs(machine: Machine, visited: Floats, sweeps: int) -> Numbers:
    """Estimate what is lost if all that enters p is led to q, for all p and q."""
    kind = np.float32 if len(visited) > _MOST_DOUBLE else np.float64
    rows: Numbers = machine.rows.astype(kind)
    visits: Numbers = visited.astype(kind)
    count, width = rows.shape
    # KL(row p ‖ the row of p and q merged, weighted by their visits), in parts that fit in memory.
    local = np.empty((count, count), rows.dtype)
    part = max(1, _MOST_CELLS // (count * width))
    shares = np.maximum(visits, _TINY)
    for begin in range(0, count, part):
        chosen = slice(begin, begin + part)
        weights = shares[chosen, None] / (shares[chosen, None] + shares)
        means = weights[:, :, None] * (rows[chosen, None, :] - rows)
        means += rows
        np.log(np.maximum(means, _TINY, out=means), out=means)
        local[chosen] = -(means @ rows[chosen, :, None])[:, :, 0]
    local += xlogy(rows, rows).sum(axis=1)[:, None]
    np.maximum(local, 0, out=local)
    moves = machine.transitions.astype(np.int64)
    costs = future_costs(local, moves, rows, moves, sweeps)[:-1, :-1]
    costs *= visits[:, None]
    costs += (visits[:, None] * local).T
    np.fill_diagonal(costs, np.inf)
    return costs
