"""The watched model, which other tests rely on, sees what is wrong."""

from __future__ import annotations

import numpy as np
import pytest

from pdfalearn import PDFA, AutomatonModel, FunctionModel
from pdfalearn.models.cost import EVERY_SYMBOL, FREE
from pdfalearn.words import Words
from tests.models.watched import WatchedModel

TARGET = PDFA(alphabet="ab", transitions=[[0, -1]], probabilities=[[0.5, 0.5, 0.0]])


def test_questions_are_written_down() -> None:
    model = WatchedModel(AutomatonModel(TARGET), room=4)
    assert model.cost == FREE
    assert WatchedModel(AutomatonModel(TARGET), cost=EVERY_SYMBOL).cost == EVERY_SYMBOL
    session = model.open()
    assert session.room == 4
    start = np.array([session.start()])
    handles = session.extend(start, Words.of([[0, 0, 1]]))
    assert handles[-1] == -1
    session.read(handles[:2])
    session.read(start)
    assert model.batches == [[(0,), (0, 0)], [()]]
    assert model.asked == [(0,), (0, 0), ()]
    assert (model.symbols, model.most_live, model.live) == (3, 3, 3)
    session.release(handles[:1])
    assert (model.most_live, model.live) == (3, 2)
    session.close()
    assert (model.live, model.open_sessions) == (0, 0)


def test_handles_are_watched() -> None:
    model = WatchedModel(AutomatonModel(TARGET), room=3)
    session, other = model.open(), model.open()
    start = np.array([session.start()])
    with pytest.raises(AssertionError, match="another session's"):
        other.read(start)
    (handle,) = session.extend(start, Words.of([[0]]))
    session.release(np.array([handle]))
    with pytest.raises(AssertionError, match="were released"):
        session.read(np.array([handle]))
    with pytest.raises(AssertionError):
        session.extend(start, Words.of([[0, 0, 0]]))  # no room
    session.close()
    with pytest.raises(AssertionError, match="closed"):
        session.start()
    with pytest.raises(AssertionError, match="closed"):
        session.read(start)


def test_undefined_words_are_watched() -> None:
    session = WatchedModel(AutomatonModel(TARGET)).open()
    start = np.array([session.start()])
    session.extend(np.repeat(start, 2), Words.of([[1], [1]]))
    with pytest.raises(AssertionError):
        session.extend(start, Words.of([[1, 0]]))
    function = FunctionModel(lambda words: [[np.nan] * 3 for _ in words], "ab")
    session = WatchedModel(function).open()
    start = np.array([session.start()])
    after = session.extend(start, Words.of([[1]]))
    session.read(after)
    with pytest.raises(AssertionError):
        session.extend(after, Words.of([[1]]))
