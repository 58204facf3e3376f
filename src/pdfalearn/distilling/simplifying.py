"""Smaller automata that are nearest to a given one."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, isinf
from typing import overload

import numpy as np
from scipy.sparse import csr_array, diags_array
from scipy.special import xlogy

from pdfalearn.chains import Pairs, normalise_rows, visits_and_weights
from pdfalearn.checks import check_integer, check_number
from pdfalearn.distilling.futures import (
    FEW,
    MOST_COMPARED,
    Fit,
    States,
    future_costs,
    merge_classes,
    reduce_states,
)
from pdfalearn.equivalence import Exact, Quantization, quotient, state_classes
from pdfalearn.errors import InputError
from pdfalearn.metrics import directed_divergence
from pdfalearn.pdfa import PDFA, check_pdfa, pdfa_of_arrays
from pdfalearn.results import Simplified
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
# Automata of at most this many states are split and reduced again.
_SMALL = 64
_CYCLES = 4
_SPLIT = 0.3
# Where there are very many states, those that are equal at this κ are merged first.
_KAPPA = 1000
# Cycles are not expected to make a loss smaller by more than this factor.
_HOPE = 1.5
# The share of states by which the search for a divergence goes down at most.
_STEP = 0.3
# The number of cheapest merges that are tried.
_TRIES = 8
# Tries of merges times transitions between pairs of states.
_TRIALS = 4e5


@overload
def simplify(pdfa: PDFA, *, states: int) -> Simplified: ...
@overload
def simplify(pdfa: PDFA, *, states: Sequence[int]) -> list[Simplified]: ...
@overload
def simplify(pdfa: PDFA, *, divergence: float) -> Simplified: ...


def simplify(
    pdfa: PDFA, *, states: int | Sequence[int] | None = None, divergence: float | None = None
) -> Simplified | list[Simplified]:
    """Find a smaller PDFA whose divergence from a given one is small.

    Parameters
    ----------
    pdfa : PDFA
        Any automaton: learnt, read, random; its words may never end.
    states : int or sequence of int
        The most states of the result. Several numbers give a whole curve at the price of one.
    divergence : float
        Instead of states: find a small automaton whose exact divergence per symbol is at most this.

    Returns
    -------
    Simplified, or list of Simplified
        The automaton and its divergence KL(pdfa ‖ result) per symbol (the long-run rate where words
        never end); for several numbers of states a list in their order. It allows all that the
        given one allows, so that the divergence is finite. Symbols that no word can use may become
        undefined.

    Notes
    -----
    States are merged whose futures diverge least, weighted by their visits; rows are the means of
    the original's rows over the words that reach a state; then transitions move to where the
    expected divergence is least, and small automata are split and reduced again. Nothing is drawn:
    the same automaton gives the same result. That no better automaton of the size exists is not
    known.

    Examples
    --------
    >>> from pdfalearn.datasets import random_pdfa
    >>> pdfa = random_pdfa(40, seed=1)
    >>> [(one.states, round(one.divergence, 4)) for one in simplify(pdfa, states=[20, 5, 1])]
    [(20, 0.0041), (5, 0.0418), (1, 0.1524)]
    """
    search = Search(check_pdfa(pdfa, "pdfa"))
    if (states is None) == (divergence is None):
        raise InputError("simplify needs either states or divergence; give one of the two")
    if divergence is not None:
        return search.within(check_number(divergence, "divergence", 0.0, inf))
    if isinstance(states, Sequence | np.ndarray) and not isinstance(states, str):
        return search.curve([check_integer(size, "states", 1) for size in states])
    return search.curve([check_integer(states, "states", 1)])[0]


class Search:
    """The search for automata that are smaller than one."""

    def __init__(self, given: PDFA) -> None:
        self._given = given
        self._exact = quotient(given, equivalence=Exact())
        self._original = Original(self._exact)

    def curve(self, sizes: Sequence[int]) -> list[Simplified]:
        """Return an automaton of each size; a larger one never diverges more."""
        found, fit = {}, self._start()
        for size in sorted(set(sizes), reverse=True):
            fit = self._reduce(fit, size)
            found[size] = self._measure(fit)
        best: Simplified | None = None
        for size in sorted(found):
            if best is None or found[size].divergence < best.divergence:
                best = found[size]
            found[size] = best
        return [found[size] for size in sizes]

    def within(self, bound: float) -> Simplified:
        """Return the smallest automaton found whose divergence is at most a bound."""
        fit = self._start()
        best = self._measure(fit)
        step = best.states
        # Take large steps down, and half of one that goes too far.
        while step := min(step, best.states - 1, max(1, int(_STEP * best.states))):
            trial = self._reduce(fit, best.states - step, _HOPE * bound)
            measured = self._measure(trial)
            if measured.divergence <= bound:
                fit, best, step = trial, measured, measured.states
            else:
                step //= 2
        return best

    def _start(self) -> Fit:
        """Return the original; if it is large, with nearly equal states merged."""
        fit = self._original.fit_itself()
        if len(fit.states.rows) <= MOST_COMPARED:
            return fit
        pdfa = self._original.pdfa_of(fit.states)
        classes = state_classes(pdfa, equivalence=Quantization(_KAPPA))
        return Fit(merge_classes(fit.states, classes), inf)

    def _measure(self, fit: Fit) -> Simplified:
        """Return a PDFA with its exact divergence; the quotient if nothing was merged."""
        pdfa = self._exact
        if len(fit.states.rows) < len(self._exact):
            pdfa = self._original.pdfa_of(fit.states)
        value = directed_divergence(self._given, pdfa).per_symbol
        return Simplified(len(pdfa), pdfa, value)

    def _reduce(self, fit: Fit, size: int, most: float = inf) -> Fit:
        """Reduce to a size, move transitions, and go through cycles while that helps.

        There are no cycles where more than ``most`` is lost.
        """
        if len(fit.states.rows) <= size:
            return fit
        fit = self._down(fit, size)
        small = 1 < size <= _SMALL and self._original.work <= _TRIALS
        for _ in range(_CYCLES if small and fit.loss <= most else 0):
            wider = split_states(self._original, fit, max(1, int(_SPLIT * size)))
            better = self._down(polish(self._original, wider), size)
            if better.loss >= 0.999 * fit.loss:
                return fit
            fit = better
        return fit

    def _down(self, fit: Fit, size: int) -> Fit:
        """Merge states down to a size and polish what is left."""
        for most in (FEW, size):
            tries = int(min(_TRIALS / self._original.work, _TRIES))
            if len(fit.states.rows) > most >= size:
                fit = reduce_states(fit.states, most, self._original.refit, tries=tries)
        if isinf(fit.loss):
            fit = self._original.fit_states(fit.states)
        return polish(self._original, fit)


class Original:
    """An automaton whose words decide the rows of smaller ones; its initial state is 0."""

    def __init__(self, pdfa: PDFA) -> None:
        self.pdfa = pdfa
        self.rows = normalise_rows(pdfa.probabilities)
        self.negative_entropies = xlogy(self.rows, self.rows).sum(axis=1)
        chain = Pairs.visited(pdfa, pdfa)
        # The number of transitions between pairs that were walked last.
        self.work = len(chain.sources)
        self._ends = bool((chain.flow.components < 0).all())
        self._visits = np.zeros(len(pdfa))
        if self._ends:
            self._visits[chain.lefts] = visits_and_weights(chain.flow)[0]

    def fit_itself(self) -> Fit:
        """Return the automaton itself, with its visits."""
        everything = np.arange(len(self.pdfa))
        transitions = self.pdfa.transitions.astype(np.int64)
        unknown = States(transitions, self.rows, np.ones(len(self.pdfa)), 0, everything)
        return self.fit_states(unknown)

    def refit(self, states: States) -> Fit:
        """Do as `fit_states` if words visit few pairs of states; else leave the states alone."""
        symbols = states.transitions.shape[1]
        most = max(1000, _MOST_WORK // symbols)
        try:
            return self.fit_states(states, most=most)
        except InputError:  # there are more pairs
            self.work = most * symbols
            return Fit(states, inf)

    def fit_states(self, states: States, *, most: int | None = None) -> Fit:
        """Average the rows over the words that reach each state; leave out what none reaches.

        A missing transition that words need leads to what stands for the original's successor.
        """
        states, chain = self.walk(states, most=most)
        self.work = len(chain.sources)
        weights = self.weights(chain)
        flows = _make_flows(chain, weights)
        sums = np.asarray(flows @ self.rows)
        visits = np.zeros(len(sums))
        np.add.at(visits, chain.rights, weights)
        # All that words need stays possible, however rarely they need it.
        least = np.zeros(sums.shape)
        least[chain.rights[chain.sources], chain.symbols + 1] = _LEAST
        least[chain.rights[self.rows[chain.lefts, 0] > 0], 0] = _LEAST
        rows = np.maximum(sums / np.maximum(visits, _LEAST)[:, None], least)
        lost = weights @ self.negative_entropies[chain.lefts] - xlogy(sums, rows).sum()
        # What the original defines after no word that reaches a state is undefined there.
        flows.data[:] = 1.0
        defined = flows @ (self.pdfa.transitions >= 0).astype(np.float64)
        transitions = np.where(defined > 0, states.transitions, -1)
        fitted = states._replace(transitions=transitions, rows=rows, visits=visits)
        reached = np.unique(chain.rights)
        if len(reached) < len(rows):
            fitted = _take_states(fitted, reached)
        return Fit(fitted, max(float(lost / weights.sum()), 0.0))

    def walk(self, states: States, *, most: int | None = None) -> tuple[States, Pairs]:
        """Walk through the pairs of states that words reach, and fill in what they lack."""
        if states.initial != 0:
            order = np.arange(len(states.rows))
            order[[0, states.initial]] = states.initial, 0
            states = _take_states(states, order)
        undefined = np.full((1, states.transitions.shape[1]), -1)
        while True:
            table = np.concatenate((states.transitions, undefined)).astype(np.int32)
            smaller = pdfa_of_arrays(self.pdfa.alphabet, table, states.rows.copy())
            chain = Pairs.visited(self.pdfa, smaller, most=most)
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
        if self._ends:
            # Iterate from visits that are right for each of the original's states: their error
            # fades as fast as the result forgets, however long words are.
            visits = self._visits[chain.lefts] / np.bincount(chain.lefts)[chain.lefts]
            moves, start = chain.moves, chain.flow.start
            for _ in range(_QUICK_ROUNDS):
                for _ in range(_QUICK_STEPS):
                    before, visits = visits, start + moves @ visits
                if np.abs(visits - before).sum() <= _ACCURACY * visits.sum():
                    return np.asarray(visits / visits.sum())
        visits, weights = visits_and_weights(chain.flow)
        if self._ends or not visits.any():
            return weights
        return np.asarray(weights + _PASSING * visits / visits.sum())


def _make_flows(chain: Pairs, weights: Floats) -> csr_array[np.float64]:
    """Return the weights of pairs as a matrix: the result's states by the original's."""
    shape = (len(chain.second.pdfa), len(chain.first.pdfa))
    return csr_array((weights, (chain.rights, chain.lefts)), shape=shape)


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


def polish(original: Original, fit: Fit) -> Fit:
    """Move transitions while that makes the loss fall."""
    work = original.pdfa.transitions.size * len(fit.states.rows) + 10 * original.work
    for _ in range(min(_ROUNDS, int(_MOST_POLISHING / work))):
        before, fit = fit.loss, _move_some(original, fit)
        if not before - fit.loss > _GAIN * fit.loss:  # also if both are infinite
            break
    return fit


def _move_some(original: Original, fit: Fit) -> Fit:
    """Move the better half of the transitions that gain, or fewer, if that helps."""
    gains, targets = _find_moves(original, fit.states)
    order = np.argsort(-gains, axis=None)
    count = (int((gains > 1e-2 * _GAIN * fit.loss).sum()) + 1) // 2
    while count:
        places = np.unravel_index(order[:count], gains.shape)
        transitions = fit.states.transitions.copy()
        transitions[places] = targets[places]
        trial = original.refit(fit.states._replace(transitions=transitions))
        if trial.loss < fit.loss:
            return trial
        count //= 4
    return fit


def _find_moves(original: Original, states: States) -> tuple[Floats, Integers]:
    """Return what each transition would gain, and where it should lead.

    An undefined transition stays undefined.
    """
    chain = original.walk(states)[1]
    flows = _make_flows(chain, original.weights(chain))
    # The expected divergence from each pair of states on; none of undefined successors.
    logs = np.log(np.maximum(states.rows, _LEAST))
    local = original.negative_entropies[:, None] - original.rows @ logs.T
    lefts, rights = original.pdfa.transitions, states.transitions
    costs = future_costs(local, lefts, original.rows, rights, _SWEEPS)[:, :-1]
    gains, targets = np.zeros(rights.shape), rights.copy()
    here = np.arange(len(gains))
    for symbol, successors in enumerate(lefts.T):
        totals = (flows @ diags_array(original.rows[:, symbol + 1])) @ costs[successors]
        best = totals.argmin(axis=1)
        gain = totals[here, targets[:, symbol]] - totals[here, best]
        better = (targets[:, symbol] >= 0) & (gain > 0)
        gains[better, symbol] = gain[better]
        targets[better, symbol] = best[better]
    return gains, targets


def split_states(original: Original, fit: Fit, count: int) -> Fit:
    """Add a state beside each of those that lose most, and lead there what fits it better.

    It begins with a row between that of the state and that of the original's state that loses
    most in it.
    """
    states, chain = original.walk(fit.states)
    logs = np.log(np.maximum(states.rows, _LEAST))
    crossed = np.einsum("ij,ij->i", original.rows[chain.lefts], logs[chain.rights])
    lost = (original.negative_entropies[chain.lefts] - crossed) * original.weights(chain)
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
    return original.refit(wider._replace(transitions=targets))
