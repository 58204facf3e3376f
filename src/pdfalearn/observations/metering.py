"""What has been asked, and how much a budget still allows."""

from __future__ import annotations

import math
import time
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from pdfalearn.budgets import Budget, BudgetReached, keep_deadline
from pdfalearn.models import Batch, QueryCost
from pdfalearn.observations.nodes import UNDEFINED, Nodes, NodeTable
from pdfalearn.typing import Floats

# What it takes to make an automaton of what is known, about, for each word.
_SECONDS_PER_NODE = 4e-7
# Answers to fewer words than this are never waited for by themselves.
_FEW_WORDS = 64
# Without a budget, this many words may be asked before their answers are used.
_MANY_WORDS = 2**31


@dataclass
class Counts:
    """What the model has been asked so far."""

    # Words that were asked for.
    words: int = 0
    # Symbols that the model was led through.
    symbols: int = 0
    # Distributions that were answered: with a word's own may come those of its prefixes.
    distributions: int = 0
    # How many distributions were answered at once, each time.
    batches: list[int] = field(default_factory=list)
    # Symbols of words that the model had been led through before.
    cached_symbols: int = 0
    # Words that were not asked for, as a store had their answers.
    stored: int = 0
    # Words that an audit asked for a second time.
    audited: int = 0
    # The symbols of these words.
    audited_symbols: int = 0
    # How many audits there were.
    audits: int = 0
    # By how much a probability differed at most the second time.
    largest_difference: float = 0.0
    # The sum of the mass outside of the alphabet over all distributions where it is known.
    outside: float = 0.0
    # The number of these.
    outside_known: int = 0
    # The largest mass outside of the alphabet.
    largest_outside: float = 0.0

    @property
    def outside_details(self) -> dict[str, object]:
        """What a certificate says about the mass outside of the alphabet where it is known."""
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
    """Counts what is asked, and decides which words may still be asked."""

    def __init__(self, budget: Budget, cost: QueryCost, nodes: NodeTable) -> None:
        self.budget = budget
        self.counts = Counts()
        # What would have been asked if no store had answered, where that decides what is asked.
        self.planned = self.counts
        self._led = np.ones(1, dtype=bool)
        # The share of the budget that is kept for audits.
        self.reserve = 0.0
        self._nodes = nodes
        self._cost = cost
        bounds = (budget.max_words, budget.max_symbols, budget.max_cost, budget.max_seconds)
        self._most_words, self._most_symbols, self._most_cost, seconds = (
            math.inf if bound is None else bound for bound in bounds
        )
        self._ends_at = time.monotonic() + seconds
        # Whether a state was found that there was no room for.
        self.states_reached = False
        # Whether nothing may be asked any more.
        self.is_closed = False
        # Limits of words and bytes, which unlike a budget do not change how words are asked.
        self.guard = None if budget.max_bytes is None else Budget(max_bytes=budget.max_bytes)

    @property
    def is_late(self) -> bool:
        """Whether the time is up, as it takes a while to make an automaton of what is known."""
        return time.monotonic() >= self.deadline

    @property
    def deadline(self) -> float:
        """When the time is up, by the clock of `time.monotonic`."""
        return self._ends_at - _SECONDS_PER_NODE * self._nodes.size

    def keep_time(self) -> AbstractContextManager[None]:
        """Let what the model waits for be waited for until the time is up, and no longer."""
        limit = self.budget.max_seconds
        return nullcontext() if limit is None else keep_deadline(self.deadline, limit)

    def check_seconds(self) -> None:
        """Stop if the time is up."""
        limit = self.budget.max_seconds
        if limit is not None and self.is_late:
            raise BudgetReached("max_seconds", limit)

    def check_guard(self, guard: Budget, nbytes: int) -> None:
        """Stop if a limit is reached, given the bytes that the observations take."""
        if not self.counts.words + self.counts.stored:
            return  # the empty word is always asked
        is_default = self.budget.max_bytes is None
        if guard.max_words is not None and self.counts.words >= guard.max_words:
            raise BudgetReached("max_words", guard.max_words, is_default=is_default)
        if guard.max_bytes is not None and nbytes >= guard.max_bytes:
            raise BudgetReached("max_bytes", guard.max_bytes, is_default=is_default)

    def check_query(self, count: int) -> None:
        """Stop if no equivalence query may follow this number of them."""
        if self.states_reached and self.budget.max_states is not None:
            raise BudgetReached("max_states", self.budget.max_states)
        self.check_seconds()
        limit = self.budget.max_equivalence_queries
        if limit is not None and count >= limit:
            raise BudgetReached("max_equivalence_queries", limit)

    def grant_states(self, have: int, wanted: int) -> int:
        """Return how many of the wanted states may be added to those there are."""
        limit = self.budget.max_states
        if limit is None or have + wanted <= limit:
            return wanted
        self.states_reached = True
        return limit - have

    @property
    def spent(self) -> float:
        """What all that was asked has cost, audits included."""
        return self._add_up(self.counts)

    @property
    def planned_cost(self) -> float:
        """The same if no store had answered, where that decides what is asked."""
        return self._add_up(self.planned)

    def _add_up(self, counts: Counts) -> float:
        return self._cost.total(
            calls=len(counts.batches) + counts.audits,
            words=counts.words + counts.audited,
            prefixes=max(0, counts.distributions - counts.words),
            symbols=counts.symbols + counts.audited_symbols,
            cached_symbols=counts.cached_symbols,
        )

    def _count_left(self, counts: Counts, share: float = 1.0) -> tuple[float, float, float]:
        """Return how much of a share of the budget is left: words, symbols, and what they cost."""
        words = share * self._most_words - counts.words - counts.audited
        symbols = share * self._most_symbols - counts.symbols - counts.audited_symbols
        return words, symbols, share * self._most_cost - self._add_up(counts)

    def _count_left_for_audits(self) -> list[float]:
        # With a store what was asked may cost more than planned, as a part of it is asked again.
        pairs = zip(self._count_left(self.counts), self._count_left(self.planned), strict=True)
        return [min(pair) for pair in pairs]

    def count_batch(
        self,
        batch: Batch,
        asked: Nodes,
        undefined_free: bool,
        *,
        is_part: bool,
        is_planned: bool = False,
    ) -> None:
        """Count a batch whose answers are known: those asked for by themselves, and all on the way.

        If ``is_planned``, it is what would have been asked if no store had answered.
        """
        ids, answered = batch.ids, batch.wanted_ids
        counts, seen = self.counts, self.led()
        if is_planned:
            counts, seen = self.planned, self._nodes.seen
        symbols, words = len(ids) - int(np.count_nonzero(seen[ids])), len(asked)
        is_undefined = self._nodes.classes[answered] == UNDEFINED
        undefined = int(np.count_nonzero(is_undefined))
        if is_part or undefined:
            counted = answered
            if undefined and undefined_free:
                counted = answered[~is_undefined]
                symbols -= undefined
            words = int(np.count_nonzero(np.isin(asked, counted, assume_unique=True)))
        seen[ids] = True
        counts.words += words
        counts.symbols += symbols
        counts.distributions += len(answered) - (undefined if undefined_free else 0)
        counts.batches.append(len(answered))
        if self._cost.cached_symbol:
            counts.cached_symbols += int(self._nodes.lengths[asked].sum()) - symbols

    def count_audit(self, words: int, symbols: int) -> None:
        """Count words that were asked again in one batch."""
        for counts in {id(each): each for each in (self.counts, self.planned)}.values():
            counts.audits += 1
            counts.audited += words
            counts.audited_symbols += symbols

    def replay(self) -> None:
        """From now on, let answers of a store count as if they were asked for."""
        self.planned = Counts()

    @property
    def is_replayed(self) -> bool:
        """Whether answers of a store count as if they were asked for."""
        return self.planned is not self.counts

    def led(self) -> NDArray[np.bool_]:
        """Return to which words the model was led itself."""
        if not self.is_replayed:
            return self._nodes.seen
        more = len(self._nodes.seen) - len(self._led)
        self._led = np.pad(self._led, (0, more)) if more else self._led
        return self._led

    def affordable(self, lengths: NDArray[np.integer], *, are_of_reserve: bool = False) -> Nodes:
        """Return the places of words that may be asked outside of learning, from the start.

        If they ``are_of_reserve``, no more than what is kept for audits pays for them.
        """
        if self.is_closed or self.is_late:
            return np.empty(0, dtype=np.int64)
        unit, (words, symbols, cost) = self._cost, self._count_left_for_audits()
        if are_of_reserve:
            words, symbols, cost = self._count_left(Counts(), self.reserve)
        longest = math.inf if self.budget.max_word_length is None else self.budget.max_word_length
        places = []
        for place, length in enumerate(lengths.tolist()):
            costs = unit.call + unit.word + length * unit.symbol
            if words >= 1 and length <= min(symbols, longest) and costs <= cost:
                places.append(place)
                words, symbols, cost = words - 1, symbols - length, cost - costs
        return np.array(places, dtype=np.int64)

    def count_affordable(self, words: Nodes, symbols: Nodes, calls: int) -> int:
        """Return how many of some growing sums of words and symbols may still be asked."""
        if self.is_closed or self.is_late:
            return 0
        unit, (most_words, most_symbols, most_cost) = self._cost, self._count_left_for_audits()
        costs = calls * unit.call + words * unit.word + symbols * unit.symbol
        fits = (words <= most_words) & (symbols <= most_symbols) & (costs <= most_cost)
        return int(np.count_nonzero(fits))

    def half_left(self) -> int:
        """Return half the number of words that may still be asked, at least a few.

        Answers to this many words are used before more are asked, so that something is left to go
        on with.
        """
        words, symbols, cost = self._count_left(self.counts)
        unit = self._cost.word + self._cost.symbol
        left = min(words, symbols, cost / unit if unit else math.inf)
        return int(min(max(left / 2, _FEW_WORDS), _MANY_WORDS))

    def allowed(self, nodes: Nodes) -> Nodes:
        """Return the nodes that may be asked now, from the first on; stop if there are none.

        What counts is what is planned, and not what a model has to compute again: so it is the same
        on every machine.
        """
        if nodes[0] == 0:  # the empty word is always asked, so that there is a state
            return nodes[:1]
        budget, table = self.budget, self._nodes
        self.check_seconds()
        words, symbols, cost = self._count_left(self.planned, 1 - self.reserve)
        bound = ""  # the last one that was looked at: it is reached if it leaves no node
        if budget.max_word_length is not None:
            bound, nodes = "max_word_length", nodes[table.lengths[nodes] <= budget.max_word_length]
        if budget.max_words is not None and len(nodes):
            bound, nodes = "max_words", nodes[: max(int(words), 0)]
        if (budget.max_symbols is not None or budget.max_cost is not None) and len(nodes):
            new = _count_new_symbols(table, nodes)
            if budget.max_symbols is not None:
                bound, nodes = "max_symbols", nodes[np.cumsum(new) <= symbols]
            if budget.max_cost is not None and len(nodes):
                new, unit = new[: len(nodes)], self._cost
                costs = unit.word + new * unit.symbol
                costs += (table.lengths[nodes] - new) * unit.cached_symbol
                bound, nodes = "max_cost", nodes[np.cumsum(costs) <= cost - unit.call]
        if not len(nodes):
            raise BudgetReached(bound, getattr(budget, bound))
        return nodes


def _count_new_symbols(table: NodeTable, nodes: Nodes) -> Nodes:
    """Return the number of symbols to each node from its nearest ancestor that was seen."""
    ways = np.zeros(len(nodes), dtype=np.int64)
    active, here = np.arange(len(nodes)), nodes
    while len(active):
        onwards = ~table.seen[here]
        active, here = active[onwards], here[onwards]
        ways[active] += 1
        here = table.parents[here].astype(np.int64)
    return ways
