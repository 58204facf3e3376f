"""The form of what models and sessions return."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pdfalearn import Alphabet, AutomatonModel, ModelError, chain
from pdfalearn.models.checking import (
    checked_extension,
    checked_model_members,
    checked_room,
    checked_rows,
    checked_session,
    checked_shared,
    checked_start,
    close_quietly,
)
from pdfalearn.models.cost import QueryCost
from pdfalearn.models.protocol import LanguageModel, Session
from pdfalearn.rows import Rows
from pdfalearn.words import Words

WORDS = Words.of([[0, 1], [], [1, 1, 0]])


def session_with(**members: Any) -> Session:
    own: Session = type("Own", (Session,), members)()
    return own


def model_with(**members: Any) -> LanguageModel:
    own: LanguageModel = type("Own", (LanguageModel,), members)()
    return own


def one_line(error: pytest.ExceptionInfo[BaseException]) -> bool:
    return "\n" not in str(error.value)


@pytest.mark.parametrize("handle", [0, 7, np.int64(3), np.uint8(5)])
def test_a_start(handle: Any) -> None:
    found = checked_start(session_with(start=lambda self: handle))
    assert found == handle
    assert type(found) is int


@pytest.mark.parametrize(
    ("handle", "culprit"),
    [
        (None, "None"),
        (0.0, "0.0"),
        (True, "True"),
        (-2, "-2"),
        (2**70, "118059"),
        (np.array([0, 1]), r"array\(\[0, 1\]\)"),
        (-1, "-1: the empty word is undefined"),
    ],
)
def test_what_is_not_a_start(handle: Any, culprit: str) -> None:
    with pytest.raises(ModelError, match=f"Own.start returned {culprit}.*handle of the") as caught:
        checked_start(session_with(start=lambda self: handle))
    assert one_line(caught)


@pytest.mark.parametrize(
    "given",
    [
        np.array([1, 2, 3, 4, 5]),
        np.array([0, 0, -1, -1, -1], dtype=np.int32),
        [-1, -1, 3, 4, -1],
        np.array([1, 2, 3, 4, 5], dtype=np.uint64),
    ],
)
def test_an_extension(given: Any) -> None:
    handles = checked_extension(given, WORDS)
    assert handles.dtype == np.int64
    assert handles.tolist() == list(given)


def test_an_extension_by_nothing() -> None:
    empty: list[Any] = [np.array([]), [], np.empty(0, dtype=np.int64)]
    for given in empty:
        assert checked_extension(given, Words.of([[], []])).dtype == np.int64


@pytest.mark.parametrize(
    ("given", "culprit"),
    [
        (None, "returned None: .* 5 symbols"),
        (3, "returned 3: "),
        (np.arange(3), r"an array of shape \(3,\): .* of shape \(5,\)"),
        (np.zeros((5, 1), dtype=np.int64), r"shape \(5, 1\)"),
        (np.zeros(5), "an array of float64"),
        (["a"] * 5, "an array of <U1"),
        ([[1], [1, 2]], r"returned \[\[1\], \[1, 2\]\]"),
        (np.array([0, 1, 2, 3, -2]), "the handle -2 in word 2 of the batch: "),
        (np.array([-1, 0, 2, 3, 4]), "-1 and then a handle again in word 0"),
        (np.array([1, 0, -1, -1, 4]), "-1 and then a handle again in word 2"),
    ],
)
def test_what_is_not_an_extension(given: Any, culprit: str) -> None:
    with pytest.raises(ModelError, match=f"extend returned {culprit}|extend.*{culprit}") as caught:
        checked_extension(given, WORDS)
    assert one_line(caught)


def test_rooms() -> None:
    assert checked_room(session_with()) is None
    assert checked_room(session_with(room=3)) == 3
    assert checked_room(session_with(room=np.int64(10**6))) == 10**6
    for room in (3.5, 1, 0, -1, "much", True):
        with pytest.raises(ModelError, match=f"Own.room is {room!r}: .* at least 3") as caught:
            checked_room(session_with(room=room))
        assert one_line(caught)


def test_shared_is_true_or_false() -> None:
    assert checked_shared(session_with(shared=True)) is True
    assert checked_shared(session_with()) is False
    with pytest.raises(ModelError, match=r"Own.shared is 'yes': .* True or False"):
        checked_shared(session_with(shared="yes"))


def test_what_is_not_a_session() -> None:
    with pytest.raises(ModelError, match=r"Own.open returned None: .* subclass of Session"):
        checked_session(model_with(open=lambda self: None))
    assert isinstance(checked_session(AutomatonModel(chain(3))), Session)


DENSE = Rows.dense(np.full((2, 3), 1 / 3))
SPARSE = Rows.sparse(3, [0, 1, 3], [0, 0, 2], [1.0, 0.5, 0.5], rest=[0, 0], ceiling=[0, 0])


def changed(rows: Rows, **arrays: Any) -> Rows:
    other = rows.take(np.arange(len(rows)))
    for name, array in arrays.items():
        setattr(other, name, array)
    return other


def test_rows_are_returned_as_they_are() -> None:
    assert checked_rows(DENSE, 2, 3) is DENSE
    assert checked_rows(SPARSE, 2, 3) is SPARSE


@pytest.mark.parametrize(
    ("given", "culprit"),
    [
        (None, r"None: it has to return Rows, such as Rows\.dense\(table\)"),
        (np.full((2, 3), 1 / 3), r"array.*Rows\.dense"),
        (Rows.dense(np.full((2, 4), 1 / 4)), "rows of 4 columns: for 2 words .* 2 rows of 3"),
        (Rows.dense(np.full((1, 3), 1 / 3)), r"values have shape \(1, 3\), not \(2, 3\)"),
        (changed(DENSE, values=np.full(6, 1 / 3)), r"values have shape \(6,\)"),
        (changed(DENSE, values=DENSE.values.astype(str)), "values are an array of <U"),
        (changed(DENSE, values=DENSE.values.tolist()), "values are .* not an array"),
        (changed(DENSE, undefined=np.array([0, 1])), "undefined are an array of int64"),
        (changed(DENSE, outside=np.zeros(3)), r"outside have shape \(3,\), not \(2,\)"),
        (changed(SPARSE, offsets=np.array([0, 1])), r"offsets have shape \(2,\), not \(3,\)"),
        (changed(SPARSE, offsets=np.array([0, 4, 3])), "offsets that do not ascend"),
        (changed(SPARSE, offsets=np.array([1, 2, 3])), "offsets that do not ascend"),
        (changed(SPARSE, offsets=np.array([0, 1, 2])), r"values have shape \(3,\), not \(2,\)"),
        (changed(SPARSE, columns=np.array([0, 0])), r"columns have shape \(2,\), not \(3,\)"),
        (changed(SPARSE, columns=np.zeros(3)), "columns are an array of float64"),
        (changed(SPARSE, rest=np.zeros(1)), r"rest have shape \(1,\)"),
        (changed(SPARSE, ceiling=np.zeros((2, 1))), r"ceiling have shape \(2, 1\)"),
    ],
)
def test_what_is_not_rows(given: Any, culprit: str) -> None:
    with pytest.raises(ModelError, match=f"^read returned .*{culprit}") as caught:
        checked_rows(given, 2, 3)
    assert one_line(caught)


def test_members() -> None:
    members = checked_model_members(model_with(alphabet=Alphabet("ab"), fingerprint="own-1"))
    assert members == (Alphabet("ab"), "own-1", QueryCost(word=1, prefix=1))


def raising(error: Exception) -> property:
    def get(self: object) -> None:
        raise error

    return property(get)


@pytest.mark.parametrize(
    ("members", "culprit"),
    [
        ({}, "Own has no alphabet: set it to an Alphabet"),
        ({"alphabet": "ab"}, "Own.alphabet is 'ab'"),
        ({"alphabet": raising(OSError("gone"))}, "alphabet that raised OSError: gone"),
        ({"alphabet": raising(AttributeError("x"))}, "alphabet that raised AttributeError: x"),
        ({"fingerprint": 7}, "Own.fingerprint is 7: set it to a text"),
        ({"fingerprint": ""}, "Own.fingerprint is '': set it to a text that is not empty"),
        ({"fingerprint": raising(ValueError("two\nlines"))}, "raised ValueError: two lines: set"),
        ({"cost": 1.0}, "Own.cost is 1.0: set it to a QueryCost"),
        ({"cost": None}, "Own.cost is None"),
        ({"cost": raising(KeyError())}, "cost that raised KeyError: set"),
    ],
)
def test_members_that_are_wrong(members: dict[str, Any], culprit: str) -> None:
    alphabet = {"alphabet": Alphabet("ab")} if members and "alphabet" not in members else {}
    with pytest.raises(ModelError, match=culprit) as caught:
        checked_model_members(model_with(**alphabet, **members))
    assert one_line(caught)


@pytest.mark.parametrize("error", [OSError("no\nline"), KeyboardInterrupt(), SystemExit(3)])
def test_closing_never_raises(error: BaseException) -> None:
    def close(self: object) -> None:
        raise error

    note = close_quietly(session_with(close=close))
    assert note is not None
    assert note.startswith(f"Own.close raised {type(error).__name__}")
    assert "\n" not in note
    assert close_quietly(session_with()) is None
