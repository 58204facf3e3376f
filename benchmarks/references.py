"""Words that learning asks with a reference and without, by how much has changed since.

Usage: python benchmarks/references.py [SIZE ...], and ``paper`` for the paper's targets, of
which PDFALEARN_PAPER_DATA names the folder
"""

from __future__ import annotations

import sys

import numpy as np

from pdfalearn import PDFA, Quantization, learn, quotient
from pdfalearn.datasets import random_pdfa

BY = Quantization(1000)
SEEDS = range(3)
# Symbols and distributions of the targets; None stands for one for every state.
KINDS = ((2, None), (4, None), (2, 20), (4, 20), (2, 3))


def change(pdfa: PDFA, share: float, seed: int) -> PDFA:
    """Lead a share of the transitions, at least one, to states that are drawn."""
    random = np.random.default_rng(seed)
    table = pdfa.transitions.copy()
    count = max(int(share > 0), round(share * table.size))
    places = random.choice(table.size, count, replace=False)
    table.reshape(-1)[places] = random.integers(len(pdfa), size=count)
    return PDFA(alphabet=pdfa.alphabet, transitions=table, probabilities=pdfa.probabilities)


def main() -> None:
    """Print a line for every kind of target and share of changed transitions."""
    sizes = [int(size) for size in sys.argv[1:]] or [50, 200, 1000]
    print("| states | symbols | distributions | changed | words without | with | times fewer |")
    print("|---|---|---|---|---|---|---|")
    for size in sizes:
        for symbols, distributions in KINDS:
            for share in (0, 0.01, 0.02, 0.05, None):
                without, with_ = 0, 0
                for seed in SEEDS:
                    old = random_pdfa(size, symbols, distributions=distributions, seed=seed)
                    new = random_pdfa(size, symbols, distributions=distributions, seed=seed + 1000)
                    if share is not None:
                        new = change(old, share, seed)
                    without += learn(new, equivalence=BY).statistics.words
                    found = learn(new, equivalence=BY, reference=old)
                    if len(found.pdfa) != len(quotient(new, equivalence=BY)):
                        raise RuntimeError(f"{old}, {share}: not the quotient")
                    with_ += found.statistics.words
                text = "unrelated" if share is None else f"{100 * share:g}%"
                cells = [size, symbols, distributions or "all differ", text, f"{without:,}"]
                cells += [f"{with_:,}", f"{without / with_:.1f}"]
                print("|", " | ".join(map(str, cells)), "|", flush=True)


if __name__ == "__main__":
    main()
