"""Learning from long words, as oracles that sample give them."""

from __future__ import annotations

import pytest

from pdfalearn import learn
from pdfalearn.learning.loop import LEARNERS
from tests.learners.checks import assert_is_quotient
from tests.learners.families import FAMILIES, drawn
from tests.learners.wandering import WanderingOracle
from tests.support import mostly_slow


@pytest.mark.parametrize("family", mostly_slow(FAMILIES))
@pytest.mark.parametrize("name", mostly_slow(LEARNERS))
def test_long_counterexamples_lead_to_the_quotient(name: str, family: str) -> None:
    for seed in range(25):
        target, equivalence = drawn(family, 12, seed)
        oracle = WanderingOracle(target, equivalence, seed)
        result = learn(target, equivalence=equivalence, oracle=oracle, learner=name)
        assert_is_quotient(result.pdfa, target, equivalence)
