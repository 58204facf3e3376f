"""Metrics over a million prefixes, and over all words.

Run with ``python -m benchmarks.metrics``.
"""

from __future__ import annotations

import numpy as np

from benchmarks.support import median_seconds, print_header, print_row
from pdfalearn import PDFA, Quantization, evaluate
from pdfalearn.datasets import random_pdfa
from pdfalearn.metrics import evaluate_exactly
from pdfalearn.metrics.distributions import figures_of

BY = Quantization(1000)
TITLES = ["what", "states", "symbols", "words", "mean length", "prefixes", "seconds"]


def target(states: int, symbols: int, ending: float) -> PDFA:
    """Make a random target whose states end a word less often than drawn, by a factor."""
    drawn = random_pdfa(states, symbols, seed=1)
    rows = drawn.probabilities * np.array([ending, *[1.0] * symbols])
    rows /= rows.sum(axis=1, keepdims=True)
    return PDFA(alphabet=drawn.alphabet, transitions=drawn.transitions, probabilities=rows)


def changed(pdfa: PDFA, seed: int) -> PDFA:
    """Make an automaton of the same transitions with slightly different probabilities."""
    noise = np.random.default_rng(seed).random(pdfa.probabilities.shape)
    rows = 0.99 * pdfa.probabilities + 0.01 * noise / noise.sum(axis=1, keepdims=True)
    return PDFA(alphabet=pdfa.alphabet, transitions=pdfa.transitions, probabilities=rows)


def on_drawn_words(states: int, symbols: int, ending: float, count: int) -> list[object]:
    """Draw words and evaluate on them, all in all."""
    first = target(states, symbols, ending)
    second = changed(first, 2)
    seconds = median_seconds(lambda: evaluate(first, second, count=count, equivalence=BY))
    result = evaluate(first, second, count=count, equivalence=BY)
    prefixes = round((result.mean_length + 1) * count)
    return ["drawn words", states, symbols, count, result.mean_length, prefixes, seconds]


def over_all_words(states: int, symbols: int, ending: float) -> list[object]:
    """Evaluate over all words."""
    first = target(states, symbols, ending)
    second = changed(first, 2)
    seconds = median_seconds(lambda: evaluate_exactly(first, second, equivalence=BY))
    length = evaluate_exactly(first, second, equivalence=BY).mean_length
    return ["all words", states, symbols, "all", length, "all", seconds]


def on_rows(symbols: int, count: int) -> list[object]:
    """Measure pairs of distributions that are all different, as those of a network are."""
    random = np.random.default_rng(1)
    rows, others = random.dirichlet(np.ones(symbols + 1), (2, count))
    numbers = np.arange(count)
    seconds = median_seconds(lambda: figures_of((rows, numbers), (others, numbers), BY, 2))
    return ["different distributions", "", symbols, "", "", count, seconds]


def main() -> None:
    """Print the table."""
    print_header(TITLES)
    print_row(on_drawn_words(1000, 4, 1.0, 210_000))
    print_row(on_drawn_words(1000, 4, 0.02, 7_500))
    print_row(on_drawn_words(100_000, 4, 0.02, 7_500))
    print_row(on_drawn_words(100, 100, 1.0, 20_000))
    print_row(on_rows(4, 10**6))
    print_row(on_rows(40, 10**6))
    print_row(over_all_words(1000, 4, 1.0))
    print_row(over_all_words(100_000, 4, 1.0))
    print_row(over_all_words(100_000, 4, 0.02))


if __name__ == "__main__":
    main()
