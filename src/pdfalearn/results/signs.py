"""Signs that learning may not give what is wanted.

Probabilities may be near boundaries between intervals, intervals may be too coarse to see anything,
and states may keep growing with the questions.
"""

from __future__ import annotations

import inspect
import math
import warnings
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from pdfalearn.equivalence import Quantization, Relation, Rounded
from pdfalearn.errors import InputError
from pdfalearn.typing import Floats

POWERS_OF_TEN = tuple(float(f"1e-{exponent}") for exponent in range(15, -1, -1))
"""How many probabilities are that near to a boundary is kept."""


# A probability this much below a boundary counts as on it, as in `Quantization`.
_SLACK = 2.0**-50

# With fewer states than this, growth is not reported.
_LEAST_STATES = 300
# Growth is measured since the questions were this many times fewer.
_FACTORS = (2, 4)
# States have to grow at least with this power of the questions: by 2.5 for a factor of 4.
_POWER = 0.66
# Figures are noted when the questions have grown by this factor.
_STEP = 1.1
WARN_STATES = 3000
"""With fewer states than this there is no warning: many automata have some hundreds."""


@dataclass(frozen=True)
class BoundaryDistances:
    """How many probabilities are within each of the `POWERS_OF_TEN` of a boundary."""

    counts: tuple[int, ...]

    @classmethod
    def of(cls, equivalence: Relation, tables: Iterable[Floats]) -> BoundaryDistances | None:
        """Look at the probabilities of many distributions, a part of them at a time.

        Only a quantization has boundaries; for others None is returned.
        """
        quantization, _ = _quantization_in(equivalence)
        if quantization is None:
            return None
        counts = np.zeros(len(POWERS_OF_TEN), dtype=np.int64)
        for table in tables:
            part = quantization.boundary_distances(table)
            counts += [np.count_nonzero(part <= power) for power in POWERS_OF_TEN]
        return cls(tuple(counts.tolist()))

    def within(self, distance: float) -> int:
        """Return how many probabilities are within a power of ten of a boundary."""
        if distance not in POWERS_OF_TEN:
            raise InputError(f"distance {distance!r} is not a power of ten from 1e-15 to 1")
        return self.counts[POWERS_OF_TEN.index(distance)]


def _quantization_in(equivalence: Relation) -> tuple[Quantization | None, int]:
    """Return the quantization inside a relation, if any, and the decimals that it rounds to."""
    decimals = 17
    while isinstance(equivalence, Rounded):
        decimals = min(decimals, equivalence.decimals)
        equivalence = equivalence.equivalence
    return equivalence if isinstance(equivalence, Quantization) else None, decimals


def coarseness_note(equivalence: Relation, count: int, tables: Iterable[Floats]) -> str | None:
    """Return a note if no probability reaches 1/κ, though ``count`` answers are in one class."""
    quantization, decimals = _quantization_in(equivalence)
    if quantization is None or count < 2:
        return None
    kappa = quantization.kappa
    # As in `Quantization`: a probability reaches 1/κ if κ times it is at least 1, but for rounding.
    largest = round(max(float(table.max()) for table in tables), decimals)
    if kappa * (largest + _SLACK) >= 1:
        return None
    enough = math.ceil(1 / (largest + _SLACK)) if largest else None
    remedy = "" if enough is None else f"; kappa = {enough:,} is the least that sees one"
    return (
        f"kappa = {kappa:,} is too coarse: no probability reaches 1/{kappa:,}, so that all "
        f"{count:,} different answers are in one class{remedy}"
    )


class StateGrowth:
    """How states have grown with the questions.

    A model that is not an automaton may show more states the more is asked: with quantization by
    many intervals, each word may have a distribution of its own. An automaton of many states looks
    the same until most of its states are found. So all that can be said is that no end is in sight.
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
        # Growth with a power of the questions is a slope of logarithms.
        power = math.log(words / self._words[before]) * _POWER
        return math.log(states / self._states[before]) >= power


class EndlessLearningWarning(UserWarning):
    """States keep growing with the questions, so that learning may never end.

    Examples
    --------
    >>> issubclass(EndlessLearningWarning, UserWarning)
    True
    """


def warn_of_growth(states: int, words: int) -> None:
    """Warn that learning may never end, and say what to do instead."""
    warnings.warn(
        f"{states:,} states after {words:,} words, and they keep growing with the questions: the "
        "model may be no automaton, and learning may never end; distill(model) finds the best "
        "automaton of each size, a smaller kappa has fewer classes, and budget=Budget(…) bounds "
        "what is asked",
        EndlessLearningWarning,
        stacklevel=_count_own_frames(),
    )


def _count_own_frames() -> int:
    """Return how many calls of this package lie between here and the user's own code."""
    frame, count = inspect.currentframe(), 0
    while frame is not None and frame.f_globals.get("__name__", "").startswith("pdfalearn."):
        frame, count = frame.f_back, count + 1
    return count
