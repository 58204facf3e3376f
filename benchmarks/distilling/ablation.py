"""What each part of distilling brings: divergence on fresh words with one part left out at a time.

Run with ``python -m benchmarks.distilling.ablation``, with names of models for only those, and
``--symbols 2000`` for another budget; needs the extras ``bench`` and ``torch``.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

from benchmarks.distilling.answers import LONGEST, asked
from benchmarks.distilling.measuring import divergence
from benchmarks.distilling.networks import NETWORKS
from benchmarks.support import print_header, print_row
from pdfalearn import Budget, distill
from pdfalearn.distilling import SearchSettings
from pdfalearn.samplers import ModelWords

SIZES = (4, 12, 30, 120, 500, 2000)
FRESH = 50_000
ROOM = "pdfalearn.distilling"

PARTS: dict[str, dict[str, object]] = {
    "everything": {},
    "no questions": {
        "loop._WORDS": 0.96,
        "loop._QUESTIONS": (0.96,),
        "loop._FINISHING": 0.96,
    },
    "no questions about what was found": {"loop._FINISHING": 0.92},
    "no cycles": {"settings.cycled": 0},
    "no polishing": {"settings.rounds": 0},
    "merges without futures": {"settings.as_if_seen": 0.0},
    "no merged prefixes": {"merging._WIDEST": 0},
    "contexts of one symbol": {"contexts._LONGEST": 1},
    "rows not drawn to priors": {"candidates.STRENGTHS": (1e-3,), "candidates._FIRST": 0},
}
"""What is changed to leave a part out: settings of the search, and constants of modules."""


@contextmanager
def changed(values: dict[str, object]) -> Iterator[SearchSettings]:
    """Have some constants changed within a block; give the settings that are changed, too."""
    settings: dict[str, Any] = {}
    with ExitStack() as stack:
        for place, value in values.items():
            module, name = place.split(".")
            if module == "settings":
                settings[name] = value
            else:
                stack.enter_context(patch(f"{ROOM}.{place}", value))
        yield SearchSettings(**settings)


def print_parts(name: str, symbols: int) -> None:
    """Print a row for each part that is left out."""
    model = NETWORKS[name]()
    fresh = asked(model, FRESH, seed=1_000_003)
    for part, values in PARTS.items():
        with changed(values) as settings:
            words, budget = ModelWords(LONGEST), Budget(max_symbols=symbols)
            frontier = distill(
                model, budget=budget, sampler=words, sizes=SIZES, seed=1, settings=settings
            )
        found = [divergence(frontier.at_most(size), fresh).total for size in SIZES]
        print_row([name, part, *found])


def main(words: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.distilling.ablation")
    parser.add_argument("models", nargs="*", help=", ".join(NETWORKS))
    parser.add_argument("--symbols", type=int, default=20_000)
    arguments = parser.parse_args(words)
    print_header(["model", "left out", *(f"{size} states" for size in SIZES)])
    for name in arguments.models or ("phone trigram", "automaton GRU"):
        print_parts(name, arguments.symbols)


if __name__ == "__main__":
    main()
