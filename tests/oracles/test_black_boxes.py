"""Models that nobody can see into are learnt from their answers alone, and no more is claimed."""

from __future__ import annotations

import json

import pytest

from pdfalearn import PDFA, Exact, FunctionModel, Quantization, learn
from pdfalearn.datasets import combination_lock, random_pdfa, tomita
from pdfalearn.equivalence.relations import Equivalence
from pdfalearn.learning.loop import LEARNERS
from pdfalearn.models import AutomatonModel
from pdfalearn.oracles import ChainOracle, KnownAnswersOracle, PACOracle, StatePrefixOracle
from pdfalearn.samplers import HypothesisWords, Mixture, ModelWords, Sampler, UniformWords
from tests.learners.checks import assert_is_quotient
from tests.support import mostly_slow
from tests.test_paper_targets import targets

BY = Quantization(1000)


def black_box(target: PDFA) -> FunctionModel:
    """A function that answers for the target; nothing else of it can be seen."""
    return FunctionModel(target.next_distributions, target.alphabet)


@pytest.mark.slow
def test_the_targets_of_experiment_1_are_learnt_exactly() -> None:
    for name, target in targets("exp1"):
        oracle = PACOracle(epsilon=0.01, delta=0.01, sampler=UniformWords(20), seed=1)
        result = learn(black_box(target), equivalence=BY, oracle=oracle)
        assert_is_quotient(result.pdfa, target, BY)
        assert result.certificate.kind == "pac", name


@pytest.mark.parametrize("equivalence", [BY, Exact()], ids=repr)
@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("number", mostly_slow(range(1, 8), 3))
def test_the_tomita_grammars_are_learnt_exactly(
    number: int, learner: str, equivalence: Equivalence
) -> None:
    target = tomita(number)
    oracle = PACOracle(epsilon=0.02, delta=0.01, sampler=UniformWords(12), seed=number)
    result = learn(black_box(target), equivalence=equivalence, oracle=oracle, learner=learner)
    assert_is_quotient(result.pdfa, target, equivalence)
    assert result.certificate.kind == "pac"


SAMPLERS = {
    "uniform": UniformWords(20),
    "hypothesis": HypothesisWords(60),
    "mixture": Mixture([(ModelWords(60), 1), (UniformWords(20), 1)]),
}


@pytest.mark.slow
@pytest.mark.parametrize("sampler", SAMPLERS.values(), ids=SAMPLERS)
def test_shared_distributions_are_learnt_exactly(sampler: Sampler) -> None:
    target = random_pdfa(60, distributions=2, seed=4)
    sampling = PACOracle(epsilon=0.002, delta=0.01, sampler=sampler)
    result = learn(
        black_box(target), equivalence=BY, oracle=ChainOracle(KnownAnswersOracle(), sampling)
    )
    assert_is_quotient(result.pdfa, target, BY)


def test_undefined_words_are_learnt_exactly() -> None:
    target = random_pdfa(40, 3, distributions=2, zero_probability=0.4, undefined=True, seed=4)
    walks = StatePrefixOracle(walks_per_state=40, walk_length=12)
    oracle = ChainOracle(KnownAnswersOracle(), walks)
    result = learn(AutomatonModel(target), equivalence=BY, oracle=oracle)
    assert_is_quotient(result.pdfa, target, BY)
    assert result.pdfa.transitions.min() == -1


def test_sampling_misses_the_last_state_of_a_lock_and_does_not_claim_otherwise() -> None:
    lock = combination_lock(30, seed=3)
    oracle = PACOracle(epsilon=0.01, delta=0.05, sampler=UniformWords(40), seed=1)
    result = learn(black_box(lock), equivalence=BY, oracle=oracle)
    assert len(result.pdfa) < len(lock)
    certificate = result.certificate
    assert certificate.kind == "pac"
    assert certificate.statement == (
        "with probability at least 1 - 0.05, at most a share 0.01 of uniform words of up to 40 "
        "symbols have any prefix on which model and automaton differ under Quantization(kappa=1000)"
    )
    assert dict(certificate.details) == {
        "epsilon": 0.01,
        "delta": 0.05,
        "sampler": "uniform words of up to 40 symbols",
        "words": 369,
        "queries": 1,
        "equivalence": "Quantization(kappa=1000)",
        "whole_words_of_model": False,
    }
    json.dumps(certificate.details)


def test_a_short_lock_is_opened() -> None:
    lock = combination_lock(6, seed=3)
    oracle = PACOracle(epsilon=0.005, delta=0.01, sampler=UniformWords(20), seed=1)
    assert_is_quotient(learn(black_box(lock), equivalence=BY, oracle=oracle).pdfa, lock, BY)
