"""Add states: transitions get a state of their own where that helps most."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pdfalearn.distilling.costs import subtree_costs
from pdfalearn.distilling.evidence import Evidence, Floats, Numbers, Singles, weight_sums
from pdfalearn.distilling.machines import Fit, Machine
from pdfalearn.distilling.polishing import Edges


class _Onward(NamedTuple):
    """How the words that take an edge go on, for every edge and symbol that they take."""

    edges: Numbers
    symbols: Numbers
    best: Numbers
    """The state that suits these words best."""
    gains: Singles
    """What that gains in nats."""


def grown(fit: Fit, evidence: Evidence, count: int) -> Machine:
    """Return a machine with at most this many more states.

    Each new state is that of one transition: its row is the mean of the answers after it, and it
    goes on with every symbol to the state that suits best the words that take this transition.

    Parameters
    ----------
    fit : Fit
        The machine.
    evidence : Evidence
        What the model answered.
    count : int
        How many states more, at most.
    """
    edges = Edges(fit, evidence)
    onward = _onward(fit.machine, edges, evidence)
    sums, weights = evidence.sums(edges.of_node, len(edges.numbers))
    means = sums / weights[:, None]
    gains = weight_sums(onward.edges, onward.gains, len(edges.numbers))
    gains += weights * _divergences(means, fit.machine.logs[edges.targets])
    entering = np.bincount(edges.targets, minlength=len(fit.machine))
    gains[entering[edges.targets] == 1] = 0.0  # these have their state for themselves
    gains[0] = 0.0
    best = np.argsort(-gains, kind="stable")[:count]
    best = best[gains[best] > 0]
    return _with_states(fit.machine, edges, onward, best, means[best])


def _onward(machine: Machine, edges: Edges, evidence: Evidence) -> _Onward:
    numbers = edges.of_node[evidence.parents] * evidence.width + evidence.symbols
    numbers[0] = -1
    pairs, of_node = np.unique(numbers, return_inverse=True)
    costs = subtree_costs(machine, evidence, of_node, len(pairs))[1:]
    owners, symbols = np.divmod(pairs[1:], evidence.width)
    best, places = costs.argmin(axis=1), np.arange(len(owners))
    now = machine.transitions[edges.targets[owners], symbols]
    gains: Singles = costs[places, now] - costs[places, best]
    return _Onward(owners, symbols, best, gains)


def _divergences(means: Floats, logs: Floats) -> Floats:
    positive = np.where(means > 0, means, 1.0)
    return np.asarray((means * (np.log(positive) - logs)).sum(axis=1))


def _with_states(
    machine: Machine, edges: Edges, onward: _Onward, best: Numbers, means: Floats
) -> Machine:
    """Add a state for each of the best edges."""
    olds = edges.targets[best]
    places = np.full(len(edges.numbers), -1)
    places[best] = len(machine) + np.arange(len(best))
    transitions = np.concatenate((machine.transitions, machine.transitions[olds]))
    mine = (places[onward.edges] >= 0).nonzero()[0]
    transitions[places[onward.edges[mine]], onward.symbols[mine]] = onward.best[mine]
    transitions.reshape(-1)[edges.numbers[best]] = places[best]
    rows = np.concatenate((machine.rows, means))
    return Machine(transitions, rows, np.concatenate((machine.priors, machine.rows[olds])))
