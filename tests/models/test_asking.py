"""Words that are asked for in a session of their own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdfalearn import PDFA, Alphabet, AutomatonModel, FunctionModel, ModelError
from pdfalearn.models.asking import asked_rows, opened
from pdfalearn.models.protocol import Handles, LanguageModel
from pdfalearn.rows import Rows
from pdfalearn.words import Words
from tests.models.owning import Owning
from tests.strategies import pdfas


def check_answers(pdfa: PDFA, words: list[list[int]], rows: Rows) -> None:
    states = [pdfa.state_after(pdfa.alphabet.decode(word)) for word in words]
    undefined = np.zeros(len(words), dtype=bool) if rows.undefined is None else rows.undefined
    assert undefined.tolist() == [state is None for state in states]
    assert len(rows) == len(words)
    table = rows.to_dense()
    for place, state in enumerate(states):
        if state is not None:
            assert table[place].tolist() == pdfa.probabilities[state].tolist()


@pytest.mark.parametrize("sparse", [False, True])
@given(pdfas(), st.data())
def test_rows_are_those_of_the_words(sparse: bool, pdfa: PDFA, data: st.DataObject) -> None:
    symbol = st.integers(0, len(pdfa.alphabet) - 1)
    words = data.draw(st.lists(st.lists(symbol, max_size=9), max_size=8))
    room = data.draw(st.sampled_from([None, 3, 4, 5, 8, 20]))
    most = data.draw(st.sampled_from([1, 64, 200, 2**26]))
    model = Owning(pdfa, room, sparse=sparse)
    rows, symbols = asked_rows(model, Words.of(words), most_bytes=most)
    check_answers(pdfa, words, rows)
    (session,) = model.sessions
    assert session.symbols == symbols <= sum(map(len, words))
    assert len(session.states) == 1
    assert session.closed == 1
    assert all(count <= max(1, most // (8 * rows.width)) for count in session.batches)
    shared, counted = asked_rows(AutomatonModel(pdfa), Words.of(words), most_bytes=most)
    check_answers(pdfa, words, shared)
    assert counted == sum(map(len, words))


def test_the_words_of_a_function_are_asked_in_groups() -> None:
    calls: list[int] = []

    def function(words: list[Any]) -> list[list[float]]:
        calls.append(len(words))
        return [[0.5, 0.25, 0.25] for _ in words]

    words = Words.of([[0], [1], [], [0, 1], [1, 1]])
    rows, symbols = asked_rows(FunctionModel(function, "ab"), words, most_bytes=50)
    assert (len(rows), symbols, calls) == (5, 6, [2, 2, 1])


def test_no_words_at_all() -> None:
    rows, symbols = asked_rows(FunctionModel(lambda _: [], "ab"), Words.of([]))
    assert (len(rows), rows.width, symbols) == (0, 3, 0)


class Spoilt(AutomatonModel):
    """A model whose sessions have other members."""

    def __init__(self, **members: Any) -> None:
        super().__init__(PDFA(alphabet="a", transitions=[[0]], probabilities=[[0.5, 0.5]]))
        self.members = members
        self.closed = 0

    def open(self) -> Any:
        session = super().open()
        kind = type("Spoilt", (type(session),), {"close": self._close, **self.members})
        session.__class__ = kind
        return session

    def _close(self, *_: object) -> None:
        self.closed += 1


@pytest.mark.parametrize(
    ("members", "culprit"),
    [
        ({"start": lambda self: None}, "start returned None"),
        ({"start": lambda self: 0.0}, "start returned 0.0"),
        ({"start": lambda self: -1}, "the empty word is undefined"),
        ({"extend": lambda self, handles, words: None}, "extend returned None"),
        ({"extend": lambda self, handles, words: handles}, r"array of shape \(2,\)"),
        ({"shared": False, "room": 3.5}, "room is 3.5"),
        ({"shared": False, "room": 1}, "room is 1"),
        ({"shared": 1}, "shared is 1"),
        ({"read": lambda self, handles: [[0.5, 0.5]]}, "read returned"),
        ({"read": lambda self, handles: Rows.dense(np.ones((1, 1)))}, "rows of 1 columns"),
    ],
)
def test_wrong_forms_are_refused_and_sessions_closed(members: Any, culprit: str) -> None:
    model = Spoilt(**members)
    with pytest.raises(ModelError, match=culprit):
        asked_rows(model, Words.of([[0, 0, 0], []]))
    assert model.closed == 1


def test_errors_of_the_model_are_its_own() -> None:
    def read(self: object, handles: Handles) -> Rows:
        raise ConnectionError("the line is dead")

    def close(self: object) -> None:
        raise OSError("so is this")

    with pytest.raises(ConnectionError, match="the line is dead") as caught:
        asked_rows(Spoilt(read=read, close=close), Words.of([[0]]))
    assert caught.value.__notes__ == ["Spoilt.close raised OSError: so is this"]
    with opened(Spoilt(close=close)):  # how a model ends is never the outcome
        pass


def test_a_model_without_answer_and_open() -> None:
    model = LanguageModel()
    model.alphabet = Alphabet("a")
    with pytest.raises(NotImplementedError, match="neither answer nor open"):
        asked_rows(model, Words.of([[0]]))
