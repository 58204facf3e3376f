"""Check what is asked of a model against a budget."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pdfalearn.budgets import Budget, BudgetReached
from pdfalearn.models.cost import QueryCost
from pdfalearn.observations._nodes import NO_HANDLE, Nodes, NodeTable

if TYPE_CHECKING:
    from pdfalearn.observations._asking import Asker, Counts


_SECONDS_PER_NODE = 4e-7
"""What it takes to make an automaton of what is known, about, for each word."""
_FEW_WORDS = 64
"""Answers to fewer words than this are never waited for by themselves."""
_MANY_WORDS = 2**31
"""Without a budget, this many words may be asked before their answers are used."""


class Meter:
    """Decides which words may still be asked.

    Parameters
    ----------
    budget : Budget
        The bounds.
    cost : QueryCost
        What asking the model costs.
    counts : Counts
        What has been asked.
    table : NodeTable
        The words.
    """

    def __init__(self, budget: Budget, cost: QueryCost, counts: Counts, table: NodeTable) -> None:
        self._table = table
        self.budget = budget
        self._cost = cost
        self._counts = counts
        self._started = time.monotonic()
        self.states_reached = False
        """Whether a state was found that there was no room for."""
        self.is_closed = False
        """Whether nothing may be asked any more."""

    def check_seconds(self, where: tuple[object, ...] | None = None) -> None:
        """Stop if the time is up."""
        limit = self.budget.max_seconds
        if limit is not None and self._seconds_left() <= 0:
            raise BudgetReached("max_seconds", limit, where)

    def _seconds_left(self) -> float:
        finishing = _SECONDS_PER_NODE * self._table.size
        return _left(self.budget.max_seconds, time.monotonic() - self._started + finishing)

    def check_equivalence_queries(self, count: int) -> None:
        """Stop if no further equivalence query may be made after this many."""
        limit = self.budget.max_equivalence_queries
        if limit is not None and count >= limit:
            raise BudgetReached("max_equivalence_queries", limit)

    def check_states(self) -> None:
        """Stop if there are more states than there may be."""
        if self.states_reached and self.budget.max_states is not None:
            raise BudgetReached("max_states", self.budget.max_states)

    def grant_states(self, have: int, wanted: int) -> int:
        """Return how many of the wanted states may be added to those there are."""
        limit = self.budget.max_states
        if limit is None or have + wanted <= limit:
            return wanted
        self.states_reached = True
        return limit - have

    def opening(self, wanted: int) -> int:
        """Return how many stored words may be asked again; the budget keeps enough to go on."""
        limit = self.budget.max_words
        return wanted if limit is None else min(wanted, limit // 4)

    def cost(self, symbols: int) -> float:
        """Return what all that was asked has cost, audits included."""
        counts = self._counts
        return self._cost.total(
            calls=len(counts.batches) + counts.audits,
            words=counts.words + counts.audited,
            prefixes=max(0, counts.distributions - counts.words),
            symbols=symbols + counts.audited_symbols,
            cached_symbols=counts.cached_symbols,
        )

    def affordable(self, symbols: int, lengths: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the places of words that may be asked outside of learning, from the start."""
        budget, counts, unit = self.budget, self._counts, self._cost
        if self.is_closed or self._seconds_left() <= 0:
            return np.empty(0, dtype=np.int64)
        words = _left(budget.max_words, counts.words + counts.audited)
        cost = _left(budget.max_cost, self.cost(symbols))
        symbols_left = _left(budget.max_symbols, symbols + counts.audited_symbols)
        longest = _left(budget.max_word_length, 0)
        places = []
        for place, length in enumerate(lengths.tolist()):
            costs = unit.call + unit.word + length * unit.symbol
            if words >= 1 and length <= min(symbols_left, longest) and costs <= cost:
                places.append(place)
                words, symbols_left, cost = words - 1, symbols_left - length, cost - costs
        return np.array(places, dtype=np.int64)

    def half_left(self, symbols: int) -> int:
        """Return half the number of words that may still be asked, at least a few."""
        budget, counts = self.budget, self._counts
        unit = self._cost.word + self._cost.symbol
        left = min(
            _left(budget.max_words, counts.words + counts.audited),
            _left(budget.max_symbols, symbols + counts.audited_symbols),
            _left(budget.max_cost, self.cost(symbols)) / unit if unit else math.inf,
        )
        return int(min(max(left / 2, _FEW_WORDS), _MANY_WORDS))

    def allowed(self, asker: Asker, nodes: Nodes) -> Nodes:
        """Return the nodes that may be asked now; stop if there are none."""
        if not self._counts.words and nodes[0] == 0:
            return nodes[:1]
        budget, table, first = self.budget, self._table, int(nodes[0])
        where = asker.word(first)
        self.check_seconds(where)
        if budget.max_word_length is not None:
            fits = table.depths(nodes) <= budget.max_word_length
            nodes = _some(nodes[fits], "max_word_length", budget.max_word_length, where)
        if budget.max_words is not None:
            left = budget.max_words - self._counts.words - self._counts.audited
            nodes = _some(nodes[: max(left, 0)], "max_words", budget.max_words, where)
        if budget.max_symbols is None and budget.max_cost is None:
            return nodes
        # Where there is a bound on handles, they may be gone before they are used.
        is_bounded = asker.leader.room is not None
        ways = table.depths(nodes) if is_bounded else ways_to(table, nodes)
        symbols = asker.leader.symbols
        if budget.max_symbols is not None:
            symbols_left = budget.max_symbols - symbols - self._counts.audited_symbols
            nodes = _some(
                nodes[np.cumsum(ways) <= symbols_left], "max_symbols", budget.max_symbols, where
            )
        if budget.max_cost is not None:
            costs = self._cost.word + ways[: len(nodes)] * self._cost.symbol
            if self._cost.cached_symbol:
                cached = table.depths(nodes) - ways[: len(nodes)]
                costs = costs + cached * self._cost.cached_symbol
            cost_left = budget.max_cost - self.cost(symbols) - self._cost.call
            nodes = _some(nodes[np.cumsum(costs) <= cost_left], "max_cost", budget.max_cost, where)
        return nodes


def _some(nodes: Nodes, bound: str, limit: float, where: tuple[object, ...]) -> Nodes:
    """Return nodes if there are any; else the bound is reached."""
    if not len(nodes):
        raise BudgetReached(bound, limit, where)
    return nodes


def _left(limit: float | None, spent: float) -> float:
    return math.inf if limit is None else limit - spent


def ways_to(table: NodeTable, nodes: Nodes) -> Nodes:
    """Return the number of symbols to each node from its nearest ancestor that has a handle."""
    ways = np.zeros(len(nodes), dtype=np.int64)
    active, here = np.arange(len(nodes)), nodes
    while len(active):
        onwards = (table.handles[here] == NO_HANDLE) & (here > 0)
        active, here = active[onwards], here[onwards]
        ways[active] += 1
        here = table.parents[here].astype(np.int64)
    return ways
