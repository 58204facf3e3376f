"""The watched model, which other tests rely on, sees what is wrong."""

from __future__ import annotations

import numpy as np
import pytest

from pdfalearn import PDFA, FunctionModel
from pdfalearn.models import AutomatonModel
from pdfalearn.models.batch import Batch, Lineage
from pdfalearn.models.protocol import EVERY_SYMBOL, FREE
from tests.models.watched import WatchedModel

TARGET = PDFA(alphabet="ab", transitions=[[0, -1]], probabilities=[[0.5, 0.5, 0.0]])


def test_questions_are_written_down() -> None:
    model = WatchedModel(AutomatonModel(TARGET), capacity=4)
    assert model.cost == FREE
    assert WatchedModel(AutomatonModel(TARGET), cost=EVERY_SYMBOL).cost == EVERY_SYMBOL
    opened = model.open()
    opened.answer(Batch.of([[0, 0], [0, 0, 1], []]))
    assert model.batches == [[(), (0, 0), (0, 0, 1)]]
    assert model.asked == [(), (0, 0), (0, 0, 1)]
    assert (model.symbols, model.undefined, model.open_count) == (3, 1, 1)
    opened.close()
    assert model.open_count == 0
    with pytest.raises(AssertionError, match="closed"):
        opened.answer(Batch.of([[0]]))
    with pytest.raises(AssertionError, match="closed"):
        opened.close()


def test_batches_are_watched() -> None:
    opened = WatchedModel(AutomatonModel(TARGET)).open()
    opened.answer(Batch.of([[0]]))
    with pytest.raises(AssertionError, match="another word"):
        opened.answer(Batch.of([[1]]))
    batch = Batch.of([[0, 0]])
    lineage = Lineage(batch.lineage.parents, batch.lineage.symbols)
    wrong = Batch(batch.ids, batch.parents, batch.symbols + 1, batch.wanted, lineage)
    with pytest.raises(AssertionError):
        WatchedModel(AutomatonModel(TARGET)).open().answer(wrong)
    backwards = Batch.of_ids(batch.ids[::-1].copy(), np.ones(2, dtype=bool), lineage)
    with pytest.raises(AssertionError):
        WatchedModel(AutomatonModel(TARGET)).open().answer(backwards)


def test_undefined_words_are_watched() -> None:
    function = FunctionModel(lambda words: [None if word else [1, 0, 0] for word in words], "ab")
    opened = WatchedModel(function).open()
    batch = Batch.of([[1, 0], [1]])
    opened.answer(batch.select(np.array([0])))
    with pytest.raises(AssertionError):
        opened.answer(batch.select(np.array([1])))
