"""What a store costs: learning with it beside learning without, and going on from it.

Run with ``python -m benchmarks.recording``. The seconds are those of the processor.
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
from pdfalearn import PDFA, FunctionModel, LanguageModel, Quantization, Result, learn
from pdfalearn.datasets import figure_3, random_pdfa
from pdfalearn.models import AutomatonModel
from pdfalearn.oracles import ExactOracle

BY = Quantization(100_000)
TARGET = random_pdfa(10_000, 20, seed=1)
"""Two hundred thousand transitions, so as many answers."""
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
    begin = time.process_time()
    result = learn(model, equivalence=BY, oracle=oracle, store=store, model_id="benchmark")
    return time.process_time() - begin, result


def measure(name: str, make: Callable[[], LanguageModel], target: PDFA) -> None:
    """Learn without a store, with a new one and with a full one, in turns."""
    oracle = ExactOracle(target, equivalence=BY)
    seconds: dict[str, list[float]] = {"without": [], "with": [], "again": []}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(RUNS):
            store = Path(folder, f"{number}.db")
            for kind, path in (("without", None), ("with", store), ("again", store)):
                taken, result = run(make(), oracle, path)
                seconds[kind].append(taken)
        size = store.stat().st_size
    without, with_it, again = (median(seconds[kind]) for kind in ("without", "with", "again"))
    words = result.statistics.stored_words
    if result.statistics.words:
        raise RuntimeError(f"{result.statistics.words} words were asked twice")
    cost, again_cost = (1e6 * (seconds - without) / words for seconds in (with_it, again))
    print_row([name, words, without, with_it, cost, again_cost, "below 10", size / words])


def main() -> None:
    """Print the table."""
    learn(figure_3())  # what is imported at first use is not part of any time
    titles = ["model", "answers", "without, s", "with, s", "store, µs an answer"]
    print_header([*titles, "going on, µs an answer", "goal", "bytes an answer"])
    measure("automaton", automaton, TARGET)
    measure("function, 10 µs a word", function, TARGET)


if __name__ == "__main__":
    main()
