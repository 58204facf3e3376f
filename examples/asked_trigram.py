"""The phone trigram asked: what a network could only be sampled for.

The trigram of English phones that pocketsphinx brings becomes an automaton of 1,507 states. All
answers are over all of its words at once. Run with ``python -m examples.asked_trigram``; needs
``pip install pocketsphinx==5.1.1``.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from examples.phone_trigram import write_arpa
from pdfalearn import PDFA, most_likely, probability
from pdfalearn.analysis import entropy, expected_count, length, most_likely_prefixes
from pdfalearn.io import read_arpa
from pdfalearn.languages import BeginsWith, Contains, EndsWith, HasLength


def phones() -> PDFA:
    """Read the trigram."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "phones.arpa")
        write_arpa(path)
        return read_arpa(path).pdfa


def answers(pdfa: PDFA) -> dict[str, float]:
    """Ask what there is to ask."""
    lengths, words = length(pdfa), entropy(pdfa)
    the, short = BeginsWith(["DH", "AH"]), HasLength(most=20)
    return {
        "mean number of phones": lengths.mean,
        "standard deviation": lengths.deviation,
        "median": lengths.quantile(0.5),
        "99 of 100 have at most": lengths.quantile(0.99),
        "entropy per utterance, nats": words.per_word,
        "entropy per phone, nats": words.per_symbol,
        "P(begins with DH AH)": probability(pdfa, the),
        "P(begins with DH AH, given at most 20 phones)": probability(pdfa, the, given=short),
        "P(contains S T R)": probability(pdfa, Contains(["S", "T", "R"])),
        "expected number of S T R": expected_count(pdfa, EndsWith(["S", "T", "R"])),
    }


def main() -> None:
    """Print the answers, the likeliest utterances, and the likeliest beginnings."""
    pdfa = phones()
    for name, value in answers(pdfa).items():
        print(f"| {name} | {value:.6g} |")
    print()
    for title, found in (
        ("utterance", most_likely(pdfa, 3)),
        ("utterance of 5 phones at least", most_likely(pdfa, 3, HasLength(least=5))),
        ("beginning", most_likely_prefixes(pdfa, 4, 3)),
    ):
        for one in found:
            print(f"| {title} | {' '.join(map(str, one.word))} | {one.probability:.3g} |")


if __name__ == "__main__":
    main()
