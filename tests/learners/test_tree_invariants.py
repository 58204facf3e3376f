"""The two invariants of the classification tree and the bound on its leaves, round by round."""

from __future__ import annotations

import pytest

from pdfalearn import quotient
from pdfalearn.learning.loop import LEARNERS
from pdfalearn.models import AutomatonModel
from pdfalearn.observations.tree import ObservationTree
from pdfalearn.oracles import ExactOracle
from tests.learners.checks import assert_is_quotient, assert_tree_is_sound
from tests.learners.families import FAMILIES, drawn
from tests.learners.rounds import hypotheses
from tests.support import mostly_slow


@pytest.mark.parametrize("family", mostly_slow(FAMILIES))
@pytest.mark.parametrize("name", LEARNERS)
def test_the_tree_is_sound_after_every_round(name: str, family: str) -> None:
    for seed in range(25):
        target, equivalence = drawn(family, 14, seed)
        smallest = quotient(target, equivalence=equivalence)
        learner = LEARNERS[name](ObservationTree(AutomatonModel(target), equivalence))
        size = 0
        for hypothesis in hypotheses(learner, ExactOracle(target, equivalence=equivalence)):
            assert_tree_is_sound(learner, smallest, equivalence)
            assert size < len(hypothesis), "a counterexample has taught nothing"
            size = len(hypothesis)
        assert_is_quotient(learner.hypothesis(), target, equivalence)
