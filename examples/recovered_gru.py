"""A recurrent network, trained on words of an automaton, gives the automaton back.

The network is learnt at several κ under a budget, and distilled. Run with
``python -m examples.recovered_gru``; needs ``pip install '.[torch]'``.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest

import torch

from examples.reber import trained
from pdfalearn import PDFA, Budget, Frontier, LanguageModel, Quantization, distill, evaluate, learn
from pdfalearn.analysis import reachable_part
from pdfalearn.oracles import PACOracle
from pdfalearn.samplers import ModelWords

TRAINING = 4000
KAPPAS = (3, 10, 100)
SYMBOLS = 4000
"""At most this many symbols may be asked, each time."""
SHOWN = (1, 2, 3, 4, 8)
"""The sizes of distilled automata that are printed."""
TITLES = ["from the network", "states", "symbols asked", "KL per symbol", "L1", "WER"]


def grammar() -> PDFA:
    """Return the automaton that the network does not see.

    States remember whether the number of a is even and whether that of b is.
    """
    return PDFA(
        alphabet="ab",
        transitions=[[1, 2], [0, 3], [3, 0], [2, 1]],
        probabilities=[[0.1, 0.7, 0.2], [0.1, 0.2, 0.7], [0.05, 0.6, 0.35], [0.3, 0.2, 0.5]],
    )


def learnt(model: LanguageModel) -> Iterator[tuple[str, PDFA, float]]:
    """Learn at several κ; yield a name, the automaton, and how many symbols were asked."""
    for kappa in KAPPAS:
        oracle = PACOracle(epsilon=0.01, delta=0.01, sampler=ModelWords(max_length=50), seed=1)
        budget = Budget(max_symbols=SYMBOLS)
        result = learn(model, equivalence=Quantization(kappa), oracle=oracle, budget=budget)
        yield f"learnt, κ = {kappa}", result.pdfa, result.statistics.symbols


def distilled(frontier: Frontier) -> Iterator[tuple[str, PDFA, float]]:
    """Yield the automata of some sizes."""
    asked = float(str(frontier.certificate.details["symbols_asked"]))
    for point in frontier:
        if point.states in SHOWN:
            mark = ", the knee" if point.states == frontier.knee else ""
            yield f"distilled{mark}", point.pdfa, asked


def row(model: LanguageModel, name: str, pdfa: PDFA, symbols: float) -> str:
    """Hold an automaton against the network on 1,000 words of the network."""
    means = evaluate(model, pdfa, count=1000, seed=2, max_length=100).over_prefixes
    figures = f"{means.kl:.5f} | {means.l1:.4f} | {means.word_error_rate:.4f}"
    return f"| {name} | {len(pdfa):,} | {symbols:,.0f} | {figures} |"


def transitions(pdfa: PDFA) -> list[str]:
    """Return a line for every transition."""
    return [
        f"{state} --{symbol}--> {target}  {pdfa.probabilities[state, code + 1]:.3f}"
        for state, targets in enumerate(pdfa.transitions.tolist())
        for code, (symbol, target) in enumerate(zip(pdfa.alphabet, targets, strict=True))
    ]


def main() -> None:
    """Print the table, and the automaton at the knee beside the true one."""
    true = grammar()
    network = trained(true.sample(TRAINING, seed=1).words, true.alphabet, seed=1)
    print(f"| {' | '.join(TITLES)} |", f"|{' --- |' * len(TITLES)}", sep="\n")
    for automaton in learnt(network):
        print(row(network, *automaton))
    frontier = distill(network, budget=Budget(max_symbols=SYMBOLS), seed=1)
    for automaton in distilled(frontier):
        print(row(network, *automaton))
    found = reachable_part(frontier.at_most(frontier.knee or len(true)))  # numbered breadth first
    print(f"\n{'the grammar':<24}at the knee")
    for left, right in zip_longest(transitions(true), transitions(found), fillvalue=""):
        print(f"{left:<24}{right}")


if __name__ == "__main__":
    torch.set_num_threads(1)
    main()
