"""What a store costs: learning with it beside learning without, and going on from it.

Run with ``python -m benchmarks.recording``.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import numpy as np
from numpy.typing import NDArray

from benchmarks.support import print_header, print_row
from pdfalearn import (
    PDFA,
    AutomatonModel,
    ExactOracle,
    FunctionModel,
    LanguageModel,
    Quantization,
    Result,
    figure_3,
    learn,
    random_pdfa,
)

BY = Quantization(100_000)
TARGET = random_pdfa(50_000, 20, seed=1)
"""A million transitions, so a million answers."""
RUNS = 3


def automaton() -> LanguageModel:
    """The automaton itself: next to nothing for an answer."""
    return AutomatonModel(TARGET)


def function() -> LanguageModel:
    """A Python function that waits 10 µs for each word."""

    def ask(words: list[tuple[object, ...]]) -> NDArray[np.float64]:
        time.sleep(1e-5 * len(words))
        return TARGET.next_distributions(words)

    return FunctionModel(ask, TARGET.alphabet)


def run(model: LanguageModel, oracle: ExactOracle, store: Path | None) -> tuple[float, Result]:
    """Learn once, and return the seconds."""
    begin = time.perf_counter()
    result = learn(model, by=BY, oracle=oracle, store=store, model_id="benchmark")
    return time.perf_counter() - begin, result


def measure(name: str, make: Callable[[], LanguageModel], target: PDFA) -> None:
    """Learn without a store, with a new one and with a full one, in turns."""
    oracle = ExactOracle(target, by=BY)
    seconds: dict[str, list[float]] = {"without": [], "with": [], "again": []}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(RUNS):
            store = Path(folder, f"{number}.db")
            for kind, path in (("without", None), ("with", store), ("again", store)):
                taken, result = run(make(), oracle, path)
                seconds[kind].append(taken)
        size = store.stat().st_size / 1e6
    without, with_it, again = (median(seconds[kind]) for kind in ("without", "with", "again"))
    words = result.statistics.stored_words
    if result.statistics.words:
        raise RuntimeError(f"{result.statistics.words} words were asked twice")
    print_row([name, words, without, with_it, with_it / without, "at most 1.5", again, size])


def main() -> None:
    """Print the table."""
    learn(figure_3())  # what is imported at first use is not part of any time
    titles = ["model", "answers", "without, s", "with, s", "with / without", "goal"]
    print_header([*titles, "going on from a full store, s", "store, MB"])
    measure("automaton", automaton, TARGET)
    measure("function, 10 µs a word", function, TARGET)


if __name__ == "__main__":
    main()
