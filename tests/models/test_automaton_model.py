"""A PDFA as a language model."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pdfalearn import PDFA, AutomatonModel, chain
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
    found = AutomatonModel(pdfa).extend(np.array(states), Words.of(words)).tolist()
    assert found == [-1 if state is None else state for state in expected]


def test_a_word_may_be_empty() -> None:
    words = Words.of([(), (0, 0)])
    assert AutomatonModel(chain(4)).extend(np.array([3, 0]), words).tolist() == [1, 2]


def test_rows_are_those_of_the_states() -> None:
    pdfa = chain(3)
    model = AutomatonModel(pdfa)
    handles = np.array([model.start(), 2])
    assert model.distributions(handles).tolist() == pdfa.probabilities[[0, 2]].tolist()
    model.release(handles)


def test_the_fingerprint_tells_automata_apart() -> None:
    assert AutomatonModel(chain(3)).fingerprint == AutomatonModel(chain(3)).fingerprint
    assert AutomatonModel(chain(3)).fingerprint != AutomatonModel(chain(4)).fingerprint
