"""A Python function as model that takes its time, and how long learning takes around it."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from numpy.typing import ArrayLike

from pdfalearn import PDFA, FunctionModel, learn
from pdfalearn.alphabet import Symbol
from pdfalearn.equivalence import Equivalence
from pdfalearn.oracles import ExactOracle

SECONDS_A_CALL = 1e-3
SECONDS_A_WORD = 1e-5


@dataclass
class SleepingFunction:
    """Answers like a PDFA after a sleep, and notes the size and the time of every call."""

    target: PDFA
    sizes: list[int] = field(default_factory=list)
    seconds: float = 0.0

    def __call__(self, words: list[tuple[Symbol, ...]]) -> ArrayLike:
        """Sleep for the call and for each word, and return the distributions."""
        started = time.perf_counter()
        time.sleep(SECONDS_A_CALL + SECONDS_A_WORD * len(words))
        rows = self.target.next_distributions(words)
        self.sizes.append(len(words))
        self.seconds += time.perf_counter() - started
        return rows


@dataclass(frozen=True)
class SleepingRun:
    """How long a run took, how much of it inside the function, and the sizes of its calls."""

    total: float
    inside: float
    sizes: Sequence[int]

    @property
    def ratio(self) -> float:
        """The whole time over the time inside the function."""
        return self.total / self.inside

    def spread(self) -> list[float]:
        """Return the smallest size, the three quartiles and the largest."""
        quartiles = statistics.quantiles(self.sizes, method="inclusive")
        return [min(self.sizes), *quartiles, max(self.sizes)]


def learn_sleeping(target: PDFA, equivalence: Equivalence) -> SleepingRun:
    """Learn a sleeping function with the exact oracle of its PDFA."""
    function = SleepingFunction(target)
    started = time.perf_counter()
    learn(
        FunctionModel(function, target.alphabet),
        equivalence=equivalence,
        oracle=ExactOracle(target, equivalence=equivalence),
    )
    return SleepingRun(time.perf_counter() - started, function.seconds, function.sizes)
