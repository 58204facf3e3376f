"""Automata while they are being distilled: plain arrays, every transition leads somewhere."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pdfalearn.alphabet import Alphabet
from pdfalearn.distilling.evidence import Evidence
from pdfalearn.pdfa import PDFA
from pdfalearn.typing import Floats, Integers

States = NDArray[np.int32]

# Rows are drawn to their prior as if this many words had shown it.
PRIOR_WEIGHT = 1.0
# While automata are compared, no symbol is less likely than this.
FLOOR = 1e-9


class Machine(NamedTuple):
    """An automaton whose first state is the initial one."""

    transitions: States
    rows: Floats
    # What each row is drawn to, where few words were seen.
    priors: Floats


class Fit(NamedTuple):
    """A machine whose rows are the best for some evidence, and how good that is."""

    machine: Machine
    # The logarithms of its rows, none below the floor's.
    logs: Floats
    # The state after every node's word.
    states: States
    # The weighted mean of KL(answer ‖ row).
    loss: float


def fit_rows(
    machine: Machine,
    evidence: Evidence,
    *,
    within: bool = True,
    prior_weight: float = PRIOR_WEIGHT,
    exact: bool = True,
) -> Fit:
    """Return a machine with rows re-estimated on evidence, and its loss.

    Rows are means of answers, drawn to their priors as if ``prior_weight`` words had shown these; a
    state that no word has reached keeps its prior. ``within`` keeps rows within the supports that
    were shown; else priors show symbols too. Where rows need not be ``exact``, single precision is
    faster.
    """
    states = evidence.states(machine.transitions, 0)
    sums, weights = evidence.sums(states, len(machine.rows), exact=exact)
    rows = shrink_rows(sums, weights, machine.priors, prior_weight, within=within)
    logs = np.maximum(rows, FLOOR)
    np.log(logs, out=logs)
    crossed = float(np.vdot(sums, logs))
    loss = (float(evidence.weights @ evidence.negative_entropies) - crossed) / evidence.total
    return Fit(machine._replace(rows=rows), logs, states, loss)


def shrink_rows(
    sums: Floats, weights: Floats, priors: Floats, prior_weight: float, *, within: bool = True
) -> Floats:
    """Return means of answers, drawn to priors as if ``prior_weight`` words had shown these."""
    rows: Floats = prior_weight * priors
    if within:
        rows *= (sums > 0) | (weights == 0)[:, None]
    rows += sums
    rows /= rows.sum(axis=1, keepdims=True)
    return rows


def spread_rows(machine: Machine, lumped: Evidence) -> Machine:
    """Return a machine with a column for each symbol, where rare ones shared one."""
    rows, priors = lumped.spread(machine.rows), lumped.spread(machine.priors)
    return Machine(machine.transitions, rows, priors)


def make_pdfa(fit: Fit, evidence: Evidence, alphabet: Alphabet) -> PDFA:
    """Make a PDFA: what has probability 0 and was never taken is undefined."""
    machine, codes = fit.machine, evidence.codes
    possible = find_possible(machine.rows, fit.states, evidence)
    transitions = np.full((len(machine.rows), len(alphabet)), -1, dtype=np.int32)
    transitions[:, codes] = np.where(possible, machine.transitions, -1)
    rows = np.zeros((len(machine.rows), len(alphabet) + 1))
    rows[:, np.append(0, codes + 1)] = machine.rows
    return PDFA(alphabet=alphabet, transitions=transitions, probabilities=rows)


def find_possible(rows: Floats, states: States, evidence: Evidence) -> NDArray[np.bool_]:
    """Return which transitions words take, or have a probability above 0.

    ``states`` has the state after every node's word.
    """
    possible = evidence.spread(rows)[:, 1:] > 0
    befores = states[evidence.parents[1:]]
    known = befores >= 0
    possible[befores[known], evidence.symbols[1:][known]] = True
    return possible


def widen(machine: Machine, codes: Integers, wider: Integers) -> Machine:
    """Return a machine over more symbols; what it does not know yet leads to the initial state.

    ``codes`` are its symbols, and ``wider`` these and others; both are sorted.
    """
    if len(codes) == len(wider):
        return machine
    places = np.searchsorted(wider, codes)
    transitions = np.zeros((len(machine.rows), len(wider)), dtype=np.int32)
    transitions[:, places] = machine.transitions
    columns = np.append(0, places + 1)
    rows, priors = np.zeros((2, len(machine.rows), len(wider) + 1))
    rows[:, columns], priors[:, columns] = machine.rows, machine.priors
    return Machine(transitions, rows, priors)


def prune(fit: Fit, evidence: Evidence) -> Fit:
    """Return a fit without states that no possible word reaches; what led there leads to the first.

    No node's word is in these states.
    """
    machine, count = fit.machine, len(fit.machine.rows)
    possible = find_possible(machine.rows, fit.states, evidence)
    kept = _find_reached(np.where(possible, machine.transitions, -1), 0)
    if len(kept) == count:
        return fit
    numbers = np.zeros(count + 1, dtype=np.int32)
    numbers[kept], numbers[-1] = np.arange(len(kept)), -1
    transitions = numbers[machine.transitions[kept]]
    pruned = Machine(transitions, machine.rows[kept], machine.priors[kept])
    return Fit(pruned, fit.logs[kept], numbers[fit.states], fit.loss)


def _find_reached(transitions: States, initial: int) -> Integers:
    """Return the states that words reach, in their order."""
    is_reached = np.zeros(len(transitions) + 1, dtype=bool)
    new = np.array([initial])
    while len(new):
        is_reached[new] = True
        is_next = np.zeros(len(is_reached), dtype=bool)
        is_next[transitions[new]] = True
        is_next[-1] = False  # where transitions are undefined
        new = (is_next & ~is_reached).nonzero()[0]
    return is_reached.nonzero()[0]


def redirect(machine: Machine, targets: States) -> Machine:
    """Lead what enters each state to its target; keep the states that are reached then.

    The initial state's target comes first, the others stay in their order. A target is its own.
    """
    moved = machine._replace(transitions=targets[machine.transitions])
    first = int(targets[0])
    reached = _find_reached(moved.transitions, first)
    if first == 0 and len(reached) == len(targets):
        return moved
    return take_states(moved, np.concatenate(([first], reached[reached != first])))


def take_states(machine: Machine, order: Integers) -> Machine:
    """Return a machine with some states in a new order; what led to others becomes undefined."""
    numbers = np.full(len(machine.rows) + 1, -1, dtype=np.int32)
    numbers[order] = np.arange(len(order), dtype=np.int32)
    transitions = numbers[machine.transitions[order]]
    return Machine(transitions, machine.rows[order], machine.priors[order])
