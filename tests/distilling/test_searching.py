"""Polishing, reducing, growing and searching, against losses that are computed word by word."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.distilling.truth import same_structure
from pdfalearn import PDFA
from pdfalearn.datasets import figure_3, random_pdfa
from pdfalearn.distilling.engine import improve_by_cycles, reduce
from pdfalearn.distilling.machines import (
    FLOOR,
    PRIOR_WEIGHT,
    Fit,
    Machine,
    fit_rows,
    make_pdfa,
    redirect,
)
from pdfalearn.distilling.polishing import future_divergences, grow
from pdfalearn.distilling.prefixes import PrefixObjective, polish
from pdfalearn.distilling.searching import search
from pdfalearn.distilling.settings import SearchSettings
from pdfalearn.errors import InputError
from tests.distilling.trees import (
    PlainTree,
    divergence,
    machines_over,
    plain_loss,
    random_machine,
    random_tree,
    state_after,
    trees,
)
from tests.support import examples


def only_reached(machine: Machine) -> Machine:
    return redirect(machine, np.arange(len(machine.rows), dtype=np.int32))


def is_working(machine: Machine) -> bool:
    """Whether all transitions lead to states, all of which are reached, and rows sum up to 1."""
    reached, queue = {0}, [0]
    for state in queue:
        new = set(machine.transitions[state].tolist()) - reached
        reached |= new
        queue += new
    sums = machine.rows.sum(axis=1)
    return (
        reached == set(range(len(machine.rows)))
        and np.allclose(sums, 1)
        and bool((machine.rows >= 0).all())
    )


def tree_of(pdfa: PDFA, count: int, seed: int = 0) -> PlainTree:
    """Draw words of an automaton; answers are its rows."""
    weights: dict[tuple[int, ...], float] = {}
    for word in pdfa.sample(count, seed=seed).words:
        codes = tuple(pdfa.alphabet.encode(word).tolist())
        for end in range(len(codes) + 1):
            weights[codes[:end]] = weights.get(codes[:end], 0) + 1
    answers = {
        codes: pdfa.probabilities[pdfa.state_after(pdfa.alphabet.decode(codes))].tolist()
        for codes in weights
    }
    return PlainTree(len(pdfa.alphabet), weights, answers)


@examples(30)
@given(st.data(), trees())
def test_rows_are_means_drawn_to_their_priors(data: st.DataObject, tree: PlainTree) -> None:
    machine = data.draw(machines_over(tree.width))
    fit = fit_rows(machine, tree.evidence())
    for state in range(len(machine.rows)):
        mine = [word for word in tree.words if state_after(machine, word) == state]
        weights = np.array([tree.weights[word] for word in mine])
        sums = weights @ np.array([tree.answers[word] for word in mine]) if mine else 0.0
        prior = np.where(sums > 0, machine.priors[state], 0) if mine else machine.priors[state]
        row = sums + PRIOR_WEIGHT * prior
        assert fit.machine.rows[state] == pytest.approx(row / row.sum())
    assert fit.loss == pytest.approx(plain_loss(fit.machine, tree), abs=1e-9)


@examples(30)
@given(st.data(), trees())
def test_priors_show_symbols_where_they_may(data: st.DataObject, tree: PlainTree) -> None:
    machine = data.draw(machines_over(tree.width))
    assert (fit_rows(machine, tree.evidence(), within=False).machine.rows > 0).all()


@examples(30)
@given(st.data(), trees(60))
def test_polishing_never_raises_the_loss(data: st.DataObject, tree: PlainTree) -> None:
    evidence = tree.evidence()
    machine = data.draw(machines_over(tree.width, 8))
    before, after = fit_rows(machine, evidence), polish(machine, evidence)
    assert after.loss <= before.loss
    assert after.loss == pytest.approx(plain_loss(after.machine, tree), abs=1e-6)
    assert after.machine.transitions.shape == machine.transitions.shape
    assert after.states.tolist() == evidence.states(after.machine.transitions, 0).tolist()


def test_polishing_repairs_a_transition() -> None:
    true = figure_3()
    tree = tree_of(true, 300)
    broken = true.transitions.copy()
    broken[1, 0] = (broken[1, 0] + 1) % len(true)
    machine = Machine(broken, true.probabilities, true.probabilities)
    assert fit_rows(machine, tree.evidence()).loss > 0.001
    repaired = polish(machine, tree.evidence())
    assert repaired.machine.transitions.tolist() == true.transitions.tolist()
    assert repaired.loss == pytest.approx(0, abs=1e-9)


@examples(30)
@given(st.data(), trees(60), st.integers(1, 12))
def test_reducing(data: st.DataObject, tree: PlainTree, most: int) -> None:
    evidence = tree.evidence()
    machine = only_reached(data.draw(machines_over(tree.width, 12)))
    fit = reduce(PrefixObjective(evidence), fit_rows(machine, evidence), most)
    assert 1 <= len(fit.machine.rows) <= most
    assert is_working(fit.machine)
    assert fit.loss == pytest.approx(plain_loss(fit.machine, tree), abs=1e-6)


@pytest.mark.parametrize("most", [150, 60, 20, 1])
def test_reducing_many_states(most: int) -> None:
    tree = random_tree(3, 3, 900)
    machine = only_reached(random_machine(1, 250, 3))
    assert len(machine.rows) > 200
    evidence = tree.evidence()
    fit = reduce(PrefixObjective(evidence), fit_rows(machine, evidence), most)
    assert 0.5 * most <= len(fit.machine.rows) <= most
    assert is_working(fit.machine)


def test_states_that_are_twice_there_go_first() -> None:
    true = figure_3()
    twice = np.concatenate((true.transitions + 4, true.transitions))
    rows = np.concatenate((true.probabilities,) * 2)
    evidence = tree_of(true, 200).evidence()
    fit = reduce(PrefixObjective(evidence), fit_rows(Machine(twice, rows, rows), evidence), 4)
    assert same_structure(true, make_pdfa(fit, evidence, true.alphabet))
    assert fit_rows(fit.machine, evidence).loss == pytest.approx(0, abs=1e-9)


@examples(30)
@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(1, 2), st.integers(1, 4))
def test_divergences_of_futures(seed: int, states: int, width: int, sweeps: int) -> None:
    machine = random_machine(seed, states, width)

    def plain(p: int, q: int, depth: int) -> float:
        total = divergence(machine.rows[p].tolist(), machine.rows[q].tolist())
        for symbol, share in enumerate(machine.rows[p, 1:].tolist()):
            if depth:
                left, right = machine.transitions[[p, q], symbol].tolist()
                total += share * plain(left, right, depth - 1)
        return total

    logs, no_states = np.log(np.maximum(machine.rows, FLOOR)), np.empty(0, dtype=np.int32)
    evidence = random_tree(seed, width, 3).evidence()
    settings = SearchSettings(sweeps=sweeps, likely=0.0)
    found = future_divergences(Fit(machine, logs, no_states, 0.0), evidence, settings)
    expected = [[plain(p, q, sweeps) for q in range(states)] for p in range(states)]
    assert found == pytest.approx(np.array(expected), rel=1e-3, abs=1e-4)


@examples(30)
@given(st.data(), trees(60), st.integers(0, 4))
def test_growing(data: st.DataObject, tree: PlainTree, count: int) -> None:
    evidence = tree.evidence()
    machine = only_reached(data.draw(machines_over(tree.width)))
    larger = grow(fit_rows(machine, evidence), evidence, count)
    assert len(machine.rows) <= len(larger.rows) <= len(machine.rows) + count
    assert larger.rows.sum(axis=1) == pytest.approx(np.ones(len(larger.rows)))
    assert larger.transitions.min() >= 0
    assert larger.transitions.max() < len(larger.rows)


def test_growing_and_cycles_make_up_for_a_missing_state() -> None:
    true = random_pdfa(10, 2, exact_size=True, seed=4)
    tree = tree_of(true, 400)
    evidence = tree.evidence()
    machine = Machine(true.transitions.copy(), true.probabilities, true.probabilities)
    objective = PrefixObjective(evidence)
    small = reduce(objective, objective.fit(machine), 9)
    again = polish(grow(small, evidence, 3), evidence)
    assert again.loss < 0.5 * small.loss
    cycled = improve_by_cycles(objective, small)
    assert cycled.loss <= small.loss


def searched(true: PDFA, sizes: list[int], *, cycles: bool) -> dict[int, Fit]:
    return dict(search(tree_of(true, 500, seed=1).evidence(), sizes, cycles=cycles))


@pytest.mark.slow
@pytest.mark.parametrize("cycles", [True, False])
def test_searching_all_sizes(cycles: bool) -> None:
    true = figure_3()
    fits = searched(true, [6, 1, 4, 2, 4], cycles=cycles)
    assert list(fits) == [6, 4, 2, 1]
    assert all(
        len(fit.machine.rows) <= size and is_working(fit.machine) for size, fit in fits.items()
    )
    evidence = tree_of(true, 500, seed=1).evidence()
    assert same_structure(true, make_pdfa(fits[4], evidence, true.alphabet))
    assert fits[4].loss < fits[2].loss < fits[1].loss


def test_sizes_that_are_too_large_to_search() -> None:
    true = random_pdfa(40, 3, seed=1)
    evidence = tree_of(true, 800).evidence()
    size, fit = next(search(evidence, [2000]))
    assert size == 2000
    assert 1000 < len(fit.machine.rows) <= 2000
    assert is_working(fit.machine)


def test_what_was_never_taken_and_is_impossible_is_undefined() -> None:
    tree = PlainTree(2, {(): 3.0, (0,): 2.0}, {(): [0.5, 0.5, 0.0], (0,): [1.0, 0.0, 0.0]})
    rows = np.full((2, 3), 1 / 3)
    machine = Machine(np.array([[1, 1], [0, 0]], dtype=np.int32), rows, rows)
    pdfa = make_pdfa(fit_rows(machine, tree.evidence()), tree.evidence(), figure_3().alphabet)
    assert pdfa.transitions.tolist() == [[1, -1], [-1, -1]]
    assert pdfa.probabilities[1].tolist() == [1, 0, 0]


@pytest.mark.parametrize(
    "wrong",
    [{"largest": 1}, {"cycled": -1}, {"reluctance": "much"}, {"tries": 0.5}],
)
def test_settings_are_checked(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=next(iter(wrong))):
        SearchSettings(**wrong)


def test_settings_decide() -> None:
    evidence = tree_of(random_pdfa(10, 2, exact_size=True, seed=4), 300).evidence()
    settings = SearchSettings(largest=30, cycled=0, reluctance=1e9)
    fits = dict(search(evidence, [50, 5], settings=settings))
    assert len(fits[50].machine.rows) > 30  # of contexts
    assert fits[5].loss >= dict(search(evidence, [5]))[5].loss
