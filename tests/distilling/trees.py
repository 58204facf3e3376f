"""Weighted prefixes and automata for tests of distilling, and the same as plain dictionaries."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st
from scipy.sparse import csr_array

from pdfalearn.distilling.evidence import Evidence, Table
from pdfalearn.distilling.machines import FLOOR, Machine

Word = tuple[int, ...]
Row = list[float]


@dataclass(frozen=True)
class PlainTree:
    """Prefixes of words with their answers, as dictionaries."""

    width: int
    weights: dict[Word, float]
    answers: dict[Word, Row]

    @property
    def words(self) -> list[Word]:
        """The prefixes in the order in which they are given to `Evidence`."""
        return list(self.weights)

    @property
    def total(self) -> float:
        return sum(self.weights.values())

    def evidence(self, *, sparse: bool = False) -> Evidence:
        numbers = {word: number for number, word in enumerate(self.words)}
        answers: Table = np.array([self.answers[word] for word in self.words])
        return Evidence(
            np.array([numbers[word[:-1]] for word in self.words]),
            np.array([word[-1] if word else 0 for word in self.words]),
            np.array([self.weights[word] for word in self.words]),
            csr_array(answers) if sparse else answers,
        )

    def children(self, word: Word) -> list[Word]:
        longer = ((*word, symbol) for symbol in range(self.width))
        return [child for child in longer if child in self.weights]


def words_of(evidence: Evidence) -> list[Word]:
    """Return the word of every node."""
    words: list[Word] = [()]
    for parent, symbol in zip(
        evidence.parents[1:].tolist(), evidence.symbols[1:].tolist(), strict=True
    ):
        words.append((*words[parent], symbol))
    return words


def divergence(row: Sequence[float], other: Sequence[float]) -> float:
    """Return KL(row ‖ other), where no probability counts as less than the floor."""
    pairs = zip(row, other, strict=True)
    return sum(p * (math.log(p) - math.log(max(q, FLOOR))) for p, q in pairs if p > 0)


def state_after(machine: Machine, word: Word) -> int:
    state = 0
    for symbol in word:
        state = int(machine.transitions[state, symbol])
    return state


def plain_loss(machine: Machine, tree: PlainTree) -> float:
    """Return the weighted mean of KL(answer ‖ row)."""
    lost = sum(
        weight * divergence(tree.answers[word], machine.rows[state_after(machine, word)].tolist())
        for word, weight in tree.weights.items()
    )
    return lost / tree.total


def random_tree(seed: int, width: int = 2, nodes: int = 40, *, zeros: bool = True) -> PlainTree:
    """Draw a tree whose nodes come in no order but that parents are before their children."""
    random = np.random.default_rng(seed)
    words: list[Word] = [()]
    while len(words) < nodes:
        word = (*words[random.integers(len(words))], int(random.integers(width)))
        if word not in words:
            words.append(word)
    rows = random.dirichlet(np.ones(width + 1), nodes)
    if zeros:
        rows[random.random(rows.shape) < 0.3] = 0
        rows[:, 0] += 1e-3
        rows /= rows.sum(axis=1, keepdims=True)
    weights = random.integers(1, 20, nodes).astype(float)
    return PlainTree(
        width,
        dict(zip(words, weights.tolist(), strict=True)),
        dict(zip(words, rows.tolist(), strict=True)),
    )


def random_machine(seed: int, states: int, width: int) -> Machine:
    random = np.random.default_rng([seed, states])
    rows = random.dirichlet(np.ones(width + 1), states)
    transitions = random.integers(states, size=(states, width), dtype=np.int32)
    return Machine(transitions, rows, rows)


@st.composite
def trees(draw: st.DrawFn, most: int = 40) -> PlainTree:
    """A tree of one to three symbols, with and without zeros."""
    width = draw(st.integers(1, 3))
    nodes = draw(st.integers(1, most))
    return random_tree(draw(st.integers(0, 10**6)), width, nodes, zeros=draw(st.booleans()))


@st.composite
def machines_over(draw: st.DrawFn, width: int, most: int = 5) -> Machine:
    return random_machine(draw(st.integers(0, 10**6)), draw(st.integers(1, most)), width)
