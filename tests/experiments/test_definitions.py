"""The experiments are those of the paper."""

from __future__ import annotations

import pytest

from pdfalearn.errors import InputError
from pdfalearn.experiments.plans import EXPERIMENTS, SCALES, experiments_named


def test_settings_are_the_papers() -> None:
    axes = {number: (one.axis, one.values) for number, one in EXPERIMENTS.items()}
    assert axes == {
        1: ("n", (100, 200, 300)),
        2: ("m", (2, 4, 8, 16, 32)),
        3: ("κ", (10, 100, 500, 1000, 2000, 3000)),
        4: ("n", (1000, 2000, 5000)),
        5: ("d", (2, 4, 6, 8, 10, 12, 14, 16)),
    }
    sizes = {n: {s.nominal_states for s in one.settings()} for n, one in EXPERIMENTS.items()}
    assert sizes == {1: {100, 200, 300}, 2: {100}, 3: {300}, 4: {1000, 2000, 5000}, 5: {300}}
    assert (SCALES["paper"].targets, SCALES["paper"].runs) == (10, 10)


def test_tolerances_are_the_inverse_of_kappa() -> None:
    for experiment in EXPERIMENTS.values():
        for setting in experiment.settings():
            assert setting.tolerance == 1 / setting.kappa


def test_given_tolerances_pair_with_kappas() -> None:
    settings = EXPERIMENTS[3].settings([10, 20], [0.2, 0.1])
    assert [(s.kappa, s.tolerance) for s in settings] == [(10, 0.2), (20, 0.1)]
    assert {s.tolerance for s in EXPERIMENTS[1].settings(None, [0.5])} == {0.5}


@pytest.mark.parametrize(("number", "tolerances"), [(3, [0.1, 0.2]), (1, [0.1, 0.2, 0.3]), (1, [])])
def test_tolerances_that_do_not_pair_are_refused(number: int, tolerances: list[float]) -> None:
    with pytest.raises(InputError, match="do not pair with"):
        EXPERIMENTS[number].settings(None, tolerances)


def test_a_tolerance_out_of_range_is_refused() -> None:
    with pytest.raises(InputError, match="tolerance -1"):
        EXPERIMENTS[1].settings(None, [-1.0])


@pytest.mark.parametrize("values", [[], [0], [5, 5], [1.5]])
def test_impossible_values_are_refused(values: list[int]) -> None:
    with pytest.raises(InputError, match="n "):
        EXPERIMENTS[1].settings(values)


def test_names() -> None:
    assert experiments_named("3") == [EXPERIMENTS[3]]
    assert experiments_named("all") == list(EXPERIMENTS.values())
    with pytest.raises(InputError, match="no experiment '6'; there are 1, 2, 3, 4, 5 and all"):
        experiments_named("6")
