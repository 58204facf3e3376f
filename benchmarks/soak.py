"""Learn for minutes in one process: models, oracles, stores and interrupts by turns.

Run with ``python -m benchmarks.soak``, for three minutes, or with another number of seconds. It
prints memory, open files, threads and child processes as it goes on, and ends with exit code 1 if
any of them has grown.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np

from benchmarks.support import print_header, print_row
from pdfalearn import PDFA, Budget, FunctionModel, LanguageModel, Quantization, learn
from pdfalearn.datasets import random_pdfa
from pdfalearn.models import AutomatonModel
from pdfalearn.models.automaton import OpenedAutomaton
from pdfalearn.models.batch import Batch
from pdfalearn.oracles import (
    ChainOracle,
    EquivalenceOracle,
    ExactOracle,
    KnownAnswersOracle,
    PACOracle,
    StatePrefixOracle,
)
from pdfalearn.results import LearningInterrupted
from pdfalearn.rows import Rows
from pdfalearn.samplers import HypothesisWords, ModelWords, UniformWords
from pdfalearn.samplers.drawing import Sampler

BY = Quantization(50)
_MOST_STORE_BYTES = 50_000_000
_ALLOWED_GROWTH = 1.1


class Interrupting(AutomatonModel):
    """A model during whose calls somebody presses Ctrl-C now and then."""

    def __init__(self, pdfa: PDFA, random: np.random.Generator) -> None:
        super().__init__(pdfa)
        self._random = random

    def open(self) -> OpenedAutomaton:
        """Open a model that may be interrupted."""
        return OpenedInterrupting(self, self._random)


class OpenedInterrupting(OpenedAutomaton):
    """An opened model that is interrupted now and then."""

    def __init__(self, model: AutomatonModel, random: np.random.Generator) -> None:
        super().__init__(model)
        self._random = random

    def answer(self, batch: Batch) -> Rows:
        """Answer, or be interrupted."""
        if self._random.random() < 0.05:
            raise KeyboardInterrupt
        return super().answer(batch)


def one_run(random: np.random.Generator, folder: Path) -> None:
    """Learn something at random."""
    seed = int(random.integers(40))
    shared = [None, 2, 8][random.integers(3)]
    size = int(random.integers(1, 200))
    target = random_pdfa(size, 2, distributions=shared, seed=seed)
    models: list[LanguageModel] = [
        AutomatonModel(target),
        FunctionModel(target.next_distributions, target.alphabet),
        Interrupting(target, random),
    ]
    model = models[random.integers(len(models))]
    samplers: list[Sampler] = [UniformWords(10), ModelWords(10), HypothesisWords(10)]
    pac = PACOracle(
        epsilon=0.05, delta=0.05, sampler=samplers[random.integers(3)], seed=int(random.integers(9))
    )
    oracles: list[EquivalenceOracle] = [
        ExactOracle(target, equivalence=BY),
        ChainOracle(KnownAnswersOracle(), pac),
        StatePrefixOracle(walks_per_state=3, walk_length=5, seed=seed),
    ]
    store = None
    if random.random() < 0.5:
        store = folder / "answers.db"
        if store.exists() and store.stat().st_size > _MOST_STORE_BYTES:
            store.unlink()
    budget = Budget(max_words=int(random.integers(1, 2000))) if random.random() < 0.3 else Budget()
    with suppress(LearningInterrupted):
        learn(
            model,
            equivalence=BY,
            oracle=oracles[random.integers(len(oracles))],
            learner=["quant", "quant-paper"][int(random.random() < 0.02)],
            store=store,
            model_id=f"{size} {shared} {seed}",
            budget=budget,
        )


def figures() -> tuple[float, int, int, int]:
    """Return resident megabytes, open files, threads and child processes."""
    gc.collect()
    status = Path("/proc/self/status").read_text()
    kilobytes = int(status.split("VmRSS:")[1].split()[0])
    files = len(list(Path("/proc/self/fd").iterdir()))
    children = Path("/proc/self/task", str(os.getpid()), "children").read_text().split()
    return kilobytes / 1024, files, threading.active_count(), len(children)


def soak(seconds: float, reports: int = 6) -> list[tuple[float, int, int, int]]:
    """Learn for a time; return the figures at the end of each of its equal parts."""
    random = np.random.default_rng(1)
    found = []
    with tempfile.TemporaryDirectory() as name:
        begin = time.monotonic()
        runs = 0
        for part in range(1, reports + 1):
            while time.monotonic() - begin < seconds * part / reports:
                one_run(random, Path(name))
                runs += 1
            found.append(figures())
            print_row([time.monotonic() - begin, runs, *found[-1]])
    return found


def main(words: Sequence[str] | None = None) -> None:
    """Print the figures as they come, and judge them."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.soak")
    parser.add_argument("seconds", nargs="?", type=float, default=180.0)
    arguments = parser.parse_args(words)
    print_header(["s", "runs", "resident, MB", "open files", "threads", "child processes"])
    first, *_, last = soak(arguments.seconds)
    if last[0] > _ALLOWED_GROWTH * first[0] or last[1:] != first[1:]:
        sys.exit(f"grown: from {first} to {last}")
    print("Nothing has grown.")


if __name__ == "__main__":
    main()
