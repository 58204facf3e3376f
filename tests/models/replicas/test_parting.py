"""How batches are parted, and how words are found again."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pdfalearn import QueryCost
from pdfalearn.models.replicas._joining import joined_possible, joined_rows
from pdfalearn.models.replicas._parting import balanced, evenly, part_count, spread
from pdfalearn.models.replicas._tables import WordTable
from pdfalearn.rows import Rows
from pdfalearn.words import Words

costs_of_words = st.lists(st.floats(0.1, 50), min_size=1, max_size=40).map(np.array)


@given(costs_of_words, st.integers(1, 9))
def test_parts_are_in_order_and_differ_by_a_word_at_most(costs: np.ndarray, parts: int) -> None:
    found = evenly(costs, parts)
    assert (np.diff(found) >= 0).all()
    assert found.min() >= 0
    assert found.max() < parts
    loads = np.bincount(found, costs, parts)
    assert loads.max() <= costs.sum() / parts + costs.max() * (1 + 1e-9)


@given(costs_of_words, st.floats(0, 100), st.integers(1, 9))
def test_every_part_costs_four_calls(costs: np.ndarray, call: float, seats: int) -> None:
    parts = part_count(costs, QueryCost(call=call, word=1), seats)
    assert 1 <= parts <= min(seats, len(costs))
    assert parts == 1 or costs.sum() / parts >= 4 * call
    assert parts in (seats, len(costs)) or costs.sum() / (parts + 1) < 4 * call


@given(st.data(), st.integers(1, 5))
def test_words_go_where_there_is_least_to_do(data: st.DataObject, seats: int) -> None:
    at_home = data.draw(costs_of_words)
    more = data.draw(st.lists(st.floats(0, 50), min_size=len(at_home), max_size=len(at_home)))
    homes = np.array(
        data.draw(
            st.lists(st.integers(-1, seats - 1), min_size=len(at_home), max_size=len(at_home))
        )
    )
    away = at_home + more
    for choose in (spread, balanced):
        chosen = choose(homes, at_home, away, seats)
        assert chosen.min() >= 0
        assert chosen.max() < seats
        if choose is spread:
            assert (chosen[homes >= 0] == homes[homes >= 0]).all()

    def most(chosen: np.ndarray) -> float:
        costs = np.where(chosen == homes, at_home, away)
        return float(np.bincount(chosen, costs, seats).max())

    stay = spread(homes, at_home, away, seats)
    assert most(balanced(homes, at_home, away, seats)) <= most(stay)
    level = np.bincount(homes[homes >= 0], at_home[homes >= 0], seats).max(initial=0)
    total = np.where(homes >= 0, at_home, away).sum()
    assert most(stay) <= max(level, total / seats + away.max()) * (1 + 1e-9) + away.max()


words_of_two = st.lists(st.lists(st.integers(0, 1), max_size=6), min_size=1, max_size=20)


@given(words_of_two, words_of_two)
def test_words_are_found_again(added: list[list[int]], wanted: list[list[int]]) -> None:
    table = WordTable(2)
    numbers: dict[tuple[int, ...], int] = {(): 0}
    for word in added:  # as a tree adds them: every word once
        for length in range(1, len(word) + 1):
            here = tuple(word[:length])
            if here not in numbers:
                base = np.array([numbers[here[:-1]]])
                numbers[here] = int(table.add(base, Words.of([here[-1:]]))[0])
    found = table.find(Words.of(wanted))
    assert found.tolist() == [numbers.get(tuple(word), -1) for word in wanted]
    nodes = np.array(list(numbers.values()))
    assert [tuple(word) for word in table.spell(nodes)] == list(numbers)
    assert table.lengths[nodes].tolist() == [len(word) for word in numbers]


@given(st.lists(st.integers(0, 2), min_size=1, max_size=12), st.booleans(), st.integers(0, 9))
def test_parts_are_put_together_in_order(seats: list[int], sparse: bool, seed: int) -> None:
    random = np.random.default_rng(seed)
    table = random.dirichlet(np.ones(4), len(seats))
    undefined = random.random(len(seats)) < 0.3
    rows = Rows.dense(table, undefined=undefined)
    rows = rows.to_sparse() if sparse else rows
    mask = random.random((len(seats), 3)) < 0.5
    places = [np.flatnonzero(np.array(seats) == seat) for seat in np.unique(seats)]
    again = joined_rows([(some, rows.take(some)) for some in places])
    assert np.array_equal(again.to_dense(), table)
    assert np.array_equal(again.undefined, undefined)  # type: ignore[arg-type]
    parts = [(some, mask[some]) for some in places]
    assert np.array_equal(joined_possible(parts, 3), mask)  # type: ignore[arg-type]
    mixed = [
        (
            some,
            None
            if place
            else Words(
                mask[some].nonzero()[1].astype(np.int32),
                np.concatenate(([0], np.cumsum(mask[some].sum(1)))),
            ),
        )
        for place, some in enumerate(places)
    ]
    lists = joined_possible(mixed, 3)
    assert isinstance(lists, Words)
    for place, symbols in enumerate(lists):
        is_known = place in places[0]
        assert symbols == (np.flatnonzero(mask[place]).tolist() if is_known else [0, 1, 2])
