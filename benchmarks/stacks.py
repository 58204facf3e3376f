"""PDFA in random stacks of wrappers are learnt exactly.

Run with ``python -m benchmarks.stacks``; ``--stacks N`` draws another number of stacks.
"""

from __future__ import annotations

import argparse
from collections import Counter

import numpy as np

from benchmarks.support import print_header, print_row
from pdfalearn import (
    PDFA,
    Guided,
    LanguageModel,
    Quantization,
    Temperature,
    TopK,
    TopP,
    learn,
    quotient,
)
from pdfalearn.errors import InputError, ModelError
from pdfalearn.languages import DFA
from pdfalearn.models import AutomatonModel
from pdfalearn.models.opened import ask_words
from pdfalearn.samplers import Words

STACKS = 1000
KAPPAS = (1, 2, 10, 100, 1000)

Random = np.random.Generator
Key = tuple[int, ...]
"""The states of a PDFA and of all guides around it."""


def draw_pdfa(random: Random) -> PDFA:
    """Draw a PDFA with zeros, equal probabilities and undefined transitions."""
    states, symbols = int(random.integers(1, 41)), int(random.integers(2, 13))
    weights = random.dirichlet(np.full(symbols + 1, random.choice([0.2, 1.0, 5.0])), states)
    rows = np.array([random.multinomial(random.choice([10, 997]), row) for row in weights])
    transitions = random.integers(0, states, (states, symbols))
    transitions[(rows[:, 1:] == 0) & (random.random(transitions.shape) < 0.5)] = -1
    return PDFA(
        alphabet=[f"s{number}" for number in range(symbols)],
        transitions=transitions,
        probabilities=rows / rows.sum(axis=1, keepdims=True),
        initial=int(random.integers(states)),
    )


def draw_guide(alphabet: object, symbols: int, random: Random) -> DFA:
    """Draw a DFA, some of whose states may be of no use."""
    states = int(random.integers(1, 7))
    transitions = random.integers(0, states, (states, symbols))
    transitions[random.random(transitions.shape) < random.choice([0.0, 0.2, 0.6])] = -1
    accepting = random.random(states) < 0.7
    return DFA(alphabet=alphabet, transitions=transitions, accepting=accepting)  # type: ignore[arg-type]


def wrap(model: LanguageModel, random: Random) -> LanguageModel:
    """Put a random wrapper around a model."""
    symbols = len(model.alphabet)
    kind = random.integers(4)
    if kind == 0:
        return TopK(model, int(random.integers(1, symbols + 2)))
    if kind == 1:
        return TopP(model, float(random.choice([0.3, 0.5, 0.9, 1.0, random.uniform(0.01, 1)])))
    if kind == 2:
        return Temperature(model, float(random.choice([0.1, 0.5, 1.0, 2.0, 20.0])))
    while True:
        try:
            return Guided(model, draw_guide(model.alphabet, symbols, random))
        except InputError:  # it excludes everything
            continue


def draw_stack(seed: int) -> tuple[LanguageModel, Quantization]:
    """Draw a PDFA in one to three wrappers, and an equivalence."""
    random = np.random.default_rng(seed)
    model: LanguageModel = AutomatonModel(draw_pdfa(random))
    for _ in range(random.integers(1, 4)):
        model = wrap(model, random)
    return model, Quantization(int(random.choice(KAPPAS)))


def product_by_asking(model: LanguageModel) -> PDFA:
    """Return the automaton of a stack, from the answers to a word for every tuple of states."""
    guides, inside = [], model
    while not isinstance(inside, AutomatonModel):
        if isinstance(inside, Guided):
            guides.append(inside.guide)
        inside = inside.model  # type: ignore[attr-defined]
    automata: list[PDFA | DFA] = [inside.pdfa, *guides]
    start: Key = tuple(automaton.initial for automaton in automata)
    number_of: dict[Key, int] = {start: 0}
    level: list[tuple[Key, list[int]]] = [(start, [])]
    probabilities, transitions = [], []
    while level:
        rows = ask_words(model, Words.of([word for _, word in level]))
        impossible = rows.impossible
        if impossible is None:  # nothing is
            impossible = np.zeros((len(level), len(model.alphabet)), dtype=bool)
        probabilities += rows.to_dense().tolist()
        ahead: list[tuple[Key, list[int]]] = []
        for (key, word), excluded in zip(level, impossible.tolist(), strict=True):
            successors = []
            for symbol, is_excluded in enumerate(excluded):
                after = tuple(
                    int(automaton.transitions[state, symbol])
                    for automaton, state in zip(automata, key, strict=True)
                )
                if not is_excluded and after not in number_of:
                    number_of[after] = len(number_of)
                    ahead.append((after, [*word, symbol]))
                successors.append(-1 if is_excluded else number_of[after])
            transitions.append(successors)
        level = ahead
    return PDFA(alphabet=model.alphabet, transitions=transitions, probabilities=probabilities)


def check_stack(seed: int) -> str:
    """Learn a random stack; return "exact", "nothing left", or what is wrong."""
    model, equivalence = draw_stack(seed)
    try:
        expected = quotient(product_by_asking(model), equivalence=equivalence)
    except ModelError as error:
        try:
            learn(model, equivalence=equivalence)
        except ModelError as second:
            both = str(error), str(second)
            return "nothing left" if all("nothing is left" in text for text in both) else both[1]
        return "learnt where nothing is left"
    result = learn(model, equivalence=equivalence)
    found = quotient(
        result.pdfa, equivalence=equivalence
    )  # numbered breadth first, as the other one is
    same = len(result.pdfa) == len(expected) and np.array_equal(
        found.transitions, expected.transitions
    )
    if (
        not same
        or (equivalence.keys(found.probabilities) != equivalence.keys(expected.probabilities)).any()
    ):
        return "not the quotient"
    return result.certificate.kind if result.certificate else "no certificate"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stacks", type=int, default=STACKS)
    stacks = parser.parse_args().stacks
    print(f"{stacks} random stacks of one to three wrappers over a PDFA, against the quotient.\n")
    print_header(["outcome", "stacks"])
    for outcome, count in Counter(map(check_stack, range(stacks))).most_common():
        print_row([outcome, count])


if __name__ == "__main__":
    main()
