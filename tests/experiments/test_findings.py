"""Medians, speed-ups and trends."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdfalearn.experiments.findings import (
    Published,
    fit_line,
    medians,
    speed_ups,
)
from pdfalearn.experiments.runs import OURS


def observation(learner: str, states: int, seconds: float, size: int | None = 7) -> Published:
    return Published(1, 100, learner, states, seconds, 1, size, OURS)


RUNS = [
    observation("quant", 100, 1.0),
    observation("quant", 100, 3.0),
    observation("quant", 100, 8.0),
    observation("quant", 200, 2.0),
    observation("lpstar", 100, 30.0),
    observation("lpstar", 200, 10.0),
    observation("lpstar", 300, 99.0, size=None),
]


def test_medians_are_taken_at_each_place() -> None:
    assert medians(RUNS, "target_states", "seconds") == {
        (OURS, "quant"): ([100, 200], [3.0, 2.0]),
        (OURS, "lpstar"): ([100, 200, 300], [30.0, 10.0, 99.0]),
    }


def test_what_is_not_known_has_no_median() -> None:
    assert medians(RUNS, "target_states", "structure_size")[OURS, "lpstar"] == ([100, 200], [7, 7])


def test_speed_ups_are_where_both_have_run() -> None:
    assert speed_ups(RUNS, "target_states") == {(OURS, "lpstar"): ([100, 200], [10.0, 5.0])}
    assert speed_ups(RUNS[4:], "target_states") == {}


def test_there_is_no_trend_through_one_place() -> None:
    assert fit_line([5, 5], [1, 2]) is None
    assert fit_line([], []) is None


@given(st.floats(-100, 100), st.floats(-1, 1), st.integers(2, 20))
def test_lines_are_found(intercept: float, slope: float, count: int) -> None:
    places = np.linspace(100, 300, count)
    found = fit_line(places.tolist(), (intercept + slope * places).tolist())
    assert found is not None
    assert found == pytest.approx((intercept, slope), abs=1e-6)
