"""The interval for a mean holds as often as it says, whatever the values and the stakes are."""

from __future__ import annotations

import numpy as np
import pytest

from pdfalearn.exploring.sampling import bound_mean, choose_stake

RISK = 0.1


@pytest.mark.parametrize("kind", range(5))
def test_it_misses_the_mean_seldom(kind: int) -> None:
    random, missed, runs, count = np.random.default_rng(kind), 0, 100, 40
    spans = [(0.02, 0.98), (0.5, 0.5), (0.1, 5.0), (3.0, 3.0), (0.01, 0.2)]
    a, b = spans[kind]
    for _ in range(runs):
        values = random.beta(a, b, count)
        stakes = [choose_stake(values[: n - n % 8], count, RISK) for n in range(count)]
        low, high = bound_mean(values, values, stakes, RISK)
        missed += not low <= a / (a + b) <= high
    assert missed <= 20  # 10 are allowed, and more than 20 come once in a thousand times


def test_what_is_known_in_part_widens_it() -> None:
    values = np.random.default_rng(1).beta(2, 8, 200)
    stakes = [choose_stake(values[:50], 200, RISK)] * 200
    low, high = bound_mean(values, values, stakes, RISK)
    assert 0.15 < low < values.mean() < high < 0.25
    cut = np.where(np.arange(200) < 190, values, 0.0)
    wide = bound_mean(cut, np.where(cut > 0, values, 1.0), stakes, RISK)
    assert wide[0] <= low <= high <= wide[1]
    assert bound_mean([], [], [], RISK) == pytest.approx((0, 1), abs=1e-9)
    assert bound_mean([0.0, 1.0], [0.0, 1.0], [1.0, 1.0], RISK)[1] <= 1
