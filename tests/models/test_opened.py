"""The border: models that are opened, asked for words, and checked."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdfalearn import PDFA, Alphabet, FunctionModel
from pdfalearn.datasets import chain, figure_1
from pdfalearn.errors import InputError, ModelError
from pdfalearn.models import AutomatonModel
from pdfalearn.models.batch import Batch
from pdfalearn.models.opened import (
    BadAnswerError,
    CheckedModel,
    ask_words,
    check_members,
    close_quietly,
    open_model,
)
from pdfalearn.models.protocol import LanguageModel, QueryCost, attach_answers, attached_answers
from pdfalearn.row_checks import BadRowError, check_answer
from pdfalearn.rows import Rows
from pdfalearn.words import Words
from tests.models.networks import needed_torch
from tests.strategies import pdfas
from tests.testing.keeping import Keeping

AB = Alphabet("ab")


def model_with(**members: Any) -> LanguageModel:
    own: LanguageModel = type("Own", (LanguageModel,), {"alphabet": AB, **members})()
    return own


def one_line(error: pytest.ExceptionInfo[BaseException]) -> bool:
    return "\n" not in str(error.value)


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
    room = data.draw(st.sampled_from([None, 1, 5]))
    most = data.draw(st.sampled_from([1, 64, 200, 2**26]))
    model = Keeping(pdfa, room, sparse=sparse)
    rows = ask_words(model, Words.of(words), most_bytes=most)
    check_answers(pdfa, words, rows)
    assert len(model.opened) == (len(words) > 0)
    for opened in model.opened:
        assert opened.closed == 1
        assert sum(opened.counts) == len(set(map(tuple, words)))
        assert all(count <= max(1, most // (8 * rows.width)) for count in opened.counts)
    check_answers(pdfa, words, ask_words(AutomatonModel(pdfa), Words.of(words), most_bytes=most))


def test_the_words_of_a_function_are_asked_in_groups() -> None:
    calls: list[int] = []

    def function(words: list[Any]) -> list[list[float]]:
        calls.append(len(words))
        return [[0.5, 0.25, 0.25] for _ in words]

    words = Words.of([[0], [1], [], [0, 1], [1, 1], [0]])
    rows = ask_words(FunctionModel(function, "ab"), words, most_bytes=50)
    assert (len(rows), calls) == (6, [2, 2, 1])


def test_no_words_at_all() -> None:
    rows = ask_words(FunctionModel(lambda _: 1 / 0, "ab"), Words.of([]))
    assert (len(rows), rows.width) == (0, 3)


def test_a_model_that_is_its_own_is_not_closed() -> None:
    model = model_with(answer=lambda self, batch: [[1, 0, 0]], close=lambda self: 1 / 0)
    opened = open_model(model)
    opened.close()
    assert opened.answer(Batch.of([()])).values.tolist() == [[1, 0, 0]]


def test_rows_of_wrappers_and_automata_are_not_checked_again() -> None:
    assert type(open_model(AutomatonModel(figure_1()))) is type(AutomatonModel(figure_1()).open())
    inner = type("Checked", (CheckedModel,), {"answer": lambda self, batch: "as it is"})()
    rows: object = open_model(model_with(open=lambda self: inner)).answer(Batch.of([()]))
    assert rows == "as it is"


@pytest.mark.parametrize("given", [None, "model", 7, [], Words.of([])])
def test_what_is_not_opened(given: Any) -> None:
    with pytest.raises(ModelError, match=r"Own.open returned .*LanguageModel, such as") as caught:
        open_model(model_with(open=lambda self: given))
    assert one_line(caught)


def test_bad_answers_are_named_with_the_word_and_models_closed() -> None:
    model = Keeping(chain(3))
    opened = model.open()
    model.open = lambda: opened  # type: ignore[method-assign]
    opened.answer = lambda batch: [[0.5, 0.5]] * (batch.count - 1) + [[0.5, 0.4]]  # type: ignore
    with pytest.raises(BadAnswerError, match=r"answer to the word \('a', 'a'\): .*0\.9") as caught:
        ask_words(model, Words.of([[], [0, 0], [0]]))
    assert caught.value.word_id == 2
    assert model.opened[0].closed == 1


def test_errors_of_the_model_are_its_own() -> None:
    def fail(self: object, batch: object = None) -> Any:
        raise ConnectionError("the line is dead")

    def close(self: object) -> None:
        raise OSError("so is this")

    opened = model_with(answer=fail, close=close)
    model = model_with(open=lambda self: opened)
    with pytest.raises(ConnectionError, match="the line is dead") as caught:
        ask_words(model, Words.of([[0]]))
    assert caught.value.__notes__ == ["Own.close raised OSError: so is this"]
    opened.answer = lambda batch: [[1.0, 0.0, 0.0]]  # type: ignore
    assert len(ask_words(model, Words.of([[0]]))) == 1  # how a model ends is never the outcome
    with pytest.raises(NotImplementedError, match="Own has no method answer"):
        ask_words(model_with(), Words.of([[0]]))


@pytest.mark.parametrize(("sums", "kept"), [([1.0, 1.0], [0, 1]), ([0.9, 1.0], [1])])
def test_answers_before_an_error_are_checked(sums: list[float], kept: list[int]) -> None:
    def fail(self: object, batch: Batch) -> Any:
        error = ConnectionError("the line is dead")
        table = np.array([[total / 2, total / 2, 0] for total in sums])
        attach_answers(error, batch.wanted_ids[:2], Rows.dense(table))
        raise error

    with pytest.raises(ConnectionError) as caught:
        open_model(model_with(answer=fail)).answer(Batch.of([(), (0,), (1,)]))
    answered = attached_answers(caught.value)
    assert answered is not None
    assert answered.ids.tolist() == kept
    assert len(answered.rows) == len(kept)


GOOD, BAD = [0.5, 0.25, 0.25], [0.5, 0.25, 0.5]
TABLE = np.array([GOOD, BAD])
LISTED = Rows.sparse(3, [0, 2, 4, 6], [0, 1] * 3, [0.5, 0.5, 0.5, 0.6, 1.0, 0.0])
MARKED = Rows.dense(np.array([GOOD] * 3), impossible=np.array([[0, 0], [1, 0], [0, 0]], dtype=bool))
SHARING = Rows.shared(TABLE, np.array([0, 1, 0]))
UNUSED = Rows.shared(np.array([BAD, GOOD, BAD]), np.array([1, 0, 1]))


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ([GOOD, BAD, GOOD], [0, 3]),
        ([GOOD, "nothing", GOOD], [0, 3]),
        ([None, BAD, GOOD], [0, 3]),
        ([GOOD, GOOD[:2], BAD], [0]),
        (np.array([BAD, BAD, GOOD]), [3]),
        ([BAD] * 3, []),
        ([GOOD, GOOD], []),
        (None, []),
        (LISTED, [0, 3]),
        (MARKED, [0, 3]),
        (SHARING, [0, 3]),
        (UNUSED, [0, 3]),
    ],
)
def test_a_bad_row_does_not_lose_the_others(given: Any, kept: list[int]) -> None:
    model = model_with(answer=lambda self, batch: given)
    with pytest.raises(BadAnswerError) as caught:
        open_model(model).answer(Batch.of([(), (0, 1), (1,)]).select(np.arange(3)))
    answered = attached_answers(caught.value)
    assert answered is not None
    assert answered.ids.tolist() == kept
    rows = check_answer(answered.rows, len(kept), 3, AB)
    undefined = np.zeros(len(kept), dtype=bool) if rows.undefined is None else rows.undefined
    assert rows.to_dense()[~undefined].sum() == (~undefined).sum()


def test_a_table_with_bad_rows_is_checked_again() -> None:
    numbers = [np.array([0]), np.array([1])]
    model = model_with(answer=lambda self, batch: Rows.shared(TABLE, numbers.pop(0)))
    opened = open_model(model)
    assert opened.answer(Batch.of([()])).values.tolist() == [GOOD]
    with pytest.raises(BadAnswerError, match=r"sums to 1\.25"):
        opened.answer(Batch.of([()]))


def test_marks_in_shared_rows_are_named_with_the_word() -> None:
    marks = np.array([[False, False]] * 3 + [[True, False]])
    rows = Rows.shared(np.array([GOOD] * 4), np.array([0, 3]), impossible=marks)
    model = model_with(answer=lambda self, batch: rows)
    with pytest.raises(BadAnswerError, match=r"word \('b',\): it gives the symbol 'a' probability"):
        open_model(model).answer(Batch.of([(), (1,)]))


@pytest.mark.parametrize("error", [OSError("no\nline"), KeyboardInterrupt(), SystemExit(3)])
def test_closing_never_raises(error: BaseException) -> None:
    def close(self: object) -> None:
        raise error

    opened = model_with(close=close)
    note = close_quietly(open_model(model_with(open=lambda self: opened)))
    assert note is not None
    assert note.startswith(f"Own.close raised {type(error).__name__}")
    assert "\n" not in note
    assert close_quietly(open_model(model_with())) is None


def test_members() -> None:
    members = check_members(model_with(fingerprint="own-1"))
    assert members == (AB, "own-1", QueryCost(word=1, prefix=1))


def test_a_fingerprint_is_read_once_at_opening() -> None:
    read = iter(["own-1", "own-2"])
    model = model_with(fingerprint=property(lambda _: next(read)))
    assert open_model(model).fingerprint == "own-1"
    assert next(read) == "own-2"


def raising(error: Exception) -> property:
    def get(self: object) -> None:
        raise error

    return property(get)


@pytest.mark.parametrize(
    ("members", "culprit"),
    [
        ({"alphabet": "ab"}, "Own.alphabet is 'ab': set it to an Alphabet"),
        ({"alphabet": raising(OSError("gone"))}, "alphabet that raised OSError: gone"),
        ({"alphabet": raising(AttributeError("x"))}, "alphabet that raised AttributeError: x"),
        ({"fingerprint": 7}, "Own.fingerprint is 7: set it to a text"),
        ({"fingerprint": ""}, "Own.fingerprint is '': set it to a text that is not empty"),
        ({"fingerprint": raising(ValueError("two\nlines"))}, "raised ValueError: two lines: set"),
        ({"cost": 1.0}, "Own.cost is 1.0: set it to a QueryCost"),
        ({"cost": None}, "Own.cost is None"),
        ({"cost": raising(KeyError())}, "cost that raised KeyError: set"),
        ({"full_support": 1}, "Own.full_support is 1: set it to True or False"),
        ({"needs_prefixes": None}, "Own.needs_prefixes is None: set it to True or False"),
    ],
)
def test_members_that_are_wrong(members: dict[str, Any], culprit: str) -> None:
    for check in (check_members, open_model):
        with pytest.raises(ModelError, match=culprit) as caught:
            check(model_with(**members))
        assert one_line(caught)
    with pytest.raises(ModelError, match="Own has no alphabet: set it to an Alphabet"):
        check_members(type("Own", (LanguageModel,), {})())


DENSE = Rows.dense(np.full((2, 3), 1 / 3), impossible=np.zeros((2, 2), dtype=bool))
SPARSE = Rows.sparse(3, [0, 1, 3], [0, 0, 2], [1.0, 0.5, 0.5], rest=[0, 0], ceiling=[0, 0])
SHARED = Rows.shared(np.full((1, 3), 1 / 3), np.zeros(2, dtype=np.int64))


def changed(rows: Rows, **arrays: Any) -> Rows:
    other = rows.take(np.arange(len(rows)))
    for name, array in arrays.items():
        setattr(other, name, array)
    return other


def test_rows_are_returned_as_they_are() -> None:
    for rows in (DENSE, SPARSE, SHARED):
        checked = check_answer(rows, 2, 3, AB)
        assert np.array_equal(checked.to_dense(), rows.to_dense())
        assert checked.is_sparse == rows.is_sparse


@pytest.mark.parametrize(
    ("given", "culprit"),
    [
        (None, "it is not an array of numbers"),
        (np.full((2, 3), 1e308), "sums to inf, not to 1"),
        (changed(SPARSE, values=np.full(3, 1e308), ceiling=np.full(2, 1e308)), "not sum to 1"),
        (np.full((2, 4), 1 / 4), r"shape \(2, 4\), not \(2, 3\): for 2 words .* 2 rows of 3"),
        (Rows.dense(np.full((1, 3), 1 / 3)), r"for 2 words has shape \(1, 3\), not \(2, 3\)"),
        (changed(DENSE, values=np.full(6, 1 / 3)), r"has shape \(6,\)"),
        (changed(DENSE, values=DENSE.values.astype(str)), "values are an array of <U"),
        (changed(DENSE, values=DENSE.values.tolist()), "values are .* not an array"),
        (changed(DENSE, undefined=np.array([0, 1])), "undefined are an array of int64"),
        (changed(DENSE, outside=np.zeros(3)), r"outside have shape \(3,\), not \(2,\)"),
        (changed(DENSE, outside=np.array([0.5, -0.5])), "outside of the alphabet is not from 0"),
        (changed(DENSE, impossible=np.zeros((2, 3), bool)), r"impossible have shape \(2, 3\)"),
        (changed(DENSE, impossible=np.ones((2, 2), bool)), "'a' probability 0.333333, and says"),
        (changed(SPARSE, offsets=np.array([0, 1])), r"offsets have shape \(2,\), not \(3,\)"),
        (changed(SPARSE, offsets=np.array([0, 4, 3])), "offsets that do not ascend"),
        (changed(SPARSE, offsets=np.array([1, 2, 3])), "offsets that do not ascend"),
        (changed(SPARSE, offsets=np.array([0, 1, 2])), r"values have shape \(3,\), not \(2,\)"),
        (changed(SPARSE, columns=np.array([0, 0])), r"columns have shape \(2,\), not \(3,\)"),
        (changed(SPARSE, columns=np.zeros(3)), "columns are an array of float64"),
        (changed(SPARSE, rest=np.zeros(1)), r"rest have shape \(1,\)"),
        (changed(SPARSE, ceiling=np.zeros((2, 1))), r"ceiling have shape \(2, 1\)"),
        (changed(SHARED, numbers=np.array([0, 1])), "numbers of shared rows .* from 0 to 0"),
        (changed(SHARED, numbers=np.array([0])), "shared rows have another shape"),
    ],
)
def test_what_is_not_rows(given: Any, culprit: str) -> None:
    with pytest.raises(BadRowError, match=culprit) as caught:
        check_answer(given, 2, 3, AB)
    assert one_line(caught)


def test_masks_are_refused_and_not_ignored() -> None:
    masked = np.ma.masked_array([[0.5, 0.25, 0.25]] * 2, mask=[[False] * 3, [False, True, False]])
    for answer in (masked, list(masked), Rows.dense(masked)):
        with pytest.raises(BadRowError, match="mask"):
            check_answer(answer, 2, 3, AB)


def test_a_gradient_is_left_behind() -> None:
    torch = needed_torch()
    row = torch.tensor([0.5, 0.25, 0.25], requires_grad=True)
    for answer in (row.repeat(2, 1), [row, row], [row, None], [row, [0.5, 0.25, 0.25]]):
        rows = check_answer(answer, 2, 3, AB)
        assert rows.values[0].tolist() == [0.5, 0.25, 0.25]


def test_a_model_that_is_opened_needs_no_answer_of_its_own() -> None:
    closed: list[bool] = []
    opened = model_with(answer=lambda self, batch: "rows", close=lambda self: closed.append(True))
    rows: object = model_with(open=lambda self: opened).answer(Batch.of([()]))
    assert (rows, closed) == ("rows", [True])
    with pytest.raises(NotImplementedError, match="Own has no method answer"):
        model_with(open=lambda self: model_with(open=lambda _: self)).answer(Batch.of([()]))


def test_negative_symbols_are_refused() -> None:
    with pytest.raises(InputError, match="the symbol -1 is negative; words are lists of positions"):
        Batch.of([(0, 1), (0, -1)])
