"""Decide what is asked next: how much a budget allows, and which words make up a batch."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from pdfalearn.budgets import Budget, BudgetReached
from pdfalearn.models.batch import FEW, Batch
from pdfalearn.models.protocol import QueryCost
from pdfalearn.observations.nodes import UNKNOWN, Nodes, NodeTable
from pdfalearn.rows import Floats

_SECONDS_PER_NODE = 4e-7
"""What it takes to make an automaton of what is known, about, for each word."""
_FEW_WORDS = 64
"""Answers to fewer words than this are never waited for by themselves."""
_MANY_WORDS = 2**31
"""Without a budget, this many words may be asked before their answers are used."""


@dataclass
class Counts:
    """What the model has been asked so far."""

    words: int = 0
    """Words that were asked for."""
    symbols: int = 0
    """Symbols that the model was led through."""
    distributions: int = 0
    """Distributions that were answered: with a word's own may come those of its prefixes."""
    batches: list[int] = field(default_factory=list)
    """How many distributions were answered at once, each time."""
    cached_symbols: int = 0
    """Symbols of words that the model had been led through before."""
    stored: int = 0
    """Words that were not asked for, as a store had their answers."""
    audited: int = 0
    """Words that an audit asked for a second time."""
    audited_symbols: int = 0
    """The symbols of these words."""
    audits: int = 0
    """How many audits there were."""
    largest_difference: float = 0.0
    """By how much a probability differed at most the second time."""
    outside: float = 0.0
    """The sum of the mass outside of the alphabet over all distributions where it is known."""
    outside_known: int = 0
    """The number of these."""
    largest_outside: float = 0.0
    """The largest mass outside of the alphabet."""

    @property
    def outside_details(self) -> dict[str, object]:
        """What a certificate says about the mass outside of the alphabet, if there is any."""
        if not self.outside_known:
            return {}
        return {
            "outside": {
                "mean": self.outside / self.outside_known,
                "largest": self.largest_outside,
                "distributions": self.outside_known,
                "unknown": max(0, self.distributions + self.stored - self.outside_known),
            }
        }

    def note_outside(self, outside: Floats) -> None:
        """Count the mass outside of the alphabet beside distributions; NaN where not known."""
        known = outside[~np.isnan(outside)]
        self.outside += float(known.sum())
        self.outside_known += len(known)
        self.largest_outside = max(self.largest_outside, float(known.max(initial=0.0)))


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
    nodes : NodeTable
        The words.
    """

    def __init__(self, budget: Budget, cost: QueryCost, counts: Counts, nodes: NodeTable) -> None:
        self._nodes = nodes
        self.budget = budget
        self._cost = cost
        self._counts = counts
        self._started = time.monotonic()
        self.states_reached = False
        """Whether a state was found that there was no room for."""
        self.is_closed = False
        """Whether nothing may be asked any more."""
        self._guard: Budget | None = None
        if budget.max_bytes is not None:
            self._guard = Budget(max_bytes=budget.max_bytes)

    def check_seconds(self, where: tuple[object, ...] | None = None) -> None:
        """Stop if the time is up."""
        limit = self.budget.max_seconds
        if limit is not None and self._seconds_left() <= 0:
            raise BudgetReached("max_seconds", limit, where)

    def _seconds_left(self) -> float:
        finishing = _SECONDS_PER_NODE * self._nodes.size
        return _left(self.budget.max_seconds, time.monotonic() - self._started + finishing)

    def guard(self, limits: Budget) -> None:
        """Stop at default limits, which unlike a budget do not change how words are asked."""
        self._guard = limits

    def check_guard(self, nbytes: int) -> None:
        """Stop if a limit is reached, given the bytes that the observations take."""
        if self._guard is None:
            return
        is_default = self.budget.max_bytes is None
        words, most_bytes = self._guard.max_words, self._guard.max_bytes
        if words is not None and self._counts.words >= words:
            raise BudgetReached("max_words", words, is_default=is_default)
        if most_bytes is not None and nbytes >= most_bytes:
            raise BudgetReached("max_bytes", most_bytes, is_default=is_default)

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

    @property
    def spent(self) -> float:
        """What all that was asked has cost, audits included."""
        counts = self._counts
        return self._cost.total(
            calls=len(counts.batches) + counts.audits,
            words=counts.words + counts.audited,
            prefixes=max(0, counts.distributions - counts.words),
            symbols=counts.symbols + counts.audited_symbols,
            cached_symbols=counts.cached_symbols,
        )

    def affordable(self, lengths: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the places of words that may be asked outside of learning, from the start."""
        budget, counts, unit = self.budget, self._counts, self._cost
        if self.is_closed or self._seconds_left() <= 0:
            return np.empty(0, dtype=np.int64)
        words = _left(budget.max_words, counts.words + counts.audited)
        cost = _left(budget.max_cost, self.spent)
        symbols = _left(budget.max_symbols, counts.symbols + counts.audited_symbols)
        longest = _left(budget.max_word_length, 0)
        places = []
        for place, length in enumerate(lengths.tolist()):
            costs = unit.call + unit.word + length * unit.symbol
            if words >= 1 and length <= min(symbols, longest) and costs <= cost:
                places.append(place)
                words, symbols, cost = words - 1, symbols - length, cost - costs
        return np.array(places, dtype=np.int64)

    def half_left(self) -> int:
        """Return half the number of words that may still be asked, at least a few."""
        budget, counts = self.budget, self._counts
        unit = self._cost.word + self._cost.symbol
        left = min(
            _left(budget.max_words, counts.words + counts.audited),
            _left(budget.max_symbols, counts.symbols + counts.audited_symbols),
            _left(budget.max_cost, self.spent) / unit if unit else math.inf,
        )
        return int(min(max(left / 2, _FEW_WORDS), _MANY_WORDS))

    def allowed(self, nodes: Nodes, where: tuple[object, ...]) -> Nodes:
        """Return the nodes that may be asked now; stop at the first, whose word is given, if none.

        What counts is what is planned, and not what a model has to compute again: so it is the same
        on every machine.
        """
        if not self._counts.words and nodes[0] == 0:
            return nodes[:1]
        budget, table = self.budget, self._nodes
        self.check_seconds(where)
        if budget.max_word_length is not None:
            fits = table.lengths[nodes] <= budget.max_word_length
            nodes = _some(nodes[fits], "max_word_length", budget.max_word_length, where)
        if budget.max_words is not None:
            left = budget.max_words - self._counts.words - self._counts.audited
            nodes = _some(nodes[: max(left, 0)], "max_words", budget.max_words, where)
        if budget.max_symbols is None and budget.max_cost is None:
            return nodes
        ways = _new_symbols(table, nodes)
        if budget.max_symbols is not None:
            left = budget.max_symbols - self._counts.symbols - self._counts.audited_symbols
            nodes = _some(nodes[np.cumsum(ways) <= left], "max_symbols", budget.max_symbols, where)
        if budget.max_cost is not None:
            costs = self._cost.word + ways[: len(nodes)] * self._cost.symbol
            if self._cost.cached_symbol:
                cached = table.lengths[nodes] - ways[: len(nodes)]
                costs = costs + cached * self._cost.cached_symbol
            cost_left = budget.max_cost - self.spent - self._cost.call
            nodes = _some(nodes[np.cumsum(costs) <= cost_left], "max_cost", budget.max_cost, where)
        return nodes


def _some(nodes: Nodes, bound: str, limit: float, where: tuple[object, ...]) -> Nodes:
    """Return nodes if there are any; else the bound is reached."""
    if not len(nodes):
        raise BudgetReached(bound, limit, where)
    return nodes


def _left(limit: float | None, spent: float) -> float:
    return math.inf if limit is None else limit - spent


def _new_symbols(table: NodeTable, nodes: Nodes) -> Nodes:
    """Return the number of symbols to each node from its nearest ancestor that was seen."""
    ways = np.zeros(len(nodes), dtype=np.int64)
    active, here = np.arange(len(nodes)), nodes
    while len(active):
        onwards = ~table.seen[here]
        active, here = active[onwards], here[onwards]
        ways[active] += 1
        here = table.parents[here].astype(np.int64)
    return ways


def plan_batch(table: NodeTable, nodes: Nodes, *, prefixes_free: bool) -> Batch:
    """Make the batch that asks for nodes: with them go the words that lead there.

    Parameters
    ----------
    table : NodeTable
        The words.
    nodes : array of int
        What to ask for: different, and none of them known.
    prefixes_free : bool
        Whether rows on the way cost nothing, and are wanted, too.
    """
    is_narrow = len(nodes) < FEW
    if is_narrow:
        ids = np.array(_with_way(table, nodes.tolist()), dtype=np.int64)
    else:
        parts, above = [nodes], table.parents[nodes]
        while len(above := above[~table.seen[above]]):
            above = np.unique(above)
            parts.append(above.astype(np.int64))
            above = table.parents[above]
        ids = np.unique(np.concatenate(parts)) if len(parts) > 1 else np.sort(nodes)
    if len(ids) == len(nodes):
        wanted = np.ones(len(ids), dtype=bool)
    elif prefixes_free:
        wanted = table.classes[ids] == UNKNOWN
    else:
        wanted = np.zeros(len(ids), dtype=bool)
        wanted[np.searchsorted(ids, nodes)] = True
    return Batch.of_ids(ids, wanted, table.lineage, is_narrow=is_narrow)


def _with_way(table: NodeTable, nodes: list[int]) -> list[int]:
    """Return nodes and their ancestors that the model has not seen, in ascending order."""
    found = set(nodes)
    is_seen, parent = table.is_seen, table.parent
    for node in nodes:
        above = parent[node]
        while not is_seen[above] and above not in found:
            found.add(above)
            above = parent[above]
    return sorted(found)
