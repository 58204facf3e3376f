"""Learners of three verbs, which are not subclasses of anything."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdfalearn import PDFA, Budget, Quantization, Tolerance, distinguish, learn, quotient
from pdfalearn.datasets import random_pdfa
from pdfalearn.errors import InputError
from pdfalearn.learners import LPStar, ObservationTree, QuaNT
from pdfalearn.models import AutomatonModel
from pdfalearn.samplers import Words

BY = Quantization(50)


class Columns:
    """L* whose columns are all suffixes of its counterexamples, with a state nobody reaches."""

    def __init__(self, observations: ObservationTree) -> None:
        self.observations = observations
        self.suffixes: list[tuple[int, ...]] = [()]

    def start(self) -> None:
        self.access = {self.row(()): tuple[int, ...]()}
        queue = [tuple[int, ...]()]
        for word in queue:
            for row, longer in self.successors(word):
                if row[0] >= 0 and row not in self.access:
                    self.access[row] = longer
                    queue.append(longer)

    def refine(self, counterexamples: Words) -> None:
        word = tuple(counterexamples[0])
        self.suffixes += {word[begin:] for begin in range(len(word))} - set(self.suffixes)
        self.start()

    def hypothesis(self) -> PDFA:
        states, words = {row: state for state, row in enumerate(self.access)}, self.access.values()
        nodes = np.array([self.observations.node(word) for word in words])
        table = [[states.get(row, -1) for row, _ in self.successors(word)] for word in words]
        rows = self.observations.rows(nodes)
        return PDFA(
            alphabet=self.observations.alphabet,
            transitions=[*table, table[-1]],
            probabilities=np.concatenate((rows, rows[-1:])),
        )

    def row(self, word: tuple[int, ...]) -> tuple[int, ...]:
        nodes = [self.observations.node(word + suffix) for suffix in self.suffixes]
        return tuple(self.observations.asked_classes(np.array(nodes)))

    def successors(self, word: tuple[int, ...]) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
        longer = [(*word, symbol) for symbol in range(len(self.observations.alphabet))]
        return [(self.row(each), each) for each in longer]


@given(st.integers(0, 10**6), st.integers(1, 9))
def test_the_quotient_is_learnt(seed: int, size: int) -> None:
    target = random_pdfa(size, 2, zero_probability=0.2, undefined=True, seed=seed)
    result = learn(target, equivalence=BY, learner=Columns)
    assert len(result.pdfa) == len(quotient(target, equivalence=BY))
    assert distinguish(result.pdfa, target, equivalence=BY) is None
    states = [result.pdfa.states_after([word])[0] for word in result.access_words]
    assert states == list(range(len(result.pdfa)))
    assert result.statistics.structure_size == len(result.pdfa)


@pytest.mark.parametrize("words", [1, 2, 5, 20, 50])
def test_the_last_whole_hypothesis_counts_under_a_budget(words: int) -> None:
    target = random_pdfa(30, seed=3)
    result = learn(target, equivalence=BY, learner=Columns, budget=Budget(max_words=words))
    assert result.certificate.kind == "stopped"
    assert f"max_words = {words} was reached" in result.certificate.statement
    assert result.statistics.words <= max(words, 1)
    assert np.array_equal(result.pdfa.next_distributions([()]), target.next_distributions([()]))


def test_states_are_bounded() -> None:
    target = random_pdfa(30, seed=3)
    result = learn(target, equivalence=BY, learner=Columns, budget=Budget(max_states=4))
    assert len(result.pdfa) <= 4
    assert "max_states = 4 was reached" in result.certificate.statement


def test_what_is_not_an_automaton_is_refused() -> None:
    class Silent(Columns):
        def hypothesis(self) -> PDFA:
            return None  # type: ignore[return-value]

    with pytest.raises(InputError, match="proposed None, which is not a PDFA"):
        learn(random_pdfa(3, seed=1), learner=Silent)


@pytest.mark.parametrize("make", [QuaNT, LPStar])
def test_there_is_no_hypothesis_before_the_start(make: type[QuaNT | LPStar]) -> None:
    relation = Tolerance(0.1) if make is LPStar else BY
    with ObservationTree(AutomatonModel(random_pdfa(3, seed=1)), relation) as tree:
        learner = make(tree)
        with pytest.raises(InputError, match="has no hypothesis yet; call start"):
            learner.hypothesis()
        learner.start()
        assert len(learner.hypothesis()) == learner.size


class Curious(QuaNT):
    """Asks hundreds of words whenever it makes a hypothesis, one of ours in all else."""

    def hypothesis(self) -> PDFA:
        found = super().hypothesis()
        random = np.random.default_rng(len(found))
        for _ in range(80):
            word = tuple(random.integers(0, 2, 12).tolist())
            self.observations.asked_classes(np.array([self.observations.node(word)]))
        return found


class Eager(Columns):
    """Asks hundreds of words before it starts."""

    def __init__(self, observations: ObservationTree) -> None:
        super().__init__(observations)
        for number in range(400):
            self.row(tuple(map(int, f"{number:b}")))


@pytest.mark.parametrize("learner", [Curious, Eager, Columns])
@pytest.mark.parametrize("words", [1, 5, 100])
def test_a_bound_has_one_clear_outcome_wherever_it_comes(learner: type, words: int) -> None:
    target = random_pdfa(30, 2, seed=1)
    result = learn(target, equivalence=BY, learner=learner, budget=Budget(max_words=words))
    if (learner, words) != (Columns, 100):
        assert result.certificate.kind == "stopped"
        assert result.certificate.details["bound"] == "max_words"
    assert len(result.access_words) == len(result.pdfa)
    assert result.statistics.words <= words + 1  # and the empty word in any case


def test_the_last_whole_hypothesis_counts() -> None:
    target = random_pdfa(30, 2, seed=1)
    once = learn(target, equivalence=BY, budget=Budget(max_equivalence_queries=0))
    budget = Budget(max_words=once.statistics.words + 120)
    found = learn(target, equivalence=BY, learner=Curious, budget=budget)
    assert len(found.pdfa) >= len(once.pdfa) > 1
