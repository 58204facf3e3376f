"""The jobs of ``benchmarks.editions``, run in a process of one checkout's sources.

``python -m benchmarks.edition_jobs`` reads names of jobs, one a line, and answers each with a line
of JSON: what one run took of the processor, and what else was counted. ``--peak NAME`` runs a job
once and prints by how much the peak of memory grew.
"""

from __future__ import annotations

import gc
import json
import sys
import time
import warnings
from collections.abc import Callable
from functools import cache, partial
from typing import Any

from benchmarks.checkouts import call, find
from benchmarks.counted import Steps, example, layers, random, transformer
from benchmarks.support import peak_gigabytes

Job = Callable[[], Any]
"""Runs once, and may return what counts the steps of a network."""
KAPPA = 1000
MOMENT = 0.05
"""Jobs that take less than this many seconds are run several times in a turn."""
CELL_BYTES = 8 * 32 + 8 * 5 + 8
"""What a word takes in the cache of the GRU below: a state, a distribution, a number."""


def automaton(target: Any, kappa: int = KAPPA) -> Job:
    """Learn an automaton."""
    return partial(call, "learn", target, equivalence=find("Quantization")(kappa))


def function(target: Any) -> Job:
    """Learn a function of batches, with the exact oracle of its automaton."""
    relation = find("Quantization")(KAPPA)

    def learn() -> None:
        model = call("FunctionModel", target.next_distributions, target.alphabet)
        oracle = call("ExactOracle", target, equivalence=relation)
        call("learn", model, equivalence=relation, oracle=oracle)

    return learn


def two_states() -> Job:
    """Learn a function of two states with the default oracle."""

    def parity(words: list[tuple[str, ...]]) -> list[list[float]]:
        return [[0.5, 0.25, 0.25] if len(word) % 2 else [0.2, 0.3, 0.5] for word in words]

    sampler = find("UniformWords")(max_length=20)

    def learn() -> None:
        oracle = find("PACOracle")(epsilon=0.01, delta=0.01, sampler=sampler, seed=0)
        call("learn", find("FunctionModel")(parity, "ab"), oracle=oracle)

    return learn


def network(made: Callable[[], tuple[Any, Steps]], kappa: int, words: int) -> Job:
    """Learn a network within a budget of words."""
    model, steps = made()
    sampler = find("UniformWords")(max_length=8)
    budget = find("Budget")(max_words=words)

    def learn() -> Steps:
        steps.received = 0
        oracle = find("PACOracle")(epsilon=0.05, delta=0.05, sampler=sampler, seed=1)
        call("learn", model, equivalence=find("Quantization")(kappa), oracle=oracle, budget=budget)
        return steps

    return learn


def gru(words: int, kept: int | None = None) -> Job:
    """Learn a GRU of 32 numbers over four symbols; its cache holds about so many words."""
    memory = 2**28 if kept is None else kept * CELL_BYTES * 3 // 2
    return network(partial(layers, "GRU", memory, hidden=32, symbols="abcd"), 5, words)


def distilling(target: Any) -> Job:
    """Distil a function of ten states."""
    budget = find("Budget")(max_words=1000)

    def distill() -> None:
        model = call("FunctionModel", target.next_distributions, target.alphabet)
        call("distill", model, budget=budget, seed=1)

    return distill


JOBS: dict[str, Callable[[], Job]] = {
    "random, n=300": lambda: automaton(random(300, seed=1)),
    "random, n=300, d=2": lambda: automaton(random(300, distributions=2, seed=1)),
    "random, n=10,000": lambda: automaton(random(10_000, seed=1)),
    "random, n=100, m=1000": lambda: automaton(random(100, 1000, seed=1)),
    "chain, n=300": lambda: automaton(example("chain", 300)),
    "chain with reset, n=300": lambda: automaton(example("chain", 300, reset=True)),
    "lock, n=100": lambda: automaton(example("combination_lock", 100)),
    "function, two states": two_states,
    "function, n=20": lambda: function(random(20, seed=1)),
    "function, n=300": lambda: function(random(300, seed=1)),
    "function, n=1000": lambda: function(random(1000, seed=1)),
    "function, n=300, d=2": lambda: function(random(300, distributions=2, seed=1)),
    "distill, function, n=10": lambda: distilling(random(10, 3, seed=27)),
    "GRU": lambda: gru(3000),
    "GRU, a tenth kept": lambda: gru(3000, kept=300),
    "transformer": lambda: network(partial(transformer, 64, 14), 4, 600),
}
PEAKS = ("random, n=10,000", "random, n=100, m=1000", "function, n=1000", "GRU", "transformer")
"""The jobs whose memory is measured, besides the large one."""
LARGE: dict[str, Callable[[], Job]] = {
    "random, n=100,000": lambda: automaton(random(100_000, seed=1)),
}
"""Jobs for memory only."""


@cache
def prepared(name: str) -> tuple[Job, int]:
    """Return a job that has been run once, and how many runs of it make a turn."""
    job = JOBS[name]()
    job()  # what is imported and compiled at first use is not part of the time
    started = time.process_time()
    job()
    return job, max(1, round(MOMENT / max(time.process_time() - started, 1e-6)))


def timed(name: str) -> dict[str, float]:
    """Run a job for a turn; return the seconds of one run, and the steps of a network."""
    job, runs = prepared(name)
    gc.collect()
    started = time.process_time()
    for _ in range(runs):
        steps = job()
    figures = {"seconds": (time.process_time() - started) / runs}
    return figures | ({"steps": steps.received} if isinstance(steps, Steps) else {})


def peak(name: str) -> dict[str, float]:
    """Run a job once; return by how many megabytes the peak of memory grew, and where it is."""
    job = (JOBS | LARGE)[name]()
    automaton(example("figure_3"))()
    before = peak_gigabytes()
    job()
    after = peak_gigabytes()
    return {"grown": (after - before) * 2**10, "peak": after * 2**10}


def main() -> None:
    """Answer the names of jobs that come in, or measure the memory of one."""
    warnings.simplefilter("ignore")
    if sys.argv[1:2] == ["--peak"]:
        print(json.dumps(peak(sys.argv[2])))
        return
    for line in sys.stdin:
        try:
            answer: dict[str, object] = {**timed(line.strip())}
        except Exception as error:  # another edition may lack what a job needs
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
