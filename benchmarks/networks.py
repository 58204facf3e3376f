"""Recurrent networks: how much of learning is spent inside the network, and in how much memory.

Run with ``python -m benchmarks.networks``; needs ``pip install '.[torch]'``.
"""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from benchmarks.support import in_a_process, peak_gigabytes, print_header, print_row
from pdfalearn import Budget, Quantization, RecurrentModel, Result, learn
from pdfalearn.models import StepNetwork
from pdfalearn.models._networks import Layers
from pdfalearn.oracles import ChainOracle, KnownAnswersOracle, PACOracle
from pdfalearn.samplers import UniformWords

if TYPE_CHECKING:
    from pdfalearn.models._networks import State

SYMBOLS = "abcd"
MOST_STATES = 500
BATCH = 256
"""The size of batches in which the bare network is timed."""


@dataclass
class TimedNetwork:
    """Passes every step on, and notes its size and its time."""

    inner: StepNetwork
    sizes: list[int] = field(default_factory=list)
    seconds: float = 0.0

    def start(self, count: int) -> tuple[Tensor, State]:
        """Return the logits and the state after the empty word."""
        return self.inner.start(count)

    def step(self, symbols: Tensor, state: State) -> tuple[Tensor, State]:
        """Take a step, and note it."""
        started = time.perf_counter()
        answer = self.inner.step(symbols, state)
        self.seconds += time.perf_counter() - started
        self.sizes.append(len(symbols))
        return answer

    def bare_seconds(self) -> float:
        """Time steps of the same number of symbols in full batches."""
        with torch.inference_mode():
            symbols, (_, state) = torch.zeros(BATCH, dtype=torch.long), self.inner.start(BATCH)
            started = time.perf_counter()
            for _ in range(-(-sum(self.sizes) // BATCH)):
                self.inner.step(symbols, state)
            return time.perf_counter() - started


def network(hidden: int, threads: int = 1) -> TimedNetwork:
    """Make a GRU of two layers with random weights, sharpened, or all words would be alike."""
    torch.set_num_threads(threads)
    torch.manual_seed(1)
    embedding, recurrent = nn.Embedding(len(SYMBOLS) + 1, hidden), nn.GRU(hidden, hidden, 2)
    head = nn.Linear(hidden, len(SYMBOLS) + 1)
    with torch.no_grad():
        head.weight *= 4
    return TimedNetwork(Layers(embedding, recurrent, head))


def learnt(
    timed: TimedNetwork, kappa: int, memory: int = 2**30, learner: str = "quant"
) -> tuple[Result, float]:
    """Learn a network; return the result and the seconds that it took."""
    pac = PACOracle(epsilon=0.01, delta=0.01, sampler=UniformWords(max_length=10), seed=1)
    oracle = ChainOracle(KnownAnswersOracle(), pac)
    model = RecurrentModel(timed, SYMBOLS, memory=memory)
    started = time.perf_counter()
    budget = Budget(max_states=MOST_STATES)
    equivalence = Quantization(kappa)
    result = learn(model, equivalence=equivalence, oracle=oracle, budget=budget, learner=learner)
    return result, time.perf_counter() - started


def time_inside() -> None:
    """Learning a GRU of two layers, at most 500 states, beside the time inside the network."""
    titles = [
        "hidden",
        "κ",
        "learner",
        "states",
        "words",
        "symbols",
        "total, s",
        "inside, s",
        "total / inside",
    ]
    titles += ["goal", "steps", "sizes of steps: least", "quartiles", "most"]
    titles += ["bare, batches of 256, s", "total / bare"]
    print_header(titles)
    for (hidden, kappa), learner in product(
        ((64, 3), (64, 5), (64, 8), (256, 5)), ("quant", "quant-classes")
    ):
        learnt(network(hidden), kappa)  # the first run is slower than those that follow
        timed = network(hidden)
        result, total = learnt(timed, kappa, learner=learner)
        bare, sizes = timed.bare_seconds(), timed.sizes
        quartiles = ", ".join(f"{size:g}" for size in statistics.quantiles(sizes))
        cells: list[object] = [hidden, kappa, learner, len(result.pdfa)]
        cells += [result.statistics.words, sum(sizes)]
        cells += [total, timed.seconds, total / timed.seconds, "at most 1.5"]
        print_row([*cells, len(sizes), min(sizes), quartiles, max(sizes), bare, total / bare])


def threads() -> None:
    """The same at κ=5, with one thread and with two."""
    print_header(["hidden", "threads", "total, s", "inside, s"])
    for hidden in (64, 256):
        for count in (1, 2):
            timed = network(hidden, count)
            _, total = learnt(timed, 5)
            print_row([hidden, count, total, timed.seconds])


def in_memory(hidden: int, kappa: int, memory: int) -> list[object]:
    """Learn in some memory; return capacity, states, symbols, seconds and how the peak grows."""
    learnt(network(8), kappa)
    timed = network(hidden)
    before = peak_gigabytes()
    result, total = learnt(timed, kappa, memory)
    capacity = RecurrentModel(timed, SYMBOLS, memory=memory).open().capacity
    grown = (peak_gigabytes() - before) * 2**10
    return [capacity, len(result.pdfa), sum(timed.sizes), total, grown]


def bounded_memory() -> None:
    """Learning a GRU of two layers of 512, at κ=5, in less and less memory.

    Every row is a process of its own; its peak is counted from before learning on.
    """
    print_header(["memory, MB", "capacity, words", "states", "symbols", "s", "peak grows by, MB"])
    for megabytes in (1024, 64, 16, 4, 1):
        print_row([megabytes, *in_a_process(in_memory, 512, 5, megabytes * 2**20)])


def main() -> None:
    """Print all tables."""
    for table in (time_inside, threads, bounded_memory):
        print(f"\n{(table.__doc__ or '').splitlines()[0]}\n")
        table()


if __name__ == "__main__":
    main()
