"""An automaton as what smaller ones are made to fit: the visits of its words are exact."""

from __future__ import annotations

from math import inf
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array
from scipy.special import xlogy

from pdfalearn.chains import Pairs, normalise_rows, visits_and_weights
from pdfalearn.distilling.futures import Numbers, future_costs, merge_costs
from pdfalearn.distilling.machines import Machine, States, take_states
from pdfalearn.distilling.settings import SearchSettings
from pdfalearn.errors import InputError
from pdfalearn.pdfa import PDFA, pdfa_of_arrays
from pdfalearn.typing import Floats, Integers

# Losses are exact here: so the best of more merges is taken, and for longer.
_SETTINGS = SearchSettings(
    sweeps=8,
    polished=1e-3,
    one_by_one=32,
    tries=8,
    shares=(0.15, 0.15),
    each=0,
    growth=(0.3, 0.3, 0.3),
)
# Merges compare futures this many symbols ahead.
_AHEAD = 6
_LEAST, _TINY = 1e-300, 1e-30
# Visits are iterated in rounds of some steps, until they change by less than a share.
_QUICK_ROUNDS, _QUICK_STEPS, _ACCURACY = 25, 8, 1e-10
# On the way down, more pairs times symbols than these are not walked.
_MOST_WORK = 2_000_000
# The weight of what comes before the long run, where words never end.
_PASSING = 1e-9
# Rounds times all pairs of states, and ten times the reached ones, times symbols.
_MOST_POLISHING = 2e8
# Tries of merges times transitions between pairs of states.
_TRIALS = 4e5
# Transitions are moved if they gain this share of the loss.
_GAIN = 1e-5
# The share of the mean in the rows to which rare states are compared, and numbers at once.
_MIXED, _AT_ONCE = 0.05, 2**22


class Visited(NamedTuple):
    """A machine that stands for the original, and what the words of this do in it."""

    # A transition that no word needs may be undefined, -1.
    machine: Machine
    # The share of positions in each state; they need not sum to 1.
    visits: Floats
    # For every state of the original, the state that stands for it.
    origins: NDArray[np.integer]
    # The loss per symbol; infinite as long as rows and visits are estimates.
    loss: float = inf
    # The share of positions in pairs of states: those of the machine by those of the original.
    flows: csr_array[np.float64] | None = None
    # The number of transitions between these pairs.
    work: int = 0


class Original:
    """An automaton whose words decide the rows of smaller ones; see `engine.Objective`.

    Its initial state is 0.
    """

    def __init__(self, pdfa: PDFA) -> None:
        self.pdfa, self.settings = pdfa, _SETTINGS
        self.rows = normalise_rows(pdfa.probabilities)
        self.negative_entropies = xlogy(self.rows, self.rows).sum(axis=1)
        chain = Pairs.visited(pdfa, pdfa)
        self._ends = bool((chain.flow.components < 0).all())
        self._visits = np.zeros(len(pdfa))
        if self._ends:
            self._visits[chain.lefts] = visits_and_weights(chain.flow)[0]

    def fit_itself(self) -> Visited:
        """Return the automaton itself, with its visits."""
        machine = Machine(self.pdfa.transitions, self.rows, self.rows)
        return self.fit(Visited(machine, np.ones(len(self.pdfa)), np.arange(len(self.pdfa))))

    def fit(self, given: Visited, *, most: int | None = None) -> Visited:
        """Average the rows over the words that reach each state; leave out what none reaches.

        A missing transition that words need leads to what stands for the original's successor.
        """
        machine, chain = self._walk(given, most)
        weights, count = self._weights(chain), len(machine.rows)
        shape = (count, len(self.pdfa))
        flows = csr_array((weights, (chain.rights, chain.lefts)), shape=shape)
        sums: Floats = np.asarray(flows @ self.rows)
        visits: Floats = np.asarray(flows.sum(axis=1))
        # All that words need stays possible, however rarely they need it.
        least = np.zeros(sums.shape)
        least[chain.rights[chain.sources], chain.symbols + 1] = _LEAST
        least[chain.rights[self.rows[chain.lefts, 0] > 0], 0] = _LEAST
        rows = np.maximum(sums / np.maximum(visits, _LEAST)[:, None], least)
        lost = weights @ self.negative_entropies[chain.lefts] - xlogy(sums, rows).sum()
        # What the original defines after no word that reaches a state is undefined there.
        reaching = flows.copy()
        reaching.data[:] = 1.0
        defined = reaching @ (self.pdfa.transitions >= 0).astype(np.float64)
        transitions = np.where(defined > 0, machine.transitions, -1).astype(np.int32)
        machine, origins = Machine(transitions, rows, rows), given.origins
        reached = np.unique(chain.rights)
        if len(reached) < count:
            numbers = np.zeros(count, dtype=np.int64)
            numbers[reached] = np.arange(len(reached))
            machine, origins = take_states(machine, reached), numbers[origins]
            visits, flows = visits[reached], flows[reached]
        loss = max(float(lost / weights.sum()), 0.0)
        return Visited(machine, visits, origins, loss, flows, len(chain.sources))

    def _walk(self, given: Visited, most: int | None) -> tuple[Machine, Pairs]:
        """Walk through the pairs of states that words reach, and fill in what they lack."""
        machine, origins = given[0], given.origins
        undefined = np.full((1, machine.transitions.shape[1]), -1, dtype=np.int32)
        while True:
            table = np.concatenate((machine.transitions, undefined))
            smaller = pdfa_of_arrays(self.pdfa.alphabet, table, machine.rows.copy())
            chain = Pairs.visited(self.pdfa, smaller, most=most)
            lacking = (chain.rights[chain.sources] >= 0) & (chain.rights[chain.successors] < 0)
            if not lacking.any():
                return machine, chain
            transitions = machine.transitions.copy()
            places = (chain.rights[chain.sources[lacking]], chain.symbols[lacking])
            transitions[places] = origins[chain.lefts[chain.successors[lacking]]]
            machine = machine._replace(transitions=transitions)

    def _weights(self, chain: Pairs) -> Floats:
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

    def pdfa_of(self, fit: Visited) -> PDFA:
        """Make a PDFA of a fit; what has probability 0 stays as it was."""
        machine, alphabet = fit.machine, self.pdfa.alphabet
        rows = normalise_rows(machine.rows)
        return PDFA(alphabet=alphabet, transitions=machine.transitions, probabilities=rows)

    def _refit(self, given: Visited) -> Visited:
        """Do as `fit` if words visit few pairs of states; else leave the machine alone."""
        symbols = given.machine.transitions.shape[1]
        most = max(1000, _MOST_WORK // symbols)
        try:
            return self.fit(given, most=most)
        except InputError:  # there are more pairs
            return given._replace(loss=inf, flows=None, work=most * symbols)

    def refit(self, fit: Visited, transitions: States) -> Visited:
        """Return a machine with other transitions, and the best rows for these."""
        return self._refit(fit._replace(machine=fit.machine._replace(transitions=transitions)))

    def is_coarse(self, fit: Visited) -> bool:
        """Return whether it helps to look closer: all targets are looked at anyway."""
        return False

    def find_moves(self, fit: Visited, *, closer: bool = False) -> tuple[Integers, Integers]:
        """Return transitions that are worth moving and their targets, the best first.

        An undefined transition stays undefined.
        """
        now = fit.machine.transitions
        gains, targets = np.zeros(now.shape), now.copy()
        if fit.flows is not None:
            # The expected divergence from each pair of states on; none of undefined successors.
            local, lefts = self._divergences(fit), self.pdfa.transitions
            rights, sweeps = now.astype(np.int64), self.settings.sweeps
            costs = future_costs(local, lefts, self.rows, rights, sweeps)[:, :-1]
            here = np.arange(len(gains))
            for symbol, successors in enumerate(lefts.T):
                flows = fit.flows @ diags_array(self.rows[:, symbol + 1])
                totals = flows @ costs[successors]
                targets[:, symbol] = totals.argmin(axis=1)
                gains[:, symbol] = totals[here, now[:, symbol]] - totals.min(axis=1)
        worth = ((now >= 0) & (gains > _GAIN * fit.loss)).reshape(-1).nonzero()[0]
        worth = worth[np.argsort(-gains.reshape(-1)[worth])]
        return worth, targets.reshape(-1)[worth].astype(np.int64)

    def _divergences(self, fit: Visited) -> Floats:
        """Return the divergence of each state's row from each of the original's."""
        logs = np.log(np.maximum(fit.machine.rows, _LEAST))
        return np.asarray(self.negative_entropies[:, None] - self.rows @ logs.T)

    def merge_costs(self, fit: Visited) -> Numbers:
        """Return what it costs to lead all that enters a state (row) to another (column)."""
        return merge_costs(fit.machine, fit.visits, _AHEAD)

    def merge(self, fit: Visited, sources: Integers, targets: Integers) -> Visited:
        """Lead what enters the sources to their targets, and fit what is left."""
        return self._refit(merge_states(fit, sources, targets))

    def grow(self, fit: Visited, count: int) -> Visited:
        """Add a state beside each of those that lose most, and lead there what fits it better.

        It begins with a row between that of the state and that of the original's state that loses
        most in it.
        """
        if fit.flows is None:
            return fit
        machine, flows = fit.machine, fit.flows
        lost = flows.toarray() * self._divergences(fit).T
        chosen = np.argsort(-lost.sum(axis=1))[:count]
        worst = lost[chosen].argmax(axis=1)
        rows = np.concatenate((machine.rows, 0.5 * (machine.rows[chosen] + self.rows[worst])))
        transitions = np.concatenate((machine.transitions, machine.transitions[chosen]))
        size, more = len(rows), len(chosen)
        ends = np.concatenate((flows.indptr, np.repeat(flows.indptr[-1:], more)))
        wider = fit._replace(
            machine=Machine(transitions, rows, rows),
            visits=np.concatenate((fit.visits, np.zeros(more))),
            flows=csr_array((flows.data, flows.indices, ends), shape=(size, flows.shape[1])),
        )
        moves, places = self.find_moves(wider)
        transitions = transitions.copy()
        transitions.reshape(-1)[moves] = places
        return self.refit(wider, transitions)

    def prune(self, fit: Visited) -> Visited:
        """Return a machine without states that no word reaches: fits have none."""
        return fit

    def count_rounds(self, fit: Visited) -> int:
        """Return for how many rounds a machine may be polished: large ones take long."""
        work = self.pdfa.transitions.size * len(fit.machine.rows) + 10 * fit.work
        return min(self.settings.rounds, int(_MOST_POLISHING / max(1, work)))

    def count_tries(self, fit: Visited) -> int:
        """Return how many merges are tried for the next one; few where that takes long."""
        few = len(fit.machine.rows) <= self.settings.one_by_one
        return min(int(_TRIALS / max(1, fit.work)), self.settings.tries) if few else 0


def merge_states(fit: Visited, sources: Integers, targets: Integers) -> Visited:
    """Lead all that enters the sources to their targets, which take the transitions they lack.

    No target may be a source. The rows are means by visits, and the visits are added up.
    """
    transitions, count = fit.machine.transitions.copy(), len(fit.visits)
    lacking = (transitions[targets] < 0) & (transitions[sources] >= 0)
    merges, symbols = lacking[::-1].nonzero()  # backwards: the first of several has the last word
    merges = len(sources) - 1 - merges
    transitions[targets[merges], symbols] = transitions[sources[merges], symbols]
    visits = np.maximum(fit.visits, _LEAST)
    sums = fit.machine.rows * visits[:, None]
    np.add.at(sums, targets, sums[sources])
    np.add.at(visits, targets, visits[sources])
    leaders = np.arange(count)
    leaders[sources] = targets
    kept = np.unique(leaders)
    kept = np.concatenate((leaders[:1], kept[kept != leaders[0]]))  # the initial state is first
    numbers = np.full(count + 1, -1, dtype=np.int32)
    numbers[kept] = np.arange(len(kept), dtype=np.int32)
    numbers[:-1] = numbers[leaders]
    rows = sums[kept] / visits[kept, None]
    machine = Machine(numbers[transitions[kept]], rows, rows)
    return Visited(machine, visits[kept], numbers[fit.origins])


def merge_classes(fit: Visited, classes: Integers) -> Visited:
    """Merge all states of each class into its most visited one."""
    order = np.lexsort((-fit.visits, classes))
    first = np.append(True, np.diff(classes[order]) != 0)
    leaders = order[first][np.cumsum(first) - 1]
    return merge_states(fit, order[~first], leaders[~first])


def merge_rare_states(fit: Visited, size: int) -> Visited:
    """Merge each of the least visited states into the other state with the nearest row."""
    order, rows = np.argsort(-fit.visits, kind="stable"), fit.machine.rows
    kept, others = order[:size], order[size:]
    mean = fit.visits @ rows / fit.visits.sum()
    logs = np.log(np.maximum((1 - _MIXED) * rows[kept] + _MIXED * mean, _TINY)).T
    part = max(1, _AT_ONCE // size)
    nearest = [
        (rows[others[begin : begin + part]] @ logs).argmax(axis=1)
        for begin in range(0, len(others), part)
    ]
    return merge_states(fit, others, kept[np.concatenate(nearest)])
