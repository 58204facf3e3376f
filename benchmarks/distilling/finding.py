"""How often `distill` finds the automaton that a network was trained on, or that noise covers.

Run with ``python -m benchmarks.distilling.finding``, or with ``trained`` or ``noisy`` for one table
only, and ``--seeds 3`` for more networks of each kind; needs ``pip install '.[torch]'``.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from itertools import product

from benchmarks.distilling.answers import asked
from benchmarks.distilling.black_boxes import NoisyAutomaton
from benchmarks.distilling.networks import TARGETS, network
from benchmarks.distilling.truth import verdict
from benchmarks.support import print_header, print_row
from pdfalearn import PDFA, Budget, LanguageModel, distill

SYMBOLS = 8000
SIZES = [*range(1, 49), 60, 75, 100, 150, 250, 500]
TITLES = ["model", "true states", "true structure", "knee", "divergence", "of the truth, refitted"]

Case = tuple[str, PDFA, LanguageModel]


def trained_networks(seeds: int) -> Iterator[Case]:
    """Yield networks that were trained on known automata."""
    for seed, kind, target in product(range(seeds), ("gru", "lstm"), TARGETS):
        yield (f"{kind.upper()} on {target}, seed {seed}", *network(target, kind, seed))


def noisy_automata(seeds: int) -> Iterator[Case]:
    """Yield random automata with noise that depends on the last four symbols."""
    for seed, states, symbols, rows in product(
        range(1, seeds + 1), (12, 20, 30, 40), (2, 3, 4), (None, 3, 2)
    ):
        noisy = NoisyAutomaton(states, symbols, rows, seed)
        name = f"n={states}, m={symbols}, {rows or 'distinct'} rows, seed {seed}"
        yield name, noisy.truth, noisy.model


TABLES = {"trained": trained_networks, "noisy": noisy_automata}


def print_found(cases: Iterator[Case]) -> None:
    """Print a row for each model, and how often the truth was found and where the knee is."""
    print_header(TITLES)
    counted = found = knees = 0
    for name, truth, model in cases:
        frontier = distill(model, budget=Budget(max_symbols=SYMBOLS), sizes=SIZES, seed=1)
        words = (asked(model, SYMBOLS, seed) for seed in (11, 12))
        judged = verdict(truth, frontier.at_most(len(truth)), *words)
        shown = "yes" if judged.same else "no" if judged.is_counted else "no, and not the network's"
        print_row([name, len(truth), shown, frontier.knee, judged.loss, judged.true_loss])
        counted += judged.is_counted
        found += judged.same
        knees += judged.is_counted and frontier.knee == len(truth)
    print(f"\nThe truth is found in {found} of {counted}, and the knee is there in {knees}.")


def main(words: Sequence[str] | None = None) -> None:
    """Print the tables that the words of the command line ask for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.distilling.finding")
    parser.add_argument("tables", nargs="*", metavar="table", help=", ".join(TABLES))
    parser.add_argument("--seeds", type=int, default=1, help="how many seeds of each")
    arguments = parser.parse_args(words)
    for name in arguments.tables:
        if name not in TABLES:
            parser.error(f"there is no table {name!r}; there are {', '.join(TABLES)}")
    for name in arguments.tables or TABLES:
        print(f"\n{name}, {SYMBOLS:,} symbols\n")
        print_found(TABLES[name](arguments.seeds))


if __name__ == "__main__":
    main()
