"""What the words below nodes would cost if the nodes were in other states."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from pdfalearn.distilling.evidence import Evidence, Numbers, Singles, Step
from pdfalearn.distilling.machines import Machine, log_table

_SHORT = 500
"""Where nodes with the same last symbol have fewer costs than this, all are led in one pass."""


def subtree_costs(machine: Machine, evidence: Evidence, groups: Numbers, count: int) -> Singles:
    """Return what nodes and all below them cost in every state, summed up by group.

    Parameters
    ----------
    machine : Machine
        The automaton.
    evidence : Evidence
        The nodes.
    groups : array of int
        The group of every node.
    count : int
        How many groups there are.

    Returns
    -------
    array of float, shape (groups, states)
        The sum of weight · KL(answer ‖ row), in nats.
    """
    costs: Singles = evidence.weighted @ log_table(machine)
    np.subtract(evidence.weighted_entropies[:, None], costs, out=costs)
    targets = np.ascontiguousarray(machine.transitions.T.astype(np.int64))
    for step in evidence.steps:
        led = _led(costs[step.below], step, targets)
        if step.sums is None:
            costs[step.above.start + step.parents] += led
        else:
            costs[step.above] += step.sums @ led
    ones = np.ones(len(evidence), dtype=np.float32)
    choice = csr_array((ones, (groups, np.arange(len(evidence)))), shape=(count, len(evidence)))
    return np.asarray(choice @ costs)


def _led(below: Singles, step: Step, targets: Numbers) -> Singles:
    """Return what nodes would cost for each state in which their parents could be."""
    count, size = below.shape
    if count * size < _SHORT * len(step.runs):
        begins = np.arange(0, count * size, size)[:, None]
        return np.asarray(below.reshape(-1).take(begins + targets[step.symbols]))
    led = np.empty_like(below)
    for begin, end, symbol in step.runs:
        below[begin:end].take(targets[symbol], axis=1, out=led[begin:end], mode="clip")
    return led
