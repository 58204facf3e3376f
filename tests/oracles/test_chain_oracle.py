"""Chains: the cheap ones first, and all that they say."""

from __future__ import annotations

import json

import pytest

from pdfalearn import PDFA, Certificate, Quantization, learn
from pdfalearn.datasets import figure_3, random_pdfa
from pdfalearn.errors import InputError
from pdfalearn.models import AutomatonModel
from pdfalearn.observations.tree import ObservationTree
from pdfalearn.oracles import (
    AllWordsOracle,
    ChainOracle,
    EquivalenceOracle,
    ExactOracle,
    KnownAnswersOracle,
    PACOracle,
)
from pdfalearn.samplers import UniformWords
from pdfalearn.words import Words
from tests.learners.checks import assert_is_quotient

BY = Quantization(10)


class Counting:
    """Counts how often another oracle is asked."""

    def __init__(self, inner: EquivalenceOracle) -> None:
        self.inner, self.queries = inner, 0

    @property
    def certificate(self) -> Certificate:
        return self.inner.certificate

    def counterexamples(self, hypothesis: PDFA, observations: ObservationTree) -> Words:
        self.queries += 1
        return self.inner.counterexamples(hypothesis, observations)


def test_a_chain_asks_the_cheap_ones_first() -> None:
    target = random_pdfa(30, distributions=2, seed=1)
    equivalence = Quantization(1000)
    stored, words = Counting(KnownAnswersOracle()), Counting(AllWordsOracle(4))
    exact = Counting(ExactOracle(target, equivalence=equivalence))
    result = learn(
        AutomatonModel(target), equivalence=equivalence, oracle=ChainOracle(stored, words, exact)
    )
    assert stored.queries == result.statistics.equivalence_queries
    assert stored.queries > words.queries >= exact.queries >= 1
    assert_is_quotient(result.pdfa, target, equivalence)
    assert result.certificate.kind == "exact"
    statement = f"equivalent to the target under {equivalence} (as Counting promises); agrees"
    assert result.certificate.statement.startswith(statement)


def test_a_chain_says_what_its_members_say() -> None:
    sampling = PACOracle(epsilon=0.05, delta=0.1, sampler=UniformWords(6))
    oracle = ChainOracle(KnownAnswersOracle(), AllWordsOracle(3), sampling)
    certificate = learn(figure_3(), equivalence=BY, oracle=oracle).certificate
    assert certificate.kind == "pac"
    assert certificate.details["epsilon"] == 0.05
    members = certificate.details["members"]
    assert isinstance(members, list)
    assert [member["kind"] for member in members] == ["pac", "tested", "tested"]
    assert certificate.statement == "; ".join(member["statement"] for member in members)
    json.dumps(dict(certificate.details))


def test_bad_chains_are_refused() -> None:
    with pytest.raises(InputError, match="at least one oracle"):
        ChainOracle()


@pytest.mark.parametrize("member", ["exact", None, KnownAnswersOracle().certificate])
def test_members_have_to_be_oracles(member: EquivalenceOracle) -> None:
    with pytest.raises(InputError, match="is not an equivalence oracle"):
        ChainOracle(KnownAnswersOracle(), member)
