"""How often held-out intervals of distilled words hold the true cross-entropy.

Run with ``python -m benchmarks.corpora.coverage --results FILE``; ``--runs 20`` says how many runs
for each target, ``--words 500`` how many words each. What FILE has is not run again.

The truth is the exact cross-entropy per symbol of the target's words under an automaton of the
frontier. That one was fitted to all words after its interval was measured, so it is a little
better than what the interval is about: the table has the mean difference.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.corpora.kept_results import KeptResults, Record
from benchmarks.corpora.structure import lengthen_words
from benchmarks.support import print_header, print_row
from pdfalearn import PDFA, distill
from pdfalearn.analysis import entropy
from pdfalearn.datasets import random_pdfa, reber, tomita
from pdfalearn.metrics import directed_divergence
from pdfalearn.results import Point

FIXED = (2, 8)
SIZES = (1, 2, 4, 5, 8, 12, 16, 24, 40)
BEST = "best"


def _random_target(states: int, symbols: int) -> PDFA:
    return random_pdfa(states, symbols, exact_size=True, seed=states)


# Words of random automata are short, but for the last.
TARGETS: dict[str, Callable[[], PDFA]] = {
    "Reber": reber,
    "Tomita 3": partial(tomita, 3),
    "random, 5 states": partial(_random_target, 5, 3),
    "random, 12 states": partial(_random_target, 12, 4),
    "random, 5 states, long words": lambda: lengthen_words(_random_target(5, 3)),
}


def measure_point(target: PDFA, point: Point) -> Record:
    """Return an interval beside the exact cross-entropy of its automaton."""
    true = entropy(target).per_symbol + directed_divergence(target, point.pdfa).per_symbol
    interval = {"value": point.divergence, "low": point.low, "high": point.high}
    return {"states": point.states, "true": true, **interval}


def run_once(name: str, count: int, seed: int) -> dict[str, Record]:
    """Distil words of a target; measure the best automaton and those of fixed sizes."""
    target = TARGETS[name]()
    words = target.sample(count, seed=seed, max_length=10**6).words
    frontier = distill(words, sizes=SIZES, seed=seed)
    asked = {BEST: len(frontier.best)} | {str(size): size for size in FIXED}
    return {title: measure_point(target, frontier.point(states)) for title, states in asked.items()}


def print_coverage(name: str, records: list[dict[str, Record]]) -> None:
    """Print how often intervals hold the truth, and how far they are from it."""
    for title in (BEST, *map(str, FIXED)):
        keys = ("states", "true", "value", "low", "high")
        table = np.array([[record[title][key] for key in keys] for record in records])
        states, true, value, low, high = table.T
        below, above = float((true < low).mean()), float((true > high).mean())
        figures = [1 - below - above, below, above, float((true - value).mean())]
        widths = float(np.median(high - low) / 2)
        print_row([name, title, len(records), *figures, widths, float(np.median(states))])


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.corpora.coverage")
    parser.add_argument("--targets", default=";".join(TARGETS), help="names, with ; between them")
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--words", type=int, default=500)
    parser.add_argument("--results", type=Path)
    options = parser.parse_args(arguments)
    results, everything = KeptResults(options.results), []
    print_header(
        [
            *("target", "automaton", "runs", "covered", "truth below", "truth above"),
            *("mean of truth - value", "median half-width", "median states"),
        ]
    )
    for name in options.targets.split(";"):
        records = [
            results.compute(
                f"{name}, {options.words} words, {seed}", run_once, name, options.words, seed
            )["value"]
            for seed in range(options.runs)
        ]
        print_coverage(name, records)
        everything += records
    print_coverage("all", everything)


if __name__ == "__main__":
    main()
