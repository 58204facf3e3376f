"""Paper QuaNT = fast QuaNT = quotient, up to renaming and class for class."""

from __future__ import annotations

import pytest
from hypothesis import given

from pdfalearn import PDFA, Quantization, learn
from pdfalearn.datasets import combination_lock, random_pdfa
from pdfalearn.equivalence.relations import Equivalence
from tests.learners.checks import assert_is_quotient
from tests.learners.families import FAMILIES, drawn
from tests.strategies import equivalences, pdfas
from tests.support import examples, many, mostly_slow


@examples(200)
@given(pdfas(max_states=10, max_symbols=4), equivalences())
def test_both_learners_on_small_targets(target: PDFA, equivalence: Equivalence) -> None:
    assert_is_quotient(learn(target, equivalence=equivalence).pdfa, target, equivalence)
    assert_is_quotient(
        learn(target, equivalence=equivalence, learner="quant-paper").pdfa, target, equivalence
    )


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_fast_quant_on_hundreds_of_targets(family: str) -> None:
    for seed in range(many(500)):
        target, equivalence = drawn(family, 40, seed)
        assert_is_quotient(
            learn(target, equivalence=equivalence, audit=0).pdfa, target, equivalence
        )


@pytest.mark.parametrize("family", mostly_slow(FAMILIES))
def test_the_papers_quant_on_dozens_of_targets(family: str) -> None:
    for seed in range(30):
        target, equivalence = drawn(family, 12, seed)
        learnt = learn(target, equivalence=equivalence, audit=0, learner="quant-paper").pdfa
        assert_is_quotient(learnt, target, equivalence)


@pytest.mark.parametrize("family", mostly_slow(FAMILIES))
def test_fast_quant_on_targets_of_hundreds_of_states(family: str) -> None:
    for seed in range(4):
        target, equivalence = drawn(family, 300, seed)
        assert_is_quotient(
            learn(target, equivalence=equivalence, audit=0).pdfa, target, equivalence
        )


@pytest.mark.parametrize(
    "target",
    mostly_slow(
        [
            random_pdfa(40, distributions=2, seed=1),
            random_pdfa(40, 3, distributions=4, zero_probability=0.3, undefined=True, seed=2),
            random_pdfa(300, seed=3),
            random_pdfa(10, 40, distributions=2, seed=4),
            combination_lock(14, 3, seed=5),
        ],
        2,
    ),
    ids=repr,
)
def test_the_papers_quant_on_larger_targets(target: PDFA) -> None:
    equivalence = Quantization(1000)
    assert_is_quotient(
        learn(target, equivalence=equivalence, learner="quant-paper").pdfa, target, equivalence
    )
