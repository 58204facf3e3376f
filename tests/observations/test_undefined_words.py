"""Undefined words: one class of its own, absorbing, never asked further."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from pdfalearn import PDFA, Alphabet, Quantization, learn
from pdfalearn.datasets import random_pdfa
from pdfalearn.errors import ModelError
from pdfalearn.learning.loop import LEARNERS
from pdfalearn.models import AutomatonModel
from pdfalearn.models.batch import Batch
from pdfalearn.models.protocol import LanguageModel
from pdfalearn.observations.tree import UNDEFINED, ObservationTree
from pdfalearn.oracles import ExactOracle
from pdfalearn.rows import Rows
from pdfalearn.words import Words
from tests.learners.checks import assert_is_quotient
from tests.models.hooked import HookedModel
from tests.models.watched import COSTS, WatchedModel
from tests.observations.ways import one_by_one

BY = Quantization(10)


def stopping(symbols: int = 2) -> PDFA:
    """After one 0 everything is undefined; other symbols loop."""
    transitions = np.zeros((2, symbols), dtype=np.int64)
    transitions[0, 0] = 1
    transitions[1] = -1
    rows = np.zeros((2, symbols + 1))
    rows[0] = 1 / (symbols + 1)
    rows[1, 0] = 1.0
    return PDFA(alphabet=map(str, range(symbols)), transitions=transitions, probabilities=rows)


class LyingModel(HookedModel):
    """Claims that words are undefined after the last symbol, whatever its probability."""

    def answer_batch(self, inner: LanguageModel, batch: Batch) -> Rows:
        last = len(self.alphabet) - 1
        undefined = np.array([last in codes for codes in batch.words])
        return Rows.dense(inner.answer(batch).to_dense(), undefined=undefined)


@pytest.mark.parametrize("symbols", [2, 40])
@pytest.mark.parametrize("prefixes_free", [True, False])
@pytest.mark.parametrize("capacity", [None, 3])
def test_undefined_words_are_never_asked_further(
    symbols: int, prefixes_free: bool, capacity: int | None
) -> None:
    model = WatchedModel(
        AutomatonModel(stopping(symbols)), cost=COSTS[prefixes_free], capacity=capacity
    )
    tree = ObservationTree(model, BY)

    def asked(words: list[tuple[int, ...]]) -> list[int]:
        suffixes = np.array([tree.suffixes.add_word(word) for word in words])
        nodes = np.zeros(len(words), dtype=np.int64)
        with one_by_one(few=False):
            classes: list[int] = tree.classes(nodes, suffixes).tolist()
        with one_by_one(few=True):
            assert classes == tree.classes(nodes, suffixes).tolist()
        return classes

    assert asked([(0, 1, 0, 1), (1, 0)])[0] == UNDEFINED
    if not prefixes_free:  # an undefined word does not say which of its prefixes is undefined
        assert asked([(0, 1)]) == [UNDEFINED]
    steps, questions = model.symbols, len(model.asked)
    assert asked([(0, 1), (0, 1, 1), (0, 1, 0), (0, 1, 0, 1, 0)]) == [UNDEFINED] * 4
    assert (model.symbols, len(model.asked)) == (steps, questions)


@pytest.mark.parametrize("name", LEARNERS)
def test_undefined_is_a_class_and_never_a_state(name: str) -> None:
    target = random_pdfa(30, 3, distributions=2, zero_probability=0.5, undefined=True, seed=4)
    model = WatchedModel(AutomatonModel(target))
    result = learn(model, equivalence=BY, oracle=ExactOracle(target, equivalence=BY), learner=name)
    assert_is_quotient(result.pdfa, target, BY)
    assert result.pdfa.transitions.min() == -1
    assert target.states_after(result.access_words).min() >= 0


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("prefixes_free", [True, False])
def test_positive_probability_and_undefined_is_an_error(name: str, prefixes_free: bool) -> None:
    target = random_pdfa(5, 2, seed=1)
    model = WatchedModel(LyingModel(target), cost=COSTS[prefixes_free])
    with pytest.raises(ModelError, match=r"after the word \(\) the model gives the symbol '1' pro"):
        learn(model, equivalence=BY, oracle=ExactOracle(target, equivalence=BY), learner=name)


@pytest.mark.parametrize("few", [True, False])
@pytest.mark.parametrize("prefixes_free", [True, False])
@pytest.mark.parametrize("capacity", [None, 3])
@pytest.mark.parametrize(
    "words", [[(0, 1), (0,)], [(0, 1, 0), (0,)], [(0,), (0, 1, 0)], [(0, 1, 0, 0, 0), (0,)]]
)
def test_the_error_comes_whenever_the_word_before_is_asked(
    words: list[tuple[int, ...]], capacity: int | None, prefixes_free: bool, few: bool
) -> None:
    if not prefixes_free:  # then only the word itself tells that it is undefined
        words = [*words, (0, 1)]
    lying = LyingModel(random_pdfa(5, 2, seed=1))
    model = WatchedModel(lying, capacity=capacity, cost=COSTS[prefixes_free])
    tree = ObservationTree(model, BY)
    suffixes = [tree.suffixes.add_word(word) for word in words]

    def ask_all() -> None:
        with one_by_one(few):
            for suffix in suffixes:
                tree.classes(np.array([0]), np.array([suffix]))

    with pytest.raises(ModelError, match=r"after the word \('0',\) the model gives the symbol '1'"):
        ask_all()


@pytest.mark.parametrize("name", LEARNERS)
def test_the_empty_word_must_be_defined(name: str) -> None:
    class Nothing(HookedModel):
        def answer_batch(self, inner: LanguageModel, batch: Batch) -> Rows:
            rows = inner.answer(batch).to_dense()
            return Rows.dense(rows, undefined=batch.words.lengths == 0)

    target = stopping()
    with pytest.raises(ModelError, match="the empty word is undefined"):
        learn(
            Nothing(target),
            oracle=ExactOracle(target, equivalence=Quantization(1000)),
            learner=name,
        )


def test_an_alphabet_of_one_symbol_may_end() -> None:
    target = PDFA(alphabet=Alphabet("a"), transitions=[[-1]], probabilities=[[1.0, 0.0]])
    assert learn(target).pdfa == target


@pytest.mark.parametrize("prefixes_free", [True, False])
def test_many_words_that_share_an_undefined_prefix(prefixes_free: bool) -> None:
    rows = [[0.5, 0.5, 0], [0.2, 0.4, 0.4]]
    target = PDFA(alphabet="ab", transitions=[[1, -1], [1, 0]], probabilities=rows)
    model = WatchedModel(AutomatonModel(target), cost=COSTS[prefixes_free])
    tree = ObservationTree(model, BY)
    words = Words.of([list(word) for word in product([0, 1], repeat=6)])
    ends = tree.path(words)[words.ends]
    classes = tree.classes(ends, np.zeros(len(ends), dtype=np.int64))
    defined = [target.state_after(tree.word(node)) for node in ends.tolist()]
    assert [class_ != UNDEFINED for class_ in classes] == [state is not None for state in defined]
    # An undefined word is a question, but where the row before it is read and says so.
    asked = sum(state is not None for state in defined) if prefixes_free else len(defined)
    assert tree.counts.words == asked


def test_many_rows_after_one_that_excludes_a_symbol() -> None:
    rows = np.random.default_rng(1).dirichlet([1.0, 1.0, 1.0], 300)
    rows[0] = [0.5, 0.5, 0.0]
    transitions = np.column_stack((np.arange(1, 301) % 300, np.zeros(300, dtype=np.int64)))
    transitions[0, 1] = -1
    target = PDFA(alphabet="ab", transitions=transitions, probabilities=rows)
    learnt = learn(target, equivalence=Quantization(1000)).pdfa
    assert_is_quotient(learnt, target, Quantization(1000))
    assert (learnt.transitions < 0).sum() == 1
