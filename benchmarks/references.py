"""Words that learning asks with a reference and without, by how much has changed since.

Usage: python benchmarks/references.py [SIZE ...], or with ``paper`` one target of each experiment
of the paper; PDFALEARN_PAPER_DATA names the folder of the data.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import numpy as np

from pdfalearn import PDFA, Quantization, learn, load, quotient
from pdfalearn.datasets import random_pdfa

BY = Quantization(1000)
# Not those on which constants were chosen.
SEEDS = range(20, 23)
# Symbols and distributions of the targets; None stands for one for every state.
KINDS = ((2, None), (4, None), (2, 20), (4, 20), (2, 3))


def change(pdfa: PDFA, share: float, seed: int) -> PDFA:
    """Lead a share of the transitions, at least one, to states that are drawn."""
    random = np.random.default_rng(seed)
    table = pdfa.transitions.copy()
    possible = np.flatnonzero(table >= 0)
    count = max(int(share > 0), round(share * len(possible)))
    places = random.choice(possible, count, replace=False)
    table.reshape(-1)[places] = random.integers(len(pdfa), size=count)
    rows = pdfa.probabilities
    return PDFA(alphabet=pdfa.alphabet, transitions=table, probabilities=rows, initial=pdfa.initial)


def measure(name: str, share: float | None, targets: list[tuple[PDFA, PDFA]]) -> None:
    """Print a line for pairs of an old target and one to be learnt now."""
    words, symbols, seconds = np.zeros((3, 2))
    for old, new in targets:
        for place, reference in enumerate((None, old)):
            begin = time.process_time()
            found = learn(new, equivalence=BY, reference=reference)
            seconds[place] += time.process_time() - begin
            if len(found.pdfa) != len(quotient(new, equivalence=BY)):
                raise RuntimeError(f"{old}, {share}: not the quotient")
            words[place] += found.statistics.words
            symbols[place] += found.statistics.symbols
    text = "unrelated" if share is None else f"{100 * share:g}%"
    print(
        f"| {name} | {text} | {words[0]:,.0f} | {words[1]:,.0f} | {words[0] / words[1]:.1f} "
        f"| {symbols[0]:,.0f} | {symbols[1]:,.0f} | {seconds[0]:.2f} | {seconds[1]:.2f} |",
        flush=True,
    )


def measure_random(size: int) -> None:
    """Print lines for random targets of a size."""
    for symbols, distributions in KINDS:
        for share in (0, 0.01, 0.02, 0.05, None):
            targets = []
            for seed in SEEDS:
                old = random_pdfa(size, symbols, distributions=distributions, seed=seed)
                other = random_pdfa(size, symbols, distributions=distributions, seed=seed + 1000)
                targets.append((old, other if share is None else change(old, share, seed)))
            measure(f"{size} | {symbols} | {distributions or 'all differ'}", share, targets)


def measure_paper() -> None:
    """Print lines for one target of each experiment of the paper."""
    beside = Path(__file__).parents[2] / "shared" / "data"
    folder = Path(os.environ.get("PDFALEARN_PAPER_DATA", beside)) / "paper-targets"
    for experiment in sorted(folder.glob("exp*")):
        path = min(experiment.glob("*.json.gz"))
        old = load(path)
        for share in (0, 0.01, 0.02, 0.05):
            name = f"{len(old)} | {len(old.alphabet)} | {experiment.name}/{path.name[:-8]}"
            measure(name, share, [(old, change(old, share, seed=0))])


def main() -> None:
    """Print a line for every kind of target and share of changed transitions."""
    print(
        "| states | symbols | distributions | changed | words without | with | times fewer "
        "| symbols without | with | seconds without | with |"
    )
    print("|---" * 11 + "|")
    for wanted in sys.argv[1:] or ["50", "200", "1000"]:
        if wanted == "paper":
            measure_paper()
        else:
            measure_random(int(wanted))


if __name__ == "__main__":
    main()
