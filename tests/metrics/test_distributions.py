"""Metrics of pairs of distributions, against slow ones."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdfalearn import Exact, Quantization, Tolerance
from pdfalearn.equivalence import Equivalence
from pdfalearn.errors import InputError
from pdfalearn.metrics import (
    distribution_differences,
    kl_divergences,
    l1_distances,
    ndcg_scores,
    word_errors,
)
from pdfalearn.typing import Floats
from tests.metrics import slow
from tests.strategies import distributions, equivalences


@st.composite
def pairs(draw: st.DrawFn) -> list[tuple[slow.Row, slow.Row]]:
    """Pairs of distributions of one width with zeros, ties, equal ones and undefined words."""
    width = draw(st.integers(2, 5))
    row = st.one_of(distributions(width), distributions(width), st.none())
    pair = st.one_of(st.tuples(row, row), row.map(lambda r: (r, r)))
    return draw(st.lists(pair, min_size=1, max_size=6))


def arrays(drawn: list[tuple[slow.Row, slow.Row]]) -> tuple[Floats, Floats]:
    width = max([len(row) for pair in drawn for row in pair if row], default=2)
    filled = [[row or [math.nan] * width for row in pair] for pair in drawn]
    both = np.array(filled)
    return both[:, 0], both[:, 1]


@given(pairs())
def test_word_errors(drawn: list[tuple[slow.Row, slow.Row]]) -> None:
    expected = [slow.word_error(*pair) for pair in drawn]
    assert word_errors(*arrays(drawn)) == pytest.approx(expected)


@given(pairs(), st.integers(1, 5))
def test_ndcg(drawn: list[tuple[slow.Row, slow.Row]], k: int) -> None:
    rows, others = arrays(drawn)
    k = min(k, rows.shape[1])
    expected = [slow.ndcg(*pair, k) for pair in drawn]
    assert ndcg_scores(rows, others, k) == pytest.approx(expected)


@given(pairs())
def test_distances(drawn: list[tuple[slow.Row, slow.Row]]) -> None:
    rows, others = arrays(drawn)
    assert l1_distances(rows, others) == pytest.approx([slow.l1(*pair) for pair in drawn])
    expected = [slow.kl(*pair) for pair in drawn]
    assert kl_divergences(rows, others) == pytest.approx(expected, abs=1e-12)


@given(pairs(), st.one_of(equivalences(), st.sampled_from([0, 0.1, 0.25, 0.5, 1]).map(Tolerance)))
def test_differences(
    drawn: list[tuple[slow.Row, slow.Row]], equivalence: Equivalence | Tolerance
) -> None:
    expected = [slow.different(*pair, equivalence) for pair in drawn]
    assert distribution_differences(*arrays(drawn), equivalence=equivalence).tolist() == expected


def test_rounding_makes_no_order_and_no_error() -> None:
    target, candidate = [0.2, 0.3, 0.5], [0.4, 0.1 + 0.2, 0.3]
    assert ndcg_scores([target], [candidate], 2) == pytest.approx([slow.ndcg(target, candidate, 2)])
    tied = [0.1 + 0.2, 0.3, 0.2, 0.2]
    assert word_errors([[0.4, 0.35, 0.25, 0.0]], [tied]).tolist() == [0.5]
    assert word_errors([tied], [[0.1, 0.6, 0.2, 0.1]]).tolist() == [0.0]


def test_half_of_the_symbols_count_if_not_said_otherwise() -> None:
    rng = np.random.default_rng(1)
    for symbols in (1, 2, 3, 4, 7):
        rows, others = rng.dirichlet(np.ones(symbols + 1), (2, 10))
        expected = ndcg_scores(rows, others, math.ceil(symbols / 2))
        assert ndcg_scores(rows, others).tolist() == expected.tolist()


@pytest.mark.parametrize(
    "metric",
    [
        word_errors,
        ndcg_scores,
        l1_distances,
        kl_divergences,
        lambda a, b: distribution_differences(a, b, equivalence=Exact()),
    ],
)
def test_bad_rows_are_refused(metric: Callable[[object, object], object]) -> None:
    with pytest.raises(InputError, match=r"shape \(2, 2\) and the candidate's \(1, 2\)"):
        metric([[0.5, 0.5]] * 2, [[0.5, 0.5]])
    with pytest.raises(InputError, match="the target's rows are an array of float64 of shape"):
        metric([0.5, 0.5], [[0.5, 0.5]])
    with pytest.raises(InputError, match="the candidate's rows are an array of"):
        metric([[0.5, 0.5]], [["a", "b"]])
    assert len(metric(np.empty((0, 3)), np.empty((0, 3)))) == 0  # type: ignore[arg-type]


def test_bad_k_and_relation() -> None:
    rows = [[0.5, 0.25, 0.25]]
    for k in (0, 4):
        with pytest.raises(InputError, match=f"k {k} is not an integer from 1 to 3"):
            ndcg_scores(rows, rows, k)
    with pytest.raises(InputError, match="not an equivalence"):
        distribution_differences(rows, rows, equivalence="exact")  # type: ignore[arg-type]
    assert distribution_differences(rows, rows, equivalence=Quantization(3)).tolist() == [0.0]
