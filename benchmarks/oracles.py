"""Faults that oracles find, and the words that they ask, on all mutants of small targets.

Usage: python benchmarks/oracles.py
"""

from __future__ import annotations

from itertools import product

import numpy as np

from pdfalearn import PDFA, Quantization, distinguish, quotient
from pdfalearn.datasets import chain, combination_lock, random_pdfa
from pdfalearn.models import AutomatonModel
from pdfalearn.observations import ObservationTree
from pdfalearn.oracles import (
    EquivalenceOracle,
    PACOracle,
    RandomWpOracle,
    StatePrefixOracle,
    WOracle,
    WpOracle,
)
from pdfalearn.samplers import UniformWords

BY = Quantization(10)


def changed_automata(pdfa: PDFA) -> list[PDFA]:
    """Return all automata with one other transition, or one that leads to a new copy of a state.

    The copy has one transition of its own, so that only what comes after it tells.
    """
    found = []
    states, symbols = pdfa.transitions.shape
    for state, symbol, end in product(range(states), range(symbols), range(states)):
        table = pdfa.transitions.copy()
        table[state, symbol] = end
        found.append((table, pdfa.probabilities))
        for other, letter in product(range(states), range(symbols)):
            larger = np.vstack((table, table[end]))
            larger[state, symbol], larger[states, letter] = states, other
            found.append((larger, np.vstack((pdfa.probabilities, pdfa.probabilities[end]))))
    return [PDFA(alphabet=pdfa.alphabet, transitions=t, probabilities=p) for t, p in found]


def mutants(pdfa: PDFA) -> list[PDFA]:
    """Return those that differ."""
    every = changed_automata(pdfa)
    return [one for one in every if distinguish(one, pdfa, equivalence=BY) is not None]


def makers() -> dict[str, EquivalenceOracle]:
    """Return the oracles by name."""
    return {
        "WOracle(1)": WOracle(extra_states=1),
        "WpOracle(1)": WpOracle(extra_states=1),
        "RandomWp(20, 5)": RandomWpOracle(walks_per_state=20, walk_length=5),
        "StatePrefix(20, 5)": StatePrefixOracle(walks_per_state=20, walk_length=5),
        "PAC(.01, .01)": PACOracle(epsilon=0.01, delta=0.01, sampler=UniformWords(20)),
    }


def main() -> None:
    """Print a table for every target."""
    targets = {
        f"random_pdfa, {states} states": random_pdfa(
            states, distributions=2, exact_size=True, seed=states
        )
        for states in (4, 6, 8)
    }
    targets |= {"lock of 8": combination_lock(8, seed=1), "chain of 8": chain(8, reset=True)}
    print("| target | mutants | oracle | found | words to accept the target |")
    print("|---|---|---|---|---|")
    for name, target in targets.items():
        hypothesis = quotient(target, equivalence=BY)
        every = mutants(hypothesis)
        for kind in makers():
            found = sum(
                bool(len(makers()[kind].counterexamples(hypothesis, _tree(one)))) for one in every
            )
            tree = _tree(hypothesis)
            makers()[kind].counterexamples(hypothesis, tree)
            share = f"{100 * found / len(every):.1f}%"
            print(f"| {name} | {len(every):,} | {kind} | {share} | {tree.counts.words:,} |")


def _tree(pdfa: PDFA) -> ObservationTree:
    return ObservationTree(AutomatonModel(pdfa), BY)


if __name__ == "__main__":
    main()
