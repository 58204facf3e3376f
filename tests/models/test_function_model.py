"""A Python function as a language model."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from pdfalearn import (
    PDFA,
    Alphabet,
    ExactOracle,
    FunctionModel,
    Quantization,
    chain,
    learn,
    random_pdfa,
)
from pdfalearn.alphabet import Symbol
from pdfalearn.learning.loop import LEARNERS
from pdfalearn.words import Words
from tests.learners.checks import assert_is_quotient

BY = Quantization(1000)


class CountedFunction:
    """The function of a PDFA, which notes the size of every call."""

    def __init__(self, pdfa: PDFA) -> None:
        self._pdfa = pdfa
        self.calls: list[int] = []

    def __call__(self, words: list[tuple[Symbol, ...]]) -> NDArray[np.float64]:
        self.calls.append(len(words))
        return self._pdfa.next_distributions(words)


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize(
    "target", [random_pdfa(30, 3, distributions=3, seed=1), chain(12), chain(12, reset=True)]
)
def test_a_function_is_learnt_as_its_automaton(target: PDFA, name: str) -> None:
    function = CountedFunction(target)
    model = FunctionModel(function, target.alphabet)
    result = learn(model, oracle=ExactOracle(target, by=BY), learner=name)
    assert_is_quotient(result.pdfa, target, BY)
    assert sum(function.calls) == result.statistics.words + result.statistics.audited_words
    assert result.statistics.distributions == result.statistics.words


@pytest.mark.parametrize(
    ("target", "most_calls"),
    [(random_pdfa(300, distributions=2, seed=1), 260), (random_pdfa(5000, seed=1), 40)],
)
def test_calls_are_large_batches(target: PDFA, most_calls: int) -> None:
    function = CountedFunction(target)
    model = FunctionModel(function, target.alphabet)
    result = learn(model, oracle=ExactOracle(target, by=BY), audit=0)
    assert len(function.calls) <= most_calls
    assert tuple(function.calls[: len(result.statistics.batches)]) == result.statistics.batches


def test_the_function_sees_words_of_symbols() -> None:
    seen = []

    def function(words: list[tuple[Symbol, ...]]) -> list[list[float]]:
        seen.extend(words)
        return [[0.2, 0.3, 0.5] for _ in words]

    model = FunctionModel(function, ["left", "right"], "stop")
    start = np.array([model.start()])
    handles = model.extend(start, Words.of([(0, 1)]))
    assert seen == []
    assert model.distributions(np.append(start, handles)).tolist() == [[0.2, 0.3, 0.5]] * 3
    assert seen == [(), ("left",), ("left", "right")]
    assert model.alphabet == Alphabet(["left", "right"], "stop")
