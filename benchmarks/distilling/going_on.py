"""Whether a distilling run that was stopped goes on from its store to the same frontier.

Run with ``python -m benchmarks.distilling.going_on``, with ``--runs 1000`` for another number of
random cases: prices of questions, kinds of budgets, samplers, and what stops a run, where.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.distilling.black_boxes import BlackBox
from benchmarks.support import print_header, print_row
from pdfalearn import PDFA, Budget, Corpus, Frontier, LanguageModel, distill
from pdfalearn.datasets import random_pdfa
from pdfalearn.errors import InputError
from pdfalearn.models import Batch, QueryCost, Rows, attach_answers
from pdfalearn.samplers import HypothesisWords, Mixture, ModelWords, SamplerLike, UniformWords

STOPS = 2
"""A run is stopped at most this often."""


class StoppedError(Exception):
    """The model has had enough."""


class Stopping(LanguageModel):
    """An automaton as a black box, at some prices, that fails after some batches.

    Parameters
    ----------
    pdfa : PDFA
        The automaton.
    cost : QueryCost
        The prices.
    stop : Exception or KeyboardInterrupt, optional
        What it fails with.
    after : int
        So many batches are answered before.
    kept : int
        Of the last batch every so many answers are kept; none if 0.
    """

    fingerprint = "stopping"

    def __init__(
        self,
        pdfa: PDFA,
        cost: QueryCost,
        stop: type[BaseException] | None = None,
        after: int = 0,
        kept: int = 0,
    ) -> None:
        self.alphabet, self.cost = pdfa.alphabet, cost
        self._model: LanguageModel = BlackBox(pdfa)
        self._batches = iter(range(after))
        self._stop, self._kept = stop, kept

    def open(self) -> LanguageModel:
        """Return what answers the batches of one run, and counts them with all others."""
        opened = copy(self)
        opened._model = self._model.open()
        return opened

    def answer(self, batch: Batch) -> Rows:
        """Answer, or fail."""
        rows = self._model.answer(batch)
        if self._stop is None or next(self._batches, None) is not None:
            return rows
        error = self._stop("stopped")
        if self._kept:
            places = np.arange(0, len(rows), self._kept)
            attach_answers(error, batch.wanted_ids[places], rows.take(places))
        raise error


@dataclass(frozen=True)
class Case:
    """A model, how it is asked, and where runs are stopped."""

    pdfa: PDFA
    cost: QueryCost
    budget: Budget
    sampler: SamplerLike | None
    seed: int
    audit: int
    stops: list[tuple[type[BaseException], int, int]]
    """With what, after how many batches, and what is kept of the last one."""

    def run(self, store: Path | None = None, *stop: Any) -> Frontier:
        """Distil, with a store, until the model stops it."""
        return distill(
            Stopping(self.pdfa, self.cost, *stop),
            budget=self.budget,
            sampler=self.sampler,
            sizes=[1, 3],
            seed=self.seed,
            store=store,
            audit=self.audit,
        )

    def goes_on(self) -> bool:
        """Return whether the run that was stopped finds the frontier of one that was not."""
        whole = self.run()
        with tempfile.TemporaryDirectory() as folder:
            store = Path(folder) / "answers.db"
            for stop in self.stops:
                try:
                    self.run(store, *stop)
                except (StoppedError, KeyboardInterrupt):
                    continue
            found = self.run(store)
        same = found.certificate.details["answers"] == whole.certificate.details["answers"]
        return same and found.points == whole.points


def draw_case(random: np.random.Generator) -> Case:
    """Draw a case."""
    states, symbols, seed = (int(random.integers(*ends)) for ends in ((2, 13), (2, 5), (0, 1000)))
    pdfa = random_pdfa(states, symbols, seed=seed)
    prices = random.choice([0.0, 0.0, 1.0, 3.0, 20.0], 5)
    cost = QueryCost(*prices.tolist())
    kind = random.choice(["symbols", "words"] if cost.is_free else ["symbols", "words", "cost"])
    amount = int(random.integers(80, 250))
    if kind == "cost":
        amount *= int(max(1, cost.word + cost.symbol + cost.call / 4))
    length = int(random.integers(4, 25))
    samplers: list[SamplerLike | None] = [
        *(None, ModelWords(length), UniformWords(length), HypothesisWords(length)),
        Corpus(pdfa.sample(60, seed=int(random.integers(1000)), max_length=length).words),
        Mixture([(ModelWords(length), 2), (UniformWords(length), 1)]),
    ]
    stops: list[tuple[type[BaseException], int, int]] = [
        (
            StoppedError if random.random() < 0.5 else KeyboardInterrupt,
            int(random.geometric(0.05)),
            int(random.integers(4)),
        )
        for _ in range(int(random.integers(1, 1 + STOPS)))
    ]
    budget = Budget(**{f"max_{kind}": amount})
    sampler = samplers[int(random.integers(len(samplers)))]
    return Case(
        pdfa, cost, budget, sampler, int(random.integers(1000)), int(random.integers(5)), stops
    )


def count_different(runs: int, seed: int = 0) -> tuple[int, list[str]]:
    """Return how many cases could be run, and those that found another frontier."""
    count, different = 0, []
    for number in range(runs):
        case = draw_case(np.random.default_rng([seed, number]))
        try:
            is_same = case.goes_on()
        except InputError:  # the budget holds out too few words
            continue
        count += 1
        if not is_same:
            different.append(f"{number}: {case.cost}, {case.budget}, {case.sampler}, {case.stops}")
    return count, different


def main(words: Sequence[str] | None = None) -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.distilling.going_on")
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args(words)
    count, different = count_different(arguments.runs, arguments.seed)
    print_header(["runs that were stopped and went on", "another frontier"])
    print_row([count, len(different)])
    print(*different, sep="\n")


if __name__ == "__main__":
    main()
