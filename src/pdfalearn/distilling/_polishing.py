"""Move the transitions of a small automaton to where least is lost, and split its states."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import diags_array

from pdfalearn.distilling._original import Original, flow_matrix
from pdfalearn.distilling.futures import States

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

_SWEEPS = 8
"""Futures are compared this many symbols ahead."""
_ROUNDS = 12
_MOST_WORK = 2e8
"""Rounds times all pairs of states, and ten times the reached ones, times symbols."""
_GAIN = 1e-3
"""Rounds go on while the loss falls by this share."""
_PART = 64
_LEAST = 1e-300


class Fit(NamedTuple):
    """A smaller automaton and what it loses per symbol."""

    states: States
    loss: float


def polished(original: Original, fit: Fit) -> Fit:
    """Move transitions while that makes the loss fall."""
    work = original.pdfa.transitions.size * len(fit.states.rows) + 10 * original.work
    for _ in range(min(_ROUNDS, int(_MOST_WORK / work))):
        better = _moved(original, fit)
        if better is None:
            return fit
        gained, fit = fit.loss - better.loss, better
        if gained <= _GAIN * fit.loss:
            return fit
    return fit


def _moved(original: Original, fit: Fit) -> Fit | None:
    """Move the better half of the transitions that gain, or fewer; None if nothing helps."""
    gains, targets = _gains(original, fit.states)
    order = np.argsort(-gains, axis=None)
    count = (int((gains > 1e-2 * _GAIN * fit.loss).sum()) + 1) // 2
    while count:
        places = np.unravel_index(order[:count], gains.shape)
        transitions = fit.states.transitions.copy()
        transitions[places] = targets[places]
        trial = Fit(*original.refit(fit.states._replace(transitions=transitions)))
        if trial.loss < fit.loss:
            return trial
        count //= 4
    return None


def _gains(original: Original, states: States) -> tuple[Floats, Indices]:
    """Return what each transition would gain, and where it should lead.

    An undefined transition stays undefined.
    """
    chain = original.walked(states)[1]
    flows = flow_matrix(chain, original.weights(chain))
    costs = costs_to_go(original, states)
    gains, targets = np.zeros(states.transitions.shape), states.transitions.copy()
    here = np.arange(len(gains))
    for symbol, successors in enumerate(original.pdfa.transitions.T):
        totals = (flows @ diags_array(original.rows[:, symbol + 1])) @ costs[successors]
        best = totals.argmin(axis=1)
        gain = totals[here, targets[:, symbol]] - totals[here, best]
        better = (targets[:, symbol] >= 0) & (gain > 0)
        gains[better, symbol] = gain[better]
        targets[better, symbol] = best[better]
    return gains, targets


def costs_to_go(original: Original, states: States) -> Floats:
    """Return the expected divergence of the next symbols from each pair of states on.

    The last row is 0, for undefined successors of the original.
    """
    logs = np.log(np.maximum(states.rows, _LEAST))
    local = original.negative_entropies[:, None] - original.rows @ logs.T
    costs = np.zeros((len(local) + 1, local.shape[1] + 1))
    costs[:-1, :-1] = local
    for _ in range(_SWEEPS):
        following = local.copy()
        for begin in range(0, len(local), _PART):
            _add_one_symbol(following, costs, original, states, slice(begin, begin + _PART))
        costs[:-1, :-1] = following
    return costs[:, :-1]


def _add_one_symbol(
    following: Floats, costs: Floats, original: Original, states: States, chosen: slice
) -> None:
    """Add the costs after one symbol more to those of some of the original's states."""
    for symbol, successors in enumerate(original.pdfa.transitions[chosen].T):
        found = costs[successors].take(states.transitions[:, symbol], axis=1)
        found *= original.rows[chosen, symbol + 1, None]
        following[chosen] += found


def split(original: Original, fit: Fit, count: int) -> Fit:
    """Add a state beside each of those that lose most, and lead there what fits it better.

    It begins with a row between that of the state and that of the original's state that loses
    most in it.
    """
    states, chain = original.walked(fit.states)
    lost = _losses(original, states.rows, chain.lefts, chain.rights) * original.weights(chain)
    by_state = np.bincount(chain.rights, weights=lost, minlength=len(states.rows))
    chosen = np.argsort(-by_state)[:count]
    order = np.lexsort((lost, chain.rights))
    worst = order[np.searchsorted(chain.rights[order], chosen, side="right") - 1]
    rows = 0.5 * (states.rows[chosen] + original.rows[chain.lefts[worst]])
    wider = states._replace(
        transitions=np.concatenate((states.transitions, states.transitions[chosen])),
        rows=np.concatenate((states.rows, rows)),
        visits=np.concatenate((states.visits, np.zeros(len(chosen)))),
    )
    _, targets = _gains(original, wider)
    return Fit(*original.refit(wider._replace(transitions=targets)))


def _losses(original: Original, rows: Floats, lefts: Indices, rights: Indices) -> Floats:
    """Return the divergence of a result's rows from the original's, pair by pair."""
    logs = np.log(np.maximum(rows, _LEAST))
    crossed = np.einsum("ij,ij->i", original.rows[lefts], logs[rights])
    return np.asarray(original.negative_entropies[lefts] - crossed)
