"""One budget for several runs."""

from __future__ import annotations

import time
from dataclasses import replace

from pdfalearn.budgets import Budget

_SHARED = ("max_words", "max_symbols", "max_cost", "max_seconds")
"""Bounds on a whole sweep; the others are bounds on each of its runs."""


class Purse:
    """Assigns every run an equal share of what is left.

    Parameters
    ----------
    budget : Budget
        How much there is for all of them.

    Examples
    --------
    >>> purse = Purse(Budget(max_words=1000, max_states=50))
    >>> purse.share_for(4).max_words, purse.share_for(4).max_states
    (250, 50)
    >>> purse.spend(words=100)
    >>> purse.share_for(3).max_words
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
        bounds: dict[str, float] = {}
        for name in _SHARED:
            bound = getattr(self._budget, name)
            if bound is not None:
                left = max(0.0, bound - self._spent[name]) / runs
                bounds[name] = left if name in ("max_cost", "max_seconds") else int(left)
        if "max_words" in bounds:
            bounds["max_words"] = max(1, bounds["max_words"])
        return replace(self._budget, **bounds)  # type: ignore[arg-type]
