"""Top-k and top-p lead the model inside symbol by symbol, and ask for each word once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from pdfalearn import (
    DFA,
    PDFA,
    Guided,
    LanguageModel,
    Temperature,
    TopK,
    TopP,
    random_pdfa,
)
from pdfalearn.models.constrained._supports import Supports
from pdfalearn.models.cost import EVERY_SYMBOL, EVERY_WORD, FREE, QueryCost
from pdfalearn.row_checks import UndecidedError
from pdfalearn.words import Words
from tests.models.constrained.recording import RecordingModel
from tests.models.constrained.sessions import SparseModel

LOOP = PDFA(alphabet="abc", transitions=[[0, 0, 0]], probabilities=[[0.2, 0.4, 0.3, 0.1]])


@pytest.mark.parametrize(
    "wrap", [lambda inside: TopK(inside, 3), lambda inside: TopP(inside, 0.9)], ids=["k", "p"]
)
def test_prefixes_are_asked_for_once_and_nothing_is_beyond_a_cut(
    wrap: Callable[[LanguageModel], LanguageModel],
) -> None:
    inside = RecordingModel(LOOP)
    model = wrap(inside).open()
    start = np.array([model.start()])
    handles = model.extend(np.repeat(start, 2), Words.of([[0, 1, 0], [1, 2, 0]]))
    assert (handles < 0).tolist() == [False, False, False, False, True, True]
    rows = model.read(handles[handles >= 0]).to_dense()
    assert np.allclose(rows, [2 / 9, 4 / 9, 3 / 9, 0])
    assert sorted(inside.asked) == [(), (0,), (0, 1), (0, 1, 0), (1,)]
    assert inside.led_to == {(), (0,), (0, 1), (0, 1, 0), (1,)}


def test_what_is_cut_is_known_once_the_distribution_is() -> None:
    model = TopK(RecordingModel(LOOP), 2).open()
    start = np.array([model.start()])
    assert np.array_equal(model.possible(start), [[True] * 3])  # type: ignore[arg-type]
    model.read(start)
    assert np.array_equal(model.possible(start), [[True, True, False]])  # type: ignore[arg-type]


def test_a_long_word_is_refused_where_it_cannot_be_decided() -> None:
    target = PDFA(
        alphabet="abc",
        transitions=[[1, 0, 0], [1, 1, 1]],
        probabilities=[[0.4, 0.3, 0.2, 0.1], [0.4, 0.2, 0.2, 0.2]],
    )
    words = Words.of([[1, 1], [], [1, 1, 0, 1], [0, 0]])
    everything = DFA(alphabet="abc", transitions=[[0, 0, 0]], accepting=[True])
    inside = TopK(SparseModel(target, 2), 3)
    for model in (inside, TopP(inside, 1), Guided(inside, everything), Temperature(inside, 2)):
        session = model.open()
        start = session.start()
        with pytest.raises(UndecidedError, match="smaller k") as caught:
            session.extend(np.full(4, start), words)
        assert (caught.value.place, caught.value.length) == (3, 1)
        with pytest.raises(UndecidedError) as caught:
            session.extend(np.full(3, start), words.take(np.arange(3)))
        assert (caught.value.place, caught.value.length) == (2, 3)


def test_what_is_kept_is_forgotten_with_the_handle() -> None:
    supports = Supports(3)
    supports.note(np.array([4, 5]), Words.of([[0, 2], [0, 2]]))
    supports.forget(5)
    supports.note(np.array([5]), Words.of([[1]]))
    supports.forget(4)
    assert 4 not in supports
    supports.note(np.array([4]), Words.of([[]]))
    assert list(supports.words(np.array([4, 5]))) == [[], [1]]
    supports.forget(5)
    supports.forget(5)
    supports.forget(4)
    assert not supports._different


@pytest.mark.parametrize("symbols", [1, 7, 64, 255, 256, 70_000])
def test_supports_are_remembered_as_they_are(symbols: int) -> None:
    random = np.random.default_rng(symbols)
    supports = Supports(symbols)
    shares = [0.0, 1 / symbols, 0.5, 1.0]
    lists = [np.flatnonzero(random.random(symbols) < share).tolist() for share in shares]
    supports.note(np.arange(4), Words.of(lists))
    supports.note_all(np.array([2**40]))
    found = supports.words(np.array([3, 2, 1, 0, 2**40]))
    assert list(found) == [*lists[::-1], list(range(symbols))]
    asked = random.integers(0, symbols, 50)
    for handle, listed in enumerate(lists):
        held = supports.hold(np.full(50, handle), asked)
        assert held.tolist() == [symbol in set(listed) for symbol in asked.tolist()]


def test_rows_read_ahead_and_new_ones_are_answered_in_order() -> None:
    target = random_pdfa(6, 3, seed=2)
    inside = RecordingModel(target)
    session = TopK(inside, 4).open()  # cuts nothing
    starts = np.full(2, session.start())
    handles = session.extend(starts, Words.of([[0, 1], [1, 0]]))
    handles = session.extend(handles[[1, 3]], Words.of([[2, 1], [2, 2]]))
    words = ["012", "0121", "102", "1022"]
    order = np.array([2, 1, 3, 0])  # the first and the last were read on the way
    rows = session.read(handles[order]).to_dense()
    expected = target.next_distributions([words[place] for place in order])
    assert np.allclose(rows, expected, rtol=1e-14)
    assert len(set(inside.asked)) == len(inside.asked) == 9


def test_prices_contain_what_is_read_on_the_way() -> None:
    def cost(inner: QueryCost) -> QueryCost:
        return TopK(RecordingModel(LOOP, cost=inner), 2).cost

    assert cost(FREE) == FREE
    assert cost(EVERY_SYMBOL) == EVERY_SYMBOL
    assert cost(EVERY_WORD) == EVERY_SYMBOL
    server = QueryCost(call=9, word=2, prefix=0, symbol=0.5, cached_symbol=0.1)
    assert cost(server) == QueryCost(call=9, symbol=2.5, cached_symbol=0.1)
    assert TopP(TopK(RecordingModel(LOOP), 2), 0.5).cost == EVERY_SYMBOL
    assert Temperature(RecordingModel(LOOP, cost=server), 2).cost == server
