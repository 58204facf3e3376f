"""Learn from constrained models: what is wrong is named with its word, and nothing else is."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import ArrayLike

from pdfalearn import PDFA, Alphabet, FunctionModel, Guided, Quantization, Temperature, TopK, learn
from pdfalearn.datasets import random_pdfa
from pdfalearn.errors import ModelError
from pdfalearn.languages import DFA
from pdfalearn.models import AutomatonModel
from pdfalearn.models.protocol import EVERY_SYMBOL
from pdfalearn.oracles import AllWordsOracle, ExactOracle, PACOracle
from pdfalearn.samplers import UniformWords
from tests.models.constrained.direct import Best, product
from tests.models.constrained.inside import (
    WRAPPINGS,
    RecordingModel,
    SparseModel,
    Wrapping,
    model_of,
)
from tests.models.constrained.test_guided import DEAD_END, FORCING, LOOP, ROW

BY = Quantization(10)
ANY = ExactOracle(
    PDFA(alphabet="ab", transitions=[[0, 0]], probabilities=[[1, 0, 0]]), equivalence=BY
)
"""An oracle for runs that end before any hypothesis."""


def test_a_model_that_gives_nothing_to_what_is_allowed_is_named_with_the_word() -> None:
    target = PDFA(
        alphabet="ab",
        transitions=[[1, 0], [1, 1]],
        probabilities=[[0.5, 0.4, 0.1], [0.0, 0.0, 1.0]],
    )
    guide = DFA(alphabet="ab", transitions=[[0, -1]], accepting=[True])
    oracle = ExactOracle(target, equivalence=Quantization(10))
    with pytest.raises(
        ModelError, match=r"the word \('a',\): nothing is left of it: all that the guide allows"
    ):
        learn(Guided(target, guide), equivalence=Quantization(10), oracle=oracle)


def test_a_model_whose_empty_word_is_undefined_stays_so() -> None:
    model = FunctionModel(lambda words: [None for _ in words], "abc")
    with pytest.raises(ModelError, match="empty word is undefined"):
        learn(Guided(model, DEAD_END), equivalence=BY, oracle=ExactOracle(LOOP, equivalence=BY))


def test_a_function_is_guided() -> None:
    model = FunctionModel(lambda words: [ROW for _ in words], Alphabet("abc"))
    expected = PDFA(
        alphabet="abc",
        transitions=[[1, 0, -1], [-1, 0, -1]],
        probabilities=[[0, 0.8, 0.2, 0], [2 / 3, 0, 1 / 3, 0]],
    )
    equivalence = Quantization(100)
    result = learn(
        Guided(model, DEAD_END),
        equivalence=equivalence,
        oracle=ExactOracle(expected, equivalence=equivalence),
    )
    assert result.pdfa.transitions.tolist() == expected.transitions.tolist()
    assert np.allclose(result.pdfa.probabilities, expected.probabilities)


BAD_ROWS: list[tuple[list[float], str]] = [
    ([0.5, 0.5, float("nan")], "NaN or negative"),
    ([0.7, 0.5, -0.2], "NaN or negative"),
    ([0.2, 0.3, 0.1], "sums to 0.6, not to 1"),
    ([0.0, 0.0, 0.0], "sums to 0, not to 1"),
]


@pytest.mark.parametrize("wrapping", WRAPPINGS.values(), ids=WRAPPINGS)
@pytest.mark.parametrize(("row", "complaint"), BAD_ROWS)
def test_bad_rows_of_the_model_inside_are_named_with_the_word(
    row: list[float], complaint: str, wrapping: Wrapping
) -> None:
    model = wrapping(model_of([0.3, 0.4, 0.3], [0.2, 0.5, 0.3], row))
    with pytest.raises(ModelError, match=rf"the word \('a', 'a'\): .*{complaint}"):
        learn(model, equivalence=BY, oracle=ANY)


@pytest.mark.parametrize("wrapping", WRAPPINGS.values(), ids=WRAPPINGS)
@pytest.mark.parametrize(
    "answer", [[[0.5, 0.5]], [[[0.5], [0.3, 0.2]]], [["a", "b", "c"]], [], [0.5, 0.3, 0.2]]
)
def test_answers_of_a_wrong_shape_are_refused(answer: ArrayLike, wrapping: Wrapping) -> None:
    model = wrapping(FunctionModel(lambda words: answer, "ab"))
    with pytest.raises(ModelError, match=r"the model's answer to the word \(\): .*array"):
        learn(model, equivalence=BY, oracle=ANY)


def test_prefixes_of_audited_words_are_no_symbols_of_the_run() -> None:
    target = random_pdfa(600, 40, seed=1)
    model = TopK(AutomatonModel(target), 10)
    oracle = PACOracle(epsilon=0.5, delta=0.5, sampler=UniformWords(2))
    statistics = learn(model, equivalence=Quantization(1000), oracle=oracle).statistics
    assert statistics.audited_words > 16  # also on the way
    assert statistics.symbols < 1.01 * statistics.words


@pytest.mark.parametrize("symbols", [3, 70])
def test_a_model_that_lists_enough_is_learnt_as_a_dense_one(symbols: int) -> None:
    target = random_pdfa(20, symbols, distributions=4, seed=3)
    equivalence = Quantization(1000)
    oracle = ExactOracle(product(target, [Best(2)]), equivalence=equivalence)
    dense = learn(TopK(target, 2), equivalence=equivalence, oracle=oracle).pdfa
    assert learn(TopK(SparseModel(target), 2), equivalence=equivalence, oracle=oracle).pdfa == dense
    assert (
        learn(TopK(SparseModel(target, 3), 2), equivalence=equivalence, oracle=oracle).pdfa == dense
    )


def test_a_model_that_lists_too_little_is_named_with_the_word() -> None:
    target = PDFA(
        alphabet="ab",
        transitions=[[1, 0], [1, 1]],
        probabilities=[[0.5, 0.4, 0.1], [0.4, 0.3, 0.3]],
    )
    model = TopK(SparseModel(target, 1), 2)
    with pytest.raises(ModelError, match=r"the word \('a',\): it leaves open .*smaller k"):
        learn(model, equivalence=BY, oracle=ANY)


@pytest.mark.parametrize("wrapping", WRAPPINGS.values(), ids=WRAPPINGS)
def test_an_audit_names_the_word_whose_answer_has_gone_bad(wrapping: Wrapping) -> None:
    seen: set[tuple[object, ...]] = set()

    def answer(words: list[tuple[object, ...]]) -> list[list[float]]:
        again = [word == ("a", "a") and word in seen for word in words]
        seen.update(words)
        row = [0.3, 0.4, 0.3]
        return [[0.3, 0.4, 0.2] if is_again else row for is_again in again]

    inside = FunctionModel(answer, "ab")
    expected = learn(wrapping(model_of([0.3, 0.4, 0.3])), equivalence=BY).pdfa
    oracle = AllWordsOracle(2)
    result = learn(wrapping(inside), equivalence=BY, oracle=oracle, audit=100)
    assert result.pdfa == expected
    assert result.certificate is not None
    assert result.certificate.kind == "unsteady"
    assert "to the word ('a', 'a'): " in result.certificate.statement


def test_what_a_guide_forces_is_learnt_and_not_asked() -> None:
    inside = RecordingModel(LOOP, cost=EVERY_SYMBOL, full_support=True)
    heated = Temperature(inside, 2)
    expected = learn(Guided(Temperature(LOOP, 2), FORCING), equivalence=BY)
    oracle = ExactOracle(expected.pdfa, equivalence=BY)
    result = learn(Guided(heated, FORCING), equivalence=BY, oracle=oracle, audit=0)
    assert result.pdfa == expected.pdfa
    assert len(result.pdfa) == 5
    assert set(inside.asked) == {(0, 1)}
