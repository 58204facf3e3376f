"""Merging by futures, against plain recursion over states and symbols."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdfalearn import PDFA
from pdfalearn.datasets import random_pdfa
from pdfalearn.distilling import futures, originals
from pdfalearn.distilling.engine import reduce
from pdfalearn.distilling.futures import merge_costs
from pdfalearn.distilling.machines import Machine
from pdfalearn.distilling.originals import (
    Original,
    Visited,
    merge_classes,
    merge_rare_states,
    merge_states,
)
from pdfalearn.typing import Floats, Integers
from tests.metrics import slow
from tests.strategies import pdfas


def visited(transitions: Integers, rows: Floats, visits: Floats) -> Visited:
    machine = Machine(transitions.astype(np.int32), rows, rows)
    return Visited(machine, visits, np.arange(len(rows)))


def states_of(pdfa: PDFA, seed: int = 0) -> Visited:
    visits = np.random.default_rng(seed).uniform(0.1, 1, len(pdfa))
    return visited(pdfa.transitions.astype(np.int64), pdfa.probabilities.copy(), visits)


def mean_row(states: Visited, p: int, q: int) -> list[float]:
    rows = states.visits[[p, q], None] * states.machine.rows[[p, q]]
    return list(rows.sum(axis=0) / states.visits[[p, q]].sum())


def cost(states: Visited, p: int, q: int, depth: int) -> float:
    """The divergence of the futures of p and q, some symbols deep."""
    total = slow.kl(list(states.machine.rows[p]), mean_row(states, p, q))
    for code, probability in enumerate(states.machine.rows[p, 1:].tolist()):
        left, right = states.machine.transitions[[p, q], code].tolist()
        if depth and probability and left >= 0 and right >= 0:
            total += probability * cost(states, left, right, depth - 1)
    return total


@given(pdfas(5, 2))
def test_costs_of_merging(pdfa: PDFA) -> None:
    states = states_of(pdfa)
    costs = merge_costs(states.machine, states.visits, 6)
    for p in range(len(pdfa)):
        assert costs[p, p] == math.inf
        for q in set(range(len(pdfa))) - {p}:
            back = slow.kl(list(states.machine.rows[q]), mean_row(states, p, q))
            expected = states.visits[p] * cost(states, p, q, 6) + states.visits[q] * back
            assert costs[p, q] == pytest.approx(expected, abs=1e-9)


def test_single_precision_and_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(1)
    rows = random.dirichlet(np.ones(4), 90)
    states = visited(random.integers(90, size=(90, 3)), rows, random.uniform(size=90))
    expected = merge_costs(states.machine, states.visits, 6)
    monkeypatch.setattr(futures, "_MOST_DOUBLE", 10)
    monkeypatch.setattr(futures, "_MOST_CELLS", 1000)
    found = merge_costs(states.machine, states.visits, 6)
    assert found.dtype == np.float32
    np.testing.assert_allclose(np.asarray(found), np.asarray(expected), atol=1e-4)


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
    kept.sort(key=lambda p: p != target_of[0] if 0 in sources else p != 0)  # the initial one first
    place = {p: kept.index(target_of[p] if p in sources else p) for p in range(count)}
    assert place[0] == 0
    assert result.origins.tolist() == [place[p] for p in range(count)]
    for p in kept:
        members = [p, *(s for s, t in zip(sources, targets, strict=True) if t == p)]
        weights = states.visits[members]
        np.testing.assert_allclose(
            result.machine.rows[place[p]], weights @ states.machine.rows[members] / weights.sum()
        )
        for code in range(len(pdfa.alphabet)):
            defined = [s for s in members if pdfa.transitions[s, code] >= 0]
            led = -1 if not defined else place[int(pdfa.transitions[defined[0], code])]
            assert result.machine.transitions[place[p], code] == led


def test_many_states_are_thinned_by_visits_and_joined_by_classes() -> None:
    rows = np.array([[0.1, 0.9], [0.9, 0.1], [0.15, 0.85], [0.8, 0.2], [0.5, 0.5]])
    visits = np.array([4.0, 5.0, 1.0, 2.0, 3.0])
    states = visited(np.array([[1], [2], [3], [4], [-1]]), rows, visits)
    two = merge_rare_states(states, 2)
    assert two.origins.tolist() == [0, 1, 0, 1, 1] or two.origins.tolist() == [0, 1, 0, 1, 0]
    assert two.visits.sum() == visits.sum()
    three = merge_classes(states, np.array([7, 3, 7, 3, 1]))
    assert three.origins.tolist() == [0, 1, 0, 1, 2]
    assert three.machine.transitions.tolist() == [[1], [0], [-1]]


def test_states_are_merged_down_to_a_size() -> None:
    original = Original(random_pdfa(200, 2, exact_size=True, seed=2))
    fit = original.fit_itself()
    assert fit.loss == 0.0
    for size in (150, 20, 3):
        fit = reduce(original, fit, size)
        assert 0.5 * size <= len(fit.machine.rows) <= size
        assert fit.loss > 0


def test_more_pairs_than_are_walked_on_the_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(originals, "_MOST_WORK", 1)
    original = Original(random_pdfa(100, 2, exact_size=True, seed=2))
    fit = reduce(original, original.fit_itself(), 40)
    assert math.isinf(fit.loss)
    assert fit.visits.sum() == pytest.approx(1)
    assert not len(original.find_moves(fit)[0])
    assert math.isfinite(original.fit(fit).loss)
