"""Models that remember few words are learnt as any other."""

from __future__ import annotations

import pytest

from pdfalearn import PDFA, Quantization, learn
from pdfalearn.datasets import chain, combination_lock, random_pdfa
from pdfalearn.learning.loop import LEARNERS
from pdfalearn.models import AutomatonModel
from pdfalearn.oracles import ExactOracle
from tests.learners.checks import assert_is_quotient
from tests.learners.families import FAMILIES, drawn
from tests.models.watched import COSTS, WatchedModel
from tests.support import mostly_slow

TARGETS = [
    random_pdfa(60, distributions=2, seed=1),
    random_pdfa(40, 3, distributions=3, zero_probability=0.4, undefined=True, seed=2),
    random_pdfa(12, 40, distributions=2, zero_probability=0.5, undefined=True, seed=3),
    chain(25, reset=True),
    combination_lock(20, 3),
]


@pytest.mark.parametrize("target", mostly_slow(TARGETS), ids=repr)
@pytest.mark.parametrize("prefixes_free", [True, False])
@pytest.mark.parametrize("capacity", mostly_slow([3, 4, 7, 50]))
def test_few_words_give_the_same_automaton(
    capacity: int, prefixes_free: bool, target: PDFA
) -> None:
    equivalence = Quantization(1000)
    model = WatchedModel(AutomatonModel(target), capacity=capacity, cost=COSTS[prefixes_free])
    oracle = ExactOracle(target, equivalence=equivalence)
    result = learn(model, equivalence=equivalence, oracle=oracle)
    unbounded = WatchedModel(AutomatonModel(target), cost=COSTS[prefixes_free])
    assert result.pdfa == learn(unbounded, equivalence=equivalence, oracle=oracle).pdfa
    assert_is_quotient(result.pdfa, target, equivalence)


@pytest.mark.parametrize("family", mostly_slow(FAMILIES))
@pytest.mark.parametrize("name", LEARNERS)
def test_few_words_on_targets_of_every_kind(name: str, family: str) -> None:
    for seed in range(12):
        target, equivalence = drawn(family, 10, seed)
        oracle = ExactOracle(target, equivalence=equivalence)
        learnt = []
        for capacity in (None, 3, 6):
            model = WatchedModel(
                AutomatonModel(target), capacity=capacity, cost=COSTS[bool(seed % 2)]
            )
            learnt.append(learn(model, equivalence=equivalence, oracle=oracle, learner=name).pdfa)
        assert learnt == [learnt[0]] * 3
        assert_is_quotient(learnt[0], target, equivalence)


@pytest.mark.parametrize("prefixes_free", [True, False])
@pytest.mark.parametrize("capacity", mostly_slow([None, 3, 20]))
def test_no_word_is_asked_twice(capacity: int | None, prefixes_free: bool) -> None:
    for target in TARGETS:
        model = WatchedModel(AutomatonModel(target), capacity=capacity, cost=COSTS[prefixes_free])
        learn(model, oracle=ExactOracle(target, equivalence=Quantization(1000)), audit=0)
        assert len(set(model.asked)) == len(model.asked)
