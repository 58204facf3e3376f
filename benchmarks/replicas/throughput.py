"""Words per second of copies, beside one model in one process."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, nullcontext
from typing import Any

import numpy as np

from benchmarks.replicas import models
from benchmarks.support import print_header, print_row
from pdfalearn import Budget, LanguageModel, Quantization, Replicas, learn
from pdfalearn.models.batch import Batch
from pdfalearn.models.opened import ask_words, open_model
from pdfalearn.oracles import PACOracle
from pdfalearn.samplers import UniformWords
from pdfalearn.words import Words

_RUNS = 5
_TURNS = 500
Setting = tuple[str, Callable[[], AbstractContextManager[Any]]]


def _settings(make: Callable[[], LanguageModel], counts: Sequence[int]) -> list[Setting]:
    alone: Setting = ("one model, no copies", lambda: nullcontext(make()))
    return [
        alone,
        *((f"{count} cop{'y' if count == 1 else 'ies'}", _copies(make, count)) for count in counts),
    ]


def _copies(make: Callable[[], LanguageModel], count: int) -> Callable[[], Replicas]:
    return lambda: Replicas(make, count)


def _random_words(count: int, length: int, symbols: int) -> Words:
    codes = np.random.default_rng(1).integers(0, symbols, count * length, dtype=np.int32)
    return Words(codes, np.arange(count + 1) * length)


def _compare(settings: Sequence[Setting], job: Callable[[Any], object], size: int) -> None:
    """Time a job in turns, so that noise hits all settings; print the best of each."""
    best = [float("inf")] * len(settings)
    with ExitStack() as stack:
        opened = [stack.enter_context(start()) for _, start in settings]
        for model in opened:
            job(model)  # the first time is slower
        for _ in range(_RUNS):
            for place, model in enumerate(opened):
                started = time.perf_counter()
                job(model)
                best[place] = min(best[place], time.perf_counter() - started)
    print_header(["", "words per second", "times as many as one model"])
    for (name, _), seconds in zip(settings, best, strict=True):
        print_row([name, round(size / seconds), best[0] / seconds])


def sleeping() -> None:
    """A function that sleeps for a millisecond a word; batches of 400 words."""
    words = _random_words(400, 8, 4)
    _compare(_settings(models.sleeping, (1, 2, 4)), lambda model: ask_words(model, words), 400)


def burning() -> None:
    """A function that computes for a millisecond a word; batches of 400 words."""
    words = _random_words(400, 8, 4)
    _compare(_settings(models.burning, (1, 2)), lambda model: ask_words(model, words), 400)


def overhead() -> None:
    """What a batch costs beside its answers, in microseconds: a function that takes no time."""
    sizes = (1, 10, 1000)
    settings = _settings(models.instant, (1, 2))
    print_header(["", *(f"{size} words" for size in sizes)])
    with ExitStack() as stack:
        for name, start in settings:
            model = stack.enter_context(start())
            batches = [Batch.of(_random_words(size, 8, 4)) for size in sizes]
            print_row([name, *(round(1e6 * _best_seconds(model, batch)) for batch in batches)])


def _best_seconds(model: LanguageModel, batch: Batch) -> float:
    """Return the shortest time for a batch."""
    best = float("inf")
    with closing(open_model(model)) as opened:
        for _ in range(_TURNS):
            started = time.perf_counter()
            opened.answer(batch)
            best = min(best, time.perf_counter() - started)
    return best


def network() -> None:
    """A GRU of two layers of 512; batches of 2,000 words of 10 symbols; a thread each."""
    words = _random_words(2000, 10, 4)
    settings = _settings(models.network, (1, 2))
    settings.append(("1 copy, two threads", _copies(models.network_of_two_threads, 1)))
    _compare(settings, lambda model: ask_words(model, words), 2000)


def learning() -> None:
    """Learning the GRU, 500 words."""
    budget = Budget(max_words=500)

    def job(model: LanguageModel) -> None:
        pac = PACOracle(epsilon=0.01, delta=0.01, sampler=UniformWords(max_length=30), seed=1)
        learn(model, equivalence=Quantization(4), oracle=pac, budget=budget)

    _compare(_settings(models.network, (1, 2)), job, 500)
