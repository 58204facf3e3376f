"""Lead transitions where the words that take them are predicted best."""

from __future__ import annotations

import numpy as np

from pdfalearn.distilling.costs import subtree_costs
from pdfalearn.distilling.evidence import Evidence, Numbers, Singles, weight_sums
from pdfalearn.distilling.machines import Fit, Machine, fitted

_ROUNDS = 12
"""Polishing ends after this many rounds at the latest."""
_WORTH_IT = 2e-3
"""Polishing ends when a round lowers the loss by less than this share."""
_RELUCTANCE = 0.5
"""A transition that one word or more takes is moved if it gains at least this many nats."""


class Edges:
    """The transitions that words take, and what each would cost with every target.

    Parameters
    ----------
    fit : Fit
        The machine.
    evidence : Evidence
        The words.
    """

    def __init__(self, fit: Fit, evidence: Evidence) -> None:
        width = evidence.width
        numbers = fit.states[evidence.parents].astype(np.int64) * width + evidence.symbols
        numbers[0] = -1  # the beginning is one too
        self.numbers, self.of_node = np.unique(numbers, return_inverse=True)
        """Transitions as state * symbols + symbol, first -1; and the place of each node's."""
        self.weights = weight_sums(self.of_node, evidence.weights)
        self.costs: Singles = subtree_costs(fit.machine, evidence, self.of_node, len(self.numbers))
        self.targets = fit.machine.transitions.reshape(-1)[self.numbers]
        self.targets[0] = 0


def polished(machine: Machine, evidence: Evidence, *, within: bool = True) -> Fit:
    """Return a machine whose transitions and rows fit evidence better, if there is one.

    Parameters
    ----------
    machine : Machine
        Where to start.
    evidence : Evidence
        What the model answered.
    within : bool
        Whether rows stay within the supports that were shown.
    """
    fit, share = fitted(machine, evidence, within=within), 0.5
    for _ in range(_ROUNDS):
        moves, targets = _moves(Edges(fit, evidence))
        better = None
        while better is None and len(moves):
            count = max(1, int(share * len(moves)))
            moved = _moved(fit.machine, moves[:count], targets[:count])
            trial = fitted(moved, evidence, within=within)
            if trial.loss < fit.loss:
                better = trial
            elif count == 1:
                break
            share /= 2
        if better is None:
            break
        share = min(1.0, 4 * share)
        is_enough = better.loss > (1 - _WORTH_IT) * fit.loss
        fit = better
        if is_enough:
            break
    return fit


def _moves(edges: Edges) -> tuple[Numbers, Numbers]:
    """Return the transitions that are worth moving and their targets, the best first."""
    places = np.arange(len(edges.numbers))
    news = edges.costs.argmin(axis=1)
    gains = edges.costs[places, edges.targets] - edges.costs[places, news]
    worth = gains > _RELUCTANCE * np.minimum(edges.weights, 1.0)
    worth[0] = False
    places = places[worth]
    places = places[np.argsort(-gains[places], kind="stable")]
    return edges.numbers[places], news[places]


def _moved(machine: Machine, edges: Numbers, targets: Numbers) -> Machine:
    transitions = machine.transitions.copy()
    transitions.reshape(-1)[edges] = targets
    return Machine(transitions, machine.rows, machine.priors)
