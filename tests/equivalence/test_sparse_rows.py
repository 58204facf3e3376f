"""Relations on rows that do not list all: the answer of every completion, or none."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from pdfalearn import Exact, Quantization, Tolerance
from pdfalearn.equivalence import (
    Equivalence,
    KeyFunction,
    Ranking,
    Rounded,
    Support,
    TopKSet,
    ZeroApart,
    sparse,
)
from pdfalearn.equivalence.relations import Relation, SparseKeys, different_rows
from pdfalearn.row_checks import UndecidedError
from pdfalearn.rows import Rows
from tests.sparse_rows import OpenRow, as_rows, open_rows
from tests.strategies import KAPPAS

WIDTH = 5


@dataclass(frozen=True)
class MostProbable(Equivalence):
    """The same symbol is the most probable one, and the terminal as probable."""

    def keys(self, rows: NDArray[np.float64]) -> NDArray[np.generic]:
        return np.column_stack((rows.argmax(axis=1), np.round(10 * rows[:, 0])))


def equivalences() -> st.SearchStrategy[Equivalence]:
    plain = st.one_of(
        st.just(Exact()), st.sampled_from(KAPPAS).map(Quantization), st.just(MostProbable())
    )
    sizes = st.integers(1, WIDTH + 1)
    likely = st.one_of(
        st.builds(TopKSet, sizes),
        st.builds(Ranking, sizes),
        st.sampled_from([0.0, 0.01, 0.1, 0.3, 1 / 3, 1.0]).map(Support),
        st.just(KeyFunction(lambda rows: np.round(rows[:, :2], 1))),
    )
    either = st.one_of(plain, likely)
    return st.one_of(
        either,
        st.builds(Rounded, either, st.integers(1, 4)),
        st.builds(ZeroApart, either),
        st.builds(Rounded, st.builds(ZeroApart, either), st.integers(1, 4)),
    )


def relations() -> st.SearchStrategy[Relation]:
    tolerances = st.sampled_from([0.0, 0.001, 0.1, 0.3, 1 / 3, 0.5, 1.0]).map(Tolerance)
    return st.one_of(equivalences(), tolerances)


def found(equivalence: Relation, rows: Rows, others: Rows | NDArray[np.float64]) -> bool | None:
    """The answer for one pair; None if it is refused."""
    try:
        return bool(different_rows(equivalence, rows, others)[0])
    except UndecidedError:
        return None


@settings(max_examples=400)
@given(relations(), open_rows(WIDTH), open_rows(WIDTH), st.integers(0, 10**6))
@pytest.mark.slow
def test_every_completion_has_the_answer(
    equivalence: Relation, row: OpenRow, other: OpenRow, seed: int
) -> None:
    answer = found(equivalence, as_rows([row]), as_rows([other]))
    completions, others = row.completions(seed), other.completions(seed + 1)
    for left in completions:
        expected = different_rows(equivalence, np.tile(left, (len(others), 1)), others).tolist()
        assert answer is None or expected == [answer] * len(others)
        mixed = found(equivalence, as_rows([other]), left[None])
        assert mixed is None or expected == [mixed] * len(others)
    if not (row.rest or other.rest):
        assert answer is not None


@settings(max_examples=200)
@given(equivalences(), st.lists(open_rows(WIDTH, settled=True), min_size=1, max_size=6))
@pytest.mark.slow
def test_keys_of_settled_rows_are_equal_iff_those_of_dense_rows_are(
    equivalence: Equivalence, rows: list[OpenRow]
) -> None:
    dense = np.concatenate([row.completions(0, 0) for row in rows])
    classes = equivalence.classes(dense).tolist()
    for given_rows in (as_rows(rows), Rows.dense(dense)):
        keys = blobs(equivalence.sparse_keys(given_rows))
        assert len(set(zip(keys, classes, strict=True))) == len(set(keys)) == len(set(classes))


def blobs(keys: SparseKeys) -> list[tuple[bytes, bytes]]:
    assert keys.columns.dtype == np.int32
    parts = [slice(*keys.offsets[place : place + 2]) for place in range(len(keys.offsets) - 1)]
    return [(keys.columns[part].tobytes(), keys.keys[part].tobytes()) for part in parts]


@pytest.mark.parametrize(
    "equivalence", [Exact(), Quantization(7), MostProbable(), Tolerance(0.1)], ids=repr
)
def test_batches_in_pieces(equivalence: Relation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sparse, "_NUMBERS_AT_ONCE", 3 * WIDTH)
    random = np.random.default_rng(1)
    left, right = random.multinomial(3, [1 / WIDTH] * WIDTH, (2, 40)) / 3
    right[::2] = left[::2]
    expected = different_rows(equivalence, left, right).tolist()
    for rows in (left, Rows.dense(left), Rows.dense(left).to_sparse()):
        for others in (right, Rows.dense(right), Rows.dense(right).to_sparse()):
            assert different_rows(equivalence, rows, others).tolist() == expected
    few = Rows.dense(left[:0]).to_sparse()
    assert different_rows(equivalence, few, few).tolist() == []
    assert different_rows(equivalence, few, left[:0]).tolist() == []


def test_the_place_of_what_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sparse, "_NUMBERS_AT_ONCE", 2 * WIDTH)
    rest = np.array([0.05] * 5 + [0.3, 0.3])
    rows = Rows.sparse(WIDTH, np.arange(8), [0] * 7, 1 - rest, rest=rest)
    table = rows.to_dense()
    assert not different_rows(Quantization(10), rows.take(np.arange(5)), table[:5]).any()
    for equivalence in (Quantization(10), Rounded(Quantization(10), 3), Tolerance(0.1)):
        for others in (table, rows):
            with pytest.raises(UndecidedError, match=r"open how 0\.3 is shared among") as caught:
                different_rows(equivalence, rows, others)
            assert caught.value.place == 5
    with pytest.raises(UndecidedError, match=r"Exact\(\) needs every probability; let the model"):
        different_rows(Exact(), rows, rows)
    with pytest.raises(UndecidedError, match="list more symbols, or take at most 3 intervals"):
        Quantization(10).sparse_keys(rows)
    assert Quantization(3).sparse_keys(rows).offsets.tolist() == list(range(8))


def test_the_ceiling_decides() -> None:
    row = Rows.sparse(200, [0, 2], [0, 9], [0.5, 0.3], rest=[0.2], ceiling=[0.004])
    assert Quantization(100).sparse_keys(row).columns.tolist() == [0, 9]
    assert Rounded(Exact(), 2).sparse_keys(row).keys.tolist() == [0.5, 0.3]
    assert found(Rounded(Exact(), 3), row, row) is None
    # Rounding lifts the ceiling to 0.01, where the second of a hundred intervals begins.
    lifted = Rows.sparse(200, [0, 2], [0, 9], [0.5, 0.3], rest=[0.2], ceiling=[0.006])
    assert found(Quantization(100), lifted, lifted) is False
    assert found(Rounded(Quantization(100), 2), lifted, lifted) is None
    assert found(Tolerance(0.004), row, row) is False
    assert found(Tolerance(0.003), row, row) is None
    other = Rows.sparse(200, [0, 1], [0], [0.45], rest=[0.55])
    assert found(Tolerance(0.01), row, other) is True
    assert found(Tolerance(0.06), row, other) is None


def test_what_neither_row_lists_counts() -> None:
    row = Rows.sparse(4, [0, 1], [0], [0.8], rest=[0.2])
    for width, answer in ((3, False), (4, None)):
        row.width = width
        other = Rows.sparse(width, [0, 3], [0, 1, 2], [0.8, 0.1, 0.1])
        assert found(Tolerance(0.1), row, other) is answer
        assert found(Tolerance(0.1), other, row) is answer


def test_what_lists_all_leaves_nothing_open() -> None:
    row = Rows.sparse(2, [0, 2], [0, 1], [0.5, 0.5 - 1e-9], rest=[1e-9])
    for equivalence in (Exact(), Quantization(1000), Tolerance(0.0), MostProbable()):
        assert found(equivalence, row, row) is False


def test_wide_sparse_rows_are_not_made_dense() -> None:
    count, width = 20_000, 50_000
    columns = np.column_stack((np.zeros(count), 1 + np.arange(count) % 7)).astype(np.int32).ravel()
    values = np.tile([0.25, 0.75], count)
    rows = Rows.sparse(width, np.arange(0, 2 * count + 1, 2), columns, values)
    others = rows.take(np.append(np.arange(1, count), 0))
    plain = Exact(), Quantization(1000), Rounded(Exact(), 6), Tolerance(0.1)
    likely = TopKSet(5), Ranking(5), Support(0.1), ZeroApart(Quantization(9))
    for equivalence in (*plain, *likely):
        assert different_rows(equivalence, rows, others).sum() >= count - 1
        assert not different_rows(equivalence, rows, rows).any()
