"""Models that keep to the protocol pass, within what they may be asked."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pdfalearn import (
    PDFA,
    Alphabet,
    AutomatonModel,
    FunctionModel,
    InputError,
    RecurrentModel,
    chain,
    figure_1,
    random_pdfa,
    reber,
    tomita,
)
from pdfalearn.alphabet import Symbol
from pdfalearn.models.protocol import LanguageModel
from pdfalearn.rows import Rows
from pdfalearn.testing import check_model
from pdfalearn.words import Words
from tests.models.networks import FORMS, OneHotNetwork, gru, layers, memory_for, needed_torch
from tests.models.owning import Owning, OwningSession, sparse_rows
from tests.strategies import pdfas

TARGETS = [random_pdfa(30, 3, seed=1), chain(12), figure_1(), reber(), tomita(3)]
ROOMS = [3, 4, 5, 9, 40, 1000, None]


@settings(max_examples=15)
@given(pdfas(), st.integers(0, 9))
def test_automata(pdfa: PDFA, seed: int) -> None:
    check_model(pdfa, seed=seed)
    check_model(AutomatonModel(pdfa), words=50, seed=seed)


@pytest.mark.slow
@settings(max_examples=15)
@given(pdfas(), st.sampled_from(ROOMS), st.booleans(), st.integers(0, 9))
def test_owned_handles(pdfa: PDFA, room: int | None, sparse: bool, seed: int) -> None:
    model = Owning(pdfa, room, sparse=sparse)
    check_model(model, seed=seed)
    assert all(session.closed == 1 for session in model.sessions)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("room", ROOMS)
@pytest.mark.parametrize("words", [14, 20, 21, 47, 200])
def test_no_more_words_are_asked_than_may_be(target: PDFA, room: int | None, words: int) -> None:
    model = Owning(target, room)
    check_model(model, words=words)
    assert sum(sum(session.batches) for session in model.sessions) <= words
    if room is not None and room <= 4 * (words // 7) and words > 40:
        assert max(session.most_alive for session in model.sessions) == room


def test_most_of_the_words_are_used() -> None:
    model = Owning(random_pdfa(50, 4, seed=1))
    check_model(model)
    assert sum(sum(session.batches) for session in model.sessions) > 150
    assert sum(session.symbols for session in model.sessions) < 200 * 8


class Whole(LanguageModel):
    """A PDFA that is asked for whole words, and says of some that they are undefined."""

    def __init__(self, pdfa: PDFA, *, sparse: bool = False) -> None:
        self.alphabet = pdfa.alphabet
        self.fingerprint = "whole"
        self._pdfa = pdfa
        self._sparse = sparse

    def answer(self, words: Words) -> Rows:
        found = [self._pdfa.state_after(word) for word in self.alphabet.decode_words(words)]
        undefined = np.array([state is None for state in found])
        states = [state or 0 for state in found]
        if self._sparse:
            rows = sparse_rows(self._pdfa, states)
            rows.undefined = undefined
            return rows
        return Rows.dense(self._pdfa.probabilities[states], undefined=undefined)


@pytest.mark.slow
@settings(max_examples=15)
@given(pdfas(), st.booleans(), st.integers(0, 9))
def test_models_of_whole_words(pdfa: PDFA, sparse: bool, seed: int) -> None:
    check_model(Whole(pdfa, sparse=sparse), seed=seed)


def test_functions() -> None:
    def function(words: list[tuple[Symbol, ...]]) -> Any:
        return [None if "b" in word else [0.5, 0.5, 0.0] for word in words]

    check_model(FunctionModel(function, "ab"))
    check_model(FunctionModel(lambda words: [[1.0, 0.0] for _ in words], "a"))
    check_model(FunctionModel(lambda words: [[0, 1] for _ in words], ["only"]))


def top_rows(words: Words) -> Rows:
    """Answer as a server does that says only which two of a thousand symbols are likeliest."""
    count = len(words)
    columns = np.array([[0, 1 + length % 900, 950] for length in words.lengths.tolist()])
    return Rows.sparse(
        1001,
        3 * np.arange(count + 1),
        columns.ravel(),
        np.tile([0.1, 0.3, 0.2], count),
        rest=np.full(count, 0.4),
        ceiling=np.full(count, 0.1),
        outside=np.full(count, 0.05),
    )


def test_answers_that_list_only_the_likeliest_symbols() -> None:
    model = LanguageModel()
    model.alphabet = Alphabet(range(1000))
    model.answer = top_rows  # type: ignore[method-assign]
    check_model(model)


@pytest.mark.parametrize("form", FORMS)
def test_networks_of_every_form(form: str) -> None:
    target = random_pdfa(20, 3, seed=1)
    needed_torch()
    check_model(RecurrentModel(OneHotNetwork(target, *FORMS[form]), target.alphabet))


@pytest.mark.parametrize("room", [3, 4, 17, None])
def test_networks_in_little_room(room: int | None) -> None:
    needed_torch()
    memory = memory_for(room, 48, 3) if room else 2**20
    model = gru(memory=memory)
    assert room is None or model.open().room == room
    check_model(model)


@pytest.mark.parametrize("kind", ["RNN", "GRU", "LSTM"])
def test_networks_in_single_precision(kind: str) -> None:
    needed_torch()
    embedding, recurrent, head = (part.float() for part in layers(kind, 3, num_layers=2))
    check_model(RecurrentModel.of_layers(embedding, recurrent, head, "abc"))


class SaysPossible(OwningSession):
    """Returns which symbols may follow, as lists."""

    def possible(self, handles: Any) -> Words:
        table = self.model.pdfa.transitions[[self.states[handle] for handle in handles.tolist()]]
        return Words.of([np.flatnonzero(row >= 0).tolist() for row in table])


@pytest.mark.slow
@settings(max_examples=20)
@given(pdfas(), st.sampled_from(ROOMS))
def test_lists_of_what_is_possible(pdfa: PDFA, room: int | None) -> None:
    model = Owning(pdfa, room)
    model.open = lambda: SaysPossible(model)  # type: ignore[method-assign]
    check_model(model)


def test_tolerance() -> None:
    calls = iter(range(10**9))

    def function(words: list[tuple[Symbol, ...]]) -> Any:
        noise = 1e-4 * (next(calls) % 5)
        return [[0.5 + noise, 0.5 - noise] for _ in words]

    check_model(FunctionModel(function, "a"), tolerance=1e-3)
    with pytest.raises(InputError, match="larger tolerance"):
        check_model(FunctionModel(function, "a"))


def test_the_same_seed_asks_the_same() -> None:
    asked: list[list[tuple[Symbol, ...]]] = []

    def function(words: list[tuple[Symbol, ...]]) -> Any:
        asked[-1].extend(words)
        return [[0.2, 0.3, 0.5] for _ in words]

    for seed in (1, 1, 2):
        asked.append([])
        check_model(FunctionModel(function, "ab"), seed=seed)
    assert asked[0] == asked[1] != asked[2]
    assert () in asked[0]
    assert max(map(len, asked[0])) == 32
    asked.append([])
    check_model(FunctionModel(function, "ab"), max_length=2)
    assert max(map(len, asked[-1])) == 8


@pytest.mark.parametrize(
    ("arguments", "culprit"),
    [
        ({"words": 13}, "words 13"),
        ({"words": 2.5}, "words 2.5 is not an integer"),
        ({"max_length": 0}, "max_length 0"),
        ({"seed": -1}, "seed -1"),
        ({"tolerance": -1}, "tolerance -1"),
        ({"model": "abc"}, "'abc' is neither a PDFA nor a LanguageModel"),
        ({"model": len}, "FunctionModel"),
    ],
)
def test_bad_arguments(arguments: dict[str, Any], culprit: str) -> None:
    with pytest.raises(InputError, match=culprit):
        check_model(**{"model": chain(3), **arguments})
