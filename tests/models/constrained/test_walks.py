"""Constrained models answer as the automaton that is filtered directly, batch after batch."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pdfalearn import PDFA, FunctionModel, LanguageModel
from pdfalearn.alphabet import Symbol
from pdfalearn.errors import ModelError
from pdfalearn.models import AutomatonModel
from pdfalearn.models.batch import Batch
from pdfalearn.models.opened import open_model
from tests.models.constrained.direct import Constraint, wrapped
from tests.models.constrained.inside import RecordingModel, SparseModel
from tests.models.constrained.strategies import constraints, filtered
from tests.strategies import all_words, pdfas


def function_of(pdfa: PDFA) -> FunctionModel:
    """A function that says None of undefined words."""

    def answer(words: list[tuple[Symbol, ...]]) -> list[list[float] | None]:
        states = pdfa.states_after(words)
        return [pdfa.probabilities[q].tolist() if q >= 0 else None for q in states]

    return FunctionModel(answer, pdfa.alphabet)


FORMS: dict[str, Callable[[PDFA], LanguageModel]] = {
    "automaton": AutomatonModel,
    "dense": RecordingModel,
    "function": function_of,
    "sparse": SparseModel,
}
WORDS = all_words("abc", 3)
EVERY = Batch.of([["abc".index(symbol) for symbol in word] for word in WORDS])

Answer = list[float] | None


def answers(model: LanguageModel, random: Random) -> dict[str, Answer]:
    """Ask for all words in random batches, some of them again, of models opened now and then."""
    found: dict[str, Answer] = {}
    left = list(range(EVERY.count))
    random.shuffle(left)
    opened = open_model(model)
    while left:
        if random.random() < 0.2:
            opened.close()
            opened = open_model(model)
        size = random.choice([1, 2, 5, 40])
        again = random.sample(range(EVERY.count), random.choice([0, 0, 2]))
        rows = np.unique([*left[:size], *again])
        left = left[size:]
        batch = EVERY.select(rows)
        if random.random() < 0.5:  # without what lies on the way
            ids = batch.wanted_ids
            batch = Batch.of_ids(ids, np.ones(len(ids), dtype=bool), EVERY.lineage)
        for word, row in zip(batch.words, answers_to(opened, batch), strict=True):
            name = "".join("abc"[symbol] for symbol in word)
            assert found.setdefault(name, row) == row
    opened.close()
    return found


def answers_to(opened: LanguageModel, batch: Batch) -> list[Answer]:
    """The distributions of a batch; None where a word is undefined."""
    rows = opened.answer(batch)
    table = rows.to_dense().tolist()
    undefined = rows.undefined if rows.undefined is not None else np.zeros(len(rows), dtype=bool)
    return [
        None if is_undefined else row for row, is_undefined in zip(table, undefined, strict=True)
    ]


def assert_same(found: dict[str, Answer], expected: PDFA) -> None:
    for word, row in found.items():
        state = expected.state_after(word)
        assert (row is None) == (state is None), word
        assert row is None or np.allclose(row, expected.probabilities[state], atol=1e-12), word


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=60)
@given(pdfas(alphabet="abc"), constraints("abc"), st.randoms(use_true_random=False))
@pytest.mark.slow
def test_all_short_words(form: str, target: PDFA, chosen: list[Constraint], random: Random) -> None:
    expected = filtered(target, chosen)
    found = answers(wrapped(FORMS[form](target), chosen), random)
    assert sorted(found) == sorted(WORDS)
    assert_same(found, expected)


@settings(max_examples=60)
@given(pdfas(alphabet="abc"), constraints("abc"))
def test_what_rows_say_to_be_impossible_is_what_is_undefined(
    target: PDFA, chosen: list[Constraint]
) -> None:
    expected = filtered(target, chosen)
    rows = wrapped(AutomatonModel(target), chosen).answer(EVERY)
    for place, word in enumerate(EVERY.words):
        state = expected.state_after(["abc"[symbol] for symbol in word])
        if state is not None:
            undefined = (expected.transitions[state] < 0).tolist()
            impossible = [False] * 3 if rows.impossible is None else rows.impossible[place].tolist()
            assert impossible == undefined


@settings(max_examples=100)
@given(pdfas(alphabet="abc"), constraints("abc"), st.integers(0, 2))
@pytest.mark.slow
def test_models_that_list_too_little_are_refused_or_right(
    target: PDFA, chosen: list[Constraint], listed: int
) -> None:
    defined = PDFA(
        alphabet="abc",
        transitions=np.maximum(target.transitions, 0),
        probabilities=target.probabilities,
        initial=target.initial,
    )
    expected = filtered(defined, chosen)
    model = wrapped(SparseModel(defined, listed), chosen)
    for row, word in enumerate(EVERY.words):
        opened = open_model(model)
        try:
            (answer,) = answers_to(opened, EVERY.select(np.array([row])))
        except ModelError as error:
            if "leaves open" not in str(error):
                raise
            continue
        assert_same({"".join("abc"[symbol] for symbol in word): answer}, expected)
