"""Wrappers of models that do not list all: what every completion has, or nothing."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from pdfalearn import DFA, Guided, LanguageModel, Temperature, TopK, TopP
from pdfalearn.row_checks import UndecidedError
from pdfalearn.rows import Rows
from pdfalearn.words import Words
from tests.models.constrained.sessions import RowsModel, first_rows
from tests.sparse_rows import OpenRow, as_rows, open_rows

WIDTH = 6
Wrapping = Callable[[LanguageModel], LanguageModel]
Floats = NDArray[np.float64]


def guided(allowed: list[bool]) -> Wrapping:
    """Symbols that may follow; the terminal always may, and comes from anywhere."""

    def wrap(model: LanguageModel) -> LanguageModel:
        ahead = [1 if is_allowed else -1 for is_allowed in allowed[1:]]
        guide = DFA(
            alphabet=model.alphabet,
            transitions=[ahead, [1] * (WIDTH - 1)],
            accepting=[allowed[0], True],
        )
        return Guided(model, guide)

    return wrap


def wrappings() -> st.SearchStrategy[list[Wrapping]]:
    """One or two wrappers."""
    return st.lists(
        st.one_of(
            st.lists(st.booleans(), min_size=WIDTH, max_size=WIDTH).filter(any).map(guided),
            st.integers(1, WIDTH + 1).map(lambda k: lambda model: TopK(model, k)),
            st.sampled_from([0.1, 0.3, 0.5, 0.7, 0.9, 0.99, 1]).map(
                lambda p: lambda model: TopP(model, p)
            ),
            st.sampled_from([0.5, 2.0]).map(lambda t: lambda model: Temperature(model, t)),
        ),
        min_size=1,
        max_size=2,
    )


def answer(rows: Rows, chosen: list[Wrapping]) -> Rows | None:
    """What wrappers make of the answer to the empty word; None if they refuse it."""
    model: LanguageModel = RowsModel(rows)
    for wrap in chosen:
        model = wrap(model)
    try:
        return first_rows(model)
    except UndecidedError:
        return None


@settings(max_examples=300)
@given(wrappings(), open_rows(WIDTH), st.integers(0, 10**6))
@pytest.mark.slow
def test_every_completion_has_the_answer(chosen: list[Wrapping], row: OpenRow, seed: int) -> None:
    found = answer(as_rows([row]), chosen)
    assert found is not None or row.rest
    if found is None:
        return
    assert found.is_sparse
    assert found.rest is None
    for completion in row.completions(seed):
        dense = answer(Rows.dense(completion[None]), chosen)
        assert dense is not None
        assert not dense.is_sparse
        assert np.allclose(found.to_dense(), dense.values, rtol=1e-15, atol=0)


@settings(max_examples=100)
@given(wrappings(), st.lists(open_rows(WIDTH, settled=True), min_size=1, max_size=5))
@pytest.mark.slow
def test_batches_are_answered_row_by_row(chosen: list[Wrapping], rows: list[OpenRow]) -> None:
    model: LanguageModel = RowsModel(as_rows(rows))
    for wrap in chosen:
        model = wrap(model)
    session = model.open()
    together = session.read(np.full(len(rows), session.start()))
    for place, row in enumerate(rows):
        alone = answer(as_rows([row]), chosen)
        assert alone is not None
        assert np.array_equal(alone.to_dense()[0], together.to_dense()[place])


ROWS = Rows.sparse(
    6,
    [0, 3, 5, 7],
    [0, 2, 4, 0, 1, 0, 3],
    [0.1, 0.5, 0.3, 0.4, 0.4, 0.5, 0.0],
    rest=[0.1, 0.2, 0.5],
    ceiling=[0.05, 0.15, 0.25],
)
"""The second row has two that are sure to be the most probable, and the third has not."""


@pytest.mark.parametrize(
    ("wrap", "expected", "place", "complaint"),
    [
        (lambda model: TopK(model, 3), [[0, 2, 4]], 1, "3 most probable; .* or take a smaller k"),
        (lambda model: TopK(model, 2), [[0, 2, 4], [0, 1]], 2, "2 most probable; .* smaller k"),
        (lambda model: TopP(model, 0.8), [[0, 2, 4], [0, 1]], 2, "of 0.8; .* or take a smaller p"),
        (lambda model: TopP(model, 0.81), [[0, 2, 4]], 1, "of 0.81; let the model list more"),
        (lambda model: TopP(model, 1), [], 0, "mass of 1.0; let the model list more symbols"),
        (guided([True, True, False, False, False, False]), [], 0, "guide allows some of them; let"),
        (guided([True, False, True, False, False, False]), [[0, 2]], 1, "list every symbol that"),
        (lambda model: Temperature(model, 2), [], 0, "a temperature changes all probabilities"),
    ],
)
def test_what_is_refused_is_named_by_its_place(
    wrap: Wrapping, expected: list[list[int]], place: int, complaint: str
) -> None:
    session = wrap(RowsModel(ROWS)).open()
    starts = np.full(3, session.start())
    with pytest.raises(UndecidedError, match=f"it leaves open how .*{complaint}") as caught:
        session.read(starts)
    assert (caught.value.place, caught.value.length) == (place, None)
    if expected:
        rows = session.read(starts[:place])
        assert rows.offsets is not None
        assert rows.columns is not None
        assert [part.tolist() for part in np.split(rows.columns, rows.offsets[1:-1])] == expected


@pytest.mark.parametrize(
    ("first", "kept"),
    [
        (0.5, [0]),
        (0.5 - 1e-12, None),
        (0.5 - 1e-12 - 2e-16, None),
        (0.5 - 1e-11, [0, 1]),
        (0.45, [0, 1]),
    ],
)
def test_top_p_refuses_where_rounding_decides(first: float, kept: list[int] | None) -> None:
    rows = Rows.sparse(6, [0, 2], [0, 1], [first, 0.3], rest=[1 - first - 0.3])
    found = answer(rows, [lambda model: TopP(model, 0.5)])
    assert (None if found is None else found.to_dense()[0].nonzero()[0].tolist()) == kept


def test_symbols_are_listed_if_they_are_allowed_and_defined() -> None:
    rows = Rows.sparse(6, [0, 3], [0, 1, 2], [0.5, 0.5, 0.0])
    held = first_rows(guided([False, True, True, True, False, False])(RowsModel(rows)))
    assert held.columns is not None
    assert held.columns.tolist() == [0, 1, 2]
    assert held.values.tolist() == [0.0, 1.0, 0.0]
    heated = first_rows(Temperature(RowsModel(rows), 2.0))
    assert heated.values.tolist() == [0.5, 0.5, 0.0]
    kept = first_rows(TopP(RowsModel(rows), 1))
    assert kept.columns is not None
    assert kept.columns.tolist() == [0, 1]


MIXED = Rows.sparse(
    6,
    [0, 2, 2, 4, 6, 8, 9, 11],
    [0, 2, 0, 1, 0, 1, 1, 2, 0, 0, 0],
    [0.5, 0.5, 0.5, 0.6, 0.2, 0.8, 0.5, 0.5, 1.1, 1.0, 0.0],
    undefined=np.array([False, True, False, False, False, False, False]),
    outside=np.arange(7) / 10,
)
"""Right, undefined, too much, right, without terminal, too much, a column twice."""


@pytest.mark.parametrize(
    "wrap",
    [
        guided([True, True, True, False, False, False]),
        lambda model: TopK(model, 2),
        lambda model: TopP(model, 0.9),
        lambda model: Temperature(model, 0.5),
        lambda model: TopK(Temperature(model, 0.5), 2),
    ],
)
def test_what_is_no_distribution_passes_unchanged(wrap: Wrapping) -> None:
    session = wrap(RowsModel(MIXED)).open()
    found = session.read(np.full(7, session.start()))
    assert np.array_equal(found.undefined, MIXED.undefined)  # type: ignore[arg-type]
    assert np.array_equal(found.outside, MIXED.outside)  # type: ignore[arg-type]
    assert found.to_dense()[0].tolist() == [0.5, 0, 0.5, 0, 0, 0]
    for place in (2, 4, 5, 6):
        row, before = found.take(np.array([place])), MIXED.take(np.array([place]))
        assert np.array_equal(row.columns, before.columns)  # type: ignore[arg-type]
        assert np.array_equal(row.values, before.values)


@pytest.mark.parametrize("symbols", [5, 70])
def test_wrong_and_undefined_dense_rows_pass_unchanged(symbols: int) -> None:
    table = np.zeros((4, symbols + 1))
    table[:, :2] = [[0.4, 0.6], [np.nan, 0.5], [0.7, 0.7], [0.5, 0.5]]
    undefined = np.array([False, False, False, True])
    rows = Rows.dense(table, undefined=undefined, outside=np.array([0.1, 0.2, 0.3, 0.4]))
    for model in (TopK(RowsModel(rows), 2), TopP(RowsModel(rows), 0.9)):
        session = model.open()
        found = session.read(np.full(4, session.start()))
        assert found.is_sparse == (symbols == 70)
        assert np.array_equal(found.to_dense()[:3], table[:3], equal_nan=True)
        assert found.undefined is not None
        assert found.undefined.tolist() == undefined.tolist()
        assert np.array_equal(found.outside, rows.outside)  # type: ignore[arg-type]


def test_words_are_undefined_after_undefined_words_and_not_after_wrong_rows() -> None:
    undefined = np.array([True])
    cases = [
        (Rows.dense(np.full((1, 3), np.nan), undefined=undefined), -1),
        (Rows.sparse(3, [0, 0], [], [], undefined=undefined), -1),
        (Rows.dense(np.full((1, 3), np.nan)), 1),
        (Rows.sparse(3, [0, 1], [0], [0.5]), 1),
    ]
    for rows, handle in cases:
        session = TopK(RowsModel(rows), 2).open()
        start = np.array([session.start()])
        assert session.extend(start, Words.of([[1]])).tolist() == [handle]
