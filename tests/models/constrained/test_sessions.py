"""Sessions of wrappers: how they begin and end, and models inside that break the protocol."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pdfalearn import DFA, PDFA, AutomatonModel, Guided, LanguageModel, ModelError
from pdfalearn.models.automaton import AutomatonSession
from pdfalearn.models.constrained import guided
from pdfalearn.row_checks import BadRowError
from pdfalearn.rows import Rows
from pdfalearn.words import Words
from tests.models.constrained.sessions import WRAPPINGS, SessionOf, Wrapping
from tests.models.watched import WatchedModel

LOOP = PDFA(alphabet="ab", transitions=[[0, 0]], probabilities=[[0.4, 0.4, 0.2]])
EVERY_WRAPPING = pytest.mark.parametrize("wrapping", WRAPPINGS.values(), ids=WRAPPINGS)


class Spoilt(AutomatonSession):
    """Returns something else from one method."""

    def __init__(self, method: str, given: object) -> None:
        super().__init__(LOOP)
        setattr(self, method, lambda *_: given)


def spoilt(method: str, given: object) -> LanguageModel:
    return SessionOf(AutomatonModel(LOOP), Spoilt(method, given))


@EVERY_WRAPPING
def test_sessions_are_those_of_the_model_inside(wrapping: Wrapping) -> None:
    inside = WatchedModel(AutomatonModel(LOOP), room=5)
    model = wrapping(inside)
    first, second = model.open(), model.open()
    assert inside.open_sessions == 2
    assert (first.room, first.shared) == (5, False)
    starts = [np.array([session.start()]) for session in (first, second)]
    handles = first.extend(starts[0], Words.of([[0, 0]]))
    assert inside.live == 4
    assert np.array_equal(first.read(handles).to_dense(), first.read(handles).to_dense())
    first.release(np.append(handles, starts[0]))
    assert inside.live == 1
    second.close()
    assert (inside.open_sessions, inside.live) == (1, 0)
    with pytest.raises(AssertionError, match="closed"):
        second.extend(starts[1], Words.of([[0]]))
    third = model.open()
    with pytest.raises(AssertionError, match="another session's"):
        third.read(handles)


@EVERY_WRAPPING
def test_handles_of_states_stay_shared(wrapping: Wrapping) -> None:
    session = wrapping(AutomatonModel(LOOP)).open()
    assert session.shared
    assert session.room is None
    start = np.array([session.start()])
    assert session.extend(start, Words.of([[0, 0]])).tolist() == [start[0]] * 2


def test_what_goes_wrong_behind_open_closes_the_session_inside(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: object) -> None:
        raise KeyboardInterrupt

    inside = WatchedModel(AutomatonModel(LOOP))
    guide = DFA(alphabet="ab", transitions=[[0, 0]], accepting=[True])
    model = Guided(WRAPPINGS["top-k"](inside), guide)
    monkeypatch.setattr(guided.GuidedSession, "__init__", fail)
    with pytest.raises(KeyboardInterrupt):
        model.open()
    assert inside.open_sessions == 0


@EVERY_WRAPPING
@pytest.mark.parametrize("given", [None, "a", 1.5, [0]])
def test_a_start_that_is_not_a_handle(given: Any, wrapping: Wrapping) -> None:
    session = wrapping(spoilt("start", given)).open()
    with pytest.raises(ModelError, match=r"start gave .*; it has to give the handle of the empty"):
        session.start()


@EVERY_WRAPPING
@pytest.mark.parametrize(
    ("given", "named"),
    [
        (None, "None"),
        (np.zeros(3, dtype=np.int64), r"an array of int64 of shape \(3,\)"),
        (np.zeros(1), r"an array of float64 of shape \(1,\)"),
        ([0], r"the list \[0\]"),
    ],
)
def test_an_extend_that_does_not_give_handles(
    given: object, named: str, wrapping: Wrapping
) -> None:
    session = wrapping(spoilt("extend", given)).open()
    start = np.array([session.start()])
    with pytest.raises(ModelError, match=f"extend gave {named} for words of 1 symbols in all"):
        session.extend(start, Words.of([[0]]))


@EVERY_WRAPPING
@pytest.mark.parametrize("given", ["a", np.zeros((1, 2)), np.zeros(2, bool), Words.of([[], []])])
def test_possible_symbols_of_another_form(given: object, wrapping: Wrapping) -> None:
    session = wrapping(spoilt("possible", given)).open()
    start = np.array([session.start()])
    with pytest.raises(ModelError, match=r"possible gave .* for 1 handles; it has to give"):
        session.possible(start)


def test_an_open_that_gives_no_session() -> None:
    class Closed(AutomatonModel):
        def open(self) -> Any:
            return None

    with pytest.raises(ModelError, match="open gave None; it has to give a Session"):
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
    ],
)
def test_answers_of_another_form(given: object, wrapping: Wrapping) -> None:
    session = wrapping(spoilt("read", given)).open()
    start = np.array([session.start()])
    with pytest.raises(BadRowError, match=r"array|fit together"):
        session.read(start)
