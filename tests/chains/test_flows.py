"""One system, solved by elimination and by passing values back: the same answer."""

from __future__ import annotations

import numpy as np
import pytest

from pdfalearn import PDFA
from pdfalearn.analysis import length, reachable_part
from pdfalearn.chains import systems
from pdfalearn.chains.flows import Flow
from pdfalearn.datasets import random_pdfa


def edges_of(pdfa: PDFA) -> Flow:
    sources, symbols = (pdfa.transitions >= 0).nonzero()
    successors = pdfa.transitions[sources, symbols].astype(np.int64)
    weights = pdfa.probabilities[sources, symbols + 1]
    return Flow(sources, successors, weights, pdfa.probabilities[:, 0].copy())


@pytest.mark.parametrize("rows", [1, 7, 300, 8192])
@pytest.mark.parametrize("turned", [False, True])
def test_blocks_of_any_size(rows: int, turned: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    pdfa = random_pdfa(300, 3, seed=4)
    if turned:  # then most edges lead to earlier places
        order = np.arange(len(pdfa))[::-1]
        transitions = order[pdfa.transitions[order]]
        pdfa = PDFA(
            alphabet=pdfa.alphabet,
            transitions=transitions,
            probabilities=pdfa.probabilities[order],
            initial=len(pdfa) - 1,
        )
    gains = np.random.default_rng(1).random(len(pdfa))
    expected = edges_of(pdfa).values(gains)
    monkeypatch.setattr(systems, "MOST_ELIMINATED", 0)
    monkeypatch.setattr(systems, "_ROWS", rows)
    monkeypatch.setattr(systems, "_TINY", 0)
    monkeypatch.setattr(systems, "solver_of", lambda *_: pytest.fail("passes did not suffice"))
    assert edges_of(pdfa).values(gains) == pytest.approx(expected, rel=1e-13)


def test_several_blocks_of_a_large_automaton() -> None:
    pdfa = random_pdfa(40_000, 2, seed=2)
    result = length(pdfa)
    assert result.error < 1e-13
    assert result.mean == pytest.approx(np.arange(400) @ result.distribution(399), rel=1e-12)


def test_nothing_gained_is_nothing() -> None:
    flow = edges_of(random_pdfa(20, 2, seed=1))
    assert not flow.values(np.zeros(len(flow))).any()


@pytest.mark.parametrize("ending", [1.0, 1e-3, 1e-6])
@pytest.mark.parametrize("size", [300, 4000])
def test_visits_add_up_to_the_positions_of_a_word(
    ending: float, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(systems, "MOST_ELIMINATED", 0)
    monkeypatch.setattr(systems, "_MOST_DIRECT", 0)  # nothing is eliminated
    pdfa = reachable_part(random_pdfa(size, 2, seed=5))
    rows = pdfa.probabilities * [ending, 1.0, 1.0]
    rows /= rows.sum(axis=1, keepdims=True)
    flow = edges_of(PDFA(alphabet="01", transitions=pdfa.transitions, probabilities=rows))
    visits = flow.visits(flow.start)
    assert visits.sum() == pytest.approx(flow.values(flow.sums)[0], rel=1e-10)
    passed_on = np.bincount(flow.successors, flow.weights * visits[flow.sources], len(flow))
    assert visits == pytest.approx(flow.start + passed_on, rel=1e-9)
