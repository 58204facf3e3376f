"""What the command line puts around a user's model changes nothing but its errors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from pdfalearn import Alphabet, LanguageModel, TopK
from pdfalearn.cli._user_code import ExplainedModel
from pdfalearn.datasets import figure_3
from pdfalearn.errors import ModelError
from pdfalearn.models import QueryCost, Rows
from pdfalearn.models.batch import Batch
from pdfalearn.models.opened import open_model
from pdfalearn.models.protocol import attach_answers, attached_answers
from pdfalearn.testing import check_model


class Own(LanguageModel):
    """A model that says much about itself, and fails at long words."""

    alphabet = Alphabet("a")
    cost = QueryCost(word=3)
    full_support = needs_prefixes = is_constrained = True

    def answer(self, batch: Batch) -> Rows:
        rows = Rows.dense(np.full((batch.count, 2), 0.5))
        if batch.count > 3:
            error = OSError("gone")
            attach_answers(error, batch.wanted_ids[:2], rows.take(np.arange(2)))
            raise error
        return rows

    def answers_by_copy(self, word: Sequence[int]) -> dict[str, str]:
        return {"copy": str(len(word))}


def test_what_a_model_says_about_itself_is_passed_on() -> None:
    explained = ExplainedModel(Own(), "own.py:model", "mine")
    assert explained.is_constrained
    for model in (explained, open_model(explained)):
        assert (model.alphabet, model.cost, model.fingerprint) == (Own.alphabet, Own.cost, "mine")
        assert model.full_support
        assert model.needs_prefixes
        assert model.answers_by_copy([0, 0]) == {"copy": "2"}
    check_model(ExplainedModel(TopK(figure_3(), 1), "own.py:model"))


def test_what_was_answered_before_an_error_is_passed_on() -> None:
    opened = open_model(ExplainedModel(Own(), "own.py:model"))
    with pytest.raises(ModelError, match=r"own.py:model failed with OSError: gone, l") as caught:
        opened.answer(Batch.of([0] * length for length in range(5)))
    answered = attached_answers(caught.value)
    assert answered is not None
    assert answered.ids.tolist() == [0, 1]
    assert answered.rows.values.tolist() == [[0.5, 0.5]] * 2
