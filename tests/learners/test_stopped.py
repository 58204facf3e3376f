"""Where a budget stops learning, what was answered is used, and nothing contradicts it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pdfalearn import PDFA, Budget, FunctionModel, LanguageModel, Quantization, learn
from pdfalearn.datasets import random_pdfa
from pdfalearn.models import AutomatonModel
from pdfalearn.oracles import ExactOracle, PACOracle
from pdfalearn.samplers import UniformWords
from tests.models.watched import WatchedModel

BY = Quantization(100)


def as_function(pdfa: PDFA) -> FunctionModel:
    return FunctionModel(pdfa.next_distributions, pdfa.alphabet)


@pytest.mark.parametrize("name", ["quant", "quant-classes", "quant-paper"])
@pytest.mark.parametrize("make", [AutomatonModel, as_function], ids=["automaton", "function"])
@pytest.mark.parametrize("bound", ["max_words", "max_symbols", "max_equivalence_queries"])
def test_no_answer_is_contradicted(
    bound: str, make: Callable[[PDFA], LanguageModel], name: str
) -> None:
    for seed in range(12):
        target = random_pdfa(
            30, 3, distributions=[2, 3, None][seed % 3], zero_probability=0.3 * (seed % 2),
            undefined=bool(seed % 2), seed=seed,
        )  # fmt: skip
        model = WatchedModel(make(target))
        sampler = UniformWords(max_length=8)
        oracle = (
            ExactOracle(target, equivalence=BY)
            if seed % 4
            else PACOracle(epsilon=0.05, delta=0.05, sampler=sampler)
        )
        limit = seed % 5 if bound == "max_equivalence_queries" else 5 + 9 * seed
        budget = Budget(**{bound: limit})
        result = learn(model, equivalence=BY, oracle=oracle, learner=name, budget=budget)
        if result.certificate.kind != "stopped":
            continue
        words = [target.alphabet.decode(codes) for codes in model.asked]
        said, truth = result.pdfa.states_after(words), target.states_after(words)
        defined = truth >= 0
        assert (said[defined] >= 0).all()
        mine = result.pdfa.probabilities[said[defined]]
        assert (BY.keys(mine) == BY.keys(target.probabilities[truth[defined]])).all()


def test_more_symbols_give_more_states() -> None:
    target = random_pdfa(3000, 8, seed=1)
    oracle = ExactOracle(target, equivalence=BY)
    sizes = [
        len(learn(target, equivalence=BY, oracle=oracle, budget=Budget(max_symbols=count)).pdfa)
        for count in (500, 1000, 2000, 4000, 8000)
    ]
    assert sizes == sorted(set(sizes))
