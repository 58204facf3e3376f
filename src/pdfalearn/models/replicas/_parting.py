"""Part a batch over copies of a model: by what words cost, never by the clock."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pdfalearn.models.cost import QueryCost

Seats = NDArray[np.int64]
Costs = NDArray[np.float64]

_SHARE = 4.0
"""A part costs at least this many times what its call costs."""


def word_costs(cost: QueryCost, lengths: NDArray[np.integer]) -> Costs:
    """Return the cost of words with these numbers of new symbols; one each if nothing costs."""
    costs = cost.word + cost.symbol * lengths.astype(np.float64)
    return costs if costs.any() else np.ones(len(lengths))


def part_count(costs: Costs, cost: QueryCost, seats: int) -> int:
    """Return how many parts pay: each costs some times what a call does.

    Examples
    --------
    >>> [part_count(np.ones(size), QueryCost(call=5, word=1), 4) for size in (10, 50, 1000)]
    [1, 2, 4]
    """
    least, total = _SHARE * cost.call, float(costs.sum())
    paying = seats if total >= seats * least else int(total // least)
    return max(1, min(paying, len(costs)))


def evenly(costs: Costs, parts: int) -> Seats:
    """Return the part of each word: words stay in order, and parts cost about the same.

    Examples
    --------
    >>> evenly(np.array([1.0, 1.0, 1.0, 3.0]), 2).tolist()
    [0, 0, 0, 1]
    """
    middles = np.cumsum(costs) - costs / 2
    found: Seats = np.minimum((middles * parts / costs.sum()).astype(np.int64), parts - 1)
    return found


def balanced(homes: Seats, at_home: Costs, away: Costs, seats: int) -> Seats:
    """Return the seat of each word, mostly where its prefix is held.

    Words without a home, and those that are too many at theirs, go where there is less to do. That
    costs more for each; it is done only if the seat with the most to do then has less.

    Parameters
    ----------
    homes : array of int
        The seat that holds the prefix of each word; -1 if none does.
    at_home, away : array of float
        What the word costs there, and elsewhere.
    seats : int
        How many seats there are.

    Examples
    --------
    >>> few, many = np.ones(6), np.full(6, 9.0)
    >>> balanced(np.zeros(6, int), few, many, 2).tolist()
    [0, 0, 0, 0, 0, 0]
    >>> balanced(np.zeros(6, int), few, 1.5 * few, 2).tolist()
    [0, 0, 0, 0, 1, 1]
    """
    stay = spread(homes, at_home, away, seats)
    costs = np.where(stay == homes, at_home, away)
    before = np.bincount(stay, costs, seats)
    goal = before.sum() / seats
    order = np.argsort(stay, kind="stable")
    within = np.empty_like(costs)
    sums = np.cumsum(costs[order])
    begins = np.concatenate(([0.0], np.cumsum(before)))[:-1]
    within[order] = sums - begins[stay[order]]
    too_many = within > goal * (1 + 1e-9)
    moved = spread(np.where(too_many, -1, stay), at_home, away, seats)
    after = np.bincount(moved, np.where(moved == homes, at_home, away), seats)
    return moved if after.max() < before.max() else stay


def spread(homes: Seats, at_home: Costs, away: Costs, seats: int) -> Seats:
    """Assign words without a home to the seats, in order, so that all have about as much to do."""
    homeless = (homes < 0).nonzero()[0]
    if not len(homeless):
        return homes
    is_home = homes >= 0
    loads: Costs = np.zeros(seats) + np.bincount(homes[is_home], at_home[is_home], seats)
    costs = away[homeless]
    level = _level(loads, float(costs.sum()))
    ends = np.cumsum(np.maximum(level - loads, 0.0))
    middles = np.cumsum(costs) - costs / 2
    found = np.minimum(np.searchsorted(ends, middles * (1 - 1e-12)), seats - 1)
    result = homes.copy()
    result[homeless] = found
    return result


def _level(loads: Costs, more: float) -> float:
    """Return how high all seats are filled if so much more is poured over them."""
    rising = np.sort(loads)
    levels = (np.cumsum(rising) + more) / np.arange(1, len(rising) + 1)
    reached = levels > rising
    return float(levels[reached.nonzero()[0][-1]]) if reached.any() else float(rising[-1])
