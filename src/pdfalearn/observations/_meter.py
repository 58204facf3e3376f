"""Hold what is asked of a model against a budget."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

import numpy as np

from pdfalearn.budgets import Budget, BudgetReached
from pdfalearn.observations._nodes import NO_HANDLE, Nodes

if TYPE_CHECKING:
    from pdfalearn.observations.tree import ObservationTree


class Meter:
    """Says which words may still be asked.

    Parameters
    ----------
    budget : Budget
        The bounds.
    """

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self._started = time.monotonic()
        self.states_reached = False
        """Whether a state was found that there was no room for."""

    def check_seconds(self, where: tuple[object, ...] | None = None) -> None:
        """Stop if the time is up."""
        limit = self.budget.max_seconds
        if limit is not None and self._seconds_left() <= 0:
            raise BudgetReached("max_seconds", limit, where)

    def _seconds_left(self) -> float:
        return _left(self.budget.max_seconds, time.monotonic() - self._started)

    def check_equivalence_queries(self, count: int) -> None:
        """Stop if no further equivalence query may be made after so many."""
        limit = self.budget.max_equivalence_queries
        if limit is not None and count >= limit:
            raise BudgetReached("max_equivalence_queries", limit)

    def check_states(self) -> None:
        """Stop if there are more states than there may be."""
        if self.states_reached and self.budget.max_states is not None:
            raise BudgetReached("max_states", self.budget.max_states)

    def grant_states(self, have: int, wanted: int) -> int:
        """Say how many of the wanted states may be added to those there are."""
        limit = self.budget.max_states
        if limit is None or have + wanted <= limit:
            return wanted
        self.states_reached = True
        return limit - have

    def opening(self, wanted: int) -> int:
        """Say how many stored words may be asked again, so that enough is left to go on."""
        limit = self.budget.max_words
        return wanted if limit is None else min(wanted, limit // 4)

    def affordable(self, tree: ObservationTree, lengths: list[int]) -> list[int]:
        """Give the places of words that may be asked outside of learning, from the start."""
        budget = self.budget
        if self._seconds_left() <= 0:
            return []
        words = _left(budget.max_words, tree.counts.words + tree.counts.audited)
        symbols = _left(budget.max_symbols, tree.all_symbols)
        longest = _left(budget.max_word_length, 0)
        places = []
        for place, length in enumerate(lengths):
            if words >= 1 and length <= symbols and length <= longest:
                places.append(place)
                words, symbols = words - 1, symbols - length
        return places

    def allowed(self, tree: ObservationTree, nodes: Nodes) -> Nodes:
        """Give the nodes that may be asked now; stop if there are none."""
        if not tree.counts.words and nodes[0] == 0:
            return nodes[:1]
        first = int(nodes[0])
        self.check_seconds(tree.word(first))
        budget = self.budget
        if budget.max_word_length is not None:
            fits = tree.nodes.depths(nodes) <= budget.max_word_length
            if not fits.any():
                raise BudgetReached("max_word_length", budget.max_word_length, tree.word(first))
            nodes = nodes[fits]
        if budget.max_words is not None:
            left = budget.max_words - tree.counts.words - tree.counts.audited
            nodes = nodes[: max(left, 0)]
            if not len(nodes):
                raise BudgetReached("max_words", budget.max_words, tree.word(first))
        if budget.max_symbols is not None:
            is_bounded = tree.model.capacity is not None  # handles may be gone before they are used
            ways = tree.nodes.depths(nodes) if is_bounded else _ways(tree, nodes)
            needed = np.cumsum(ways)
            nodes = nodes[needed <= budget.max_symbols - tree.all_symbols]
            if not len(nodes):
                raise BudgetReached("max_symbols", budget.max_symbols, tree.word(first))
        return nodes


def _left(limit: float | None, spent: float) -> float:
    return math.inf if limit is None else limit - spent


def _ways(tree: ObservationTree, nodes: Nodes) -> Nodes:
    """Give the number of symbols to each node from its nearest ancestor that has a handle."""
    ways = np.zeros(len(nodes), dtype=np.int64)
    active, here = np.arange(len(nodes)), nodes
    while len(active):
        onwards = tree.nodes.handles[here] == NO_HANDLE
        active, here = active[onwards], here[onwards]
        ways[active] += 1
        here = tree.nodes.parents[here].astype(np.int64)
    return ways
