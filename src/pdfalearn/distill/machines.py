"""Automata while they are being distilled: plain arrays, every transition leads somewhere."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pdfalearn.distill.evidence import Evidence, Floats, Singles

States = NDArray[np.int32]

PRIOR_WEIGHT = 1.0
"""Rows are drawn to their prior as if this many words had shown it."""
FLOOR = 1e-9
"""While automata are compared, no symbol is less likely than this."""


class Machine(NamedTuple):
    """An automaton whose first state is the initial one."""

    transitions: States
    rows: Floats
    priors: Floats
    """What each row is drawn to, where few words were seen."""

    def __len__(self) -> int:
        return len(self.transitions)

    @property
    def logs(self) -> Floats:
        """The logarithms of the rows, none below the floor's."""
        return np.log(np.maximum(self.rows, FLOOR))


class Fit(NamedTuple):
    """A machine whose rows are the best for some evidence, and how good that is."""

    machine: Machine
    states: States
    """The state after every node's word."""
    weights: Floats
    """How much weight each state has."""
    loss: float
    """The weighted mean of KL(answer ‖ row)."""


def fitted(machine: Machine, evidence: Evidence) -> Fit:
    """Return a machine with rows re-estimated on evidence, and its loss."""
    states = evidence.states(machine.transitions, 0)
    sums, weights = evidence.sums(states, len(machine))
    rows = shrunk(sums, weights, machine.priors)
    fitting = Machine(machine.transitions, rows, machine.priors)
    crossed = float((sums * fitting.logs).sum())
    loss = (float(evidence.weights @ evidence.negative_entropies) - crossed) / evidence.total
    return Fit(fitting, states, weights, loss)


def shrunk(sums: Floats, weights: Floats, priors: Floats) -> Floats:
    """Return means drawn to their priors, within the supports that were shown.

    A state that no word has reached keeps its prior.
    """
    rows = sums + PRIOR_WEIGHT * np.where((sums > 0) | (weights == 0)[:, None], priors, 0.0)
    return np.asarray(rows / rows.sum(axis=1, keepdims=True))


def reached(machine: Machine) -> NDArray[np.bool_]:
    """Return which states the initial one leads to."""
    seen = np.zeros(len(machine), dtype=bool)
    new = np.zeros(1, dtype=np.int64)
    while len(new):
        seen[new] = True
        successors = np.zeros(len(machine), dtype=bool)
        successors[machine.transitions[new]] = True
        new = (successors & ~seen).nonzero()[0]
    return seen


def chosen(machine: Machine, targets: States, kept: NDArray[np.bool_]) -> Machine:
    """Return a machine of the kept states, in their order; others are led to their targets.

    The initial state comes first. Targets are kept states.
    """
    first = targets[0]
    order = np.concatenate(([first], np.setdiff1d(kept.nonzero()[0], [first])))
    numbers = np.full(len(machine), -1, dtype=np.int32)
    numbers[order] = np.arange(len(order), dtype=np.int32)
    return Machine(
        numbers[targets[machine.transitions[order]]], machine.rows[order], machine.priors[order]
    )


def only_reached(machine: Machine) -> Machine:
    """Return a machine without states that nothing leads to."""
    kept = reached(machine)
    if kept.all():
        return machine
    return chosen(machine, np.arange(len(machine), dtype=np.int32), kept)


def log_table(machine: Machine) -> Singles:
    """Return the logarithms of rows by symbol and state, ready to be multiplied with answers."""
    return np.ascontiguousarray(machine.logs.T.astype(np.float32))
