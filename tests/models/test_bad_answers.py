"""Answers of a model that are not distributions: an error that names the word, no automaton."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

from pdfalearn import Budget, FunctionModel, LanguageModel, Quantization, learn
from pdfalearn.alphabet import Symbol
from pdfalearn.datasets import random_pdfa
from pdfalearn.errors import ModelError
from pdfalearn.learning.loop import LEARNERS
from pdfalearn.models import AutomatonModel
from pdfalearn.models.batch import Batch
from pdfalearn.oracles import AllWordsOracle, ExactOracle
from pdfalearn.rows import Rows
from tests.support import mostly_slow

TARGET = random_pdfa(25, 2, distributions=2, seed=7)
ORACLE = ExactOracle(TARGET, equivalence=Quantization(1000))
Words = list[tuple[Symbol, ...]]

BAD_ROWS = {
    "NaN or negative values": [[np.nan, 0.5, 0.5], [0.5, np.nan, np.nan], [-0.1, 0.6, 0.5]],
    "sums to": [[0.5, 0.5, 0.5], [0.0, 0.0, 0.0], [np.inf, 0.0, 0.0], [0.3333, 0.3333, 0.3333]],
}


def asked_words(name: str) -> Words:
    """Every word that a learner asks of the target, in order."""
    asked: Words = []

    def function(words: Words) -> ArrayLike:
        asked.extend(words)
        return TARGET.next_distributions(words)

    learn(FunctionModel(function, "01"), oracle=ORACLE, learner=name, audit=0)
    return asked


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("when", mostly_slow([0, 1, 0.3, 0.99]))
@pytest.mark.parametrize(
    ("complaint", "row"), [(complaint, row) for complaint, rows in BAD_ROWS.items() for row in rows]
)
def test_a_bad_row_is_named_with_its_word(
    complaint: str, row: list[float], when: float, name: str
) -> None:
    words = asked_words(name)
    bad = words[int(when * len(words)) if isinstance(when, float) else when]

    def function(words: Words) -> ArrayLike:
        rows = TARGET.next_distributions(words)
        rows[[word == bad for word in words]] = row
        return rows

    with pytest.raises(ModelError, match=re.escape(f"answer to the word {bad}: {row}")) as caught:
        learn(FunctionModel(function, "01"), oracle=ORACLE, learner=name)
    assert complaint in str(caught.value)


def _too_wide(rows: NDArray[np.float64]) -> ArrayLike:
    return np.column_stack((rows, np.zeros(len(rows))))


def _too_narrow(rows: NDArray[np.float64]) -> ArrayLike:
    return rows[:, 1:]


def _too_many(rows: NDArray[np.float64]) -> ArrayLike:
    return np.concatenate((rows, rows))


def _too_few(rows: NDArray[np.float64]) -> ArrayLike:
    return rows[1:]


def _one_number(_: NDArray[np.float64]) -> ArrayLike:
    return 0.5


def _flat(rows: NDArray[np.float64]) -> ArrayLike:
    return rows.ravel()


SHAPES = {
    _too_wide: "the array for",
    _too_narrow: "the array for",
    _too_many: "the array for",
    _too_few: "the array for",
    _one_number: "it is an array of shape ()",
    _flat: "it is an array of shape",
}


@pytest.mark.parametrize(("spoilt", "complaint"), SHAPES.items())
@pytest.mark.parametrize("calls_before", [0, 5])
def test_a_wrong_shape_is_named(
    spoilt: Callable[[NDArray[np.float64]], ArrayLike], complaint: str, calls_before: int
) -> None:
    batches: list[Words] = []

    def function(words: Words) -> ArrayLike:
        batches.append(words)
        rows = TARGET.next_distributions(words)
        return rows if len(batches) <= calls_before else spoilt(rows)

    with pytest.raises(ModelError, match=r"shape.*the terminal first") as caught:
        learn(FunctionModel(function, "01"), oracle=ORACLE)
    assert len(batches) == calls_before + 1
    assert f"answer to the word {batches[-1][0]}: {complaint}" in str(caught.value)


@pytest.mark.parametrize(
    "answer", [[[0.5, 0.5], [0.5]], [["high", "low", "low"]], [[0.2, 0.3, {}]]]
)
def test_what_is_no_array_of_numbers_is_named(answer: ArrayLike) -> None:
    with pytest.raises(ModelError, match=r"answer to the word \(\): it is not an array of numbers"):
        learn(FunctionModel(lambda _: answer, "01"), oracle=ORACLE)


@pytest.mark.parametrize("undefined", [None, [np.nan] * 3])
def test_a_word_of_positive_probability_cannot_be_undefined(undefined: list[float] | None) -> None:
    def function(lost: tuple[str, ...]) -> FunctionModel:
        rows: dict[bool, Any] = {True: undefined, False: [0.2, 0.3, 0.5]}
        return FunctionModel(lambda words: [rows[word == lost] for word in words], "01")

    with pytest.raises(ModelError, match="the empty word is undefined"):
        learn(function(()), oracle=ORACLE)
    with pytest.raises(ModelError, match=r"after the word \(\) the model gives the symbol '1' pro"):
        learn(function(("1",)), oracle=ORACLE)


@pytest.mark.parametrize("symbols", [2, 70])
def test_the_word_is_found_in_large_batches_and_alphabets(symbols: int) -> None:
    target = random_pdfa(60, symbols, seed=1)
    alphabet = target.alphabet

    class OneBadState(AutomatonModel):
        def open(self) -> Any:
            inner, opened = super().open(), LanguageModel()

            def answer(batch: Batch) -> Rows:
                rows = inner.answer(batch)
                states = [target.state_after(word) for word in alphabet.decode_words(batch.words)]
                table = np.array(rows.values)
                table[[state == 40 for state in states], 0] = np.nan
                return Rows.dense(table)

            opened.answer = answer  # type: ignore[method-assign]
            return opened

    with pytest.raises(ModelError) as caught:
        learn(OneBadState(target), oracle=ExactOracle(target, equivalence=Quantization(1000)))
    named = re.findall(r"'(\d+)'", str(caught.value).partition(":")[0])
    assert target.state_after(named) == 40


def test_rounding_is_no_error() -> None:
    noise = np.array([-1e-15, 5e-10, 5e-10])

    def function(words: Words) -> ArrayLike:
        return [np.array([0.0, 0.25, 0.75]) + noise for _ in words]

    pdfa = learn(
        FunctionModel(function, "01"), equivalence=Quantization(2), oracle=_always_right()
    ).pdfa
    assert pdfa.probabilities.min() == 0.0


def _always_right() -> ExactOracle:
    loop = random_pdfa(1, 2, seed=0)
    return ExactOracle(loop, equivalence=Quantization(1))


@pytest.mark.parametrize("budget", [Budget(), Budget(max_words=100)])
def test_the_word_is_named_where_rows_are_of_different_lengths(budget: Budget) -> None:
    def model(words: Words) -> list[list[float]]:
        return [[0.2, 0.8] if word == ("b", "b", "b") else [0.2, 0.4, 0.4] for word in words]

    oracle = AllWordsOracle(max_length=3)
    with pytest.raises(ModelError, match=r"\('b', 'b', 'b'\)"):
        learn(FunctionModel(model, "ab"), oracle=oracle, budget=budget)
