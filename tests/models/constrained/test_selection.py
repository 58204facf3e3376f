"""Top-k and top-p ask the model inside level by level, and for each word once."""

from __future__ import annotations

import numpy as np
import pytest

from pdfalearn import PDFA, Guided, Temperature, TopK, TopP
from pdfalearn.datasets import random_pdfa
from pdfalearn.errors import ModelError
from pdfalearn.languages import DFA
from pdfalearn.models.batch import Batch
from pdfalearn.models.constrained.top import Supports
from pdfalearn.models.opened import open_model
from pdfalearn.models.protocol import EVERY_SYMBOL, EVERY_WORD, FREE, QueryCost
from pdfalearn.rows import Rows
from tests.models.constrained.inside import (
    RecordingModel,
    SparseModel,
    Wrapping,
    may_follow,
    rows_after,
)

LOOP = PDFA(alphabet="abc", transitions=[[0, 0, 0]], probabilities=[[0.2, 0.4, 0.3, 0.1]])
BOTH = pytest.mark.parametrize(
    "wrap", [lambda inside: TopK(inside, 3), lambda inside: TopP(inside, 0.9)], ids=["k", "p"]
)


@BOTH
def test_prefixes_are_asked_for_once_and_nothing_is_beyond_a_cut(wrap: Wrapping) -> None:
    inside = RecordingModel(LOOP)
    words = [(0,), (0, 1), (0, 1, 0), (1,), (1, 2), (1, 2, 0)]
    rows = rows_after(wrap(inside), *words)
    assert rows.undefined is not None
    assert rows.undefined.tolist() == [False, False, False, False, True, True]
    assert np.allclose(rows.to_dense()[:4], [2 / 9, 4 / 9, 3 / 9, 0])
    assert sorted(inside.asked) == [(), (0,), (0, 1), (0, 1, 0), (1,)]
    assert inside.met == {(), (0,), (0, 1), (0, 1, 0), (1,)}


@BOTH
def test_a_long_word_alone_is_asked_for_with_its_prefixes(wrap: Wrapping) -> None:
    inside = RecordingModel(LOOP)
    rows_after(wrap(inside), (0, 1, 0))
    assert inside.asked == [(), (0,), (0, 1), (0, 1, 0)]


@BOTH
def test_what_was_asked_in_an_earlier_batch_is_not_asked_again(wrap: Wrapping) -> None:
    inside = RecordingModel(LOOP)
    opened = open_model(wrap(inside))
    batch = Batch.of([(), (0,), (0, 1), (0, 1, 0), (2,), (2, 1)])
    for level in batch.levels():
        ids = batch.ids[level]
        rows = opened.answer(Batch.of_ids(ids, np.ones(len(ids), dtype=bool), batch.lineage))
    assert inside.asked == [(), (0,), (0, 1), (0, 1, 0)]
    assert rows.undefined is None
    opened.answer(batch.select(np.array([4])))  # (2, 1) once more
    assert len(inside.asked) == 4


def test_what_is_cut_is_marked_as_impossible() -> None:
    rows = rows_after(TopK(RecordingModel(LOOP), 2), (), (0,))
    assert may_follow(rows) == [{0, 1}, {0, 1}]
    zero = PDFA(alphabet="abc", transitions=[[0, 0, -1]], probabilities=[[0.5, 0.5, 0, 0]])
    assert may_follow(rows_after(TopP(zero, 1), ())) == [{0}]
    assert may_follow(rows_after(Temperature(zero, 2), ())) == [{0, 1}]


def test_a_long_word_is_refused_where_it_cannot_be_decided() -> None:
    target = PDFA(
        alphabet="abc",
        transitions=[[1, 0, 0], [1, 1, 1]],
        probabilities=[[0.4, 0.3, 0.2, 0.1], [0.4, 0.2, 0.2, 0.2]],
    )
    everything = DFA(alphabet="abc", transitions=[[0, 0, 0]], accepting=[True])
    inside = TopK(SparseModel(target, 2), 3)
    for model in (inside, TopP(inside, 1), Guided(inside, everything), Temperature(inside, 2)):
        words = [(1, 1), (), (1, 1, 0, 1), (0, 0)]
        with pytest.raises(ModelError, match=r"word \('a',\): it leaves open .*smaller k"):
            rows_after(model, *words)
        with pytest.raises(ModelError, match=r"word \('b', 'b', 'a'\): it leaves open"):
            rows_after(model, *words[:3])


def sparse_rows(lists: list[list[int]], symbols: int) -> Rows:
    """Rows that list the terminal and some symbols."""
    columns = [[0, *(symbol + 1 for symbol in listed)] for listed in lists]
    offsets = np.append(0, np.cumsum([len(row) for row in columns]))
    values = np.concatenate([np.full(len(row), 1 / len(row)) for row in columns])
    return Rows.sparse(symbols + 1, offsets, np.concatenate(columns), values)


@pytest.mark.parametrize("symbols", [1, 7, 64, 255, 256, 70_000])
def test_supports_are_remembered_as_they_are(symbols: int) -> None:
    random = np.random.default_rng(symbols)
    supports = Supports(symbols)
    shares = [0.0, 1 / symbols, 0.5, 1.0]
    lists = [np.flatnonzero(random.random(symbols) < share).tolist() for share in shares]
    supports.note(np.array([5, 3, 4, 2**40]), sparse_rows(lists, symbols))
    supports.note_nothing(np.array([9]))
    assert supports.are_known(np.array([3, 9, 6, 2**40])).tolist() == [True, True, False, True]
    asked = random.integers(0, symbols, 50)
    for word, listed in zip((5, 3, 4, 2**40, 9), [*lists, []], strict=True):
        held = supports.hold(np.full(50, word), asked)
        assert held.tolist() == [symbol in set(listed) for symbol in asked.tolist()]


@pytest.mark.parametrize("inside", [RecordingModel, lambda pdfa: TopK(pdfa, 9)])
def test_rows_of_several_levels_are_answered_in_order(inside: Wrapping) -> None:
    target = random_pdfa(6, 3, seed=2)
    model = TopK(inside(target), 4)  # type: ignore[arg-type]  # cuts nothing
    words = [(0, 1, 2), (0, 1, 2, 1), (1, 0, 2), (1, 0, 2, 2), (), (2,)]
    rows = rows_after(model, *words).to_dense()
    expected = target.next_distributions(map(target.alphabet.decode, words))
    assert np.allclose(rows, expected, rtol=1e-14)


def test_costs_contain_what_is_read_on_the_way() -> None:
    def cost(inner: QueryCost) -> QueryCost:
        return TopK(RecordingModel(LOOP, cost=inner), 2).cost

    assert cost(FREE) == FREE
    assert cost(EVERY_SYMBOL) == EVERY_SYMBOL
    assert cost(EVERY_WORD) == EVERY_SYMBOL
    server = QueryCost(call=9, word=2, prefix=0, symbol=0.5, cached_symbol=0.1)
    assert cost(server) == QueryCost(call=9, symbol=2.5, cached_symbol=0.1)
    assert TopP(TopK(RecordingModel(LOOP), 2), 0.5).cost == EVERY_SYMBOL
    assert Temperature(RecordingModel(LOOP, cost=server), 2).cost == server
