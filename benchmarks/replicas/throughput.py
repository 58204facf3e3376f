"""Words per second of copies, beside one model in one process."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from typing import Any

import numpy as np

from benchmarks.replicas import models
from benchmarks.support import print_header, print_row
from pdfalearn import Budget, LanguageModel, PACOracle, Quantization, Replicas, UniformWords, learn
from pdfalearn.models.asking import asked_rows
from pdfalearn.models.replicas._requests import ANSWER, Request
from pdfalearn.words import Words

_RUNS = 5
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
    _compare(_settings(models.sleeping, (1, 2, 4)), lambda model: asked_rows(model, words), 400)


def network() -> None:
    """A GRU of two layers of 512; batches of 2,000 words of 10 symbols; a thread each."""
    words = _random_words(2000, 10, 4)
    settings = _settings(models.network, (1, 2))
    settings.append(("1 copy, two threads", _copies(models.network_of_two_threads, 1)))
    _compare(settings, lambda model: asked_rows(model, words), 2000)


def learning() -> None:
    """Learning the GRU, 500 words: led on where words are held, or asked for whole words."""
    budget = Budget(max_words=500)

    def job(model: LanguageModel) -> None:
        pac = PACOracle(epsilon=0.01, delta=0.01, sampler=UniformWords(max_length=30), seed=1)
        learn(model, by=Quantization(4), oracle=pac, budget=budget)

    settings = _settings(models.network, (1, 2))
    settings.append(("2 copies, whole words", _copies(models.WholeWordsOnly, 2)))
    _compare(settings, job, 500)
    print_header(["", "batches", "symbols that the copies were led along"])
    for name, start in settings[1:]:
        with start() as model:
            model._pool = counted = _Counted(model._pool)
            job(model)
        print_row([name, counted.batches, counted.symbols])


class _Counted:
    """Copies, and how many symbols they were led along: this does not depend on the machine."""

    def __init__(self, pool: Any) -> None:
        self._pool = pool
        self.batches = 0
        self.symbols = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._pool, name)

    def ask(self, requests: Sequence[tuple[int, Request]]) -> list[Any]:
        """Ask, and count the new symbols, and those of words that the copy does not hold."""
        self.batches += 1
        for _, request in requests:
            is_whole = request.kind == ANSWER
            lost = np.arange(len(request.words)) if is_whole else (request.hints < 0).nonzero()[0]
            if not is_whole:  # equal words are led to once
                lost = lost[np.unique(request.names[lost], return_index=True)[1]]
            self.symbols += int(request.words.lengths[lost].sum()) + len(request.more.symbols)
        answers: list[Any] = self._pool.ask(requests)
        return answers
