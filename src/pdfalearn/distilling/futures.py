"""Merge the states of an automaton whose futures diverge least; plain arrays in and out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from pdfalearn.typing import Floats, Integers

Numbers = NDArray[np.floating[Any]]

# Futures are compared this many symbols ahead.
_SWEEPS = 6
# The share of states that are merged at once where there are many.
_BATCH = 0.15
FEW = 32
"""At most this many states are merged one at a time."""
MOST_COMPARED = 2_000
"""Of more states than these the least visited ones are merged first, by their rows alone."""
_MOST_CELLS = 2**18
# More states than these are compared in single precision.
_MOST_DOUBLE = 512
_PART = 64
_TINY = 1e-30
_MIXED = 0.05
_LEAST = 1e-300


class States(NamedTuple):
    """The states of an automaton; -1 is an undefined transition."""

    transitions: Integers
    """Shape (states, symbols)."""
    rows: Floats
    """Their distributions, the terminal first."""
    visits: Floats
    """The share of positions in each state; they need not sum to 1."""
    initial: int
    origins: Integers
    """For every state of the automaton that was begun with, the state that stands for it now."""


Refit = Callable[[States], tuple[States, float]]
"""Computes rows, visits and missing transitions anew; also returns the loss."""


def reduce_states(
    states: States, sizes: Iterable[int], refit: Refit, *, tries: int = 8
) -> Iterator[tuple[States, float]]:
    """Merge states until each of some sizes is reached, from the largest to the smallest.

    Parameters
    ----------
    states : States
        The automaton to begin with.
    sizes : iterable of int
        The wanted numbers of states, at least 1.
    refit : callable
        Called with the states after each merge, or batch of merges: returns them with rows and
        visits that are right for the source, missing transitions filled in, and the loss.
    tries : int
        How many of the cheapest merges are tried where states are merged one at a time (32 and
        fewer); the one with the least loss is kept. 0 merges in batches to the end.

    Yields
    ------
    States, float
        What has at most the wanted number of states, and its loss.
    """
    states, loss = refit(states)
    for size in sorted(sizes, reverse=True):
        while len(states.rows) > size:
            states, loss = _smaller(states, size, refit, tries)
        yield states, loss


def _smaller(states: States, size: int, refit: Refit, tries: int) -> tuple[States, float]:
    """Merge the cheapest states: a batch of many, or the best of some tries."""
    count = len(states.rows)
    if count > MOST_COMPARED:
        return refit(merge_rare_states(states, max(size, MOST_COMPARED)))
    costs = merge_costs(states)
    if count > FEW or not tries:
        most = min(max(1, int(count * _BATCH)), count - size)
        return refit(merge_states(states, *cheapest(costs, most)))
    order = np.argsort(costs, axis=None)[: min(tries, count * (count - 1))]
    trials = [refit(merge_states(states, *np.divmod(place[None], count))) for place in order]
    return min(trials, key=lambda trial: trial[1])


def local_costs(rows: Numbers, visits: Numbers) -> Numbers:
    """Return for all pairs KL(row p ‖ the row of p and q merged, weighted by their visits)."""
    count, width = rows.shape
    costs = np.empty((count, count), rows.dtype)
    part = max(1, _MOST_CELLS // (count * width))
    shares = np.maximum(visits, _TINY)
    for begin in range(0, count, part):
        chosen = slice(begin, begin + part)
        weights = shares[chosen, None] / (shares[chosen, None] + shares)
        means = weights[:, :, None] * (rows[chosen, None, :] - rows)
        means += rows
        np.log(np.maximum(means, _TINY, out=means), out=means)
        costs[chosen] = -(means @ rows[chosen, :, None])[:, :, 0]
    costs += xlogy(rows, rows).sum(axis=1)[:, None]
    return np.maximum(costs, 0, out=costs)


def future_costs(transitions: Integers, rows: Numbers, local: Numbers) -> Numbers:
    """Return D(p ‖ q) = local(p, q) + Σ row_p(a)·D(τ(p,a) ‖ τ(q,a)) for all pairs.

    Where q has no transition, it would take p's, and nothing more is lost.
    """
    count = len(rows)
    costs = np.zeros((count + 1, count + 1), local.dtype)  # the last is for -1, undefined
    costs[:-1, :-1] = local
    for _ in range(_SWEEPS):
        following = local.copy()
        for begin in range(0, count, _PART):
            chosen = slice(begin, begin + _PART)
            for symbol, successors in enumerate(transitions.T):
                found = costs[successors[chosen]].take(successors, axis=1)
                found *= rows[chosen, symbol + 1, None]
                following[chosen] += found
        costs[:-1, :-1] = following
    return costs[:-1, :-1]


def merge_costs(states: States) -> Numbers:
    """Estimate what is lost if all that enters p is led to q, for all p and q."""
    kind: type[np.floating[Any]] = np.float64
    if len(states.rows) > _MOST_DOUBLE:
        kind = np.float32
    rows: Numbers = states.rows.astype(kind)
    visits: Numbers = states.visits.astype(kind)
    local = local_costs(rows, visits)
    costs = future_costs(states.transitions, rows, local)
    costs *= visits[:, None]
    costs += (visits[:, None] * local).T
    np.fill_diagonal(costs, np.inf)
    return costs


def cheapest(costs: Numbers, most: int) -> tuple[Integers, Integers]:
    """Choose merges p into q by their costs so that no q is merged itself."""
    targets = costs.argmin(axis=1)
    removed, kept = np.zeros(len(costs), dtype=bool), np.zeros(len(costs), dtype=bool)
    chosen: list[int] = []
    for state in np.argsort(costs.min(axis=1)).tolist():
        target = int(targets[state])
        if not kept[state] and not removed[target]:
            removed[state] = kept[target] = True
            chosen.append(state)
        if len(chosen) == most:
            break
    places = np.array(chosen, dtype=np.int64)
    return places, targets[places].astype(np.int64)


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
