"""Merge the states of an automaton whose futures diverge least; plain arrays in and out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from pdfalearn.distilling.evidence import find_runs
from pdfalearn.typing import Floats, Integers

Numbers = NDArray[np.floating[Any]]

# Futures are compared this many symbols ahead.
_SWEEPS = 6
# The share of states that are merged at once where there are many.
_BATCH = 0.15
# At most this many states are merged one at a time.
FEW = 32
# Of more states than these the least visited ones are merged first, by their rows alone.
MOST_COMPARED = 2_000
_MOST_CELLS = 2**18
# More states than these are compared in single precision.
_MOST_DOUBLE = 512
_PART = 64
_TINY = 1e-30
_MIXED = 0.05
_LEAST = 1e-300


class States(NamedTuple):
    """The states of an automaton; -1 is an undefined transition."""

    # Shape (states, symbols).
    transitions: Integers
    # Their distributions, the terminal first.
    rows: Floats
    # The share of positions in each state; they need not sum to 1.
    visits: Floats
    initial: int
    # For every state of the automaton that was begun with, the state that stands for it now.
    origins: Integers


class Fit(NamedTuple):
    """An automaton that stands for another one, and what it loses per symbol."""

    states: States
    loss: float


def reduce_states(
    states: States, size: int, refit: Callable[[States], Fit], *, tries: int = 8
) -> Fit:
    """Merge states until there are at most ``size``, with a refit after every merge or batch.

    ``refit`` computes rows, visits and missing transitions anew, and the loss. At most 32 states
    are merged one at a time: the best of some ``tries``; 0 merges in batches to the end.
    """
    fit = refit(states)
    while (count := len(fit.states.rows)) > size:
        states = fit.states
        if count > MOST_COMPARED:
            fit = refit(merge_rare_states(states, max(size, MOST_COMPARED)))
            continue
        costs = merge_costs(states)
        if count > FEW or not tries:
            most = min(max(1, int(count * _BATCH)), count - size)
            fit = refit(merge_states(states, *choose_merges(costs, most)))
        else:
            order = np.argsort(costs, axis=None)[: min(tries, count * (count - 1))]
            merges = (np.divmod(place[None], count) for place in order)
            trials = [refit(merge_states(states, *merge)) for merge in merges]
            fit = min(trials, key=lambda trial: trial.loss)
    return fit


def future_costs(
    local: Numbers,
    lefts: NDArray[np.integer],
    rows: Numbers,
    rights: Integers,
    sweeps: int,
    likely: float = 0.0,
) -> Numbers:
    """Return D(p ‖ q) = local(p, q) + Σ row_p(a)·D(τ(p,a) ‖ τ(q,a)), some symbols ahead.

    ``lefts`` and ``rights`` are the transitions of p and q; only symbols that are more than
    ``likely`` count. Where q has no transition, it would take p's, and nothing more is lost. A last
    row and column of 0 stand for undefined states.
    """
    costs = np.zeros((len(lefts) + 1, len(rights) + 1), local.dtype)
    costs[:-1, :-1] = local
    symbols, states = (rows[:, 1:] > likely).T.nonzero()
    runs = find_runs(symbols)
    for _ in range(sweeps):
        following = local.copy()
        for begin, end, symbol in runs:
            # Parts of the left states keep what is gathered at once within the cache.
            for first in range(begin, end, _PART):
                here = states[first : min(end, first + _PART)]
                found = costs[lefts[here, symbol]].take(rights[:, symbol], axis=1)
                found *= rows[here, symbol + 1, None]
                following[here] += found
        costs[:-1, :-1] = following
    return costs


def merge_costs(states: States) -> Numbers:
    """Estimate what is lost if all that enters p is led to q, for all p and q."""
    kind = np.float32 if len(states.rows) > _MOST_DOUBLE else np.float64
    rows: Numbers = states.rows.astype(kind)
    visits: Numbers = states.visits.astype(kind)
    count, width = rows.shape
    # KL(row p ‖ the row of p and q merged, weighted by their visits), in parts that fit in memory.
    local = np.empty((count, count), rows.dtype)
    part = max(1, _MOST_CELLS // (count * width))
    shares = np.maximum(visits, _TINY)
    for begin in range(0, count, part):
        chosen = slice(begin, begin + part)
        weights = shares[chosen, None] / (shares[chosen, None] + shares)
        means = weights[:, :, None] * (rows[chosen, None, :] - rows)
        means += rows
        np.log(np.maximum(means, _TINY, out=means), out=means)
        local[chosen] = -(means @ rows[chosen, :, None])[:, :, 0]
    local += xlogy(rows, rows).sum(axis=1)[:, None]
    np.maximum(local, 0, out=local)
    moves = states.transitions
    costs = future_costs(local, moves, rows, moves, _SWEEPS)[:-1, :-1]
    costs *= visits[:, None]
    costs += (visits[:, None] * local).T
    np.fill_diagonal(costs, np.inf)
    return costs


def merge_states(states: States, sources: Integers, targets: Integers) -> States:
    """Lead all that enters the sources to their targets, which take the transitions they lack.

    No target may be a source. The rows are means by visits, and the visits are added up.
    """
    transitions, count = states.transitions.copy(), len(states.rows)
    lacking = (transitions[targets] < 0) & (transitions[sources] >= 0)
    merges, symbols = lacking[::-1].nonzero()  # backwards: the first of several has the last word
    merges = len(sources) - 1 - merges
    transitions[targets[merges], symbols] = transitions[sources[merges], symbols]
    visits = np.maximum(states.visits, _LEAST)
    sums = states.rows * visits[:, None]
    np.add.at(sums, targets, sums[sources])
    np.add.at(visits, targets, visits[sources])
    kept = np.ones(count, dtype=bool)
    kept[sources] = False
    numbers = np.append(np.cumsum(kept) - 1, -1)
    numbers[sources] = numbers[targets]
    return States(
        numbers[transitions[kept]],
        sums[kept] / visits[kept, None],
        visits[kept],
        int(numbers[states.initial]),
        numbers[states.origins],
    )


def merge_classes(states: States, classes: Integers) -> States:
    """Merge all states of each class into its most visited one."""
    order = np.lexsort((-states.visits, classes))
    first = np.append(True, np.diff(classes[order]) != 0)
    leaders = order[first][np.cumsum(first) - 1]
    return merge_states(states, order[~first], leaders[~first])


def merge_rare_states(states: States, size: int) -> States:
    """Merge each of the least visited states into the other state with the nearest row."""
    order = np.argsort(-states.visits, kind="stable")
    kept, others = order[:size], order[size:]
    mean = states.visits @ states.rows / states.visits.sum()
    logs = np.log(np.maximum((1 - _MIXED) * states.rows[kept] + _MIXED * mean, _TINY)).T
    part = max(1, _MOST_CELLS * 16 // size)
    nearest = [
        (states.rows[others[begin : begin + part]] @ logs).argmax(axis=1)
        for begin in range(0, len(others), part)
    ]
    return merge_states(states, others, kept[np.concatenate(nearest)])


def choose_merges(costs: Numbers, most: int) -> tuple[Integers, Integers]:
    """Choose merges of states into others, the cheapest first; no target is merged itself."""
    nearest = costs.argmin(axis=1)
    is_removed, is_needed = np.zeros(len(costs), dtype=bool), np.zeros(len(costs), dtype=bool)
    chosen: list[int] = []
    for state in np.argsort(costs.min(axis=1), kind="stable").tolist():
        target = int(nearest[state])
        if not is_needed[state] and not is_removed[target]:
            is_removed[state] = is_needed[target] = True
            chosen.append(state)
        if len(chosen) == most:
            break
    sources = np.array(chosen, dtype=np.int64)
    return sources, nearest[sources]
