"""Draw words from a model within a budget, some to learn from and some to be held out."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from pdfalearn.budgets import Budget, BudgetReached
from pdfalearn.distilling.evidence import Floats
from pdfalearn.distilling.gathering import Positions, positions_of
from pdfalearn.errors import InputError
from pdfalearn.models.protocol import QueryCost
from pdfalearn.observations.tree import ObservationTree
from pdfalearn.pdfa import PDFA
from pdfalearn.samplers.drawing import ModelWords, Sampler

_FIRST = 2
"""How many words are drawn at first."""
_MOST_WORDS = 2**20
"""At most this many words are drawn, even if the budget allows more."""
_SECONDS_FOR_ASKING = 0.5
"""The share of a bound on seconds in which the model is asked."""


_LEAST_SYMBOLS = 50
_WORDS_AT_LEAST = 50
"""The default length of words allows at least about this many words in the budget."""
_LENGTHS = (20, 1000)
"""By default words are cut at a length in this range."""
_LENGTH = 100
"""Where words are cut if only seconds are bounded."""
_FOR_LEARNING = {
    "max_states": "say how many states automata may have by sizes=[…]",
    "max_word_length": "say how long words may be by words=ModelWords(max_length=…)",
}
"""Bounds of learning that do not bound what is drawn, and what to say instead."""


class Spending:
    """How much of a budget has been spent, with stored answers as if they had been asked.

    Parameters
    ----------
    observations : ObservationTree
        The observation tree to ask.
    """

    def __init__(self, observations: ObservationTree) -> None:
        self._observations = observations
        self._started = time.monotonic()

    @property
    def answered(self) -> int:
        """How many words have an answer."""
        nodes = self._observations.nodes
        return int(np.count_nonzero(nodes.rows[: nodes.size] >= 0))

    @property
    def share(self) -> float:
        """The share of the budget that is spent: 1 if a bound is reached."""
        budget = self._observations.budget
        answered = self.answered
        shares = [0.0]
        if budget.max_symbols is not None:
            shares.append((answered - 1) / max(1, budget.max_symbols))
        if budget.max_words is not None:
            shares.append(answered / budget.max_words)
        if budget.max_cost is not None:
            shares.append(self._cost(answered) / max(budget.max_cost, 1e-300))
        if budget.max_seconds is not None:
            seconds = time.monotonic() - self._started
            shares.append(seconds / max(1e-9, _SECONDS_FOR_ASKING * budget.max_seconds))
        return max(shares)

    def _cost(self, answered: int) -> float:
        """Return what a number of answers costs; exact where all answers cost the same."""
        cost, stored = self._observations.query_cost, self._observations.counts.stored
        if cost.word == cost.prefix and not cost.call and not cost.cached_symbol:
            return cost.total(words=answered, symbols=answered - 1)
        return self._observations.meter.spent + cost.total(words=stored, symbols=stored)


class Sampling:
    """Draws words until a share of the budget is spent.

    All words come from one stream of random numbers, so that the same seed
    gives the same words.

    Parameters
    ----------
    observations : ObservationTree
        The observation tree to ask.
    sampler : Sampler
        What draws the words.
    seed : int
        The seed.
    held_out : int
        One word in this many is held out; 0 for none.
    """

    def __init__(
        self, observations: ObservationTree, sampler: Sampler, seed: int, held_out: int
    ) -> None:
        self._one_in = held_out
        self._observations = observations
        self._sampler = sampler
        self._random = np.random.default_rng(seed)
        self._training: list[Positions] = []
        self._held_out: list[Positions] = []
        width = len(observations.alphabet)
        self._uniform = PDFA(
            alphabet=observations.alphabet,
            transitions=np.zeros((1, width), dtype=np.int32),
            probabilities=np.full((1, width + 1), 1 / (width + 1)),
        )
        self.spending = Spending(observations)
        self.words = 0
        """How many words were drawn."""
        self.cut_words = 0
        """How many of them were cut at the sampler's maximal length."""

    @property
    def training(self) -> Positions:
        """The positions to learn from."""
        return Positions.joined(self._training)

    @property
    def held_out(self) -> Positions:
        """The positions that are held out."""
        return Positions.joined(self._held_out)

    def weights(self) -> Floats:
        """Return how many of the words to learn from pass through every node."""
        nodes = self.training.nodes
        return np.bincount(nodes, minlength=self._observations.nodes.size).astype(np.float64)

    def draw_until(self, share: float) -> None:
        """Draw words until a share of the budget is spent, or there are enough of them."""
        budget = self._observations.budget
        most_words = min([*_answer_bounds(budget, self._observations.query_cost), _MOST_WORDS])
        count, per_word = _FIRST, 0.0
        try:
            while (left := share - self.spending.share) > 0 and self.words < most_words:
                if per_word:
                    count = min(2 * count, int(left / per_word), most_words - self.words)
                    if not count:
                        return
                before = self.spending.share
                self._draw(count)
                per_word = max((self.spending.share - before) / count, 1e-12)
        except BudgetReached:
            return

    def _draw(self, count: int) -> None:
        """Draw words; if that goes beyond the budget, with stored answers counted, drop them."""
        observations = self._observations
        words = self._sampler.draw(count, self._uniform, observations, self._random)
        cut = self._sampler.max_length if isinstance(self._sampler, ModelWords) else None
        if cut is None:
            observations.ask_path(words)
        if self.spending.share > 1:
            raise BudgetReached("the share for words", 1)
        is_held = np.zeros(count, dtype=bool)
        if self._one_in:
            is_held = (self.words + 1 + np.arange(count)) % self._one_in == 0
        for parts, chosen in ((self._training, ~is_held), (self._held_out, is_held)):
            parts.append(positions_of(words.take(chosen.nonzero()[0]), observations, cut))
        self.words += count
        self.cut_words += 0 if cut is None else int((words.lengths == cut).sum())


def checked_budget(budget: object, cost: QueryCost, purpose: str = "hold out any words") -> Budget:
    """Refuse a budget that does not bound what is asked, or that is too small for its purpose."""
    if not isinstance(budget, Budget):
        raise InputError(f"budget {budget!r} is not a Budget, such as Budget(max_symbols=20_000)")
    if not budget.bounds_questions:
        raise InputError(
            "the budget does not bound what is asked, and asking would never end; give "
            "max_symbols, max_words, max_cost or max_seconds"
        )
    if cost.is_free and not replace(budget, max_cost=None).bounds_questions:
        raise InputError(
            "max_cost bounds nothing, as the model has no cost; give max_symbols, max_words or "
            "max_seconds"
        )
    _check_bounds(budget, purpose)
    return budget


def _check_bounds(budget: Budget, purpose: str) -> None:
    """Refuse bounds that do not apply to words that are drawn, and too small ones."""
    for name, remedy in _FOR_LEARNING.items():
        if getattr(budget, name) is not None:
            raise InputError(f"{name} is a bound for learning; {remedy}")
    for name in ("max_symbols", "max_words"):
        bound = getattr(budget, name)
        if bound is not None and bound < _LEAST_SYMBOLS:
            raise InputError(
                f"{name}={bound} is too small to {purpose}; give at least "
                f"{_LEAST_SYMBOLS}, better some thousands"
            )


def checked_sampler(words: Sampler | None, budget: Budget, cost: QueryCost) -> Sampler:
    """Return what draws words: by default the model itself."""
    if words is None:
        return ModelWords(_default_length(budget, cost))
    if not hasattr(words, "draw"):
        raise InputError(
            f"words is {words!r}, not a sampler such as ModelWords(max_length=100) or Corpus(path)"
        )
    return words


def _default_length(budget: Budget, cost: QueryCost) -> int:
    """Return where words of the model are cut, so that enough of them fit into the budget."""
    bounds, (low, high) = _answer_bounds(budget, cost), _LENGTHS
    return max(low, min(high, min(bounds) // _WORDS_AT_LEAST)) if bounds else _LENGTH


def _answer_bounds(budget: Budget, cost: QueryCost) -> list[int]:
    """Return about how many answers each bound allows, where that is known."""
    bounds = [bound for bound in (budget.max_symbols, budget.max_words) if bound is not None]
    an_answer = cost.word + cost.symbol
    if budget.max_cost is not None and an_answer:
        bounds.append(int(budget.max_cost / an_answer))
    return bounds
