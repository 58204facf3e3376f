"""What wrappers pass on: members, opening and closing, errors, and answers before an error."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from pdfalearn import PDFA, FunctionModel, Guided, LanguageModel, Temperature, TopK, TopP
from pdfalearn.errors import ModelError
from pdfalearn.languages import DFA
from pdfalearn.models import AutomatonModel
from pdfalearn.models.batch import Batch
from pdfalearn.models.constrained import guided
from pdfalearn.models.opened import CheckedModel, open_model
from pdfalearn.models.protocol import attach_answers, attached_answers
from pdfalearn.rows import Rows
from tests.models.constrained.inside import WRAPPINGS, RecordingModel, Wrapping, rows_after

LOOP = PDFA(alphabet="ab", transitions=[[0, 0]], probabilities=[[0.4, 0.4, 0.2]])
ALL = DFA(alphabet="ab", transitions=[[0, 0]], accepting=[True])
EVERY_WRAPPING = pytest.mark.parametrize("wrapping", WRAPPINGS.values(), ids=WRAPPINGS)


class Copied(RecordingModel):
    """Answers by its copies."""

    fingerprint = "copied"

    def answers_by_copy(self, word: Sequence[int]) -> dict[str, str]:
        return {"first": str(list(word))}


@EVERY_WRAPPING
def test_members_are_passed_on(wrapping: Wrapping) -> None:
    model = wrapping(Copied(LOOP))
    assert model.alphabet == LOOP.alphabet
    assert model.fingerprint not in (None, "copied")
    opened = open_model(model)
    for asked in (model, opened):
        assert asked.answers_by_copy([0, 1]) == {"first": "[0, 1]"}
        assert asked.cost == model.cost
        assert (asked.full_support, asked.needs_prefixes) == (False, model.needs_prefixes)
    assert isinstance(opened, CheckedModel)


def test_support_and_need_of_prefixes_go_through_stacks() -> None:
    inside = RecordingModel(LOOP, full_support=True)
    heated = Temperature(Temperature(inside, 0.5), 2)
    assert (heated.full_support, heated.needs_prefixes) == (True, False)
    for model in (Guided(inside, ALL), TopK(inside, 1), TopP(inside, 0.5)):
        assert not model.full_support
        assert not Temperature(model, 2).full_support
    assert not Guided(inside, ALL).needs_prefixes
    for model in (TopK(inside, 1), TopP(inside, 0.5)):
        assert model.needs_prefixes
        assert Temperature(Guided(model, ALL), 2).needs_prefixes
    assert not heated.is_constrained
    assert not inside.is_constrained
    assert Temperature(Guided(inside, ALL), 2).is_constrained
    assert open_model(Temperature(TopK(inside, 1), 2)).is_constrained


@EVERY_WRAPPING
def test_each_run_opens_the_model_inside(wrapping: Wrapping) -> None:
    inside = RecordingModel(LOOP)
    model = wrapping(inside)
    first, second = open_model(model), open_model(model)
    assert inside.is_open == 2
    batch = Batch.of([(), (0,), (0, 0)])
    rows = [opened.answer(batch).to_dense() for opened in (first, second, first)]
    assert np.array_equal(rows[0], rows[1])
    assert np.array_equal(rows[0], rows[2])
    second.close()
    assert inside.is_open == 1
    with pytest.raises(AssertionError):
        second.answer(batch)
    assert np.array_equal(model.answer(batch).to_dense(), rows[0])  # opened and closed once more
    assert inside.is_open == 1
    first.close()
    assert inside.is_open == 0


def test_what_goes_wrong_behind_open_closes_the_model_inside(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: object) -> None:
        raise KeyboardInterrupt

    inside = RecordingModel(LOOP)
    model = Guided(WRAPPINGS["top-k"](inside), ALL)
    monkeypatch.setattr(guided.OpenedGuided, "__init__", fail)
    with pytest.raises(KeyboardInterrupt):
        model.open()
    assert inside.is_open == 0


def test_an_open_that_returns_no_model() -> None:
    class Closed(AutomatonModel):
        def open(self) -> Any:
            return None

    with pytest.raises(ModelError, match=r"Closed.open returned None: it has to return a Lang"):
        WRAPPINGS["temperature"](Closed(LOOP)).open()


@EVERY_WRAPPING
@pytest.mark.parametrize(
    "given",
    [
        None,
        [[0.5, 0.5]],
        Rows.dense(np.array([[0.5, 0.5, 0.0]] * 2)),
        Rows.sparse(3, [0, 2], [0], [1.0]),
        Rows.sparse(3, [0, 1], [0], [1.0, 0.0]),
        Rows.sparse(3, [0, 1], [0], [1.0], rest=[0.0, 0.0]),
        Rows.dense(np.array([[0.5, 0.5, 0.0]]), undefined=np.array([False, True])),
        Rows.dense(np.array([[0.5, 0.5, 0.0]]), impossible=np.array([[True, False]])),
    ],
)
def test_answers_of_another_form_are_refused_before_they_are_changed(
    given: Any, wrapping: Wrapping
) -> None:
    model = wrapping(FunctionModel(lambda words: given, "ab"))
    with pytest.raises(ModelError, match=r"the model's answer to the word \(\): "):
        rows_after(model, ())


class Failing(LanguageModel):
    """Answers the first words of a batch, and fails at a word that is too long."""

    alphabet = LOOP.alphabet

    def __init__(self, error: BaseException, longest: int) -> None:
        self._error = error
        self._longest = longest

    def answer(self, batch: Batch) -> Rows:
        row = LOOP.probabilities[0]
        fits = [len(word) <= self._longest for word in batch.words]
        if not all(fits):
            ids = batch.wanted_ids[np.array(fits)]
            attach_answers(self._error, ids, Rows.dense(np.tile(row, (len(ids), 1))))
            raise self._error
        return Rows.dense(np.tile(row, (batch.count, 1)))


@EVERY_WRAPPING
@pytest.mark.parametrize("make", [KeyboardInterrupt, lambda: ConnectionError("gone")])
def test_answers_before_an_error_are_changed_and_passed_on(
    make: Callable[[], BaseException], wrapping: Wrapping
) -> None:
    batch = Batch.of([(), (0,), (0, 0), (0, 0, 0), (0, 0, 0, 0)])
    error = make()
    with pytest.raises(type(error)) as caught:
        open_model(wrapping(Failing(error, 2))).answer(batch)
    assert caught.value is error
    partial = attached_answers(error)
    assert partial is not None
    assert sorted(partial.ids.tolist()) == [0, 1, 2]
    right = open_model(wrapping(Failing(error, 9))).answer(batch).to_dense()
    assert np.array_equal(partial.rows.to_dense(), right[:3])


def test_nothing_is_lost_to_a_word_of_which_nothing_is_left() -> None:
    target = PDFA(
        alphabet="ab",
        transitions=[[1, 0], [1, 1]],
        probabilities=[[0.5, 0.4, 0.1], [0.0, 0.0, 1.0]],
    )
    guide = DFA(alphabet="ab", transitions=[[1, 0], [1, -1]], accepting=[True, True])
    batch = Batch.of([(), (0,), (1,), (1, 0), (1, 1)])
    for model in (target, RecordingModel(target)):
        with pytest.raises(ModelError, match=r"\('a',\): nothing is left") as caught:
            open_model(Temperature(Guided(model, guide), 1)).answer(batch)
        partial = attached_answers(caught.value)
        assert partial is not None
        words = [batch.spell(int(word)) for word in partial.ids]
        assert words == [[], [1], [1, 1]]
        assert np.allclose(partial.rows.to_dense(), [0.5, 0.4, 0.1])


def test_nothing_is_lost_to_rows_that_list_too_little() -> None:
    rows = Rows.sparse(3, [0, 2, 3, 4], [0, 1, 0, 0], [0.5, 0.5, 0.5, 1.0], rest=[0, 0.5, 0])
    model = FunctionModel(lambda words: rows, "ab")
    batch = Batch.of([(), (0,), (1,)])
    with pytest.raises(ModelError, match=r"\('a',\): it leaves open") as caught:
        open_model(Temperature(model, 2)).answer(batch)
    partial = attached_answers(caught.value)
    assert partial is not None
    assert partial.ids.tolist() == [0, 2]
    assert partial.rows.to_dense().tolist() == [[0.5, 0.5, 0], [1, 0, 0]]
