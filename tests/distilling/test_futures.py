"""Merging by futures, against plain recursion over states and symbols."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdfalearn import PDFA
from pdfalearn.distilling import futures
from pdfalearn.distilling.futures import (
    Fit,
    States,
    merge_classes,
    merge_costs,
    merge_rare_states,
    merge_states,
    reduce_states,
)
from tests.metrics import slow
from tests.strategies import pdfas


def states_of(pdfa: PDFA, seed: int = 0) -> States:
    visits = np.random.default_rng(seed).uniform(0.1, 1, len(pdfa))
    transitions = pdfa.transitions.astype(np.int64)
    return States(
        transitions, pdfa.probabilities.copy(), visits, pdfa.initial, np.arange(len(pdfa))
    )


def mean_row(states: States, p: int, q: int) -> list[float]:
    rows = states.visits[[p, q], None] * states.rows[[p, q]]
    return list(rows.sum(axis=0) / states.visits[[p, q]].sum())


def cost(states: States, p: int, q: int, depth: int) -> float:
    """The divergence of the futures of p and q, some symbols deep."""
    total = slow.kl(list(states.rows[p]), mean_row(states, p, q))
    for code, probability in enumerate(states.rows[p, 1:].tolist()):
        left, right = states.transitions[p, code], states.transitions[q, code]
        if depth and probability and left >= 0 and right >= 0:
            total += probability * cost(states, int(left), int(right), depth - 1)
    return total


@given(pdfas(5, 2))
def test_costs_of_merging(pdfa: PDFA) -> None:
    states = states_of(pdfa)
    costs = merge_costs(states)
    for p in range(len(pdfa)):
        assert costs[p, p] == math.inf
        for q in set(range(len(pdfa))) - {p}:
            back = slow.kl(list(states.rows[q]), mean_row(states, p, q))
            expected = states.visits[p] * cost(states, p, q, 6) + states.visits[q] * back
            assert costs[p, q] == pytest.approx(expected, abs=1e-9)


def test_single_precision_and_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(1)
    rows = random.dirichlet(np.ones(4), 90)
    states = States(
        random.integers(90, size=(90, 3)), rows, random.uniform(size=90), 0, np.arange(90)
    )
    expected = merge_costs(states)
    monkeypatch.setattr(futures, "_MOST_DOUBLE", 10)
    monkeypatch.setattr(futures, "_MOST_CELLS", 1000)
    assert merge_costs(states).dtype == np.float32
    np.testing.assert_allclose(merge_costs(states), expected, atol=1e-4)


@given(pdfas(7, 3), st.data())
def test_merging_redirects_and_keeps_undefined(pdfa: PDFA, data: st.DataObject) -> None:
    states, count = states_of(pdfa), len(pdfa)
    target_of = data.draw(st.lists(st.integers(0, count - 1), min_size=count, max_size=count))
    sources = [p for p, q in enumerate(target_of) if target_of[q] == q != p]
    targets = [target_of[p] for p in sources]
    result = merge_states(
        states, np.array(sources, dtype=np.int64), np.array(targets, dtype=np.int64)
    )
    kept = [p for p in range(count) if p not in sources]
    place = {p: kept.index(target_of[p] if p in sources else p) for p in range(count)}
    assert result.initial == place[pdfa.initial]
    assert result.origins.tolist() == [place[p] for p in range(count)]
    for p in kept:
        members = [p, *(s for s, t in zip(sources, targets, strict=True) if t == p)]
        weights = states.visits[members]
        np.testing.assert_allclose(
            result.rows[place[p]], weights @ states.rows[members] / weights.sum()
        )
        for code in range(len(pdfa.alphabet)):
            defined = [s for s in members if pdfa.transitions[s, code] >= 0]
            led = -1 if not defined else place[int(pdfa.transitions[defined[0], code])]
            assert result.transitions[place[p], code] == led


def test_many_states_are_thinned_by_visits_and_joined_by_classes() -> None:
    rows = np.array([[0.1, 0.9], [0.9, 0.1], [0.15, 0.85], [0.8, 0.2], [0.5, 0.5]])
    visits = np.array([4.0, 5.0, 1.0, 2.0, 3.0])
    states = States(np.array([[1], [2], [3], [4], [-1]]), rows, visits, 2, np.arange(5))
    two = merge_rare_states(states, 2)
    assert two.origins.tolist() == [0, 1, 0, 1, 1] or two.origins.tolist() == [0, 1, 0, 1, 0]
    assert two.initial == 0
    assert two.visits.sum() == visits.sum()
    three = merge_classes(states, np.array([7, 3, 7, 3, 1]))
    assert three.origins.tolist() == [0, 1, 0, 1, 2]
    assert three.transitions.tolist() == [[1], [0], [-1]]


def test_states_are_merged_down_to_a_size() -> None:
    random = np.random.default_rng(2)
    count = 200
    rows = random.dirichlet(np.ones(3), count)
    states = States(
        random.integers(count, size=(count, 2)), rows, np.ones(count), 0, np.arange(count)
    )
    for tries in (0, 2):
        for size in (150, 20, 3):
            found = reduce_states(states, size, lambda one: Fit(one, 0.0), tries=tries)
            assert len(found.states.rows) == size
