"""What a smaller automaton loses against the one that it stands for."""

from __future__ import annotations

from math import inf

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import xlogy

from pdfalearn.chains.visits import Chain, visits_and_weights
from pdfalearn.chains.walks import normalise_rows
from pdfalearn.distilling.futures import States
from pdfalearn.errors import InputError
from pdfalearn.pdfa import PDFA, pdfa_of_arrays

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

_LEAST = 1e-300
_QUICK_ROUNDS = 25
_QUICK_STEPS = 8
_ACCURACY = 1e-10
_MOST_WORK = 2_000_000
"""On the way down, more pairs times symbols than these are not walked."""
_PASSING = 1e-9
"""The weight of what comes before the long run, where words never end."""


class Original:
    """An automaton whose words decide the rows of smaller ones; its initial state is 0."""

    def __init__(self, pdfa: PDFA) -> None:
        self.pdfa = pdfa
        self.rows = normalise_rows(pdfa.probabilities)
        self.negative_entropies = xlogy(self.rows, self.rows).sum(axis=1)
        chain = Chain.of(pdfa, pdfa)
        self.work = len(chain.sources)
        """The number of transitions between pairs that were walked last."""
        self._ends = bool((chain.components < 0).all())
        self._visits = np.zeros(len(pdfa))
        if self._ends:
            self._visits[chain.lefts] = visits_and_weights(chain)[0]

    @property
    def states(self) -> States:
        """The automaton itself, with its visits."""
        everything = np.arange(len(self.pdfa))
        transitions = self.pdfa.transitions.astype(np.int64)
        unknown = States(transitions, self.rows, np.ones(len(self.pdfa)), 0, everything)
        return self.fitted(unknown)[0]

    def refit(self, states: States) -> tuple[States, float]:
        """Do as `fitted` if words visit few pairs of states; else leave the states as they are."""
        symbols = states.transitions.shape[1]
        most = max(1000, _MOST_WORK // symbols)
        try:
            return self.fitted(states, most=most)
        except InputError:  # there are more pairs
            self.work = most * symbols
            return states, inf

    def fitted(self, states: States, *, most: int | None = None) -> tuple[States, float]:
        """Average the rows over the words that reach each state; leave out what none reaches.

        A missing transition that words need leads to what stands for the original's successor.
        Also return the divergence per symbol.
        """
        states, chain = self.walked(states, most=most)
        self.work = len(chain.sources)
        weights = self.weights(chain)
        flows = flow_matrix(chain, weights)
        sums = np.asarray(flows @ self.rows)
        visits = np.zeros(len(sums))
        np.add.at(visits, chain.rights, weights)
        rows = np.maximum(sums / np.maximum(visits, _LEAST)[:, None], self._least(chain, states))
        lost = weights @ self.negative_entropies[chain.lefts] - xlogy(sums, rows).sum()
        transitions = np.where(self._defined(flows), states.transitions, -1)
        fitted = states._replace(transitions=transitions, rows=rows, visits=visits)
        return _reached(fitted, chain), max(float(lost / weights.sum()), 0.0)

    def _defined(self, flows: csr_array[np.float64]) -> NDArray[np.bool_]:
        """Return what the original defines after some word that reaches a state."""
        reached = csr_array((np.ones(flows.nnz), flows.indices, flows.indptr), shape=flows.shape)
        return np.asarray(reached @ (self.pdfa.transitions >= 0).astype(np.float64)) > 0

    def _least(self, chain: Chain, states: States) -> Floats:
        """Return a least probability, above 0 for all that words need."""
        least = np.zeros(states.rows.shape)
        least[chain.rights[chain.sources], chain.symbols + 1] = _LEAST
        ending = self.rows[chain.lefts, 0] > 0
        least[chain.rights[ending], 0] = _LEAST
        return least

    def walked(self, states: States, *, most: int | None = None) -> tuple[States, Chain]:
        """Walk through the pairs of states that words reach, and fill in what they lack."""
        states = _initial_first(states)
        while True:
            chain = Chain.of(self.pdfa, self._as_pdfa(states), most=most)
            lacking = (chain.rights[chain.sources] >= 0) & (chain.rights[chain.successors] < 0)
            if not lacking.any():
                return states, chain
            transitions = states.transitions.copy()
            places = (chain.rights[chain.sources[lacking]], chain.symbols[lacking])
            transitions[places] = states.origins[chain.lefts[chain.successors[lacking]]]
            states = states._replace(transitions=transitions)

    def pdfa_of(self, states: States) -> PDFA:
        """Make a PDFA of fitted states; what has probability 0 stays as it was."""
        rows = normalise_rows(states.rows)
        return PDFA(alphabet=self.pdfa.alphabet, transitions=states.transitions, probabilities=rows)

    def weights(self, chain: Chain) -> Floats:
        """Return the share of positions of every pair; a little of it before the long run."""
        visits = self._quick_visits(chain)
        if visits is not None:
            return np.asarray(visits / visits.sum())
        visits, weights = visits_and_weights(chain)
        if self._ends or not visits.any():
            return weights
        return np.asarray(weights + _PASSING * visits / visits.sum())

    def _quick_visits(self, chain: Chain) -> Floats | None:
        """Iterate from visits that are right for each of the original's states.

        Their error fades as fast as the result forgets, however long words are.
        """
        if not self._ends:
            return None
        visits = self._visits[chain.lefts] / np.bincount(chain.lefts)[chain.lefts]
        moves, start = chain.moves, chain.start
        for _ in range(_QUICK_ROUNDS):
            for _ in range(_QUICK_STEPS):
                before, visits = visits, start + moves @ visits
            if np.abs(visits - before).sum() <= _ACCURACY * visits.sum():
                return np.asarray(visits)
        return None

    def _as_pdfa(self, states: States) -> PDFA:
        undefined = np.full((1, states.transitions.shape[1]), -1)
        table = np.concatenate((states.transitions, undefined)).astype(np.int32)
        return pdfa_of_arrays(self.pdfa.alphabet, table, states.rows.copy())


def flow_matrix(chain: Chain, weights: Floats) -> csr_array[np.float64]:
    """Return the weights of pairs as a matrix: the result's states by the original's."""
    shape = (len(chain.candidate), len(chain.target))
    return csr_array((weights, (chain.rights, chain.lefts)), shape=shape)


def _initial_first(states: States) -> States:
    if states.initial == 0:
        return states
    order = np.arange(len(states.rows))
    order[[0, states.initial]] = states.initial, 0
    return _chosen(states, order)


def _reached(states: States, chain: Chain) -> States:
    reached = np.unique(chain.rights)
    return states if len(reached) == len(states.rows) else _chosen(states, reached)


def _chosen(states: States, order: Indices) -> States:
    """Keep some states in a new order; a transition to another one becomes undefined."""
    numbers = np.full(len(states.rows) + 1, -1)
    numbers[order] = np.arange(len(order))
    return States(
        numbers[states.transitions[order]],
        states.rows[order],
        states.visits[order],
        int(numbers[states.initial]),
        np.maximum(numbers[states.origins], 0),
    )
