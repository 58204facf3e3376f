"""Whether an automaton is the one that a network was trained on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from benchmarks.distilling.answers import Answers, Floats, Integers
from benchmarks.distilling.measuring import divergence
from pdfalearn import PDFA
from pdfalearn.errors import InputError

LEAST = 0.01
"""Edges of less probability do not count."""
LEAST_LOGARITHM = -1e3
"""The logarithm of 0, where rows are compared."""


@dataclass(frozen=True)
class Verdict:
    """What became of the truth."""

    same: bool
    """Whether the candidate has the true structure."""
    loss: float
    """The candidate's divergence on held-out words."""
    true_loss: float
    """The same of the true structure with rows of the network's."""

    @property
    def is_counted(self) -> bool:
        """Whether the network has learnt the truth: no other structure is nearer to it."""
        return self.same or self.true_loss <= self.loss


def verdict(true: PDFA, candidate: PDFA, training: Answers, held_out: Answers) -> Verdict:
    """Hold an automaton that was found against the one that the network was trained on.

    Parameters
    ----------
    true, candidate : PDFA
        The automata.
    training : Answers
        Words of the network, which say what states are visited, and what rows they have.
    held_out : Answers
        Other words, on which the two are compared.
    """
    refit = refitted(true, training)
    visited = np.bincount(training.states(refit), minlength=len(true)) > 0
    same = same_structure(true, candidate, visited)
    losses = (divergence(pdfa, held_out).total for pdfa in (candidate, refit))
    return Verdict(same, *losses)


def same_structure(
    true: PDFA, candidate: PDFA, visited: NDArray[np.bool_] | None = None, least: float = LEAST
) -> bool:
    """Return whether two automata are equal up to renaming, on all edges that matter.

    Parameters
    ----------
    true, candidate : PDFA
        The automata, over the same symbols.
    visited : array of bool, optional
        The states of the true one that count; all if not given.
    least : float
        Edges of the true one with less probability do not count.

    Examples
    --------
    >>> from pdfalearn.datasets import figure_3, tomita
    >>> same_structure(figure_3(), figure_3()), same_structure(tomita(5), tomita(6))
    (True, False)
    """
    if true.alphabet != candidate.alphabet:
        raise InputError(f"the alphabets differ: {true.alphabet} and {candidate.alphabet}")
    counts = np.ones(len(true), dtype=bool) if visited is None else visited
    edges = (true.probabilities[:, 1:] >= least) & (true.transitions >= 0) & counts[:, None]
    edges &= counts[true.transitions]
    names, queue = {true.initial: candidate.initial}, [true.initial]
    for state in queue:
        for symbol in edges[state].nonzero()[0].tolist():
            target = int(true.transitions[state, symbol])
            found = int(candidate.transitions[names[state], symbol])
            if target not in names:
                names[target] = found
                queue.append(target)
            if found < 0 or names[target] != found:
                return False
    return len(set(names.values())) == len(names)


def refitted(true: PDFA, answers: Answers) -> PDFA:
    """Return an automaton whose rows are means of a network's answers, with its structure.

    Where the network goes on and the automaton does not, the edge leads to the state that fits the
    answers behind it best. States that no word reaches keep their rows.

    Examples
    --------
    >>> from benchmarks.distilling.answers import asked
    >>> from benchmarks.distilling.black_boxes import BlackBox
    >>> from pdfalearn.datasets import figure_3
    >>> refit = refitted(figure_3(), asked(BlackBox(figure_3()), 1000, seed=1))
    >>> bool(np.allclose(refit.probabilities, figure_3().probabilities))
    True
    """
    rows = _means(true.probabilities, answers.states(true), answers)
    table = _completed(true, rows, answers)
    rows = _means(rows, answers.states_in(table, true.initial), answers)
    return PDFA(
        alphabet=true.alphabet,
        transitions=np.where(table < 0, true.initial, table)[:-1],
        probabilities=rows,
        initial=true.initial,
    )


def _means(rows: Floats, states: Integers, answers: Answers) -> Floats:
    """Return the mean answer in each state, and the row as it was where there is none."""
    places = (states >= 0).nonzero()[0]
    weights = (answers.weights[places], (states[places], places))
    sums = np.asarray(csr_array(weights, (len(rows), len(states))) @ answers.rows)
    totals = sums.sum(axis=1, keepdims=True)
    return np.where(totals > 0, sums / np.maximum(totals, 1e-300), rows)


def _completed(true: PDFA, rows: Floats, answers: Answers) -> NDArray[np.int32]:
    """Return the table with a target for every edge that a word takes, and a row of -1 below.

    A new target leads words on to edges that lack one still, and so it goes on until none does.
    """
    table, width = true.table.copy(), len(true.alphabet)
    while True:
        states = answers.states_in(table, true.initial)
        before = states[answers.parents]
        lost = ((states < 0) & (before >= 0) & (answers.parents >= 0)).nonzero()[0]
        if not len(lost):
            return table
        edges, places = np.unique(before[lost] * width + answers.symbols[lost], return_inverse=True)
        costs = np.zeros((len(edges), len(true)))
        np.add.at(costs, places, _costs(table, rows, answers)[lost])
        table[np.divmod(edges, width)] = costs.argmin(axis=1)


def _costs(table: NDArray[np.int32], rows: Floats, answers: Answers) -> Floats:
    """Return what each prefix and all beyond it would cost if it were in each of the states.

    An edge without a target is taken to lead to the cheapest one.
    """
    with np.errstate(divide="ignore"):
        logarithms = np.maximum(np.log(rows), LEAST_LOGARITHM)
    costs = -(answers.weights[:, None] * answers.rows) @ logarithms.T
    for level in reversed(answers.levels):
        with_cheapest = np.column_stack((costs[level], costs[level].min(axis=1)))
        targets = table[:-1, answers.symbols[level]].T
        beyond = np.take_along_axis(with_cheapest, targets % (len(rows) + 1), axis=1)
        np.add.at(costs, answers.parents[level], beyond)
    return costs
