"""How much learning may cost, and one budget for several runs."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any

from pdfalearn.checks import check_integer, check_number

_LARGEST = 2**62
# Bounds on a whole sweep; the others are bounds on each of its runs.
_SHARED = ("max_words", "max_symbols", "max_cost", "max_seconds")


@dataclass(frozen=True)
class Budget:
    """Bounds on what learning may cost; None where a cost is not bounded.

    Reaching a bound is not an error: learning stops and returns the automaton learnt so far.
    The empty word is always asked, so that there is a state.

    Parameters
    ----------
    max_words : int, optional
        Membership queries: words asked of the model.
    max_symbols : int, optional
        Symbols that the model is led through.
    max_cost : float, optional
        What asking costs in all, by the model's own `QueryCost`.
    max_seconds : float, optional
        Seconds from the start of learning on; looked at before each batch of words, and while
        copies, programs and servers are waited for.
    max_states : int, optional
        States of the automaton.
    max_word_length : int, optional
        The length of the words asked.
    max_equivalence_queries : int, optional
        Equivalence queries; 0 takes the first hypothesis.
    max_bytes : int, optional
        The memory that the words and their answers take; looked at before each batch of words.

    Examples
    --------
    >>> from pdfalearn import learn
    >>> from pdfalearn.datasets import random_pdfa
    >>> result = learn(random_pdfa(100, seed=1), budget=Budget(max_states=1))
    >>> len(result.pdfa), result.certificate.details["bound"]
    (1, 'max_states')
    """

    max_words: int | None = None
    max_symbols: int | None = None
    max_cost: float | None = None
    max_seconds: float | None = None
    max_states: int | None = None
    max_word_length: int | None = None
    max_equivalence_queries: int | None = None
    max_bytes: int | None = None
    bounds_questions: bool = field(init=False, repr=False, compare=False)
    """Whether there is a bound on how much is asked in all, which may end learning anywhere."""
    bounds_words: bool = field(init=False, repr=False, compare=False)
    """Whether there is a bound that is checked for every word."""

    def __post_init__(self) -> None:
        least = {"max_words": 1, "max_states": 1}
        for name, given in vars(self).items():
            if given is None:
                continue
            if name in ("max_seconds", "max_cost"):
                object.__setattr__(self, name, check_number(given, name, 0, 1e15))
            else:
                checked = check_integer(given, name, least.get(name, 0), _LARGEST)
                object.__setattr__(self, name, checked)
        bounds = (self.max_words, self.max_symbols, self.max_cost, self.max_seconds)
        is_bounded = any(bound is not None for bound in bounds)
        object.__setattr__(self, "bounds_questions", is_bounded)
        object.__setattr__(self, "bounds_words", is_bounded or self.max_word_length is not None)


class BudgetReached(Exception):  # noqa: N818 (reaching a bound is not an error)
    """A bound is reached: what is asked next would go beyond it."""

    def __init__(
        self,
        bound: str,
        limit: float,
        where: tuple[object, ...] | None = None,
        *,
        is_default: bool = False,
    ) -> None:
        super().__init__(f"{bound}={limit} is reached")
        # Whether nobody gave that bound.
        self.is_default = is_default
        self.bound = bound
        self.limit = limit
        # The word that could not be asked any more, if it was a word.
        self.where = where


_DEADLINE: ContextVar[tuple[float, float]] = ContextVar("deadline", default=(inf, inf))


@contextmanager
def keep_deadline(ends_at: float, limit: float) -> Iterator[None]:
    """Let models that wait for others wait until then, by `time.monotonic`, and no longer."""
    token = _DEADLINE.set((ends_at, limit))
    try:
        yield
    finally:
        _DEADLINE.reset(token)


def seconds_left(most: float = inf) -> float:
    """Return how long one may wait for an answer; raise BudgetReached if the time is up.

    Examples
    --------
    >>> with keep_deadline(time.monotonic() + 5, limit=10):
    ...     round(seconds_left()), round(seconds_left(2))
    (5, 2)
    >>> seconds_left()
    inf
    """
    ends_at, limit = _DEADLINE.get()
    left = ends_at - time.monotonic()
    if left <= 0:
        raise BudgetReached("max_seconds", limit)
    return min(left, most)


class SharedBudget:
    """Assigns every run an equal share of what is left.

    Parameters
    ----------
    budget : Budget
        How much there is for all of them.

    Examples
    --------
    >>> shared = SharedBudget(Budget(max_words=1000, max_states=50))
    >>> shared.share_for(4).max_words, shared.share_for(4).max_states
    (250, 50)
    >>> shared.spend(words=100)
    >>> shared.share_for(3).max_words
    300
    """

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._spent = dict.fromkeys(_SHARED, 0.0)
        self._begin = time.monotonic()

    def spend(self, *, words: int = 0, symbols: int = 0, cost: float = 0.0) -> None:
        """Note what a run has spent; the clock notes its seconds."""
        for name, value in (("max_words", words), ("max_symbols", symbols), ("max_cost", cost)):
            self._spent[name] += value

    def share_for(self, runs: int) -> Budget:
        """Return the budget of the next run; ``runs`` are left."""
        self._spent["max_seconds"] = time.monotonic() - self._begin
        bounds: dict[str, Any] = {}
        for name in _SHARED:
            bound = getattr(self._budget, name)
            if bound is not None:
                left = max(0.0, bound - self._spent[name]) / runs
                bounds[name] = left if name in ("max_cost", "max_seconds") else int(left)
        if "max_words" in bounds:
            bounds["max_words"] = max(1, bounds["max_words"])
        return replace(self._budget, **bounds)
