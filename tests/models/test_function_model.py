"""A Python function as a language model."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pdfalearn import PDFA, Alphabet, FunctionModel, Quantization, learn
from pdfalearn.alphabet import Symbol
from pdfalearn.datasets import chain, random_pdfa
from pdfalearn.errors import InputError
from pdfalearn.learning.loop import LEARNERS
from pdfalearn.models.batch import Batch
from pdfalearn.models.opened import ask_words, open_model
from pdfalearn.models.protocol import QueryCost
from pdfalearn.oracles import ExactOracle
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
    result = learn(model, oracle=ExactOracle(target, equivalence=BY), learner=name)
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
    result = learn(model, oracle=ExactOracle(target, equivalence=BY), audit=0)
    assert len(function.calls) <= most_calls
    assert tuple(function.calls[: len(result.statistics.batches)]) == result.statistics.batches


def test_the_function_sees_words_of_symbols() -> None:
    seen = []

    def function(words: list[tuple[Symbol, ...]]) -> list[list[float]]:
        seen.extend(words)
        return [[0.2, 0.3, 0.5] for _ in words]

    model = FunctionModel(function, ["left", "right"], "stop")
    rows = open_model(model).answer(Batch.of([(), (0,), (0, 1)]))
    assert rows.to_dense().tolist() == [[0.2, 0.3, 0.5]] * 3
    assert seen == [(), ("left",), ("left", "right")]
    assert model.alphabet == Alphabet(["left", "right"], "stop")


def test_the_function_is_reached_at_once() -> None:
    depths: list[int] = []

    def function(given: object) -> Any:
        depths.append(len(inspect.stack(0)))
        return {"$": 1.0} if given == () else [[1.0, 0.0]]

    batch = Batch.of([()])
    FunctionModel(function, "a").answer(batch)
    FunctionModel.of_words(function, "a").answer(batch)
    assert depths == [len(inspect.stack(0)) + 2] * 2


def test_none_and_nan_say_that_a_word_is_undefined() -> None:
    def function(words: list[tuple[Symbol, ...]]) -> Any:
        return [None if len(word) > 1 else [0.5, 0.5] for word in words]

    rows = ask_words(FunctionModel(function, "a"), Words.of([(), (0, 0), (0,)]))
    assert rows.undefined is not None
    assert rows.undefined.tolist() == [False, True, False]


def test_fingerprint_and_cost_are_given() -> None:
    model = FunctionModel(lambda words: [[1.0, 0.0] for _ in words], "a")
    assert (model.fingerprint, model.cost) == (None, QueryCost(word=1, prefix=1))
    own = FunctionModel(lambda words: [], "a", fingerprint="mine-1", cost=QueryCost(call=1))
    assert (own.fingerprint, own.cost) == ("mine-1", QueryCost(call=1))
    with pytest.raises(InputError, match="7 is not a function"):
        FunctionModel(7, "a")  # type: ignore[arg-type]


def test_it_is_shown_by_the_name_of_its_function() -> None:
    shown = "FunctionModel(len, Alphabet(('a', 'b'), terminal='$'))"
    assert repr(FunctionModel(len, "ab")) == shown
