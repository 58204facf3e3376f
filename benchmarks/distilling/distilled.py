"""Distil one network and print what comes out as JSON: figures on fresh words, beside training's.

Run with ``python -m benchmarks.distilling.distilled "phone LSTM" 20000``. ``benchmarks.distilling``
runs it with the sources of other checkouts, too.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.checkouts import command_in
from benchmarks.distilling.answers import LONGEST, Answers, asked
from benchmarks.distilling.measuring import divergence
from benchmarks.distilling.networks import NETWORKS
from benchmarks.distilling.timing import Timed
from pdfalearn import Budget, LanguageModel, distill
from pdfalearn.samplers import ModelWords

SIZES = (1, 2, 4, 8, 15, 30, 60, 120, 250, 500, 1000, 2000)
"""The sizes at which curves are read."""
FRESH, MOST_CELLS = 50_000, 10_000_000
"""Automata are measured on this many fresh prefixes, on fewer for large alphabets."""


class Distilled(NamedTuple):
    """A distilled automaton: the size that was asked for, its own, and its divergences."""

    at_most: int
    states: int
    fresh: float
    infinite: float
    training: float
    held_out: float


class Run(NamedTuple):
    """What distilling a network gave: an automaton for each size, the best, and the time."""

    points: list[Distilled]
    best: Distilled
    # Of the processor: those of distilling itself, and those of the model.
    seconds: float
    model_seconds: float


def fresh_words(model: LanguageModel) -> Answers:
    """Return words that nobody has seen, with the model's answers."""
    return asked(model, min(FRESH, MOST_CELLS // (len(model.alphabet) + 1)), seed=99)


def run(model: LanguageModel, symbols: int, fresh: Answers) -> Run:
    """Distil a network, and measure the automata on fresh words."""
    started, timed = time.process_time(), Timed(model)
    words = ModelWords(LONGEST)
    frontier = distill(timed, budget=Budget(max_symbols=symbols), sampler=words, seed=1)
    seconds = time.process_time() - started - timed.seconds
    largest = max(point.states for point in frontier)

    def measure(size: int) -> Distilled:
        point = frontier.point(size)
        found = divergence(point.pdfa, fresh)
        training = point.training_divergence
        return Distilled(size, point.states, *found, training, point.divergence)

    sizes = [size for size in SIZES if size < largest] + [largest]
    return Run(
        [measure(size) for size in sizes], measure(len(frontier.best)), seconds, timed.seconds
    )


def run_in(root: Path, name: str, symbols: int) -> Run:
    """Distil a network with the sources of another checkout."""
    module = "benchmarks.distilling.distilled"
    command, environment = command_in(root, module, name, str(symbols))
    finished = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if finished.returncode:
        raise SystemExit(f"distilling with {root} failed: {finished.stderr[-2000:]}")
    points, best, *seconds = json.loads(finished.stdout.splitlines()[-1])
    return Run([Distilled(*point) for point in points], Distilled(*best), *seconds)


def main(words: Sequence[str] | None = None) -> None:
    """Print a run as one line."""
    name, symbols = sys.argv[1:] if words is None else words
    model = NETWORKS[name]()
    print(json.dumps(run(model, int(symbols), fresh_words(model))))


if __name__ == "__main__":
    main()
