"""How often the intervals of `distill` hold the divergence on fresh words, and how wide they are.

Run with ``python -m benchmarks.distilling.coverage``, with ``--runs 20`` for another number of
seeds for each model, ``--symbols 500 --symbols 8000`` for other budgets; networks need the extras
``bench`` and ``torch``. By default a run takes less than two seconds.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from benchmarks.distilling.answers import asked
from benchmarks.distilling.black_boxes import BlackBox, NoisyAnswers, random_target, with_noise
from benchmarks.distilling.measuring import divergence
from benchmarks.distilling.networks import NETWORKS, phone_trigram
from benchmarks.support import print_header, print_row
from pdfalearn import PDFA, Budget, Frontier, LanguageModel, distill
from pdfalearn.errors import InputError
from pdfalearn.metrics.comparing import directed_divergence
from pdfalearn.samplers import ModelWords

SIZES = (1, 4, 12, 30)
STATES = 12
"""So many have automata that are drawn anew for each seed."""
SEEDS = 1000
"""The first seed."""
LENGTH = 300
FRESH = 300_000
"""Fresh words of a network have this many different prefixes."""
DRAWS = 5_000
"""Noisy answers vary as shares of this many draws do."""
SKEW = 0.15
"""The rows of skewed automata are drawn from a Dirichlet distribution with this parameter."""
RARE_END = 0.3
"""In automata of long words an end is so many times as likely as in others."""
ROUNDING = 1e-9
TITLES = [
    *("model", "symbols", "runs", "intervals", "hold", "too low", "too high", "hold at best"),
    *("true size is best", "median upper end / value", "held-out words"),
]

Truth = Callable[[PDFA], float]


class Source(NamedTuple):
    """A model, how far automata are from it, and how many states it has if that is known."""

    model: LanguageModel
    truth: Truth
    states: int | None = None


def exact(pdfa: PDFA, model: LanguageModel | None = None) -> Source:
    """Return an automaton as a black box, or another model of it."""

    def truth(candidate: PDFA) -> float:
        return directed_divergence(pdfa, candidate).per_symbol

    return Source(BlackBox(pdfa) if model is None else model, truth, len(pdfa))


def sampled(name: str) -> Callable[[int], Source]:
    """Return a network, and how far automata are from it on fresh words."""
    model = NETWORKS[name]()
    answers = asked(model, FRESH, seed=1_000_003)
    return lambda _: Source(model, lambda candidate: divergence(candidate, answers).mean)


def skewed(seed: int) -> PDFA:
    """Draw an automaton of six symbols that hardly ever takes most of its turns."""
    target, random = random_target(STATES, 6, seed=seed), np.random.default_rng([7, seed])
    rows = random.dirichlet(np.full(7, SKEW), STATES) + 0.003
    ends = random.uniform(0.03, 0.13, (STATES, 1))
    rows = np.hstack((ends, rows[:, 1:] * (1 - ends) / rows[:, 1:].sum(axis=1, keepdims=True)))
    return PDFA(alphabet=target.alphabet, transitions=target.transitions, probabilities=rows)


def long_worded(seed: int) -> PDFA:
    """Draw an automaton whose words have about 35 symbols."""
    target = random_target(STATES, 3, seed=seed)
    rows, ends = target.probabilities, RARE_END * target.probabilities[:, :1]
    rows = np.hstack((ends, rows[:, 1:] * (1 - ends) / rows[:, 1:].sum(axis=1, keepdims=True)))
    return PDFA(alphabet=target.alphabet, transitions=target.transitions, probabilities=rows)


def noisy(seed: int) -> Source:
    """Draw an automaton with noise in every answer; the truth is that of true answers."""
    pdfa = random_target(STATES, 3, seed=seed)
    return exact(pdfa, NoisyAnswers(pdfa, DRAWS, seed))


def drawn_once(pdfa: Callable[[], PDFA]) -> Callable[[], Callable[[int], Source]]:
    """Return the same automaton for all seeds."""

    def make() -> Callable[[int], Source]:
        source = exact(pdfa())
        return lambda _: source

    return make


MODELS: dict[str, Callable[[], Callable[[int], Source]]] = {
    "noisy answers": lambda: noisy,
    "random automata": lambda: lambda seed: exact(random_target(STATES, 3, seed=seed)),
    "skewed automata": lambda: lambda seed: exact(skewed(seed)),
    "long words": lambda: lambda seed: exact(long_worded(seed)),
    "phone trigram": drawn_once(phone_trigram),
    "many rare states": drawn_once(lambda: with_noise(random_target(30, 4, seed=3), 0.1, 3)),
    "automaton GRU": lambda: sampled("automaton GRU"),
}
BY_DEFAULT = ("noisy answers", "random automata", "skewed automata", "long words")


def distilled(source: Source, symbols: int, seed: int) -> Frontier:
    """Distil automata of a few sizes."""
    budget = Budget(max_symbols=symbols)
    return distill(source.model, budget=budget, sizes=SIZES, sampler=ModelWords(LENGTH), seed=seed)


def covered(name: str, runs: int, symbols: int) -> None:
    """Print how often intervals hold the truth, and on which side it is where they do not."""
    make = MODELS[name]()
    found: list[tuple[bool, bool, bool, float]] = []
    right, words = 0, list[int]()
    for seed in range(SEEDS, SEEDS + runs):
        source = make(seed)
        try:
            frontier = distilled(source, symbols, seed)
        except InputError:  # fewer than two words are held out
            continue
        words.append(len(frontier.kept_lengths))
        best = len(frontier.best)
        right += best == source.states
        for point in frontier:
            true = source.truth(point.pdfa)
            sides = true < point.low - ROUNDING, true > point.high + ROUNDING
            found.append((*sides, point.states == best, point.high / max(point.divergence, 1e-12)))
    low, high, is_best, ratios = np.array(found).T
    outside = low + high
    shares = [float(each) for each in (1 - outside.mean(), high.mean(), low.mean())]
    at_best = 1 - float(outside[is_best == 1].mean())
    size = right if source.states is not None else "-"
    median = float(np.median(ratios))
    print_row(
        [name, symbols, len(words), len(found), *shares, at_best, size, median, np.median(words)]
    )


def main(words: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.distilling.coverage")
    parser.add_argument("models", nargs="*", help=", ".join(MODELS))
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--symbols", type=int, action="append")
    arguments = parser.parse_args(words)
    print_header(TITLES)
    for name in arguments.models or BY_DEFAULT:
        for symbols in arguments.symbols or [2_000]:
            covered(name, arguments.runs, symbols)


if __name__ == "__main__":
    main()
