"""The experiments are those of the paper."""

from __future__ import annotations

from typing import Any

import pytest

from pdfalearn.errors import InputError
from pdfalearn.experiments.plans import EXPERIMENTS, SCALES, experiments_named, plan_experiment


def test_settings_are_the_papers() -> None:
    axes = {number: (one.axis, one.values) for number, one in EXPERIMENTS.items()}
    assert axes == {
        1: ("n", (100, 200, 300)),
        2: ("m", (2, 4, 8, 16, 32)),
        3: ("κ", (10, 100, 500, 1000, 2000, 3000)),
        4: ("n", (1000, 2000, 5000)),
        5: ("d", (2, 4, 6, 8, 10, 12, 14, 16)),
    }
    given: dict[str, Any] = {"scale": "quick", "learners": None, "values": None, "seed": 0}
    plans = [plan_experiment(experiment, **given) for experiment in EXPERIMENTS.values()]
    sizes = {p.experiment.number: {case.nominal_states for case in p.cases} for p in plans}
    assert sizes == {1: {100, 200, 300}, 2: {100}, 3: {300}, 4: {1000, 2000, 5000}, 5: {300}}
    assert (SCALES["paper"].targets, SCALES["paper"].runs) == (10, 10)


@pytest.mark.parametrize("values", [[], [0], [5, 5], [1.5]])
def test_impossible_values_are_refused(values: list[int]) -> None:
    with pytest.raises(InputError, match="n "):
        plan_experiment(EXPERIMENTS[1], scale="quick", learners=None, values=values, seed=0)


def test_names() -> None:
    assert experiments_named("3") == [EXPERIMENTS[3]]
    assert experiments_named("all") == list(EXPERIMENTS.values())
    with pytest.raises(InputError, match="no experiment '6'; there are 1, 2, 3, 4, 5 and all"):
        experiments_named("6")
