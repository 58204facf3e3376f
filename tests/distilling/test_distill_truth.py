"""Automata that networks might have learnt come out again."""

from __future__ import annotations

import pytest

from benchmarks.distilling.black_boxes import NoisyAutomaton
from benchmarks.distilling.truth import same_structure
from pdfalearn import Budget, distill

STATES = 12


@pytest.mark.slow
@pytest.mark.parametrize("seed", [5, 9])
def test_a_noisy_automaton_is_recovered(seed: int) -> None:
    noisy = NoisyAutomaton(STATES, 2, seed=seed)
    frontier = distill(noisy.model, budget=Budget(max_symbols=4000), sizes=range(1, 17), seed=1)
    assert same_structure(noisy.truth, frontier.at_most(STATES))
    assert frontier.knee == STATES
    point = frontier.point(STATES)
    assert point.divergence < 0.5 * frontier.point(STATES - 1).divergence
    assert point.infinite_share == 0
