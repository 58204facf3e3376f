"""Make automata smaller: lead what enters one state to another that suits its words as well."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from pdfalearn.distilling.evidence import Evidence, Singles
from pdfalearn.distilling.machines import Fit, Machine, States, chosen, fitted, only_reached
from pdfalearn.distilling.polishing import Edges

_SWEEPS = 3
"""Futures are compared this many symbols ahead."""
_LIKELY = 0.02
"""Futures follow only symbols that are at least this likely."""
_AS_IF_SEEN = 0.3
"""A merge costs more, as if this many unseen words were in the state that is removed."""
_WORST = 5.0
"""No unseen word costs more nats than this."""
_ONE_BY_ONE = 16
"""At most this many states are removed one at a time."""
_TRIED = 3
"""How many candidates are tried when states are removed one at a time."""
_FEW = 128
_SHARES = (0.08, 0.15)
"""With more states, this share is removed at a time: up to `_FEW` states, and beyond."""


def reduced(fit: Fit, evidence: Evidence, most: int) -> Fit:
    """Return a machine of at most this many states.

    Which state goes is decided by what the words that enter it would cost in another state, and by
    how far the futures of the two differ, for words that were not seen.

    Parameters
    ----------
    fit : Fit
        The machine.
    evidence : Evidence
        What the model answered.
    most : int
        How many states there may be.
    """
    while (size := len(fit.machine)) > most:
        costs = _merge_costs(fit, evidence)
        if size <= _ONE_BY_ONE:
            fit = _one_less(fit, evidence, costs)
        else:
            share = _SHARES[size > _FEW]
            count = min(size - most, max(1, int(share * size)))
            fit = fitted(_redirected(fit.machine, _targets(costs, count)), evidence)
    return fit


def _merge_costs(fit: Fit, evidence: Evidence) -> Singles:
    """Return what it costs to lead all that enters a state (row) to another (column)."""
    edges, size = Edges(fit, evidence), len(fit.machine)
    ones = np.ones(len(edges.targets), dtype=np.float32)
    places = (edges.targets, np.arange(len(edges.targets)))
    entering = csr_array((ones, places), shape=(size, len(edges.targets))) @ edges.costs
    costs = np.asarray(entering - np.diag(entering)[:, None])
    costs += _AS_IF_SEEN * np.minimum(future_divergences(fit.machine), _WORST)
    np.fill_diagonal(costs, np.inf)
    return costs


def future_divergences(machine: Machine) -> Singles:
    """Return D(p‖q), the divergence of what follows state q from what follows p, for all pairs.

    D(p‖q) = KL(row of p ‖ row of q) + Σ (row of p)(a) · D(p after a ‖ q after a), over symbols a.
    """
    rows, logs = machine.rows.astype(np.float32), machine.logs.astype(np.float32)
    now: Singles = (rows * logs).sum(axis=1)[:, None] - rows @ logs.T
    np.maximum(now, 0.0, out=now)
    symbols, states = (rows[:, 1:] >= _LIKELY).T.nonzero()
    borders = [*np.flatnonzero(np.diff(symbols, prepend=-1)).tolist(), len(symbols)]
    ahead = now
    for _ in range(_SWEEPS):
        later = now.copy()
        for begin, end in pairwise(borders):
            here, column = states[begin:end], int(symbols[begin])
            targets = machine.transitions[:, column].astype(np.int64)
            led = np.take(ahead[targets[here]], targets, axis=1)
            led *= rows[here, column + 1, None]
            later[here] += led
        ahead = later
    return ahead


def _targets(costs: Singles, count: int) -> States:
    """Choose states to remove, the cheapest first, and the state that takes the place of each."""
    size = len(costs)
    nearest = costs.argmin(axis=1)
    order = np.argsort(costs[np.arange(size), nearest], kind="stable").tolist()
    targets, is_needed = list(range(size)), [False] * size
    for state in order:
        to = int(nearest[state])
        if not count:
            break
        if not is_needed[state] and targets[to] == to:
            targets[state], is_needed[to] = to, True
            count -= 1
    return np.array(targets, dtype=np.int32)


def _redirected(machine: Machine, targets: States) -> Machine:
    kept: NDArray[np.bool_] = targets == np.arange(len(machine))
    return only_reached(chosen(machine, targets, kept))


def _one_less(fit: Fit, evidence: Evidence, costs: Singles) -> Fit:
    """Try the cheapest merges; return the machine with the least loss."""
    pairs = len(costs) * (len(costs) - 1)
    cheapest = np.argsort(costs, axis=None, kind="stable")[: min(_TRIED, pairs)]
    trials = []
    for state, to in zip(*np.unravel_index(cheapest, costs.shape), strict=True):
        targets = np.arange(len(costs), dtype=np.int32)
        targets[state] = to
        trials.append(fitted(_redirected(fit.machine, targets), evidence))
    return min(trials, key=lambda trial: trial.loss)
