"""Probabilities of prefixes as a language model: ratios are the rows of the target itself."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdfalearn import PDFA, Budget, Quantization, distinguish, learn
from pdfalearn.datasets import random_pdfa
from pdfalearn.errors import InputError, ModelError
from pdfalearn.models import Batch, WordProbabilities
from pdfalearn.testing import check_model
from tests.strategies import all_words, pdfas
from tests.support import examples


def model_of(pdfa: PDFA, logs: bool = False) -> WordProbabilities:
    def tell(words: list[tuple[object, ...]]) -> np.ndarray:
        told = pdfa.prefix_probabilities(words)
        with np.errstate(divide="ignore"):
            return np.log(told) if logs else told

    return WordProbabilities(tell, pdfa.alphabet, prefixes=True, logs=logs)


@examples(40)
@given(pdfa=pdfas(), logs=st.booleans())
def test_rows_are_those_of_the_automaton(pdfa: PDFA, logs: bool) -> None:
    words = all_words("".join(map(str, pdfa.alphabet)), 2)
    model = model_of(pdfa, logs)
    codes = [pdfa.alphabet.encode(word).tolist() for word in words]
    batch = Batch.of(codes)
    spelled = [pdfa.alphabet.decode(word) for word in batch.words]
    rows = model.open().answer(batch)
    expected = pdfa.next_distributions(spelled)
    expected[pdfa.prefix_probabilities(spelled) == 0] = np.nan
    assert rows.undefined is not None
    assert rows.undefined.tolist() == np.isnan(expected[:, 0]).tolist()
    defined = ~rows.undefined
    assert rows.to_dense()[defined] == pytest.approx(expected[defined], abs=1e-9)
    # One question for every word, and one for each that is a symbol longer.
    assert model.asked <= len(words) * (len(pdfa.alphabet) + 1)
    assert model.cost.word == len(pdfa.alphabet) + 1


@examples(20)
@given(pdfa=pdfas(max_states=4))
def test_it_keeps_what_the_protocol_asks(pdfa: PDFA) -> None:
    check_model(model_of(pdfa), words=60)


def test_quant_learns_from_ratios() -> None:
    target, by = random_pdfa(30, seed=1), Quantization(100)
    model = model_of(target)
    result = learn(model, equivalence=by, budget=Budget())
    assert distinguish(result.pdfa, target, equivalence=by) is None
    assert model.asked <= result.statistics.words * 3 * 1.1  # an audit asks some words again


def test_logarithms_do_not_underflow() -> None:
    def tell(words: list[tuple[object, ...]]) -> np.ndarray:
        return np.array([len(word) * np.log(0.001) for word in words])

    batch = Batch.of([[0] * 1000])
    model = WordProbabilities(tell, "a", prefixes=True, logs=True)
    assert model.answer(batch).to_dense()[0] == pytest.approx([0.999, 0.001])
    plain = WordProbabilities(lambda words: np.exp(tell(words)), "a", prefixes=True)
    with pytest.raises(ModelError, match=r"too small for ratios; give logarithms"):
        plain.answer(Batch.of([[0] * 98]))


def test_sums_of_children_are_checked() -> None:
    model = WordProbabilities(lambda words: [0.75 ** len(w) for w in words], "ab", prefixes=True)
    with pytest.raises(ModelError, match=r"longer than \(\) have together 1.5 times"):
        learn(model)


def test_whole_words_are_not_rows() -> None:
    model = WordProbabilities(
        lambda words: [0.5 ** (len(w) + 1) for w in words], "a", prefixes=False
    )
    with pytest.raises(InputError, match=r"only whole words, .*prefixes=True"):
        learn(model)
    with pytest.raises(InputError, match="only whole words"):
        model.answer(Batch.of([[]]))
    assert model.word_probabilities(["aa", ""]).tolist() == [0.125, 0.5]
    assert model.asked == 2


def test_bad_arguments() -> None:
    with pytest.raises(InputError, match="not a function"):
        WordProbabilities("x", "ab", prefixes=True)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="alphabet is empty"):
        WordProbabilities(len, "", prefixes=True)


def test_it_can_be_pickled() -> None:
    model = WordProbabilities(np.ones_like, "ab", prefixes=True)
    assert pickle.loads(pickle.dumps(model)).alphabet == model.alphabet  # noqa: S301
    assert repr(model).startswith("WordProbabilities(")
