"""One check of distributions, which everything that takes rows shares."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdfalearn import PDFA
from pdfalearn.checks import ROUNDING, SUM_TOLERANCE, row_fault, sums_to_one, wrong_rows
from pdfalearn.errors import InputError
from pdfalearn.metrics import l1_distances, word_errors

VALUES = st.sampled_from([0.0, 0.5, 1.0, 0.25, -0.25, -1e-13, 1.5, 1e-7, math.nan, math.inf, 1e308])


def is_wrong(row: list[float]) -> bool:
    return any(not value >= -ROUNDING for value in row) or not sums_to_one(sum(row))


@given(st.lists(st.lists(VALUES, min_size=3, max_size=3), max_size=6))
def test_rows_are_marked_one_by_one(rows: list[list[float]]) -> None:
    table = np.array(rows).reshape(-1, 3)
    assert wrong_rows(table).tolist() == [is_wrong(row) for row in rows]


def test_bounds_can_be_narrower_or_wider() -> None:
    table = np.array([[1 + 1e-13, -1e-13], [0.5, 0.5 + 1.5 * SUM_TOLERANCE]])
    assert wrong_rows(table).tolist() == [False, True]
    assert wrong_rows(table, rounding=0.0).tolist() == [True, True]
    assert wrong_rows(table, tolerance=2 * SUM_TOLERANCE).tolist() == [False, False]


def test_faults_are_worded() -> None:
    assert row_fault(np.array([0.5, np.nan])) == "[0.5, nan] has NaN or negative values"
    assert row_fault(np.zeros(40)).endswith("(40 in all) sums to 0, not to 1")
    slightly_negative = np.array([1 + 1e-13, -1e-13])
    assert "negative" in row_fault(slightly_negative, rounding=0.0)


def test_the_first_bad_state_of_a_pdfa_is_named() -> None:
    rows = [[0.5, 0.5], [0.5, 0.4], [1.5, -0.5]]
    with pytest.raises(InputError, match=r"state 1: its probabilities sum to 0\.9, not to 1"):
        PDFA(alphabet="a", transitions=[[0]] * 3, probabilities=rows)
    with pytest.raises(InputError, match=r"state 1, symbol 'a': probability -0\.5 is not"):
        PDFA(alphabet="a", transitions=[[0]] * 2, probabilities=[rows[0], rows[2]])


@pytest.mark.parametrize(
    ("row", "fault"),
    [([0.5, 0.25], "sums to 0.75"), ([2.0, -1.0], "negative"), ([0.5, math.nan], "NaN")],
)
def test_metrics_refuse_what_is_no_distribution(row: list[float], fault: str) -> None:
    good = [[0.5, 0.5], [math.nan, math.nan], [1.0, 0.0]]
    assert l1_distances(good, good).tolist() == [0.0, 0.0, 0.0]
    for measure in (word_errors, l1_distances):
        with pytest.raises(
            InputError, match=f"row 1 of the candidate is not a distribution: .*{fault}"
        ):
            measure(good[:2], [good[0], row])
        with pytest.raises(InputError, match="row 0 of the target"):
            measure([row], good[:1])
