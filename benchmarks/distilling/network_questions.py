"""What frontiers answer for the model behind them: whether intervals hold, and how wide they are.

Run with ``python -m benchmarks.distilling.network_questions``, with ``--runs 50`` for fewer random
automata, ``--first 100`` for others, ``--symbols 8000`` for another budget, and ``--sizes 400`` for
other automata.
"""

from __future__ import annotations

import argparse
from collections import defaultdict

import numpy as np

from benchmarks.support import print_header, print_row
from pdfalearn import PDFA, Budget, distill, probability
from pdfalearn.languages import BeginsWith, Contains, EndsWith, HasLength, LanguageLike, Not

STATES, SIZES = 30, (1, 2, 4, 8, 16)
LANGUAGES: dict[str, LanguageLike] = {
    "at most 3 symbols": HasLength(most=3),
    "contains abc": Contains("abc"),
    "contains cccc": Contains("cccc"),
    "ends with ca": EndsWith("ca"),
    "has no a": Not(Contains("a")),
    "begins with aab": BeginsWith("aab"),
    "is abc": [("a", "b", "c")],
}


def target(random: np.random.Generator) -> PDFA:
    """Return an automaton that is larger than all that are searched for."""
    rows = random.dirichlet(np.full(4, 0.5), STATES)
    rows[:, 0] = 0.3 * rows[:, 0] + 0.02
    rows /= rows.sum(axis=1, keepdims=True)
    transitions = random.integers(STATES, size=(STATES, 3))
    return PDFA(alphabet="abc", transitions=transitions, probabilities=rows)


def main(first: int, runs: int, symbols: int, sizes: list[int]) -> None:
    """Distil random automata, ask the frontiers, and compare with what is so of the automata."""
    figures: defaultdict[str, list[tuple[float, ...]]] = defaultdict(list)
    for seed in range(first, first + runs):
        model = target(np.random.default_rng(seed))
        frontier = distill(
            model, budget=Budget(max_symbols=symbols), sizes=sizes, seed=seed, progress=None
        )
        for name, language in LANGUAGES.items():
            known, found = probability(model, language), probability(frontier, language)
            # What as many words say alone: twice 1.96 standard errors of a share.
            plain = 3.92 * float(np.sqrt(known * (1 - known) / len(frontier.kept_lengths)))
            holds = found.low <= known <= found.high
            errors = abs(found.value - known), abs(found.of_automaton - known)
            width = found.high - found.low
            figures[name].append((known, holds, width, plain, *errors, found.disagrees))
    print_header(
        [
            *("words", "probability", "hold", "width", "of as many plain samples"),
            *("error", "of the automaton", "warned"),
        ]
    )
    for name, rows in figures.items():
        known, holds, width, plain, error, own, warned = np.array(rows, dtype=float).T
        medians = [f"{float(np.median(each)):.4f}" for each in (known, width, plain)]
        means = [f"{float(each.mean()):.4f}" for each in (error, own)]
        print_row([name, medians[0], f"{holds.mean():.3f}", *medians[1:], *means, warned.mean()])
    held = [row[1] for rows in figures.values() for row in rows]
    print(f"\n{np.mean(held):.3f} of {len(held)} intervals hold")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--symbols", type=int, default=2000)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    main(**vars(parser.parse_args()))
