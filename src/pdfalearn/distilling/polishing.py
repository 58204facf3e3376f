"""Change automata where evidence says so: move transitions, add states, remove states.

All three stand on one pass over the evidence: what the words below every node would cost from every
state. The loops that use them are in `engine.py`.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from pdfalearn.distilling.engine import polish_fit
from pdfalearn.distilling.evidence import Evidence, make_dense
from pdfalearn.distilling.futures import future_costs
from pdfalearn.distilling.machines import Fit, Machine, States, fit_rows, prune, redirect
from pdfalearn.distilling.settings import DEFAULTS, SearchSettings
from pdfalearn.typing import Integers, Singles

# Where nodes with the same last symbol have fewer costs than this, all are led in one pass.
_SHORT = 500


def subtree_costs(fit: Fit, evidence: Evidence, groups: Integers, count: int) -> Singles:
    """Return what nodes and all below them cost in every state, summed up by group.

    The cost of a node is its weight · KL(answer ‖ row), in nats.
    """
    answers, entropies = evidence.weighted
    costs: Singles = answers @ np.ascontiguousarray(fit.logs.T.astype(np.float32))
    np.subtract(entropies[:, None], costs, out=costs)
    targets = np.ascontiguousarray(fit.machine.transitions.T.astype(np.int64))
    for step in evidence.steps:
        below = costs[step.below]  # and led: what they cost for each state of their parents
        if below.size < _SHORT * len(step.runs):
            begins = np.arange(0, below.size, below.shape[1])[:, None]
            led = below.reshape(-1).take(begins + targets[step.symbols])
        else:
            led = np.empty_like(below)
            for begin, end, symbol in step.runs:
                below[begin:end].take(targets[symbol], axis=1, out=led[begin:end], mode="clip")
        if step.sums is None:
            costs[step.above.start + step.parents] += led
        else:
            costs[step.above] += step.sums @ led
    ones, nodes = np.ones(evidence.size, dtype=np.float32), np.arange(evidence.size)
    return np.asarray(csr_array((ones, (groups, nodes)), shape=(count, evidence.size)) @ costs)


class Edges:
    """The transitions that words take, and what each would cost with every target."""

    def __init__(self, fit: Fit, evidence: Evidence) -> None:
        width = evidence.width
        numbers = fit.states[evidence.parents].astype(np.int64) * width + evidence.symbols
        numbers[0] = -1  # the beginning is one too
        # Transitions as state * symbols + symbol, first -1; and the place of each node's.
        self.numbers, self.of_node = np.unique(numbers, return_inverse=True)
        self.weights = np.bincount(self.of_node, evidence.weights)
        self.costs: Singles = subtree_costs(fit, evidence, self.of_node, len(self.numbers))
        self.targets = fit.machine.transitions.reshape(-1)[self.numbers]
        self.targets[0] = 0


def polish(
    machine: Machine,
    evidence: Evidence,
    settings: SearchSettings = DEFAULTS,
    *,
    within: bool = True,
) -> Fit:
    """Return a machine whose transitions and rows fit evidence better, if there is one."""
    lumped = evidence.lumped
    if lumped is not evidence:  # compare by the frequent symbols alone
        rows, priors = (make_dense(lumped.lump(table)) for table in machine[1:])
        lighter = Machine(machine.transitions, rows, priors)
        found = polish(lighter, lumped, settings, within=within)
        transitions = found.machine.transitions
        return fit_rows(machine._replace(transitions=transitions), evidence, within=within)
    objective = PrefixObjective(evidence, settings, within=within)
    return polish_fit(objective, objective.fit(machine))


class PrefixObjective:
    """A tree of weighted prefixes as what machines are made to fit; see `engine.Objective`."""

    def __init__(
        self,
        evidence: Evidence,
        settings: SearchSettings = DEFAULTS,
        *,
        within: bool = True,
    ) -> None:
        self.evidence, self.settings, self._within = evidence, settings, within

    def fit(self, machine: Machine) -> Fit:
        """Return a machine with the best rows."""
        return fit_rows(machine, self.evidence, within=self._within)

    def refit(self, fit: Fit, transitions: States) -> Fit:
        """Return a machine with other transitions, and the best rows for these."""
        return self.fit(fit.machine._replace(transitions=transitions))

    def find_moves(self, fit: Fit) -> tuple[Integers, Integers]:
        """Return the transitions that are worth moving and their targets, the best first.

        That is those that gain at least ``reluctance`` nats, or less if few words take them.
        """
        edges = Edges(fit, self.evidence)
        places = np.arange(len(edges.numbers))
        news = edges.costs.argmin(axis=1)
        gains = edges.costs[places, edges.targets] - edges.costs[places, news]
        worth = gains > self.settings.reluctance * np.minimum(edges.weights, 1.0)
        worth[0] = False
        places = places[worth]
        places = places[np.argsort(-gains[places], kind="stable")]
        return edges.numbers[places], news[places]

    def merge_costs(self, fit: Fit) -> Singles:
        """Return what it costs to lead all that enters a state (row) to another (column).

        That is what the words that enter it would cost there, and by how far the futures of the two
        differ, for words that were not seen.
        """
        edges, size = Edges(fit, self.evidence), len(fit.machine.rows)
        ones = np.ones(len(edges.targets), dtype=np.float32)
        places = (edges.targets, np.arange(len(edges.targets)))
        entering = csr_array((ones, places), shape=(size, len(edges.targets))) @ edges.costs
        costs = np.asarray(entering - np.diag(entering)[:, None])
        unseen = future_divergences(fit, self.evidence, self.settings)
        costs += self.settings.as_if_seen * np.minimum(unseen, self.settings.worst)
        np.fill_diagonal(costs, np.inf)
        return costs

    def merge(self, fit: Fit, sources: Integers, targets: Integers) -> Fit:
        """Lead what enters the sources to their targets; keep what is reached then."""
        places = np.arange(len(fit.machine.rows), dtype=np.int32)
        places[sources] = targets
        return self.fit(redirect(fit.machine, places))

    def grow(self, fit: Fit, count: int) -> Fit:
        """Return a machine with at most this many more states, where these help most."""
        return self.fit(grow(fit, self.evidence, count))

    def prune(self, fit: Fit) -> Fit:
        """Return a machine without states that no possible word reaches."""
        return prune(fit, self.evidence)

    def count_rounds(self, fit: Fit) -> int:
        """Return for how many rounds a machine may be polished."""
        return self.settings.rounds

    def count_tries(self, fit: Fit) -> int:
        """Return how many merges are tried for the next one; none where there are many states."""
        few = len(fit.machine.rows) <= self.settings.one_by_one
        return self.settings.tries if few else 0


def grow(fit: Fit, evidence: Evidence, count: int) -> Machine:
    """Return a machine with at most this many more states.

    Each new state is that of one transition: its row is the mean of the answers after it, and it
    goes on with every symbol to the state that suits best the words that take this transition.
    """
    machine, edges = fit.machine, Edges(fit, evidence)
    size = len(machine.rows)
    # Find where the words that take an edge should go on with every symbol that they have next.
    numbers = edges.of_node[evidence.parents] * evidence.width + evidence.symbols
    numbers[0] = -1
    pairs, of_node = np.unique(numbers, return_inverse=True)
    costs = subtree_costs(fit, evidence, of_node, len(pairs))[1:]
    owners, symbols = np.divmod(pairs[1:], evidence.width)
    targets, places = costs.argmin(axis=1), np.arange(len(owners))
    now = machine.transitions[edges.targets[owners], symbols]
    later = np.bincount(owners, costs[places, now] - costs[places, targets], len(edges.numbers))
    # What a state of its own gains an edge: at once by its row, and later by these targets.
    sums, weights = evidence.sums(edges.of_node, len(edges.numbers))
    means = sums / weights[:, None]
    divergences = means * (np.log(np.where(means > 0, means, 1.0)) - fit.logs[edges.targets])
    gains = weights * divergences.sum(axis=1) + later
    entering = np.bincount(edges.targets, minlength=size)
    gains[entering[edges.targets] == 1] = 0.0  # these have their state for themselves
    gains[0] = 0.0
    best = np.argsort(-gains, kind="stable")[:count]
    best = best[gains[best] > 0]
    olds, places = edges.targets[best], np.full(len(edges.numbers), -1)
    places[best] = size + np.arange(len(best))
    transitions = np.concatenate((machine.transitions, machine.transitions[olds]))
    mine = (places[owners] >= 0).nonzero()[0]
    transitions[places[owners[mine]], symbols[mine]] = targets[mine]
    transitions.reshape(-1)[edges.numbers[best]] = places[best]
    rows = np.concatenate((machine.rows, means[best]))
    return Machine(transitions, rows, np.concatenate((machine.priors, machine.rows[olds])))


def future_divergences(fit: Fit, evidence: Evidence, settings: SearchSettings) -> Singles:
    """Return the divergence of what follows state q from what follows p, for all p and q."""
    rows, logs = fit.machine.rows.astype(np.float32), fit.logs.astype(np.float32)
    local: Singles = (rows * logs).sum(axis=1)[:, None] - rows @ logs.T
    np.maximum(local, 0.0, out=local)
    moves = fit.machine.transitions.astype(np.int64)
    shares = evidence.spread(fit.machine.rows).astype(np.float32)
    ahead = future_costs(local, moves, shares, moves, settings.sweeps, settings.likely)
    return ahead[:-1, :-1].astype(np.float32, copy=False)
