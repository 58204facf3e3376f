"""Automata while they are being distilled: plain arrays, every transition leads somewhere."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order

from pdfalearn.alphabet import Alphabet
from pdfalearn.distilling.evidence import Evidence, Floats, Numbers, Singles
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


def rare_loss(fit: Fit, evidence: Evidence, drawn: Floats) -> float:
    """Return by how much words that are too rare to be drawn may raise the loss.

    Parameters
    ----------
    fit : Fit
        The automaton.
    evidence : Evidence
        What the model answered, also where it was asked because automata were blind there.
    drawn : array of float
        How many of the drawn words pass every node.
    """
    rare = ((drawn == 0) & (fit.states >= 0)).nonzero()[0]
    answers, logs = evidence.answers[rare], fit.machine.logs
    groups = csr_array(
        (evidence.weights[rare], (fit.states[rare], np.arange(len(rare)))),
        shape=(len(fit.machine), len(rare)),
    )
    sums = groups @ answers
    crossed = (sums.multiply(logs) if isinstance(sums, csr_array) else sums * logs).sum()
    weights = evidence.weights[rare]
    more = weights @ evidence.negative_entropies[rare] - crossed - weights.sum() * fit.loss
    return max(0.0, float(more) / max(1.0, float(drawn.sum())))


def automaton(fit: Fit, evidence: Evidence, alphabet: Alphabet) -> PDFA:
    """Make a PDFA: what has probability 0 and was never taken is undefined."""
    machine = fit.machine
    taken = _taken(fit, evidence)
    transitions = np.full((len(machine), len(alphabet)), -1, dtype=np.int32)
    rows = np.zeros((len(machine), len(alphabet) + 1))
    is_there = taken | (machine.rows[:, 1:] > 0)
    transitions[:, evidence.codes] = np.where(is_there, machine.transitions, -1)
    rows[:, 0], rows[:, evidence.codes + 1] = machine.rows[:, 0], machine.rows[:, 1:]
    return PDFA(alphabet=alphabet, transitions=transitions, probabilities=rows)


def _taken(fit: Fit, evidence: Evidence) -> NDArray[np.bool_]:
    """Return which transitions words take."""
    taken = np.zeros(fit.machine.transitions.shape, dtype=bool)
    befores = fit.states[evidence.parents[1:]]
    known = befores >= 0
    taken[befores[known], evidence.symbols[1:][known]] = True
    return taken


def widened(machine: Machine, codes: Numbers, wider: Numbers) -> Machine:
    """Return a machine over more symbols; what it does not know yet leads to the initial state.

    Parameters
    ----------
    machine : Machine
        The automaton.
    codes : array of int
        Its symbols, in order.
    wider : array of int
        These and others, in order.
    """
    if len(codes) == len(wider):
        return machine
    places = np.searchsorted(wider, codes)
    transitions = np.zeros((len(machine), len(wider)), dtype=np.int32)
    transitions[:, places] = machine.transitions
    tables = []
    for table in (machine.rows, machine.priors):
        larger = np.zeros((len(machine), len(wider) + 1))
        larger[:, 0], larger[:, places + 1] = table[:, 0], table[:, 1:]
        tables.append(larger)
    return Machine(transitions, *tables)


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


def pruned(fit: Fit, evidence: Evidence) -> Fit:
    """Return a fit without states that no possible word reaches."""
    machine, size = fit.machine, len(fit.machine)
    taken = _taken(fit, evidence)
    states, symbols = (taken | (machine.rows[:, 1:] > 0)).nonzero()
    places = (states, machine.transitions[states, symbols])
    graph = csr_array((np.ones(len(states), dtype=np.int8), places), shape=(size, size))
    kept = np.zeros(size, dtype=bool)
    kept[breadth_first_order(graph, 0, return_predecessors=False)] = True
    if kept.all():
        return fit
    targets = np.where(kept, np.arange(size), 0).astype(np.int32)
    return fitted(chosen(machine, targets, kept), evidence)


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
