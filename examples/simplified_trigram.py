"""The phone trigram of 1,481 states, made smaller: what is lost at each number of states.

The trigram of English phones that pocketsphinx brings is learnt at κ = 1000 and simplified. Run
with ``python -m examples.simplified_trigram``; needs ``pip install pocketsphinx==5.1.1``.
"""

from __future__ import annotations

import math
import tempfile
from pathlib import Path
from time import perf_counter

from examples.phone_trigram import learnt_at, write_arpa
from pdfalearn import PDFA, simplify
from pdfalearn.io import read_arpa
from pdfalearn.metrics import evaluate_exactly

SIZES = (300, 100, 30, 10, 1)
TITLES = ("states", "KL per symbol", "perplexity")


def learnt_trigram() -> PDFA:
    """Learn the trigram at κ = 1000."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "phones.arpa")
        write_arpa(path)
        truth = read_arpa(path).pdfa
    return learnt_at(1000, truth)[0]


def main() -> None:
    """Print the table, and the seconds that it took."""
    pdfa = learnt_trigram()
    perplexity = evaluate_exactly(pdfa, pdfa).perplexity
    print(f"| {' | '.join(TITLES)} |", f"|{' --- |' * len(TITLES)}", sep="\n")
    print(f"| {len(pdfa):,} | 0 | {perplexity:.2f} |")
    begin = perf_counter()
    for one in simplify(pdfa, states=SIZES):
        lost = perplexity * math.exp(one.divergence)
        print(f"| {one.states:,} | {one.divergence:.3f} | {lost:.2f} |")
    print(f"\n{perf_counter() - begin:.0f} seconds")


if __name__ == "__main__":
    main()
