"""Find where automata should change: move transitions, add states, remove states.

All three stand on one pass over the evidence: what the words below every node would cost from every
state.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from pdfalearn.distilling.evidence import Evidence, Step, Table, make_dense, xlogx
from pdfalearn.distilling.futures import future_costs
from pdfalearn.distilling.machines import Fit, Machine, States
from pdfalearn.distilling.settings import SearchSettings
from pdfalearn.typing import Floats, Integers, Singles

# Where nodes with the same last symbol have fewer costs than this, all are led in one pass.
_SHORT = 500

# Costs are looked up only where symbols lead to if that is at most this share of all states.
_MOST_LED = 0.5
# Numbers are sorted to find the different ones if there may be this many times as many.
_SORTED = 8

# About this many costs are looked up at once.
_AT_ONCE = 2**20
# In automata of up to this many states all targets are looked at.
_FEW = 128


def subtree_costs(fit: Fit, evidence: Evidence, groups: Integers, count: int) -> Singles:
    """Return what nodes and all below them cost in every state, summed up by group.

    The cost of a node is its weight · KL(answer ‖ row), in nats.
    """
    answers, entropies = evidence.swept
    local: Singles = answers @ np.ascontiguousarray(fit.logs.T.astype(np.float32))
    np.subtract(entropies[:, None], local, out=local)
    led = np.ascontiguousarray(fit.machine.transitions.T.astype(np.int64))
    return _sum_up(evidence, local, led, None, groups, count)


def _sum_up(
    evidence: Evidence,
    local: Singles,
    led: Integers,
    turns: Integers | None,
    groups: Integers,
    count: int,
) -> Singles:
    """Return the sums over subtrees by group; ``local`` has what nodes cost, in the sweep's order.

    A row of ``led`` says to which column each of a parent leads: for every symbol, or, with
    ``turns``, for every one of these, which are of all nodes in the sweep's order.
    """
    sweep = evidence.sweep
    costs = local if sweep.wrap is None else local.copy()
    for step in sweep.steps:
        _add_below(step, costs, costs, led, turns)
    if sweep.wrap is not None:
        _add_below(sweep.wrap, costs, local, led, turns)
        costs = local
        for step in sweep.steps:
            _add_below(step, costs, costs, led, turns)
    ones, nodes = np.ones(evidence.size, dtype=np.float32), np.arange(evidence.size)
    choice = csr_array((ones, (groups[sweep.order], nodes)), shape=(count, evidence.size))
    return np.asarray(choice @ costs)


def _add_below(
    step: Step, costs: Singles, totals: Singles, led: Integers, turns: Integers | None
) -> None:
    """Add what children cost in the columns that they are led to."""
    below = costs[step.below]
    if turns is not None or below.size < _SHORT * len(step.runs):
        rows = led[step.symbols if turns is None else turns[step.below]]
        rows += np.arange(0, below.size, below.shape[1])[:, None]
        found = below.reshape(-1).take(rows)
    else:
        found = np.empty_like(below)
        for begin, end, symbol in step.runs:
            below[begin:end].take(led[symbol], axis=1, out=found[begin:end], mode="clip")
    if step.sums is None:
        totals[step.above.start + step.parents] += found
    else:
        totals[step.above] += step.sums @ found


class Images(NamedTuple):
    """The states that symbols lead to; these are few where an automaton has many states."""

    # For every symbol, and the beginning as one more, its states, the last one repeated.
    states: Integers
    # Of a symbol and a state, the place in that.
    places: Integers


def find_images(fit: Fit, evidence: Evidence) -> Images | None:
    """Return the states that each symbol leads to; None if all may as well be looked at."""
    transitions, size = fit.machine.transitions, len(fit.machine.rows)
    if size <= _FEW or not isinstance(evidence.weighted[0], np.ndarray):
        return None
    is_led = np.zeros((evidence.width + 1, size), dtype=bool)
    is_led[np.arange(evidence.width), transitions] = True
    is_led[-1, 0] = True
    counts = is_led.sum(axis=1)
    if counts.max() > _MOST_LED * size:
        return None
    places = np.cumsum(is_led, axis=1) - 1
    states = np.zeros((evidence.width + 1, counts.max()), dtype=np.int64)
    symbols, led = is_led.nonzero()
    states[symbols, places[symbols, led]] = led
    return Images(states, places)


def image_costs(
    fit: Fit, evidence: Evidence, images: Images, groups: Integers, count: int
) -> Singles:
    """Return what `subtree_costs` does, but only in the states that a node's symbol leads to."""
    turns = evidence.turns
    logs = fit.logs.astype(np.float32)
    local: Singles = np.empty((evidence.size, images.states.shape[1]), dtype=np.float32)
    for begin, end, symbol in turns.runs:
        rows = logs[images.states[symbol]]
        np.matmul(turns.answers[begin:end], rows.T, out=local[begin:end])
    local = local.take(turns.places, axis=0)
    np.subtract(evidence.swept[1][:, None], local, out=local)
    # Where a node's symbol leads after each state that its parent's symbol leads to.
    symbols = turns.symbols[:, None]
    targets = fit.machine.transitions[images.states[turns.befores], symbols]
    led = images.places[symbols, targets]
    return _sum_up(evidence, local, led, turns.of_nodes, groups, count)


class Edges:
    """The transitions that words take, and what each would cost with every target.

    With ``images`` only those targets count that the transition's symbol leads to somewhere.
    """

    def __init__(self, fit: Fit, evidence: Evidence, images: Images | None = None) -> None:
        width = evidence.width
        numbers = fit.states[evidence.parents].astype(np.int64) * width + evidence.symbols
        numbers[0] = -1  # the beginning is one too
        # Transitions as state * symbols + symbol, first -1; and the place of each node's.
        self.numbers, self.of_node = find_different(numbers, len(fit.machine.rows) * width)
        self.weights: Floats = np.bincount(self.of_node, evidence.weights).astype(np.float64)
        count = len(self.numbers)
        self.costs: Singles
        if images is None:
            self.costs = subtree_costs(fit, evidence, self.of_node, count)
        else:
            self.costs = image_costs(fit, evidence, images, self.of_node, count)
        self.targets = fit.machine.transitions.reshape(-1)[self.numbers]
        self.targets[0] = 0
        self.images = images

    def find_best(self) -> tuple[Integers, NDArray[np.float32]]:
        """Return the best target of every transition, and the nats that it gains."""
        places, news = np.arange(len(self.numbers)), self.costs.argmin(axis=1)
        if self.images is None:
            return news, self.costs[places, self.targets] - self.costs[places, news]
        symbols = self.numbers % len(self.images.states[:-1])
        symbols[0] = -1
        olds = self.images.places[symbols, self.targets]
        gains = self.costs[places, olds] - self.costs[places, news]
        return self.images.states[symbols, news], gains


def find_different(numbers: Integers, count: int) -> tuple[Integers, Integers]:
    """Return the different ones of numbers from -1 on, and the place of each among them."""
    if count > _SORTED * len(numbers):
        return np.unique(numbers, return_inverse=True)
    is_there = np.zeros(count + 1, dtype=bool)
    is_there[numbers + 1] = True
    different = is_there.nonzero()[0] - 1
    places = np.empty(count + 1, dtype=np.int64)
    places[different + 1] = np.arange(len(different))
    return different, places[numbers + 1]


def find_edges(fit: Fit, evidence: Evidence) -> Edges:
    """Return the transitions with their costs; those of the last fit are kept."""
    if evidence.kept is None or evidence.kept[0] is not fit:
        evidence.kept = fit, Edges(fit, evidence, find_images(fit, evidence))
    edges: Edges = evidence.kept[1]
    return edges


def find_moves(edges: Edges, reluctance: float) -> tuple[Integers, Integers]:
    """Return the transitions that are worth moving and their targets, the best first.

    These gain at least ``reluctance`` nats, or less if hardly a word takes them.
    """
    places = np.arange(len(edges.numbers))
    news, gains = edges.find_best()
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
    machine, edges = fit.machine, find_edges(fit, evidence)
    size = len(machine.rows)
    # Find where the words that take an edge should go on with every symbol that they have next.
    numbers = edges.of_node[evidence.parents] * evidence.width + evidence.symbols
    numbers[0] = -1
    pairs, of_node = find_different(numbers, len(edges.numbers) * evidence.width)
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


def _compute_divergences(means: Table, logs: Floats, targets: States) -> Floats:
    """Return the divergence of each mean from the row of its target, without tables if sparse."""
    if isinstance(means, csr_array):
        owners = np.repeat(np.arange(len(targets)), np.diff(means.indptr))
        values = xlogx(means.data) - means.data * logs[targets[owners], means.indices]
        return np.bincount(owners, values, len(targets)).astype(np.float64)
    return np.asarray((xlogx(means) - means * logs[targets]).sum(axis=1))


def merge_costs(fit: Fit, evidence: Evidence, settings: SearchSettings) -> Singles:
    """Return what it costs to lead all that enters a state (row) to another (column).

    That is what the words that enter it would cost there, and how far the futures of the two
    differ, for words that were not seen.
    """
    edges, size = find_edges(fit, evidence), len(fit.machine.rows)
    costs: Singles
    if edges.images is None:
        ones = np.ones(len(edges.targets), dtype=np.float32)
        places = (edges.targets, np.arange(len(edges.targets)))
        costs = np.asarray(csr_array((ones, places), shape=(size, len(ones))) @ edges.costs)
    else:
        costs = _leave_by_edges(fit, evidence, edges, edges.images)
    costs -= np.diag(costs)[:, None].copy()
    unseen = future_divergences(fit, evidence, settings)
    costs += settings.as_if_seen * np.minimum(unseen, settings.worst)
    np.fill_diagonal(costs, np.inf)
    return costs


def _leave_by_edges(fit: Fit, evidence: Evidence, edges: Edges, images: Images) -> Singles:
    """Return what words cost from where they enter a state (row), had they entered another.

    Here they cost what its row says, and beyond what the transitions cost that leave it. The
    entropies of answers are left out.
    """
    size = len(fit.machine.rows)
    sums = evidence.sums(fit.states, size)[0].astype(np.float32)
    costs: Singles = -(sums @ fit.logs.T.astype(np.float32))
    columns = images.places[np.arange(evidence.width), fit.machine.transitions].T
    owners, symbols = np.divmod(edges.numbers[1:], evidence.width)
    begins = np.arange(1, len(owners) + 1)[:, None] * edges.costs.shape[1]
    part = max(1, _AT_ONCE // size)
    for first in range(0, len(owners), part):
        here = slice(first, first + part)
        beyond = edges.costs.reshape(-1).take(columns[symbols[here]] + begins[here])
        starts = np.flatnonzero(np.diff(owners[here], prepend=-1))
        costs[owners[here][starts]] += np.add.reduceat(beyond, starts, axis=0)
    return costs


def future_divergences(fit: Fit, evidence: Evidence, settings: SearchSettings) -> Singles:
    """Return the divergence of what follows state q from what follows p, for all p and q."""
    rows, logs = fit.machine.rows.astype(np.float32), fit.logs.astype(np.float32)
    local: Singles = (rows * logs).sum(axis=1)[:, None] - rows @ logs.T
    np.maximum(local, 0.0, out=local)
    moves = fit.machine.transitions.astype(np.int64)
    shares = evidence.spread(fit.machine.rows).astype(np.float32)
    ahead = future_costs(local, moves, shares, moves, settings.sweeps, settings.likely)
    return ahead[:-1, :-1].astype(np.float32, copy=False)
