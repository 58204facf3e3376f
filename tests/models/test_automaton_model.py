"""A PDFA as a language model."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdfalearn import PDFA, AutomatonModel, InputError, chain
from pdfalearn.models.automaton import as_model
from pdfalearn.models.cost import QueryCost
from pdfalearn.models.protocol import LanguageModel
from pdfalearn.words import Words
from tests.strategies import pdfas


@given(pdfas(), st.data())
def test_every_prefix_has_the_state_after_it(pdfa: PDFA, data: st.DataObject) -> None:
    symbol = st.integers(0, len(pdfa.alphabet) - 1)
    words = data.draw(st.lists(st.lists(symbol, max_size=5), min_size=1, max_size=5))
    states = data.draw(
        st.lists(st.integers(0, len(pdfa) - 1), min_size=len(words), max_size=len(words))
    )
    expected = [
        pdfa.state_after(pdfa.alphabet.decode(word[:stop]), state=state)
        for state, word in zip(states, words, strict=True)
        for stop in range(1, len(word) + 1)
    ]
    found = AutomatonModel(pdfa).open().extend(np.array(states), Words.of(words)).tolist()
    assert found == [-1 if state is None else state for state in expected]


def test_a_word_may_be_empty() -> None:
    words = Words.of([(), (0, 0)])
    session = AutomatonModel(chain(4)).open()
    assert session.extend(np.array([3, 0]), words).tolist() == [1, 2]


def test_rows_are_those_of_the_states() -> None:
    pdfa = chain(3)
    session = AutomatonModel(pdfa).open()
    handles = np.array([session.start(), 2])
    assert session.read(handles).to_dense().tolist() == pdfa.probabilities[[0, 2]].tolist()
    assert session.shared
    assert session.room is None


@given(pdfas(), st.data())
def test_what_is_possible_is_what_is_defined(pdfa: PDFA, data: st.DataObject) -> None:
    states = np.array(data.draw(st.lists(st.integers(0, len(pdfa) - 1), min_size=1, max_size=5)))
    possible = AutomatonModel(pdfa).open().possible(states)
    is_defined = pdfa.transitions[states] >= 0
    if possible is None:
        assert (pdfa.transitions >= 0).all()
    else:
        assert np.array_equal(possible, is_defined)


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
