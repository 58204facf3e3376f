"""Equivalences by likely symbols, against definitions on paper; quotients and learning by them."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdfalearn import (
    PDFA,
    FunctionModel,
    Quantization,
    Tolerance,
    TopP,
    learn,
    load,
    quotient,
    save,
)
from pdfalearn.equivalence import (
    Equivalence,
    KeyFunction,
    Ranking,
    Rounded,
    Support,
    TopKSet,
    ZeroApart,
)
from pdfalearn.errors import InputError
from pdfalearn.learners import LPStar, QuaNT
from pdfalearn.oracles import ExactOracle
from pdfalearn.row_checks import UndecidedError
from pdfalearn.rows import Rows
from tests.strategies import pdfas
from tests.support import examples

PARTS = 12  # probabilities are in twelfths: ties and zeros abound


def likeliest(row: list[int], k: int) -> tuple[int, ...]:
    """Symbol by symbol, the first of the likeliest that are left."""
    left: dict[int, int] = dict(enumerate(row))
    found: list[int] = []
    while len(found) < k and any(left.values()):
        most = max(left.values())
        found.append(min(column for column, part in left.items() if part == most))
        del left[found[-1]]
    return tuple(found)


def on_paper(by: Equivalence, row: list[int]) -> object:
    """The key of a row of twelfths, in exact arithmetic."""
    match by:
        case TopKSet():
            return frozenset(likeliest(row, by.k))
        case Ranking():
            return likeliest(row, by.k)
        case Support():
            least = Fraction(by.threshold).limit_denominator(1000)
            return [Fraction(part, PARTS) > least for part in row]
        case ZeroApart():
            return on_paper(by.equivalence, row), [part > 0 for part in row]
        case Quantization():
            return [min(by.kappa * part // PARTS, by.kappa - 1) for part in row]
        case _:
            return row.index(max(row))


def equivalences() -> st.SearchStrategy[Equivalence]:
    inner = st.one_of(
        st.builds(TopKSet, st.integers(1, 6)),
        st.builds(Ranking, st.integers(1, 6)),
        st.sampled_from([0.0, 1 / PARTS, 0.25, 1 / 3, 0.3, 1.0]).map(Support),
        st.sampled_from([1, 3, 4, 12]).map(Quantization),
        st.just(KeyFunction(lambda rows: rows.argmax(axis=1))),
    )
    return st.one_of(inner, st.builds(ZeroApart, inner))


@st.composite
def rows_of_parts(draw: st.DrawFn) -> list[list[int]]:
    width = draw(st.integers(1, 5))
    cuts = st.lists(st.integers(0, PARTS), min_size=width - 1, max_size=width - 1).map(sorted)
    rows = draw(st.lists(cuts, min_size=1, max_size=12))
    return [np.diff([0, *row, PARTS]).tolist() for row in rows]


@examples(200)
@pytest.mark.slow
@given(equivalences(), rows_of_parts())
def test_rows_are_the_same_as_on_paper(by: Equivalence, parts: list[list[int]]) -> None:
    rows = np.array(parts) / PARTS
    classes = by.classes(rows)
    expected = [on_paper(by, row) for row in parts]
    sparse = Rows.dense(rows).to_sparse()
    keys = by.sparse_keys(sparse)
    cells = [
        list(zip(keys.columns[b:e].tolist(), keys.keys[b:e].tolist(), strict=True))
        for b, e in zip(keys.offsets[:-1], keys.offsets[1:], strict=True)
    ]
    for i in range(len(parts)):
        same = [expected[i] == other for other in expected]
        assert (classes == classes[i]).tolist() == same
        assert [cells[i] == other for other in cells] == same


@examples(50)
@pytest.mark.slow
@given(equivalences(), pdfas(max_states=10))
def test_learning_finds_the_quotient(by: Equivalence, target: PDFA) -> None:
    expected = quotient(target, equivalence=by)
    for learner in ("quant", "quant-classes", "quant-paper", "lpstar"):
        found = quotient(learn(target, equivalence=by, learner=learner).pdfa, equivalence=by)
        assert np.array_equal(found.transitions, expected.transitions)
        assert (by.keys(found.probabilities) == by.keys(expected.probabilities)).all()


@pytest.mark.parametrize("by", [TopKSet(2), Ranking(3), Support(0.1), ZeroApart(Ranking(1))])
def test_sparse_models_have_the_same_quotient(by: Equivalence) -> None:
    random = np.random.default_rng(1)
    rows = random.multinomial(PARTS, [0.2] * 5, 30) / PARTS
    target = PDFA(alphabet="abcd", transitions=random.integers(0, 30, (30, 4)), probabilities=rows)

    def answer(words: list[tuple[object, ...]]) -> Rows:
        return Rows.dense(target.next_distributions(words))

    expected = len(quotient(target, equivalence=by))
    oracle = ExactOracle(target, equivalence=by)
    model = FunctionModel(answer, "abcd")
    for learner in (QuaNT, LPStar):
        assert len(learn(model, equivalence=by, oracle=oracle, learner=learner).pdfa) == expected
    without = PDFA(
        alphabet="abcd",
        transitions=np.where(rows[:, 1:] > 0, target.transitions, -1),
        probabilities=rows,
    )
    sparse = FunctionModel(lambda words: answer(words).to_sparse(), "abcd")
    oracle = ExactOracle(without, equivalence=by)
    found = learn(sparse, equivalence=by, oracle=oracle).pdfa
    assert len(found) == len(quotient(without, equivalence=by))
    assert len(found) == len(learn(TopP(target, 1), equivalence=by).pdfa)


def test_ties_and_rounding() -> None:
    rows = np.array([[0.4, 0.1 + 0.2, 0.3], [0.4, 0.3, 0.1 + 0.2]])
    assert len(set(TopKSet(2).classes(rows).tolist())) == 2
    assert len(set(Rounded(TopKSet(2), 9).classes(rows).tolist())) == 1
    assert Ranking(2).keys(np.array([[0.25] * 4])).tolist() == [[0, 1]]
    assert Support().above([0.0, 5e-324]).tolist() == [False, True]


def test_what_is_not_listed_may_decide() -> None:
    rows = Rows.sparse(9, [0, 3], [0, 2, 5], [0.1, 0.5, 0.25], rest=[0.15], ceiling=[0.1])
    for by in (TopKSet(2), Ranking(2), Support(0.1)):
        assert by.sparse_keys(rows).columns.tolist() == [2, 5]
    refused: list[tuple[Equivalence, str]] = [
        (TopKSet(3), "or take a smaller k"),
        (Ranking(3), "or take a smaller k"),
        (Ranking(9), "or take a smaller k"),
        (Support(0.09), "or take a larger threshold"),
        (ZeroApart(TopKSet(2)), "or take a larger threshold"),
        (KeyFunction(len), "needs every probability"),
    ]
    for one, remedy in refused:
        with pytest.raises(UndecidedError, match=remedy):
            one.sparse_keys(rows)


@pytest.mark.parametrize(
    ("kind", "argument", "culprit"),
    [
        (TopKSet, 0, "k"),
        (Ranking, 1.5, "k"),
        (Support, -0.1, "threshold"),
        (Support, float("nan"), "threshold"),
        (ZeroApart, Tolerance(0.1), "not transitive"),
        (ZeroApart, 10, "not an equivalence"),
        (KeyFunction, "argmax", "not a function"),
        (KeyFunction, lambda rows: rows[0], "2 rows of one or more"),
        (KeyFunction, lambda rows: ["a"] * len(rows), "to be numbers"),
        (KeyFunction, lambda rows: rows - rows[0], "among others"),
    ],
)
def test_bad_input(kind: Any, argument: object, culprit: str) -> None:
    with pytest.raises(InputError, match=culprit):
        kind(argument).classes(np.eye(3)[:2])


@pytest.mark.parametrize(
    "by",
    [TopKSet(2), Ranking(3), Rounded(Support(0.25), 4), ZeroApart(Rounded(Quantization(3), 2))],
    ids=repr,
)
def test_runs_are_saved_with_their_equivalence(by: Equivalence, tmp_path: Path) -> None:
    pdfa = PDFA(alphabet="a", transitions=[[1], [0]], probabilities=[[0.5, 0.5], [1.0, 0.0]])
    result = learn(pdfa, equivalence=by)
    save(result, tmp_path / "run.zip")
    assert load(tmp_path / "run.zip") == result


def test_functions_are_not_saved(tmp_path: Path) -> None:
    pdfa = PDFA(alphabet="a", transitions=[[0]], probabilities=[[0.5, 0.5]])
    result = learn(pdfa, equivalence=ZeroApart(KeyFunction(lambda rows: rows[:, 0])))
    save(result, tmp_path / "run.zip")
    assert load(tmp_path / "run.zip").equivalence is None
