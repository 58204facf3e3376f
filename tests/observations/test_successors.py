"""Successors of words: those known to be undefined are left out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from pdfalearn import PDFA, Budget, Quantization, TopK, learn
from pdfalearn.datasets import random_pdfa
from pdfalearn.errors import ModelError
from pdfalearn.models import AutomatonModel
from pdfalearn.models.batch import Batch
from pdfalearn.models.protocol import LanguageModel
from pdfalearn.observations.tree import UNDEFINED, ObservationTree
from pdfalearn.oracles import AllWordsOracle, ExactOracle
from pdfalearn.rows import Rows
from tests.learners.checks import assert_is_quotient
from tests.learners.noted import Noted
from tests.models.hooked import HookedModel

BY = Quantization(100)


@pytest.mark.parametrize("symbols", [10, 32, 33, 100])
@pytest.mark.parametrize("undefined", [True, False])
def test_what_is_undefined_is_left_out(symbols: int, undefined: bool) -> None:
    target = random_pdfa(5, symbols, zero_probability=0.6, undefined=undefined, seed=1)
    tree = ObservationTree(AutomatonModel(target), BY)
    tree.classes(np.array([0]), np.array([0]))
    places, successors = tree.successors(np.array([0]))
    expected = (target.transitions[target.initial] >= 0).nonzero()[0]
    assert places.tolist() == expected.tolist()
    assert list(tree.nodes.words(successors)) == [[symbol] for symbol in places]


@pytest.mark.parametrize("undefined", [True, False])
def test_symbols_follow_the_support(undefined: bool) -> None:
    target = random_pdfa(20, 60, zero_probability=0.9, undefined=undefined, seed=2)
    result = learn(target, equivalence=BY)
    assert_is_quotient(result.pdfa, target, BY)
    assert result.statistics.symbols == (target.transitions >= 0).sum()


def test_excluded_successors_are_undefined_without_asking() -> None:
    target = random_pdfa(5, 10, zero_probability=0.6, undefined=True, seed=1)
    tree = ObservationTree(AutomatonModel(target), BY)
    tree.classes(np.array([0]), np.array([0]))
    undefined = (target.transitions[target.initial] < 0).nonzero()[0]
    size, words = tree.nodes.size, tree.counts.words
    nodes = tree.nodes.step(np.zeros(len(undefined), dtype=np.int64), undefined)
    longer = tree.nodes.step(nodes, np.flip(undefined))
    assert longer.tolist() == nodes.tolist()
    assert (tree.asked_classes(nodes) == UNDEFINED).all()
    assert tree.word(int(nodes[0])) == (target.alphabet.symbols[undefined[0]],)
    assert (tree.nodes.size, tree.counts.words) == (size, words)


def test_a_model_that_does_not_say_is_led_to_all() -> None:
    target = random_pdfa(6, 40, zero_probability=0.8, undefined=True, seed=3)

    class Silent(HookedModel):
        def answer_batch(self, inner: LanguageModel, batch: Batch) -> Rows:
            rows = inner.answer(batch)
            return Rows.dense(rows.to_dense(), undefined=rows.undefined)

    tree = ObservationTree(Silent(target), BY)
    tree.classes(np.array([0]), np.array([0]))
    places, _ = tree.successors(np.array([0]))
    assert len(places) == 40


def test_undefined_with_a_positive_probability_is_an_error() -> None:
    class Lying(HookedModel):
        def answer_batch(self, inner: LanguageModel, batch: Batch) -> Rows:
            impossible = np.tile(np.arange(60) == 59, (batch.count, 1))
            return Rows.dense(inner.answer(batch).to_dense(), impossible=impossible)

    target = random_pdfa(6, 60, seed=3)
    with pytest.raises(
        ModelError, match=r"answer to the word \(\): it gives the symbol '59' probability"
    ):
        learn(Lying(target), equivalence=BY, oracle=ExactOracle(target, equivalence=BY))


def test_what_a_bound_leaves_unresolved_is_defined() -> None:
    target = random_pdfa(20, 60, zero_probability=0.9, undefined=True, seed=2)
    noted = Noted("quant")
    result = learn(target, equivalence=BY, learner=noted, budget=Budget(max_states=4))
    access, details = result.access_words, result.certificate.details
    unresolved = [[state, str(code)] for state, code in noted.unresolved()]
    assert len(access) == 4
    assert details["unresolved"] == len(unresolved) > 10
    assert details["first_unresolved"] == unresolved[:10]
    words = [(*access[state], str(code)) for state, code in noted.unresolved()]
    assert target.states_after(words).min() >= 0
    expected = target.states_after(access)
    assert ((result.pdfa.transitions < 0) == (target.transitions[expected] < 0)).all()


@pytest.mark.parametrize("wrap", [AutomatonModel, lambda target: TopK(target, 4)], ids=["all", "k"])
def test_a_store_leaves_nothing_to_ask(
    wrap: Callable[[PDFA], LanguageModel], tmp_path: Path
) -> None:
    target = random_pdfa(10, 60, zero_probability=0.8, undefined=True, seed=4)
    truth = learn(wrap(target), equivalence=BY, oracle=AllWordsOracle(1)).pdfa
    oracle, store = ExactOracle(truth, equivalence=BY), tmp_path / "answers.sqlite"
    first = learn(wrap(target), equivalence=BY, oracle=oracle, store=store)
    second = learn(wrap(target), equivalence=BY, oracle=oracle, store=store)
    assert first.pdfa == second.pdfa == truth
    assert first.statistics.words > 0
    assert second.statistics.words == 0
