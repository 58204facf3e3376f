"""How long recorded runs would take on 1 to 64 copies, and with words asked ahead."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmarks.support import print_header, print_row
from pdfalearn import Budget, FunctionModel, Quantization, distill, learn
from pdfalearn.datasets import random_pdfa
from pdfalearn.models import QueryCost
from pdfalearn.models.parallel import part_count
from pdfalearn.oracles import PACOracle
from pdfalearn.samplers import UniformWords

COPIES = (1, 2, 4, 8, 16, 32, 64)
LATENCIES = {
    "1 ms a word": QueryCost(word=1.0),
    "5 ms a call, 1 ms a word": QueryCost(call=5.0, word=1.0),
    "LLM: 50 ms a call, 200 ms a word": QueryCost(call=50.0, word=200.0),
}
"""In milliseconds."""
_TARGET = random_pdfa(300, 4, distributions=20, seed=1)


@dataclass
class Recorded:
    """A model that notes the size of every batch."""

    sizes: list[int] = field(default_factory=list)

    def __call__(self, words: Sequence[tuple[object, ...]]) -> Any:
        """Answer as the target does."""
        self.sizes.append(len(words))
        return _TARGET.next_distributions(words)


def _learnt(model: FunctionModel) -> None:
    pac = PACOracle(epsilon=0.01, delta=0.01, sampler=UniformWords(max_length=20), seed=1)
    learn(model, equivalence=Quantization(20), oracle=pac)


def _distilled(model: FunctionModel) -> None:
    distill(model, budget=Budget(max_words=5000), seed=1)


RUNS: dict[str, Callable[[FunctionModel], None]] = {"learn": _learnt, "distill": _distilled}


def recorded_sizes(run: str) -> list[int]:
    """Do a run, and return the sizes of its batches in order."""
    recorded = Recorded()
    RUNS[run](FunctionModel(recorded, _TARGET.alphabet))
    return recorded.sizes


def round_seconds(size: int, cost: QueryCost, copies: int, *, any_parts: bool = False) -> float:
    """Return how long a batch takes: a call, and the words of the largest part."""
    counted = QueryCost(word=cost.word) if any_parts else cost
    parts = part_count(np.full(size, cost.word), counted, copies)
    return (cost.call + cost.word * -(-size // parts)) / 1000


def total_seconds(sizes: Sequence[int], cost: QueryCost, copies: int) -> float:
    """Return how long batches take one after the other: each waits for the answers before it."""
    return sum(round_seconds(size, cost, copies) for size in sizes)


def ahead_seconds(sizes: Sequence[int], cost: QueryCost, copies: int) -> float:
    """Return the same if copies that would be idle are asked for words of the next batch.

    As if those words were known, which they are not: more than this cannot be won by it.
    """
    seconds, known = 0.0, 0
    for place, size in enumerate(sizes):
        left = size - known
        known = 0
        if left <= 0:
            continue
        following = sizes[place + 1] if place + 1 < len(sizes) else 0
        parts = part_count(np.full(left, cost.word), cost, copies)
        longest = -(-left // parts)
        known = min(following, copies * longest - left)
        seconds += (cost.call + cost.word * longest) / 1000
    return seconds


def simulate() -> None:
    """Words per second of recorded runs, by copies; and the most that asking ahead brings."""
    titles = ["run", "batches", "words", "model", *map(str, COPIES)]
    print_header([*titles, "64, parts of any size", "64, one batch ahead", "64, all known"])
    for run in RUNS:
        sizes = recorded_sizes(run)
        words = sum(sizes)
        for name, cost in LATENCIES.items():
            rates = [round(words / total_seconds(sizes, cost, copies)) for copies in COPIES]
            parts = sum(round_seconds(size, cost, COPIES[-1], any_parts=True) for size in sizes)
            ahead = round(words / ahead_seconds(sizes, cost, COPIES[-1]))
            known = round(words / round_seconds(words, cost, COPIES[-1]))
            print_row([run, len(sizes), words, name, *rates, round(words / parts), ahead, known])
        _print_sizes(run, sizes)


def _print_sizes(run: str, sizes: Sequence[int]) -> None:
    """Print what share of batches and of words is in small batches."""
    array = np.array(sizes)
    small = array < COPIES[-1]
    quartiles = ", ".join(f"{size:g}" for size in np.quantile(array, [0.25, 0.5, 0.75]))
    print_row(
        [
            f"{run}: quartiles of the sizes {quartiles}, largest {array.max()}",
            f"{small.mean():.0%} of the batches have under 64 words",
            f"and {array[small].sum() / array.sum():.0%} of the words",
        ]
    )
