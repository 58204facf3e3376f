"""Wrappers of models that do not list all: what every completion has, or nothing."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from pdfalearn import FunctionModel, Guided, LanguageModel, Temperature, TopK, TopP
from pdfalearn.errors import ModelError
from pdfalearn.languages import DFA
from pdfalearn.models.constrained.opened_wrapper import UnchangeableError
from pdfalearn.models.constrained.wrapper import Wrapper
from pdfalearn.rows import Rows
from tests.models.constrained.inside import RowsModel, rows_after
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
    """What wrappers make of the answer to the empty word; None if they refuse it as undecided.

    Where nothing is left, that is a row of zeros.
    """
    model: LanguageModel = RowsModel(rows)
    for wrap in chosen:
        model = wrap(model)
    try:
        return rows_after(model, ())
    except ModelError as error:
        if "leaves open" in str(error):
            return None
        if "nothing is left" not in str(error):
            raise
        nothing = Rows.dense(np.zeros((1, WIDTH)))
        return nothing.to_sparse() if rows.is_sparse else nothing


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
def test_batches_are_changed_row_by_row(chosen: list[Wrapping], rows: list[OpenRow]) -> None:
    together = as_rows(rows)
    for wrap in chosen:
        wrapper = wrap(RowsModel(together))
        assert isinstance(wrapper, Wrapper)
        states = np.zeros(len(rows), dtype=np.int64)
        try:
            changed = wrapper.change_rows(together, states)
        except UnchangeableError as error:
            for place, is_bad in enumerate(error.bad):
                if is_bad:
                    with pytest.raises(UnchangeableError):
                        wrapper.change_rows(together.take(np.array([place])), states[:1])
            return
        for place in range(len(rows)):
            alone = wrapper.change_rows(together.take(np.array([place])), states[:1])
            assert np.array_equal(alone.to_dense()[0], changed.to_dense()[place])
        together = changed


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
def test_what_is_refused_is_marked(
    wrap: Callable[[LanguageModel], Wrapper],
    expected: list[list[int]],
    place: int,
    complaint: str,
) -> None:
    wrapper, states = wrap(RowsModel(ROWS)), np.zeros(3, dtype=np.int64)
    with pytest.raises(UnchangeableError, match=f"it leaves open how .*{complaint}") as caught:
        wrapper.change_rows(ROWS, states)
    assert int(caught.value.bad.argmax()) == place
    if expected:
        rows = wrapper.change_rows(ROWS.take(np.arange(place)), states[:place])
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
    held = rows_after(guided([False, True, True, True, False, False])(RowsModel(rows)), ())
    assert held.columns is not None
    assert held.columns.tolist() == [0, 1, 2]
    assert held.values.tolist() == [0.0, 1.0, 0.0]
    heated = rows_after(Temperature(RowsModel(rows), 2.0), ())
    assert heated.values.tolist() == [0.5, 0.5, 0.0]
    kept = rows_after(TopP(RowsModel(rows), 1), ())
    assert kept.columns is not None
    assert kept.columns.tolist() == [0, 1]


UNDEFINED = np.array([False, True, False])
MASS = np.array([0.1, 0.2, 0.3])
MIXED = {
    "sparse": Rows.sparse(
        6, [0, 2, 2, 4], [0, 2, 0, 1], [0.5, 0.5, 0.2, 0.8], undefined=UNDEFINED, outside=MASS
    ),
    "dense": Rows.dense(
        np.array([[0.5, 0, 0.5, 0, 0, 0], [np.nan] * 6, [0.2, 0.8, 0, 0, 0, 0]]),
        undefined=UNDEFINED,
        outside=MASS,
    ),
}
"""Right, undefined, right."""


@pytest.mark.parametrize("form", MIXED)
@pytest.mark.parametrize(
    "wrap",
    [
        guided([True, True, True, False, False, False]),
        lambda model: TopK(model, 2),
        lambda model: TopP(model, 0.9),
        lambda model: Temperature(model, 1),
        lambda model: TopK(Temperature(model, 1), 2),
    ],
)
def test_undefined_words_and_the_mass_outside_are_passed_on(wrap: Wrapping, form: str) -> None:
    model = FunctionModel(
        lambda words: MIXED[form].take(np.array([len(w) for w in words])), "abcde"
    )
    found = rows_after(wrap(model), (), (0,), (1, 1))
    assert found.undefined is not None
    assert found.undefined.tolist() == [
        False,
        True,
        not isinstance(wrap(model), Guided | Temperature),
    ]
    assert found.outside is not None
    assert found.outside[:1].tolist() == [0.1]
    assert found.to_dense()[0].tolist() == [0.5, 0, 0.5, 0, 0, 0]


@pytest.mark.parametrize("symbols", [5, 70])
def test_undefined_dense_rows_are_passed_on(symbols: int) -> None:
    table = np.zeros((2, symbols + 1))
    table[:, :2] = [[0.4, 0.6], [0.5, 0.5]]
    rows = Rows.dense(table, undefined=np.array([False, True]), outside=np.array([0.1, 0.4]))
    for wrapper in (TopK(RowsModel(rows), 2), TopP(RowsModel(rows), 0.9)):
        found = wrapper.change_rows(rows)
        assert found.is_sparse == (symbols == 70)
        assert np.array_equal(found.to_dense()[0], table[0])
        assert found.undefined is not None
        assert found.undefined.tolist() == [False, True]
        assert np.array_equal(found.outside, rows.outside)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "rows",
    [
        Rows.dense(np.full((1, 3), np.nan), undefined=np.array([True])),
        Rows.sparse(3, [0, 0], [], [], undefined=np.array([True])),
    ],
)
def test_words_are_undefined_after_undefined_words(rows: Rows) -> None:
    found = rows_after(TopK(RowsModel(rows), 2), (), (1,))
    assert found.undefined is not None
    assert found.undefined.tolist() == [True, True]
