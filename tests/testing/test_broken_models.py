"""Models that break the protocol, one way each: what is wrong is named."""

from __future__ import annotations

import numpy as np
import pytest

from pdfalearn.errors import ModelError
from pdfalearn.rows import Rows
from pdfalearn.testing import check_model
from tests.testing.broken import BROKEN, function, opened, own, raising, rows_of


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", BROKEN)
def test_what_is_wrong_is_named(name: str, seed: int) -> None:
    culprit, make = BROKEN[name]
    with pytest.raises(ModelError, match=culprit) as caught:
        check_model(make(), seed=seed)
    assert "\n" not in str(caught.value)


def test_they_are_many() -> None:
    assert len(BROKEN) >= 50


def test_what_is_changed_here_passes_as_it_was() -> None:
    check_model(own())
    check_model(opened())
    check_model(opened(3))
    check_model(function(lambda word: [0.2, 0.3, 0.5], full_support=True))
    check_model(rows_of(Rows.dense(np.full((1, 4), 0.25))))


def test_models_are_closed_when_something_is_wrong() -> None:
    model = opened(answer=lambda self, batch: None)
    with pytest.raises(ModelError, match="the model's answer to the word"):
        check_model(model)
    assert [each.closed for each in model.opened] == [1]


def test_what_else_goes_wrong_in_closing_is_a_note() -> None:
    model = opened(answer=lambda self, batch: None, close=raising(OSError("already gone")))
    with pytest.raises(ModelError, match="the model's answer") as caught:
        check_model(model)
    assert caught.value.__notes__ == ["Changed.close raised OSError: already gone"]


def test_interruptions_are_not_errors_of_the_model() -> None:
    with pytest.raises(KeyboardInterrupt):
        check_model(opened(answer=raising(KeyboardInterrupt())))
