"""How often learners find the true automaton from its words, by the number of words.

Run with ``python -m benchmarks.corpora.structure``; ``--seeds 5`` draws more random targets of each
kind, ``--words 1000 10000`` says how many words, ``--targets reber tomita`` which targets,
``--learners ours MDI`` which learners: those whose names begin so. With ``--results FILE``, what
FILE has is not run again.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from benchmarks.corpora.kept_results import KeptResults
from benchmarks.support import print_header, print_row
from pdfalearn import PDFA, Corpus, Exact, distill, quotient
from pdfalearn.datasets import random_pdfa, reber, tomita
from pdfalearn.metrics import directed_divergence
from pdfalearn.passive import alergia, clark_thollard, likelihood_ratio, mdi, smooth_rows
from pdfalearn.words import Words, visited_states

LENGTH = 200
WORDS = (100, 1_000, 10_000, 100_000)
SIZES = (5, 10, 20, 40)
# Words of random automata have two to four symbols: their ends become so many times rarer.
LONGER = 8
# Rows of all learners are smoothed in the same way before the divergence is computed.
WEIGHT = 0.5

Learner = Callable[[Sequence[Sequence[object]], PDFA], PDFA]

# What is compared: a name, and what makes an automaton of words; of the target, it may use the
# alphabet only. Other learners are added here.
LEARNERS: dict[str, Learner] = {
    "ours": lambda words, target: distill(Corpus(words, alphabet=target.alphabet)).best,
    "ALERGIA, ε = .05": lambda words, target: alergia(words, alphabet=target.alphabet),
    "ALERGIA, ε = 10 / symbols": lambda words, target: alergia(
        words, epsilon=10 / max(10, sum(map(len, words))), alphabet=target.alphabet
    ),
    "MDI, α = 2 / words": lambda words, target: mdi(words, alphabet=target.alphabet),
    "MDI, α = 5 / words": lambda words, target: mdi(
        words, alpha=5 / len(words), alphabet=target.alphabet
    ),
    "likelihood ratio, α = .05": lambda words, target: likelihood_ratio(
        words, alphabet=target.alphabet
    ),
    "likelihood ratio, α = .001": lambda words, target: likelihood_ratio(
        words, alpha=0.001, alphabet=target.alphabet
    ),
    "Clark-Thollard, μ = .1, m₀ = 200": lambda words, target: clark_thollard(
        words, mu=0.1, minimum=200, alphabet=target.alphabet
    ),
}


def lengthen_words(pdfa: PDFA) -> PDFA:
    """Make the end of a word less likely in every state that can be left."""
    rows = pdfa.probabilities.copy()
    rows[:, 0] /= np.where(rows[:, 1:].any(axis=1), LONGER, 1)
    rows /= rows.sum(axis=1, keepdims=True)
    return PDFA(
        alphabet=pdfa.alphabet,
        transitions=pdfa.transitions,
        probabilities=rows,
        initial=pdfa.initial,
    )


def random_targets(seeds: int) -> Iterator[tuple[str, PDFA]]:
    """Yield random automata of exactly 5 to 40 states and 2 or 4 symbols."""
    for size in SIZES:
        for seed in range(seeds):
            symbols = (2, 4)[seed % 2]
            target = random_pdfa(size, symbols, exact_size=True, seed=seed)
            yield f"random, {size} states", lengthen_words(target)


def sparse_targets(seeds: int) -> Iterator[tuple[str, PDFA]]:
    """Yield random automata in which half of the symbols are impossible in each state."""
    for size in SIZES:
        for seed in range(seeds):
            sparse = random_pdfa(size, 6, zero_probability=0.5, undefined=True, seed=seed)
            yield f"sparse, about {size} states", lengthen_words(sparse)


def reber_targets(seeds: int) -> Iterator[tuple[str, PDFA]]:
    """Yield Reber's grammar, once for each seed of the words."""
    for _ in range(seeds):
        yield "Reber", reber()


def tomita_targets(seeds: int) -> Iterator[tuple[str, PDFA]]:
    """Yield Tomita's grammars with noise: all words are possible in them."""
    for _ in range(seeds):
        for number in range(1, 8):
            yield "Tomita", tomita(number)


TARGETS = {
    "random": random_targets,
    "sparse": sparse_targets,
    "reber": reber_targets,
    "tomita": tomita_targets,
}


def is_found(target: PDFA, found: PDFA, words: Words) -> bool:
    """Return whether words take two automata through the same states, up to their names."""
    ours = visited_states(found.table, found.initial, words)
    pairs = np.unique(
        np.column_stack((visited_states(target.table, target.initial, words), ours)), axis=0
    )
    return len(pairs) == len(np.unique(pairs[:, 0])) == len(np.unique(pairs[:, 1]))


def print_found(
    kind: str, seeds: int, counts: Sequence[int], learners: Sequence[str], results: KeptResults
) -> None:
    """Print a row for each learner and group of targets.

    For each number of words: how often the target was found, the median number of states, and the
    geometric mean of the divergences per symbol.
    """
    print_header(["targets", "learner", *(f"{count:,} words" for count in counts), "s"])
    groups: dict[str, list[PDFA]] = {}
    for name, target in TARGETS[kind](seeds):
        groups.setdefault(name, []).append(quotient(target, equivalence=Exact()))
    for name, targets in groups.items():
        for title in learners:
            records = [
                results.compute(
                    f"{name}, {title}, {seeds} seeds, {count} words",
                    _try_learner,
                    LEARNERS[title],
                    targets,
                    count,
                )
                for count in counts
            ]
            seconds = sum(record["seconds"] for record in records) / len(targets)
            print_row([name, title, *(record["value"] for record in records), seconds])


def _try_learner(learner: Learner, targets: list[PDFA], count: int) -> str:
    hits, sizes, losses = 0, [], []
    for seed, target in enumerate(targets):
        words = target.sample(count, seed=seed + 1, max_length=LENGTH).words
        found = learner(words, target)
        hits += is_found(target, found, target.alphabet.encode_words(words))
        sizes.append(len(found))
        smooth = smooth_rows(found, words, weight=WEIGHT)
        losses.append(directed_divergence(target, smooth).per_symbol)
    loss = math.exp(float(np.mean(np.log(np.maximum(losses, 1e-9)))))
    return f"{hits} of {len(targets)}, {np.median(sizes):g} states, {loss:.2g}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a table for each kind of target."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--words", type=int, nargs="+", default=WORDS)
    parser.add_argument("--targets", nargs="+", choices=TARGETS, default=list(TARGETS))
    parser.add_argument("--learners", nargs="+", default=list(LEARNERS))
    parser.add_argument("--results", type=Path)
    options = parser.parse_args(arguments)
    learners = [name for name in LEARNERS if name.startswith(tuple(options.learners))]
    results = KeptResults(options.results)
    for kind in options.targets:
        print(f"\n## {kind}\n")
        print_found(kind, options.seeds, options.words, learners, results)


if __name__ == "__main__":
    main()
