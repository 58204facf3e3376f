"""How long `distill` takes for a whole frontier beside the model's own time, in how much memory.

Run with ``python -m benchmarks.distilling.timing``, with names of cases for only those; needs
``pip install '.[bench,test,torch]'``. Each case runs in a process of its own, and times are those
of the processor.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Hashable, Sequence
from typing import NamedTuple

import numpy as np

from benchmarks.distilling.answers import LONGEST
from benchmarks.distilling.black_boxes import BlackBox, random_target
from benchmarks.distilling.coverage import SIZES
from benchmarks.distilling.networks import phone_lstm, phone_trigram
from benchmarks.support import in_a_process, peak_gigabytes, print_header, print_row
from pdfalearn import Budget, FunctionModel, LanguageModel, distill
from pdfalearn.models.batch import Batch
from pdfalearn.rows import Rows
from pdfalearn.samplers import ModelWords

MANY, LISTED, CLASSES = 50_000, 20, 50
"""Of so many symbols so many may follow a word, by the class of its last symbol."""
TITLES = ["model", "alphabet", "symbols", "automata", "most states", "all, s", "model, s"]
TITLES += ["beside it, s", "peak, GB"]


class Timed(LanguageModel):
    """Passes every batch on to a model, and notes the time of the processor."""

    def __init__(self, inner: LanguageModel) -> None:
        self.alphabet, self.cost, self.fingerprint = inner.alphabet, inner.cost, inner.fingerprint
        self.full_support, self.seconds = inner.full_support, 0.0
        self._inner = inner
        self._opened = inner

    def open(self) -> Timed:
        """Open the model."""
        self._opened = self._inner.open()
        return self

    def answer(self, batch: Batch) -> Rows:
        """Answer, and note the time."""
        started = time.process_time()
        rows = self._opened.answer(batch)
        self.seconds += time.process_time() - started
        return rows


def few_listed() -> FunctionModel:
    """Make a function over very many symbols whose answers list few of them."""
    random = np.random.default_rng(1)
    followers = 1 + random.integers(MANY, size=(CLASSES, LISTED - 1))
    columns = np.sort(np.hstack((np.zeros((CLASSES, 1), dtype=int), followers)), axis=1)
    values = random.dirichlet(np.ones(LISTED), CLASSES)
    classes: dict[Hashable, int] = {str(symbol): symbol % CLASSES for symbol in range(MANY)}

    def answer(words: list[tuple[Hashable, ...]]) -> Rows:
        keys = [classes[word[-1]] if word else 0 for word in words]
        offsets = np.arange(0, LISTED * len(keys) + 1, LISTED)
        return Rows.sparse(MANY + 1, offsets, columns[keys].ravel(), values[keys].ravel())

    return FunctionModel(answer, list(classes))


class Case(NamedTuple):
    """A model, how many symbols of it are asked, and which sizes; all if none are given."""

    make: Callable[[], LanguageModel]
    symbols: int
    sizes: list[int] | None = None


CASES = {
    "phone LSTM": Case(phone_lstm, 20_000),
    "phone trigram, up to 500 states": Case(
        lambda: BlackBox(phone_trigram()), 10**6, [size for size in SIZES if size <= 500]
    ),
    "50 states, 500 symbols": Case(lambda: BlackBox(random_target(50, 500, seed=1)), 20_000),
    "20 of 50,000 symbols listed": Case(few_listed, 20_000),
}


def measured(name: str) -> list[object]:
    """Distil a model; return a row of the table."""
    case = CASES[name]
    model = Timed(case.make())
    budget = Budget(max_symbols=case.symbols)
    started = time.process_time()
    frontier = distill(model, budget=budget, sampler=ModelWords(LONGEST), sizes=case.sizes, seed=1)
    seconds = time.process_time() - started
    states = [point.states for point in frontier]
    cells: list[object] = [name, len(model.alphabet), case.symbols, len(states), max(states)]
    return [*cells, seconds, model.seconds, seconds - model.seconds, peak_gigabytes()]


def main(words: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.distilling.timing")
    parser.add_argument("cases", nargs="*", metavar="case", help="; ".join(CASES))
    arguments = parser.parse_args(words)
    print_header(TITLES)
    for name in arguments.cases or CASES:
        print_row(in_a_process(measured, name))


if __name__ == "__main__":
    main()
