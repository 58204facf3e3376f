"""A PDFA as a language model."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdfalearn import PDFA, learn
from pdfalearn.datasets import chain, random_pdfa
from pdfalearn.errors import InputError
from pdfalearn.models import AutomatonModel
from pdfalearn.models.automaton import as_model
from pdfalearn.models.batch import Batch, number_words
from pdfalearn.models.opened import ask_words
from pdfalearn.models.protocol import LanguageModel, QueryCost
from pdfalearn.words import Words
from tests.strategies import pdfas


@given(pdfas(), st.data())
def test_rows_are_those_of_the_states_after_words(pdfa: PDFA, data: st.DataObject) -> None:
    symbol = st.integers(0, len(pdfa.alphabet) - 1)
    batches = data.draw(
        st.lists(st.lists(st.lists(symbol, max_size=5), min_size=1, max_size=60), max_size=3)
    )
    for words in batches:
        rows = ask_words(AutomatonModel(pdfa), Words.of(words))
        states = [pdfa.state_after(pdfa.alphabet.decode(word)) for word in words]
        undefined = np.zeros(len(words), dtype=bool)
        if rows.undefined is not None:
            undefined = rows.undefined
        assert undefined.tolist() == [state is None for state in states]
        for place, state in enumerate(states):
            if state is not None:
                assert rows.to_dense()[place].tolist() == pdfa.probabilities[state].tolist()


@pytest.mark.parametrize("count", [3, 200])
def test_a_fresh_one_answers_what_another_has_begun(count: int) -> None:
    pdfa = random_pdfa(20, 3, seed=1)
    random = np.random.default_rng(1)
    words = [random.integers(0, 3, random.integers(1, 30)).tolist() for _ in range(count)]
    batch, _ = number_words(words)
    for part in np.array_split(np.arange(batch.count), 3):
        cut = batch.select(part)
        behind = cut.ids > np.median(cut.ids)
        late = Batch.of_ids(cut.ids[behind], cut.wanted[behind], cut.lineage)
        opened, fresh = (AutomatonModel(pdfa).open() for _ in range(2))
        opened.answer(cut)
        assert opened.answer(late).to_dense().tolist() == fresh.answer(late).to_dense().tolist()


@given(pdfas())
def test_what_is_impossible_is_what_is_undefined(pdfa: PDFA) -> None:
    impossible = AutomatonModel(pdfa).open().answer(Batch.of([()])).impossible
    is_undefined = pdfa.transitions[pdfa.initial] < 0
    if impossible is None:
        assert (pdfa.transitions >= 0).all()
    else:
        assert np.array_equal(impossible[0], is_undefined)


def test_zeros_with_a_sign_are_not_impossible() -> None:
    rows = np.array([[0.5, 0.5, -0.0], [1.0, -0.0, 0.0]])
    target = PDFA(alphabet="ab", transitions=[[0, 1], [0, 1]], probabilities=rows)
    learnt = learn(target).pdfa
    assert len(learnt) == 2
    assert learnt.transitions.min() >= 0
    assert not np.signbit(learnt.probabilities).any()


def test_the_identity_tells_automata_apart() -> None:
    assert AutomatonModel(chain(3)).fingerprint == AutomatonModel(chain(3)).fingerprint
    assert AutomatonModel(chain(3)).fingerprint != AutomatonModel(chain(4)).fingerprint


def test_asking_is_free_unless_a_price_is_given() -> None:
    assert AutomatonModel(chain(3)).cost.is_free
    assert AutomatonModel(chain(3), cost=QueryCost(call=1)).cost == QueryCost(call=1)


def test_what_is_not_a_model_is_refused() -> None:
    pdfa = chain(3)
    assert as_model(pdfa).alphabet == pdfa.alphabet
    model = AutomatonModel(pdfa)
    assert as_model(model) is model
    wrong: Any
    for wrong, culprit in [
        (len, r"len.* is neither a PDFA nor a LanguageModel; .*FunctionModel\(function"),
        ("abc", "'abc' is neither .* subclass of LanguageModel"),
        (LanguageModel(), "has no alphabet"),
    ]:
        with pytest.raises(InputError, match=culprit):
            as_model(wrong)
    with pytest.raises(InputError, match="'abc' is not a PDFA"):
        AutomatonModel("abc")  # type: ignore[arg-type]
