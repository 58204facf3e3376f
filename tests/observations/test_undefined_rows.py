"""Words that are undefined by their answer, as a function says it, and not by a handle."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import pytest

from pdfalearn import PDFA, FunctionModel, Quantization, learn
from pdfalearn.datasets import random_pdfa
from pdfalearn.models.protocol import EVERY_SYMBOL, EVERY_WORD, FREE, QueryCost
from pdfalearn.oracles import ExactOracle
from pdfalearn.rows import Rows
from tests.learners.checks import assert_is_quotient
from tests.models.watched import WatchedModel
from tests.observations.ways import one_by_one

BY = Quantization(100)
Batch = Sequence[tuple[object, ...]]
Answered = Callable[[PDFA, Batch], Any]


def with_none(target: PDFA, words: Batch) -> Any:
    """A list with None for undefined words."""
    rows = [target.next_distribution(word) for word in words]
    return [None if row is None else row.tolist() for row in rows]


def with_nan(target: PDFA, words: Batch) -> Any:
    """An array with a row of NaN for undefined words."""
    rows = with_none(target, words)
    width = len(target.alphabet) + 1
    return np.array([[np.nan] * width if row is None else row for row in rows])


def with_flags(target: PDFA, words: Batch) -> Any:
    """Dense rows with flags."""
    table = with_nan(target, words)
    return Rows.dense(np.nan_to_num(table, nan=7.0), undefined=np.isnan(table[:, 0]))


def with_lists(target: PDFA, words: Batch) -> Any:
    """Sparse rows that list what is defined."""
    table, states = with_nan(target, words), target.states_after(words)
    listed = np.column_stack((states >= -1, (target.transitions >= 0)[states]))
    listed[states < 0, 1:] = False
    return Rows.sparse(
        table.shape[1],
        np.append(0, np.cumsum(listed.sum(axis=1))),
        listed.nonzero()[1],
        np.nan_to_num(table)[listed],
        undefined=states < 0,
    )


@pytest.mark.parametrize("answered", [with_none, with_nan, with_flags, with_lists])
@pytest.mark.parametrize("room", [None, 3, 8])
@pytest.mark.parametrize("cost", [FREE, EVERY_WORD, EVERY_SYMBOL], ids=["free", "word", "symbol"])
@pytest.mark.parametrize("symbols", [1, 3, 40])
@pytest.mark.parametrize("few", [True, False])
def test_undefined_words_are_learnt(
    answered: Answered, room: int | None, cost: QueryCost, symbols: int, few: bool
) -> None:
    for seed in range(2):
        target = random_pdfa(15, symbols, zero_probability=0.5, undefined=True, seed=seed)
        function = FunctionModel(partial(answered, target), target.alphabet)
        model = WatchedModel(function, capacity=room, cost=cost)
        with one_by_one(few):
            result = learn(
                model, equivalence=BY, oracle=ExactOracle(target, equivalence=BY), audit=0
            )
        assert_is_quotient(result.pdfa, target, BY)
        assert result.notes == ()
        assert not model.open_count
        assert len(set(model.asked)) == len(model.asked)
