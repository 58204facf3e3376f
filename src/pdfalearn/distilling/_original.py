"""What a smaller automaton loses against the one that it stands for, and how it loses less."""

from __future__ import annotations

from math import inf
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array
from scipy.special import xlogy

from pdfalearn.chains import Pairs, normalise_rows, visits_and_weights
from pdfalearn.distilling.futures import States
from pdfalearn.errors import InputError
from pdfalearn.pdfa import PDFA, pdfa_of_arrays
from pdfalearn.typing import Floats, Integers

_LEAST = 1e-300
_QUICK_ROUNDS = 25
_QUICK_STEPS = 8
_ACCURACY = 1e-10
# On the way down, more pairs times symbols than these are not walked.
_MOST_WORK = 2_000_000
# The weight of what comes before the long run, where words never end.
_PASSING = 1e-9
# Futures are compared this many symbols ahead.
_SWEEPS = 8
_ROUNDS = 12
# Rounds times all pairs of states, and ten times the reached ones, times symbols.
_MOST_POLISHING = 2e8
# Rounds go on while the loss falls by this share.
_GAIN = 1e-3
_PART = 64


class Original:
    """An automaton whose words decide the rows of smaller ones; its initial state is 0."""

    def __init__(self, pdfa: PDFA) -> None:
        self.pdfa = pdfa
        self.rows = normalise_rows(pdfa.probabilities)
        self.negative_entropies = xlogy(self.rows, self.rows).sum(axis=1)
        chain = Pairs.visited(pdfa, pdfa)
        self.work = len(chain.sources)
        """The number of transitions between pairs that were walked last."""
        self._ends = bool((chain.flow.components < 0).all())
        self._visits = np.zeros(len(pdfa))
        if self._ends:
            self._visits[chain.lefts] = visits_and_weights(chain.flow)[0]

    @property
    def states(self) -> States:
        """The automaton itself, with its visits."""
        everything = np.arange(len(self.pdfa))
        transitions = self.pdfa.transitions.astype(np.int64)
        unknown = States(transitions, self.rows, np.ones(len(self.pdfa)), 0, everything)
        return self.fit_states(unknown)[0]

    def refit(self, states: States) -> tuple[States, float]:
        """Do as `fit_states` if words visit few pairs of states; else leave the states alone."""
        symbols = states.transitions.shape[1]
        most = max(1000, _MOST_WORK // symbols)
        try:
            return self.fit_states(states, most=most)
        except InputError:  # there are more pairs
            self.work = most * symbols
            return states, inf

    def fit_states(self, states: States, *, most: int | None = None) -> tuple[States, float]:
        """Average the rows over the words that reach each state; leave out what none reaches.

        A missing transition that words need leads to what stands for the original's successor.
        Also return the divergence per symbol.
        """
        states, chain = self.walk(states, most=most)
        self.work = len(chain.sources)
        weights = self.weights(chain)
        flows = _make_flows(chain, weights)
        sums = np.asarray(flows @ self.rows)
        visits = np.zeros(len(sums))
        np.add.at(visits, chain.rights, weights)
        rows = np.maximum(sums / np.maximum(visits, _LEAST)[:, None], self._least(chain, states))
        lost = weights @ self.negative_entropies[chain.lefts] - xlogy(sums, rows).sum()
        transitions = np.where(self._find_defined(flows), states.transitions, -1)
        fitted = states._replace(transitions=transitions, rows=rows, visits=visits)
        return _take_reached(fitted, chain), max(float(lost / weights.sum()), 0.0)

    def _find_defined(self, flows: csr_array[np.float64]) -> NDArray[np.bool_]:
        """Return what the original defines after some word that reaches a state."""
        reached = csr_array((np.ones(flows.nnz), flows.indices, flows.indptr), shape=flows.shape)
        return np.asarray(reached @ (self.pdfa.transitions >= 0).astype(np.float64)) > 0

    def _least(self, chain: Pairs, states: States) -> Floats:
        """Return a least probability, above 0 for all that words need."""
        least = np.zeros(states.rows.shape)
        least[chain.rights[chain.sources], chain.symbols + 1] = _LEAST
        ending = self.rows[chain.lefts, 0] > 0
        least[chain.rights[ending], 0] = _LEAST
        return least

    def walk(self, states: States, *, most: int | None = None) -> tuple[States, Pairs]:
        """Walk through the pairs of states that words reach, and fill in what they lack."""
        states = _put_initial_first(states)
        while True:
            chain = Pairs.visited(self.pdfa, self._as_pdfa(states), most=most)
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

    def weights(self, chain: Pairs) -> Floats:
        """Return the share of positions of every pair; a little of it before the long run."""
        visits = self._quick_visits(chain)
        if visits is not None:
            return np.asarray(visits / visits.sum())
        visits, weights = visits_and_weights(chain.flow)
        if self._ends or not visits.any():
            return weights
        return np.asarray(weights + _PASSING * visits / visits.sum())

    def _quick_visits(self, chain: Pairs) -> Floats | None:
        """Iterate from visits that are right for each of the original's states.

        Their error fades as fast as the result forgets, however long words are.
        """
        if not self._ends:
            return None
        visits = self._visits[chain.lefts] / np.bincount(chain.lefts)[chain.lefts]
        moves, start = chain.moves, chain.flow.start
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


def _make_flows(chain: Pairs, weights: Floats) -> csr_array[np.float64]:
    """Return the weights of pairs as a matrix: the result's states by the original's."""
    shape = (len(chain.second.pdfa), len(chain.first.pdfa))
    return csr_array((weights, (chain.rights, chain.lefts)), shape=shape)


def _put_initial_first(states: States) -> States:
    if states.initial == 0:
        return states
    order = np.arange(len(states.rows))
    order[[0, states.initial]] = states.initial, 0
    return _take_states(states, order)


def _take_reached(states: States, chain: Pairs) -> States:
    reached = np.unique(chain.rights)
    return states if len(reached) == len(states.rows) else _take_states(states, reached)


def _take_states(states: States, order: Integers) -> States:
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


class Fit(NamedTuple):
    """A smaller automaton and what it loses per symbol."""

    states: States
    loss: float


def polish(original: Original, fit: Fit) -> Fit:
    """Move transitions while that makes the loss fall."""
    work = original.pdfa.transitions.size * len(fit.states.rows) + 10 * original.work
    for _ in range(min(_ROUNDS, int(_MOST_POLISHING / work))):
        better = _move_some(original, fit)
        if better is None:
            return fit
        gained, fit = fit.loss - better.loss, better
        if gained <= _GAIN * fit.loss:
            return fit
    return fit


def _move_some(original: Original, fit: Fit) -> Fit | None:
    """Move the better half of the transitions that gain, or fewer; None if nothing helps."""
    gains, targets = _find_moves(original, fit.states)
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


def _find_moves(original: Original, states: States) -> tuple[Floats, Integers]:
    """Return what each transition would gain, and where it should lead.

    An undefined transition stays undefined.
    """
    chain = original.walk(states)[1]
    flows = _make_flows(chain, original.weights(chain))
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


def split_states(original: Original, fit: Fit, count: int) -> Fit:
    """Add a state beside each of those that lose most, and lead there what fits it better.

    It begins with a row between that of the state and that of the original's state that loses
    most in it.
    """
    states, chain = original.walk(fit.states)
    lost = _compare_rows(original, states.rows, chain.lefts, chain.rights) * original.weights(chain)
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
    _, targets = _find_moves(original, wider)
    return Fit(*original.refit(wider._replace(transitions=targets)))


def _compare_rows(original: Original, rows: Floats, lefts: Integers, rights: Integers) -> Floats:
    """Return the divergence of a result's rows from the original's, pair by pair."""
    logs = np.log(np.maximum(rows, _LEAST))
    crossed = np.einsum("ij,ij->i", original.rows[lefts], logs[rights])
    return np.asarray(original.negative_entropies[lefts] - crossed)
