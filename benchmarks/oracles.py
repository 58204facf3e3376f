"""Faults that oracles find, and the words that they ask, on all mutants of small targets.

Usage: python benchmarks/oracles.py mutants
       python benchmarks/oracles.py machines    every machine with one state more, by W and Wp
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

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
from pdfalearn.typing import Flags

Array = NDArray[np.int8]
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


# One distribution for each output of a machine over two symbols.
ROWS = np.array([[0.2, 0.4, 0.4], [0.5, 0.3, 0.2], [0.1, 0.1, 0.8]])
SYMBOLS = 2
CALLS = 5


class Machines(NamedTuple):
    """Moore machines of up to so many states, the first one initial."""

    tables: Array  # machine, state, symbol
    outputs: Array  # machine, state

    def pdfa(self, number: int) -> PDFA:
        """Return one of them as a PDFA, without the room for other states."""
        size = int(self.tables[number].max()) + 1
        rows = ROWS[self.outputs[number, :size]]
        return PDFA(alphabet="ab", transitions=self.tables[number, :size], probabilities=rows)


def tables_of(states: int) -> Iterator[list[int]]:
    """Yield every table of so many states that are all reached, numbered breadth first.

    So each automaton comes once, however its states are numbered.
    """

    def go_on(table: list[int], seen: int) -> Iterator[list[int]]:
        if len(table) == states * SYMBOLS:
            if seen == states:
                yield table
        elif len(table) // SYMBOLS < seen:  # else a state comes before it is reached
            for end in range(min(seen + 1, states)):
                yield from go_on([*table, end], max(seen, end + 1))

    yield from go_on([], 1)


def machines(most: int, outputs: int) -> Machines:
    """Return every machine of at most so many states and outputs."""
    tables, labels = [], []
    for size in range(1, most + 1):
        kinds = np.array(list(product(range(outputs), repeat=size)))
        every = np.array(list(tables_of(size))).reshape(-1, size, SYMBOLS)
        room = most - size
        tables.append(np.repeat(np.pad(every, ((0, 0), (0, room), (0, 0))), len(kinds), axis=0))
        labels.append(np.tile(np.pad(kinds, ((0, 0), (0, room))), (len(every), 1)))
    return Machines(np.concatenate(tables).astype(np.int8), np.concatenate(labels).astype(np.int8))


def differ(every: Machines, pdfa: PDFA, words: list[list[int]]) -> Flags:
    """Return which machines have another output than an automaton after one of some words.

    With each word its beginnings are among them, before it.
    """
    outputs = (pdfa.probabilities[:, None] == ROWS).all(axis=2).argmax(axis=1)
    found = np.zeros(len(every.tables), dtype=bool)
    # Most differ soon, and the others are few.
    for part in ([word for word in words if len(word) < 3], words):
        left = (~found).nonzero()[0]
        tables, labels, count = every.tables[left], every.outputs[left], np.arange(len(left))
        states: dict[tuple[int, ...], Array] = {(): np.zeros(len(left), dtype=np.int8)}
        for word in map(tuple, part):
            if word:
                states[word] = tables[:, :, word[-1]][count, states[word[:-1]]]
            end = pdfa.initial
            for symbol in word:
                end = int(pdfa.transitions[end, symbol])
            found[left] |= labels[count, states[word]] != outputs[end]
    return found


def short_words(length: int) -> list[list[int]]:
    """Return every word up to a length, the shortest first."""
    return [list(word) for n in range(length + 1) for word in product(range(SYMBOLS), repeat=n)]


class Judgement(NamedTuple):
    """What an oracle finds of every machine."""

    different: int
    missed: int
    words: int
    bound: int


def judge(kind: type[WOracle], hypothesis: PDFA, every: Machines, calls: list[int]) -> Judgement:
    """Let an oracle look for one state more; the judge are all words that two machines need.

    Its words are those that it asks of what it accepts; on some machines it is called itself.
    """
    oracle, tree = kind(extra_states=1), _tree(hypothesis)
    if len(oracle.counterexamples(hypothesis, tree)):
        raise AssertionError("the oracle refuses the hypothesis itself")
    count = int(oracle.certificate.details["words"])  # type: ignore[call-overload]
    asked = sorted((tree.nodes.word(node) for node in range(tree.nodes.size)), key=len)
    found = differ(every, hypothesis, asked)
    length = len(hypothesis) + every.tables.shape[1] - 1
    truth = differ(every, hypothesis, short_words(length))
    for number in calls:
        words = oracle.counterexamples(hypothesis, _tree(every.pdfa(number)))
        if bool(len(words)) != found[number]:
            raise AssertionError("the oracle does not ask these words")
    middles = sum(SYMBOLS**length for length in range(3))
    bound = len(hypothesis) * max(1, len(hypothesis) - 1) * middles
    return Judgement(int(truth.sum()), int((truth & ~found).sum()), count, bound)


def minimal(states: int, outputs: int) -> list[PDFA]:
    """Return every machine of so many states of which no two are equivalent."""
    every = machines(states, outputs)
    numbers = (every.tables.max(axis=(1, 2)) == states - 1).nonzero()[0].tolist()
    pdfas = [every.pdfa(number) for number in numbers]
    return [pdfa for pdfa in pdfas if len(quotient(pdfa, equivalence=BY)) == states]


def print_machines() -> None:
    """Print a table: every hypothesis, and every machine with at most one state more."""
    print(
        "| outputs | states | hypotheses | machines | oracle | pairs that differ | missed |", end=""
    )
    print(" words: median, most | the bound |")
    print("|---" * 9 + "|")
    for outputs, states in product((2, 3), (1, 2, 3)):
        every, random = machines(states + 1, outputs), np.random.default_rng(states)
        hypotheses = minimal(states, outputs)[:: 10 if (outputs, states) == (3, 3) else 1]
        for kind in (WOracle, WpOracle):
            found = [
                judge(kind, one, every, random.integers(len(every.tables), size=CALLS).tolist())
                for one in hypotheses
            ]
            words = [one.words for one in found]
            cells = (
                *(outputs, states, f"{len(found):,}", f"{len(every.tables):,}", kind.__name__),
                *(f"{sum(one.different for one in found):,}", sum(one.missed for one in found)),
                *(f"{int(np.median(words))}, {max(words)}", max(one.bound for one in found)),
            )
            print("|", " | ".join(map(str, cells)), "|", flush=True)


def main() -> None:
    """Print the tables that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["mutants", "machines"])
    if parser.parse_args().what == "machines":
        print_machines()
    else:
        print_mutants()


def print_mutants() -> None:
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
