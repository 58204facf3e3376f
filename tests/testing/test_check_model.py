"""Models that keep to the protocol pass, within what they may be asked."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pdfalearn import PDFA, Alphabet, FunctionModel, RecurrentModel, TopK
from pdfalearn.alphabet import Symbol
from pdfalearn.datasets import chain, figure_1, random_pdfa, reber, tomita
from pdfalearn.errors import InputError, ModelError
from pdfalearn.models import AutomatonModel
from pdfalearn.models.batch import Batch
from pdfalearn.models.protocol import LanguageModel
from pdfalearn.rows import Rows
from pdfalearn.testing import check_model
from tests.models.networks import FORMS, OneHotNetwork, gru, layers, memory_for, needed_torch
from tests.strategies import pdfas
from tests.testing.keeping import Keeping, sparse_rows

TARGETS = [random_pdfa(30, 3, seed=1), chain(12), figure_1(), reber(), tomita(3)]
ROOMS = [1, 2, 9, None]


@settings(max_examples=15)
@given(pdfas(), st.integers(0, 9))
def test_automata(pdfa: PDFA, seed: int) -> None:
    check_model(pdfa, seed=seed)
    check_model(AutomatonModel(pdfa), words=50, seed=seed)


@pytest.mark.slow
@settings(max_examples=15)
@given(pdfas(), st.sampled_from(ROOMS), st.booleans(), st.integers(0, 9))
def test_models_that_keep_states(pdfa: PDFA, room: int | None, sparse: bool, seed: int) -> None:
    model = Keeping(pdfa, room, sparse=sparse)
    check_model(model, seed=seed)
    assert all(each.closed == 1 for each in model.opened)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("max_length", [1, 3, 8])
@pytest.mark.parametrize("words", [14, 20, 21, 47, 200])
def test_no_more_words_are_asked_than_may_be(target: PDFA, max_length: int, words: int) -> None:
    model = Keeping(target)
    check_model(model, words=words, max_length=max_length)
    assert sum(sum(each.counts) for each in model.opened) <= words


def test_most_of_the_words_are_used() -> None:
    model = Keeping(random_pdfa(50, 4, seed=1))
    check_model(model)
    assert sum(sum(each.counts) for each in model.opened) > 150


class Whole(LanguageModel):
    """A PDFA that is asked for whole words, and says what is undefined or impossible."""

    fingerprint = "whole"

    def __init__(self, pdfa: PDFA, *, sparse: bool = False) -> None:
        self.alphabet = pdfa.alphabet
        self._pdfa = pdfa
        self._sparse = sparse

    def answer(self, batch: Batch) -> Rows:
        found = [self._pdfa.state_after(word) for word in self.alphabet.decode_words(batch.words)]
        undefined = np.array([state is None for state in found])
        states = np.array([state or 0 for state in found])
        if self._sparse:
            rows = sparse_rows(self._pdfa, states)
            rows.undefined = undefined
            return rows
        impossible = self._pdfa.transitions[states] < 0
        table = self._pdfa.probabilities[states]
        return Rows.dense(table, undefined=undefined, impossible=impossible)


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


class Cut(LanguageModel):
    """A model that answers beyond what it calls impossible; it says that it needs prefixes."""

    alphabet = Alphabet("abc")

    def answer(self, batch: Batch) -> Rows:
        rows = np.array(
            [[0, 0.5, 0.5, 0] if len(word) % 2 else [0.5, 0, 0, 0.5] for word in batch.words]
        )
        return Rows.dense(rows, impossible=rows[:, 1:] == 0)


def test_models_that_need_prefixes_are_not_asked_beyond_what_is_impossible() -> None:
    with pytest.raises(ModelError, match=r"is impossible, but the word .* is defined"):
        check_model(Cut())
    cut = Cut()
    cut.needs_prefixes = True
    check_model(cut)


@pytest.mark.parametrize("target", TARGETS)
def test_wrappers(target: PDFA) -> None:
    check_model(TopK(target, 1))
    check_model(TopK(Whole(target), 2))


def top_rows(batch: Batch) -> Rows:
    """Answer as a server does that says only which two of a thousand symbols are likeliest."""
    count = batch.count
    columns = np.array([[0, 1 + length % 900, 950] for length in batch.words.lengths.tolist()])
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
    model.full_support = True
    check_model(model)


@pytest.mark.parametrize("form", FORMS)
def test_networks_of_every_form(form: str) -> None:
    target = random_pdfa(20, 3, seed=1)
    needed_torch()
    check_model(RecurrentModel(OneHotNetwork(target, *FORMS[form]), target.alphabet))


@pytest.mark.parametrize("room", [3, 4, 17, None])
def test_networks_in_little_room(room: int | None) -> None:
    needed_torch()
    check_model(gru(memory=memory_for(room, 48) if room else 2**20))


@pytest.mark.parametrize("kind", ["RNN", "GRU", "LSTM"])
def test_networks_in_single_precision(kind: str) -> None:
    needed_torch()
    embedding, recurrent, head = (part.float() for part in layers(kind, 3, num_layers=2))
    check_model(RecurrentModel.of_layers(embedding, recurrent, head, "abc"))


def test_tolerance() -> None:
    calls = iter(range(10**9))

    def function(words: list[tuple[Symbol, ...]]) -> Any:
        noise = 1e-4 * (next(calls) % 5)
        return [[0.5 + noise, 0.5 - noise] for _ in words]

    check_model(FunctionModel(function, "a"), tolerance=1e-3)
    with pytest.raises(InputError, match=r"larger tolerance|dropout"):
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
    assert max(map(len, asked[0])) in (32, 33)
    asked.append([])
    check_model(FunctionModel(function, "ab"), max_length=2)
    assert max(map(len, asked[-1])) in (8, 9)


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
