"""Functions of a single word that return dictionaries."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given

from pdfalearn import PDFA, Alphabet, FunctionModel, evaluate, learn
from pdfalearn.datasets import figure_3
from pdfalearn.errors import InputError, ModelError
from pdfalearn.models.batch import Batch
from pdfalearn.models.opened import ask_words, open_model
from pdfalearn.models.protocol import attached_answers
from pdfalearn.testing import check_model
from tests.strategies import pdfas
from tests.support import examples


def by_word(pdfa: PDFA, word: tuple[Any, ...]) -> dict[Any, float] | None:
    """Return what is positive after a word; None where it is undefined."""
    row = pdfa.next_distribution(word)
    if row is None:
        return None
    names = (pdfa.terminal, *pdfa.alphabet)
    return {name: value for name, value in zip(names, row.tolist(), strict=True) if value}


@examples(40)
@given(pdfas())
def test_it_answers_as_the_automaton_does(pdfa: PDFA) -> None:
    model = FunctionModel.of_words(lambda word: by_word(pdfa, word), pdfa.alphabet)
    words = [(), *((symbol,) for symbol in pdfa.alphabet), tuple(pdfa.alphabet) * 3]
    rows = ask_words(model, pdfa.alphabet.encode_words(words))
    expected = pdfa.next_distributions(words)
    is_undefined = np.isnan(expected).any(axis=1)
    found = np.zeros(len(words), dtype=bool) if rows.undefined is None else rows.undefined
    assert np.array_equal(found, is_undefined)
    assert np.array_equal(rows.to_dense()[~is_undefined], expected[~is_undefined])


def test_it_is_learnt_from() -> None:
    model = FunctionModel.of_words(lambda word: by_word(figure_3(), word), "01", fingerprint="mine")
    check_model(model)
    assert model.fingerprint == "mine"
    assert evaluate(figure_3(), learn(model).pdfa).over_prefixes.l1 == 0


def test_another_terminal() -> None:
    model = FunctionModel.of_words(lambda word: {"stop": 1}, "ab", terminal="stop")
    assert model.answer(Batch.of([()])).tolist() == [[1, 0, 0]]  # type: ignore[union-attr]
    same = FunctionModel.of_words(lambda word: {"stop": 1}, Alphabet("ab", "stop"))
    assert same.alphabet == model.alphabet


BAD: dict[str, Any] = {
    r"the function names 'c', which is neither a symbol .* nor the terminal '\$'": {"c": 1.0},
    "gives 'a' the probability '1.0', which is not a number": {"a": "1.0"},
    "gives 'a' the probability None, which is not a number": {"a": None},
    "000, which is not a number": {"a": 10**400},
    "returned \\[0.5, 0.5\\], not a dictionary": [0.5, 0.5],
    "sums to 0.5": {"a": 0.5},
    "NaN or negative": {"a": float("nan"), "b": 1.0},
}


@pytest.mark.parametrize("message", BAD)
def test_bad_answers_are_named_with_the_word(message: str) -> None:
    def function(word: tuple[Any, ...]) -> Any:
        return BAD[message] if word == ("a", "b") else {"a": 0.5, "b": 0.4, "$": 0.1}

    with pytest.raises(ModelError, match=message) as caught:
        learn(FunctionModel.of_words(function, "ab"))
    assert "('a', 'b')" in str(caught.value)


@pytest.mark.parametrize("error", [OSError("gone"), KeyboardInterrupt()])
def test_words_that_were_answered_are_not_lost(error: BaseException) -> None:
    def function(word: tuple[Any, ...]) -> dict[Any, float] | None:
        if word == ("b", "a"):
            raise error
        return None if word == ("b",) else {"a": 0.5, "$": 0.5}

    batch = Batch.of([(), (0,), (1,), (1, 0), (1, 1)])
    with pytest.raises(type(error)):
        open_model(FunctionModel.of_words(function, "ab")).answer(batch)
    answered = attached_answers(error)
    assert answered is not None
    assert batch.wanted_ids[: len(answered.ids)].tolist() == answered.ids.tolist()
    assert answered.rows.undefined is not None
    assert answered.rows.undefined.tolist() == [False, False, True]
    assert answered.rows.values[:2].tolist() == [[0.5, 0.5, 0]] * 2


def test_what_is_not_a_function() -> None:
    with pytest.raises(InputError, match="3 is not a function; it has to take a word"):
        FunctionModel.of_words(3, "ab")  # type: ignore[arg-type]
