"""The cheapest ways to explain what a walk through a model shows, by an automaton."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pdfalearn.typing import Codes, Integers

# What it costs that a walk does not begin in the initial state.
_OTHER_START = 2**20
# Where a place has more changes than this that explain it, the walk tells nothing about them.
_MOST_PAIRS = 64


class Explanation(NamedTuple):
    """The cheapest ways to explain the classes along a walk, all of them together."""

    cost: int
    # The state at every place where all of them have the same, elsewhere -1.
    states: Integers
    # The changes that some of them make: a place, states before, and states that follow instead.
    changes: list[tuple[int, list[int], list[int]]]


def explain(
    word: list[int], table: Codes, initial: int, prices: Integers, costs: list[Integers]
) -> Explanation:
    """Find the cheapest ways through an automaton (Viterbi, forward and back).

    Parameters
    ----------
    word : list of int
        The symbols of the walk.
    table : array of int
        Where transitions lead; -1 where that is not known.
    initial : int
        Where the walk begins.
    prices : array of int
        For each symbol and state, what it costs that the transition leads elsewhere.
    costs : list of array of int
        For each place of the walk, what it costs that it is in each of the states.
    """
    ways = {symbol: _ways_into(table[:, symbol]) for symbol in set(word)}
    forward = np.full((len(costs), len(table)), _OTHER_START)
    forward[0, initial] = 0
    forward[0] += costs[0]
    leasts = []
    for place, symbol in enumerate(word):
        here, (befores, begins, ends) = forward[place], ways[symbol]
        leasts.append(int((here + prices[symbol]).min()))
        there = forward[place + 1]
        there[:] = leasts[-1]
        if len(ends):
            follow = np.minimum.reduceat(here[befores], begins)
            there[ends] = np.minimum(follow, leasts[-1])
        there += costs[place + 1]
    best = int(forward[-1].min())
    back = np.zeros((len(costs), len(table)), dtype=np.int64)
    changes = []
    for place in range(len(word) - 1, -1, -1):
        symbol = word[place]
        after = back[place + 1] + costs[place + 1]
        least = int(after.min())
        follow = np.append(after, _OTHER_START)[table[:, symbol]]
        np.minimum(follow, prices[symbol] + least, out=back[place])
        if leasts[place] + least == best:
            befores = (forward[place] + prices[symbol] == leasts[place]).nonzero()[0]
            afters = (after == least).nonzero()[0]
            if len(befores) * len(afters) <= _MOST_PAIRS:
                changes.append((place, befores.tolist(), afters.tolist()))
    on_way = forward + back == best
    states = np.where(on_way.sum(axis=1) == 1, on_way.argmax(axis=1), -1)
    return Explanation(best, states, changes)


def _ways_into(ends: Codes) -> tuple[Integers, Integers, Integers]:
    """Return the states that lead somewhere by where they lead: all, where each part begins."""
    befores = np.argsort(ends, kind="stable")
    befores = befores[ends[befores] >= 0]
    begins = np.flatnonzero(np.diff(ends[befores], prepend=-1))
    return befores, begins.astype(np.int64), ends[befores[begins]].astype(np.int64)
