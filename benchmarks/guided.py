"""Large alphabets of which little may follow: guided models, and top-k.

Run with ``python -m benchmarks.guided``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from benchmarks.support import in_a_process, in_turns, peak_gigabytes, print_header, print_row
from pdfalearn import (
    PDFA,
    FunctionModel,
    Guided,
    LanguageModel,
    Quantization,
    TopK,
    learn,
    quotient,
)
from pdfalearn.alphabet import Alphabet
from pdfalearn.analysis import reachable_part
from pdfalearn.datasets import figure_3, random_pdfa
from pdfalearn.languages import DFA
from pdfalearn.models import AutomatonModel
from pdfalearn.oracles import ExactOracle

BY = Quantization(1000)
SYMBOLS = 1000
SUPPORT = 20


def random_guide(alphabet: Alphabet, states: int, supports: int, seed: int) -> DFA:
    """Draw a DFA with as many different supports as given, each of 20 symbols; all accept."""
    random = np.random.default_rng(seed)
    symbols = np.array([random.permutation(len(alphabet))[:SUPPORT] for _ in range(supports)])
    allowed = symbols[random.integers(0, supports, states)]
    transitions = np.full((states, len(alphabet)), -1)
    np.put_along_axis(transitions, allowed, random.integers(0, states, allowed.shape), axis=1)
    return DFA(alphabet=alphabet, transitions=transitions, accepting=[True] * states)


def product(target: PDFA, guide: DFA) -> PDFA:
    """Return the automaton of a guided PDFA: pairs of states, what is allowed of every row."""
    pairs = target.transitions[:, None, :].astype(np.int64) * len(guide) + guide.transitions
    transitions = np.where(guide.transitions >= 0, pairs, -1)
    allowed = np.column_stack((guide.accepting, guide.transitions >= 0))
    rows = np.where(allowed, target.probabilities[:, None, :], 0.0)
    rows /= rows.sum(axis=2, keepdims=True)
    return reachable_part(
        PDFA(
            alphabet=target.alphabet,
            transitions=transitions.reshape(-1, SYMBOLS),
            probabilities=rows.reshape(-1, SYMBOLS + 1),
            initial=target.initial * len(guide) + guide.initial,
        )
    )


def most_probable(target: PDFA) -> PDFA:
    """Return the automaton of the 20 most probable symbols of every state."""
    least = np.sort(target.probabilities, axis=1)[:, -SUPPORT, None]
    rows = np.where(target.probabilities >= least, target.probabilities, 0.0)
    rows /= rows.sum(axis=1, keepdims=True)
    transitions = np.where(rows[:, 1:] > 0, target.transitions, -1)
    return reachable_part(
        PDFA(alphabet=target.alphabet, transitions=transitions, probabilities=rows)
    )


def as_function(target: PDFA) -> FunctionModel:
    """Return a PDFA as a function of words, in which no two words share a handle."""
    return FunctionModel(target.next_distributions, target.alphabet)


class Case(NamedTuple):
    """A constrained model, and the automaton that it should be learnt as."""

    model: LanguageModel
    truth: PDFA


def guided(
    inside: Callable[[PDFA], LanguageModel], states: int, guide_states: int, supports: int
) -> Case:
    """Guide a random target, so that there are states · guide states pairs."""
    target = random_pdfa(states, SYMBOLS, exact_size=True, seed=1)
    guide = random_guide(target.alphabet, guide_states, supports, seed=2)
    return Case(Guided(inside(target), guide), product(target, guide))


def top_k(inside: Callable[[PDFA], LanguageModel], states: int) -> Case:
    """Keep the 20 most probable symbols of a random target."""
    target = random_pdfa(states, SYMBOLS, exact_size=True, seed=1)
    return Case(TopK(inside(target), SUPPORT), most_probable(target))


CASES: dict[str, Callable[[], Case]] = {
    "20 states guided by 50": partial(guided, AutomatonModel, 20, 50, 50),
    "the same as a function": partial(guided, as_function, 20, 50, 50),
    "1 state guided by 1000, 10 supports": partial(guided, AutomatonModel, 1, 1000, 10),
    "1000 states, top-k": partial(top_k, AutomatonModel, 1000),
    "the same as a function, top-k": partial(top_k, as_function, 1000),
}


def measure(name: str) -> tuple[int, int, int, int, float, float, int]:
    """Return states, transitions, words, symbols, seconds, gigabytes and equivalence queries."""
    learn(figure_3())  # what is imported at first use is not part of the time
    model, truth = CASES[name]()
    oracle = ExactOracle(truth, equivalence=BY)
    [(seconds, result)] = in_turns([partial(learn, model, equivalence=BY, oracle=oracle)], runs=3)
    if len(result.pdfa) != len(quotient(truth, equivalence=BY)):
        raise AssertionError(f"{name}: not the quotient")
    costs = result.statistics
    transitions = int((result.pdfa.transitions >= 0).sum())
    found = len(result.pdfa), transitions, costs.words, costs.symbols
    return *found, seconds, peak_gigabytes(), costs.equivalence_queries


def main() -> None:
    """Print a table, every row measured in a process of its own."""
    print(f"An alphabet of {SYMBOLS} symbols, {SUPPORT} at most may follow, κ={BY.kappa}.\n")
    titles = ["model", "states", "defined transitions", "words", "words / transitions", "goal"]
    print_header([*titles, "symbols", "learn, s", "peak, GB", "equivalence queries"])
    for name in CASES:
        states, transitions, words, *costs = in_a_process(measure, name)
        cells = [name, states, transitions, words, words / transitions, "at most 3"]
        print_row([*cells, *costs])


if __name__ == "__main__":
    main()
