"""L_p* on the targets of the paper's experiments, where they are at hand."""

from __future__ import annotations

import pytest

from pdfalearn import Tolerance, learn
from tests.learners.tables import is_within
from tests.test_paper_targets import targets


@pytest.mark.parametrize("experiment", ["exp1", "exp2"])
def test_experiments_1_and_2(experiment: str) -> None:
    equivalence = Tolerance(0.001)
    for name, target in targets(experiment):
        learnt = learn(target, learner="lpstar", equivalence=equivalence).pdfa
        assert is_within(learnt, target, equivalence), name
        assert len(learnt) == len(target), name


@pytest.mark.parametrize("kappa", [10, 100, 500, 1000, 2000, 3000])
@pytest.mark.slow
def test_experiment_3(kappa: int) -> None:
    equivalence = Tolerance(1 / kappa)
    for name, target in targets("exp3"):
        learnt = learn(target, learner="lpstar", equivalence=equivalence).pdfa
        assert is_within(learnt, target, equivalence), name
        assert len(learnt) == len(target), name
