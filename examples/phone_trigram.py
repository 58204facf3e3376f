"""The phones of English: a real n-gram model as a PDFA, learnt as a black box at several κ.

The package pocketsphinx brings a trigram of 40 phones. Its contexts are the states of a PDFA, so
that the truth is known, and what is learnt can be held against it. Run with
``python -m examples.phone_trigram``; needs ``pip install pocketsphinx==5.1.1``.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from pdfalearn import PDFA, FunctionModel, Quantization, evaluate, learn, quotient
from pdfalearn.io import read_arpa
from pdfalearn.oracles import ExactOracle

KAPPAS = (2, 3, 5, 10, 20, 100, 1000)
TITLES = ("κ", "states of the quotient", "states learnt", "words asked", "mean L1", "perplexity")


def write_arpa(path: Path) -> None:
    """Write the trigram of pocketsphinx as an ARPA file."""
    from pocketsphinx import Config, LogMath, NGramModel, get_model_path

    config, logarithms = Config(), LogMath()  # the model uses these and does not keep them alive
    model = NGramModel(config, logarithms, get_model_path("en-us/en-us-phone.lm.bin"))
    model.write(str(path), NGramModel.str_to_type("arpa"))


def learnt_at(kappa: int, truth: PDFA) -> tuple[PDFA, list[int]]:
    """Learn the trigram from its answers alone; return the first figures of a row of the table."""
    equivalence = Quantization(kappa)
    model = FunctionModel(truth.next_distributions, truth.alphabet)
    result = learn(
        model, equivalence=equivalence, oracle=ExactOracle(truth, equivalence=equivalence)
    )
    classes = len(quotient(truth, equivalence=equivalence))
    return result.pdfa, [kappa, classes, len(result.pdfa), result.statistics.words]


def main() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "phones.arpa")
        write_arpa(path)
        trigram = read_arpa(path)
    truth = trigram.pdfa
    words = truth.sample(200, seed=1).words
    print(f"{len(truth):,} states, {len(truth.alphabet)} phones, order {trigram.order};", end=" ")
    print(f"perplexity {evaluate(truth, truth, words).perplexity:.3f};", end=" ")
    print(f"largest correction {trigram.largest_correction:.2g}\n")
    print(f"| {' | '.join(TITLES)} |", f"|{' --- |' * len(TITLES)}", sep="\n")
    for kappa in KAPPAS:
        pdfa, counts = learnt_at(kappa, truth)
        cells = [f"{count:,}" for count in counts]
        result = evaluate(truth, pdfa, words)
        cells += [f"{result.over_prefixes.l1:.2g}", f"{result.perplexity:.3f}"]
        print(f"| {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
