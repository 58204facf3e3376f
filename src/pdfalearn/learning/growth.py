"""Whether states keep growing in proportion to the questions, so that no end is in sight."""

from __future__ import annotations

import math
from bisect import bisect_right
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pdfalearn.models.cost import QueryCost
    from pdfalearn.oracles.protocol import EquivalenceOracle

_LEAST_STATES = 300
"""With fewer states than this, growth is not reported."""
_FACTORS = (2, 4)
"""Growth is measured since the questions were this many times fewer."""
_POWER = 0.66
"""States have to grow at least with this power of the questions: by 2.5 for a factor of 4."""
_STEP = 1.1
"""Figures are noted when the questions have grown by this factor."""


class StateGrowth:
    """How states have grown with the questions.

    A model that is not an automaton may show more states the more is asked: with quantization by
    many intervals, each word may have a distribution of its own. An automaton of many states looks
    the same until most of its states are found. So all that can be said is that no end is in sight.

    Examples
    --------
    >>> growth = StateGrowth()
    >>> for words in (100, 1_000, 10_000):
    ...     growth.note(words, states=words // 2)
    >>> growth.is_steady
    True
    >>> growth.note(40_000, states=6_000)
    >>> growth.is_steady
    False
    """

    def __init__(self) -> None:
        self._words: list[int] = []
        self._states: list[int] = []
        self._newest = 0, 0

    def note(self, words: int, states: int) -> None:
        """Note how many states there are after this many words."""
        self._newest = words, states
        if not self._words or words >= _STEP * self._words[-1]:
            self._words.append(max(1, words))
            self._states.append(max(1, states))

    @property
    def is_steady(self) -> bool:
        """Whether there are many states, and they have kept growing with the words to the end."""
        has_many = self._newest[1] >= _LEAST_STATES
        return has_many and all(self._has_grown(factor) for factor in _FACTORS)

    def _has_grown(self, factor: int) -> bool:
        """Return whether states have kept up while the words grew by this factor or more."""
        words, states = self._newest
        before = bisect_right(self._words, words / factor) - 1
        if before < 0:
            return False
        power = math.log(words / self._words[before]) * _POWER
        return math.log(states / self._states[before]) >= power


def may_be_endless(cost: QueryCost, oracle: EquivalenceOracle) -> bool:
    """Return whether a model may show ever more states: it is not known to be an automaton.

    Asking costs something, and the oracle does not compare with an automaton.
    """
    certificate = getattr(oracle, "certificate", None)
    return not cost.is_free and getattr(certificate, "kind", None) != "exact"
