"""Change automata where evidence says so: move transitions, add states, remove states.

All three stand on one pass over the evidence: what the words below every node would cost from every
state.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from pdfalearn.distilling.evidence import Evidence, Table, make_dense, xlogx
from pdfalearn.distilling.futures import choose_merges, future_costs
from pdfalearn.distilling.machines import Fit, Machine, fit_rows, redirect
from pdfalearn.typing import Floats, Integers, Singles

# Where nodes with the same last symbol have fewer costs than this, all are led in one pass.
_SHORT = 500

# Polishing ends after this many rounds at the latest.
_ROUNDS = 12
# Polishing ends when a round lowers the loss by less than this share.
_WORTH_IT = 2e-3
# A transition that one word or more takes is moved if it gains at least this many nats.
RELUCTANCE = 0.5

# Futures are compared this many symbols ahead.
_SWEEPS = 3
# Futures follow only symbols that are at least this likely.
_LIKELY = 0.02
# A merge costs more, as if this many unseen words were in the state that is removed.
_AS_IF_SEEN = 0.3
# No unseen word costs more nats than this.
_WORST = 5.0
# At most this many states are removed one at a time, the best of some candidates.
_ONE_BY_ONE, _TRIED = 16, 4
# Of more states this share is removed at a time: up to this many, and beyond.
_FEW, _SHARES = 128, (0.08, 0.15)


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
    machine: Machine, evidence: Evidence, *, within: bool = True, reluctance: float = RELUCTANCE
) -> Fit:
    """Return a machine whose transitions and rows fit evidence better, if there is one.

    A transition is moved if it gains at least ``reluctance`` nats.
    """
    lumped = evidence.lumped
    if lumped is not evidence:  # compare by the frequent symbols alone
        rows, priors = (make_dense(lumped.lump(table)) for table in machine[1:])
        lighter = Machine(machine.transitions, rows, priors)
        found = polish(lighter, lumped, within=within, reluctance=reluctance)
        transitions = found.machine.transitions
        return fit_rows(machine._replace(transitions=transitions), evidence, within=within)
    fit, share = fit_rows(machine, evidence, within=within), 0.5
    for _ in range(_ROUNDS):
        moves, targets = _find_moves(Edges(fit, evidence), reluctance)
        count, before = len(moves) + 1, fit.loss
        # Move a share of them, and half as many whenever that does not help.
        while fit.loss >= before:
            if count == 1 or not len(moves):
                return fit
            count = max(1, int(share * len(moves)))
            transitions = fit.machine.transitions.copy()
            transitions.reshape(-1)[moves[:count]] = targets[:count]
            moved = fit.machine._replace(transitions=transitions)
            fit = min(fit, fit_rows(moved, evidence, within=within), key=lambda each: each.loss)
            share /= 2
        share = min(1.0, 4 * share)
        if fit.loss > (1 - _WORTH_IT) * before:
            break
    return fit


def _find_moves(edges: Edges, reluctance: float) -> tuple[Integers, Integers]:
    """Return the transitions that are worth moving and their targets, the best first."""
    places = np.arange(len(edges.numbers))
    news = edges.costs.argmin(axis=1)
    gains = edges.costs[places, edges.targets] - edges.costs[places, news]
    worth = gains > reluctance * np.minimum(edges.weights, 1.0)
    worth[0] = False
    places = places[worth]
    places = places[np.argsort(-gains[places], kind="stable")]
    return edges.numbers[places], news[places]


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
    means = evidence.average_answers(edges.of_node, edges.weights)
    gains = edges.weights * _compute_divergences(means, fit.logs, edges.targets) + later
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
    rows = np.concatenate((machine.rows, make_dense(means[best])))
    return Machine(transitions, rows, np.concatenate((machine.priors, machine.rows[olds])))


def _compute_divergences(means: Table, logs: Floats, targets: Integers) -> Floats:
    """Return the divergence of each mean from the row of its target, without tables if sparse."""
    if isinstance(means, csr_array):
        owners = np.repeat(np.arange(len(targets)), np.diff(means.indptr))
        values = xlogx(means.data) - means.data * logs[targets[owners], means.indices]
        return np.bincount(owners, values, len(targets)).astype(np.float64)
    return np.asarray((xlogx(means) - means * logs[targets]).sum(axis=1))


def reduce(fit: Fit, evidence: Evidence, most: int) -> Fit:
    """Return a machine of at most this many states.

    Which state goes is decided by what the words that enter it would cost in another state, and by
    how far the futures of the two differ, for words that were not seen.
    """
    while (size := len(fit.machine.rows)) > most:
        costs = _merge_costs(fit, evidence)
        if size <= _ONE_BY_ONE:
            order = np.argsort(costs, axis=None, kind="stable")
            merges = [np.divmod(place, size) for place in order[: min(_TRIED, size * (size - 1))]]
        else:
            share = _SHARES[size > _FEW]
            merges = [choose_merges(costs, min(size - most, max(1, int(share * size))))]
        trials = []
        for sources, targets in merges:
            places = np.arange(size, dtype=np.int32)
            places[sources] = targets
            trials.append(fit_rows(redirect(fit.machine, places), evidence))
        fit = min(trials, key=lambda trial: trial.loss)
    return fit


def _merge_costs(fit: Fit, evidence: Evidence) -> Singles:
    """Return what it costs to lead all that enters a state (row) to another (column)."""
    edges, size = Edges(fit, evidence), len(fit.machine.rows)
    ones = np.ones(len(edges.targets), dtype=np.float32)
    places = (edges.targets, np.arange(len(edges.targets)))
    entering = csr_array((ones, places), shape=(size, len(edges.targets))) @ edges.costs
    costs = np.asarray(entering - np.diag(entering)[:, None])
    costs += _AS_IF_SEEN * np.minimum(future_divergences(fit, evidence), _WORST)
    np.fill_diagonal(costs, np.inf)
    return costs


def future_divergences(fit: Fit, evidence: Evidence) -> Singles:
    """Return the divergence of what follows state q from what follows p, for all p and q."""
    rows, logs = fit.machine.rows.astype(np.float32), fit.logs.astype(np.float32)
    local: Singles = (rows * logs).sum(axis=1)[:, None] - rows @ logs.T
    np.maximum(local, 0.0, out=local)
    moves = fit.machine.transitions.astype(np.int64)
    shares = evidence.spread(fit.machine.rows).astype(np.float32)
    ahead = future_costs(local, moves, shares, moves, _SWEEPS, _LIKELY)[:-1, :-1]
    return ahead.astype(np.float32, copy=False)
