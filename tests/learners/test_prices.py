"""Costs decide how a learner asks, and the clock does not."""

from __future__ import annotations

import time

import pytest

from pdfalearn import Budget, Quantization, Result, learn
from pdfalearn.datasets import random_pdfa
from pdfalearn.learners.quant import QuaNT
from pdfalearn.models import AutomatonModel, QueryCost, Rows
from pdfalearn.models.batch import Batch
from pdfalearn.models.protocol import LanguageModel
from pdfalearn.oracles import ExactOracle
from tests.models.hooked import HookedModel

TARGET = random_pdfa(200, 2, distributions=2, seed=3)
BY = Quantization(1000)


def learnt(cost: QueryCost, traces: bool | None = None) -> Result:
    return learn(
        AutomatonModel(TARGET, cost=cost),
        equivalence=BY,
        oracle=ExactOracle(TARGET, equivalence=BY),
        learner=lambda tree: QuaNT(tree, traces=traces),
        audit=0,
    )


@pytest.mark.parametrize(
    "cost",
    [
        QueryCost(word=1),
        QueryCost(symbol=1),
        QueryCost(word=1, prefix=1),
        QueryCost(word=1, symbol=1),
    ],
    ids=["words", "symbols", "every distribution", "both"],
)
def test_the_cheaper_way_is_chosen(cost: QueryCost) -> None:
    long = learnt(QueryCost(prefix=cost.prefix), traces=True).statistics
    classes = learnt(cost, traces=False).statistics
    costs = [
        cost.total(words=s.words, symbols=s.symbols, prefixes=s.distributions - s.words)
        for s in (long, classes)
    ]
    assert learnt(cost).statistics.cost <= 1.05 * min(costs)


def test_a_bound_on_the_cost_is_kept() -> None:
    for bound in (0, 1, 50, 333.3, 2000):
        result = learn(
            AutomatonModel(TARGET, cost=QueryCost(call=3, word=1, symbol=0.5)),
            equivalence=BY,
            oracle=ExactOracle(TARGET, equivalence=BY),
            budget=Budget(max_cost=bound),
        )
        # The empty word is always asked.
        assert result.statistics.cost <= max(bound, 4)
        assert result.certificate.details["bound"] == "max_cost"


def test_a_slower_model_is_asked_the_same_batches() -> None:
    class Slow(HookedModel):
        def answer_batch(self, inner: LanguageModel, batch: Batch) -> Rows:
            time.sleep(0.002)
            return super().answer_batch(inner, batch)

    budget = Budget(max_words=100_000)
    target = random_pdfa(120, 2, distributions=4, seed=1)
    results = [
        learn(
            model(target), equivalence=BY, oracle=ExactOracle(target, equivalence=BY), budget=budget
        )
        for model in (AutomatonModel, Slow)
    ]
    assert results[0].statistics.batches == results[1].statistics.batches
    assert results[0].pdfa == results[1].pdfa
