"""How often the intervals of `distill` hold the divergence on fresh words, and how wide they are.

Run with ``python -m benchmarks.distilling.coverage``, with ``--runs 20`` for another number of
seeds for each model, ``--symbols 2000`` for another budget; needs the extras ``bench`` and
``torch``.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence

import numpy as np

from benchmarks.distilling.answers import asked
from benchmarks.distilling.black_boxes import BlackBox, random_target, with_noise
from benchmarks.distilling.measuring import divergence
from benchmarks.distilling.networks import NETWORKS, phone_trigram
from benchmarks.support import print_header, print_row
from pdfalearn import PDFA, Budget, LanguageModel, distill
from pdfalearn.metrics.comparing import directed_divergence
from pdfalearn.samplers import ModelWords

SIZES = [
    *range(1, 33),
    36,
    43,
    50,
    60,
    75,
    90,
    120,
    150,
    180,
    250,
    360,
    500,
    1000,
    2000,
    4000,
    8000,
]
LENGTH = 300
FRESH = 300_000
"""Fresh words of a network have this many different prefixes."""
TITLES = ["model", "automaton", "runs", "covered", "median half-width / value", "at most a quarter"]

Truth = Callable[[PDFA], float]


def exact_truth(pdfa: PDFA) -> tuple[LanguageModel, Truth]:
    """Return an automaton as a black box, and how far automata are from it over all its words."""
    return BlackBox(pdfa), lambda candidate: directed_divergence(pdfa, candidate).per_symbol


def sampled_truth(name: str) -> tuple[LanguageModel, Truth]:
    """Return a network, and how far automata are from it on fresh words."""
    model = NETWORKS[name]()
    answers = asked(model, FRESH, seed=1_000_003)
    return model, lambda candidate: divergence(candidate, answers).mean


MODELS: dict[str, Callable[[], tuple[LanguageModel, Truth]]] = {
    "phone trigram": lambda: exact_truth(phone_trigram()),
    "noisy automaton": lambda: exact_truth(with_noise(random_target(30, 4, seed=3), 0.1, 3)),
    "automaton GRU": lambda: sampled_truth("automaton GRU"),
}


def covered(name: str, runs: int, symbols: int) -> None:
    """Print how often intervals at the best size, 30 and 120 states hold the truth."""
    model, truth = MODELS[name]()
    held: dict[str, list[tuple[bool, float]]] = {"best": [], "30": [], "120": []}
    for seed in range(runs):
        words = ModelWords(LENGTH)
        budget = Budget(max_symbols=symbols)
        frontier = distill(model, budget=budget, sampler=words, sizes=SIZES, seed=seed)
        points = {"best": len(frontier.best), "30": 30, "120": 120}
        for size, states in points.items():
            point = frontier.point(states)
            is_held = point.low <= truth(point.pdfa) <= point.high
            held[size].append((is_held, (point.high - point.low) / 2 / point.divergence))
    for size, found in held.items():
        shares, widths = np.array(found).T
        narrow = float((widths <= 0.25).mean())
        print_row([name, size, runs, float(shares.mean()), float(np.median(widths)), narrow])


def main(words: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.distilling.coverage")
    parser.add_argument("models", nargs="*", help=", ".join(MODELS))
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--symbols", type=int, default=20_000)
    arguments = parser.parse_args(words)
    print_header(TITLES)
    for name in arguments.models or MODELS:
        covered(name, arguments.runs, arguments.symbols)


if __name__ == "__main__":
    main()
