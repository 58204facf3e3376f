"""How often the intervals of `distill` hold the divergence on fresh words, and how wide they are.

Run with ``python -m benchmarks.distilling.coverage``, with ``--runs 20`` for another number of
seeds for each model, ``--symbols 20000`` for another budget; needs the extras ``bench`` and
``torch``.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence

import numpy as np

from benchmarks.distilling.answers import asked
from benchmarks.distilling.black_boxes import BlackBox, NoisyAnswers, random_target, with_noise
from benchmarks.distilling.measuring import divergence
from benchmarks.distilling.networks import NETWORKS, phone_trigram
from benchmarks.support import print_header, print_row
from pdfalearn import PDFA, Budget, LanguageModel, distill
from pdfalearn.metrics.comparing import directed_divergence
from pdfalearn.samplers import ModelWords

SIZES = (1, 2, 4, 8, 12, 30, 120)
ASKED = (4, 8)
LENGTH = 300
FRESH = 300_000
"""Fresh words of a network have this many different prefixes."""
DRAWS = 5_000
"""Noisy answers vary as shares of this many draws do."""
ROUNDING = 1e-9
TITLES = [
    *("model", "automaton", "runs", "covered", "median half-width / value", "at most a quarter"),
    "median truth",
]

Truth = Callable[[PDFA], float]
Seeded = Callable[[int], LanguageModel]


def exact_truth(pdfa: PDFA) -> tuple[LanguageModel, Truth]:
    """Return an automaton as a black box, and how far automata are from it over all its words."""
    return BlackBox(pdfa), lambda candidate: directed_divergence(pdfa, candidate).per_symbol


def sampled_truth(name: str) -> tuple[LanguageModel, Truth]:
    """Return a network, and how far automata are from it on fresh words."""
    model = NETWORKS[name]()
    answers = asked(model, FRESH, seed=1_000_003)
    return model, lambda candidate: divergence(candidate, answers).mean


def noisy_truth(pdfa: PDFA) -> tuple[Seeded, Truth]:
    """Return models with noise in every answer, and how far automata are from the true answers."""
    truth = exact_truth(pdfa)[1]
    return lambda seed: NoisyAnswers(pdfa, DRAWS, seed), truth


def steady(found: tuple[LanguageModel, Truth]) -> tuple[Seeded, Truth]:
    """Return the same model for all seeds."""
    model, truth = found
    return lambda _: model, truth


MODELS: dict[str, Callable[[], tuple[Seeded, Truth]]] = {
    "phone trigram": lambda: steady(exact_truth(phone_trigram())),
    "noisy automaton": lambda: steady(
        exact_truth(with_noise(random_target(30, 4, seed=3), 0.1, 3))
    ),
    "automaton GRU": lambda: steady(sampled_truth("automaton GRU")),
    "random automaton": lambda: steady(exact_truth(random_target(12, 3, seed=5))),
    "noisy answers": lambda: noisy_truth(random_target(12, 3, seed=5)),
}


def covered(name: str, runs: int, symbols: int) -> None:
    """Print how often intervals at the best size and others hold the truth."""
    model, truth = MODELS[name]()
    held: dict[str, list[tuple[bool, float, float]]] = {"best": []}
    for size in ASKED:
        held[str(size)] = []
    for seed in range(runs):
        words = ModelWords(LENGTH)
        budget = Budget(max_symbols=symbols)
        frontier = distill(model(seed), budget=budget, sampler=words, sizes=SIZES, seed=seed)
        points = {"best": len(frontier.best)} | {str(size): size for size in ASKED}
        for kept, states in points.items():
            point = frontier.point(states)
            true = truth(point.pdfa)
            is_held = point.low <= true + ROUNDING and true - ROUNDING <= point.high
            value = point.divergence
            width = (point.high - point.low) / 2 / value if value > ROUNDING else np.inf
            held[kept].append((is_held, width, true))
    for kept, found in held.items():
        shares, widths, truths = np.array(found).T
        figures = (float(shares.mean()), float(np.median(widths)), float((widths <= 0.25).mean()))
        print_row([name, kept, runs, *figures, float(np.median(truths))])


def main(words: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.distilling.coverage")
    parser.add_argument("models", nargs="*", help=", ".join(MODELS))
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--symbols", type=int, default=2_000)
    arguments = parser.parse_args(words)
    print_header(TITLES)
    for name in arguments.models or MODELS:
        covered(name, arguments.runs, arguments.symbols)


if __name__ == "__main__":
    main()
