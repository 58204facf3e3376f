"""Automata while they are being distilled: plain arrays, every transition leads somewhere."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pdfalearn.alphabet import Alphabet
from pdfalearn.distilling.evidence import Evidence, Floats, Singles
from pdfalearn.pdfa import PDFA

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


def fitted(machine: Machine, evidence: Evidence, *, within: bool = True) -> Fit:
    """Return a machine with rows re-estimated on evidence, and its loss.

    Parameters
    ----------
    machine : Machine
        The automaton.
    evidence : Evidence
        What the model answered.
    within : bool
        Whether rows stay within the supports that were shown; else priors show symbols too.
    """
    states = evidence.states(machine.transitions, 0)
    sums, weights = evidence.sums(states, len(machine))
    rows = _shrunk(sums, weights, machine.priors, within=within)
    fitting = Machine(machine.transitions, rows, machine.priors)
    crossed = float((sums * fitting.logs).sum())
    loss = (float(evidence.weights @ evidence.negative_entropies) - crossed) / evidence.total
    return Fit(fitting, states, weights, loss)


def _shrunk(sums: Floats, weights: Floats, priors: Floats, *, within: bool) -> Floats:
    """Return means drawn to their priors; a state that no word has reached keeps its prior."""
    if within:
        priors = np.where((sums > 0) | (weights == 0)[:, None], priors, 0.0)
    rows = sums + PRIOR_WEIGHT * priors
    return np.asarray(rows / rows.sum(axis=1, keepdims=True))


def automaton(fit: Fit, evidence: Evidence, alphabet: Alphabet) -> PDFA:
    """Make a PDFA: what has probability 0 and was never taken is undefined."""
    machine = fit.machine
    taken = np.zeros(machine.transitions.shape, dtype=bool)
    befores = fit.states[evidence.parents[1:]]
    known = befores >= 0
    taken[befores[known], evidence.symbols[1:][known]] = True
    transitions = np.where(taken | (machine.rows[:, 1:] > 0), machine.transitions, -1)
    return PDFA(alphabet=alphabet, transitions=transitions, probabilities=machine.rows)


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
