"""Simplified automata, against all partitions, sums over words, and drawn words."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.simplifying import ratios, small_pdfa
from pdfalearn import PDFA, divergence, quotient, simplify
from pdfalearn.chains import walks
from pdfalearn.datasets import random_pdfa, reber
from pdfalearn.distilling import simplifying
from pdfalearn.equivalence.relations import Exact
from pdfalearn.errors import InputError
from pdfalearn.results import Simplified
from tests.strategies import all_words, pdfas


def test_as_good_as_the_best_of_all_partitions() -> None:
    found = np.ravel(ratios(5, (2, 3), range(5)))
    assert float(np.median(found)) <= 1.0 + 1e-9
    assert max(found) <= 1.1


@pytest.mark.slow
def test_as_good_as_the_best_of_all_partitions_of_seven_states() -> None:
    found = np.ravel(ratios(7, (2, 4), range(2)))
    assert float(np.median(found)) <= 1.0 + 1e-9
    assert float(np.mean(found)) <= 1.02
    assert max(found) <= 1.15


@pytest.mark.slow
def test_the_divergence_is_exact() -> None:
    pdfa = random_pdfa(30, 2, seed=4)
    one = simplify(pdfa, states=4)
    assert one.states == len(one.pdfa) == 4
    both = divergence(pdfa, one.pdfa).forward
    assert one.divergence == pytest.approx(both.per_symbol, rel=1e-12)
    words = pdfa.sample(5_000, seed=1).words
    differences = pdfa.log_probabilities(words) - one.pdfa.log_probabilities(words)
    error = float(differences.std()) / math.sqrt(len(words))
    assert float(differences.mean()) == pytest.approx(both.per_word, abs=4 * error)
    short = small_pdfa(6, 2, 1)
    rows = 0.5 * short.probabilities + [0.5, 0, 0]
    short = PDFA(alphabet="ab", transitions=short.transitions, probabilities=rows)
    small = simplify(short, states=2)
    every_word = all_words("ab", 12)
    logs = short.log_probabilities(every_word)
    total = float(np.exp(logs) @ (logs - small.pdfa.log_probabilities(every_word)))
    length = divergence(short, short).forward.expected_length
    assert small.divergence == pytest.approx(total / (length + 1), abs=1e-4)


def check_supports(pdfa: PDFA, result: PDFA) -> None:
    """The result allows in each state just what some original state with the same words does."""
    pairs = [(pdfa.initial, result.initial)]
    allowed = np.zeros(result.probabilities.shape, dtype=bool)
    defined = np.zeros(result.transitions.shape, dtype=bool)
    for p, t in pairs:
        row = pdfa.probabilities[p] > 0
        allowed[t] |= row
        defined[t] |= pdfa.transitions[p] >= 0
        for code in np.flatnonzero(row[1:]).tolist():
            pair = int(pdfa.transitions[p, code]), int(result.transitions[t, code])
            assert pair[1] >= 0
            if pair not in pairs:
                pairs.append(pair)
    np.testing.assert_array_equal(result.probabilities > 0, allowed)
    assert not (result.transitions >= 0)[~defined].any()


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(pdfas(7, 3), st.integers(1, 6))
def test_any_automaton(pdfa: PDFA, size: int) -> None:
    exact = quotient(pdfa, equivalence=Exact())
    smaller, one = simplify(pdfa, states=[size, 1])
    assert len(smaller.pdfa) == smaller.states <= size
    assert one.states == 1
    assert 0 <= smaller.divergence <= one.divergence + 1e-12 < math.inf
    assert smaller.divergence == divergence(pdfa, smaller.pdfa).forward.per_symbol
    assert one.pdfa.alphabet == pdfa.alphabet
    check_supports(pdfa, one.pdfa)
    if size >= len(exact):
        assert smaller.divergence == pytest.approx(0, abs=1e-15)
    elif len(smaller.pdfa) < len(exact):
        check_supports(pdfa, smaller.pdfa)


def test_undefined_stays_undefined() -> None:
    pdfa = reber()
    for one in simplify(pdfa, states=range(2, 6)):
        assert (one.pdfa.transitions < 0).any()
        check_supports(pdfa, one.pdfa)


@pytest.mark.slow
def test_a_curve_never_rises_and_has_the_order_of_its_sizes() -> None:
    pdfa = random_pdfa(25, seed=5)
    curve = simplify(pdfa, states=(3, 30, 1, 12))
    assert all(isinstance(one, Simplified) for one in curve)
    assert [one.states for one in curve] == [3, len(quotient(pdfa, equivalence=Exact())), 1, 12]
    values = [one.divergence for one in curve]
    assert values[1] == 0.0 < values[3] <= values[0] <= values[2]
    assert simplify(pdfa, states=(3, 30, 1, 12)) == curve
    assert simplify(pdfa, states=[]) == []


@pytest.mark.parametrize("bound", [0.0, 0.003, 0.05, 10.0])
def test_the_smallest_within_a_divergence(bound: float) -> None:
    pdfa = random_pdfa(15, seed=6)
    one = simplify(pdfa, divergence=bound)
    assert one.divergence <= bound
    assert one.divergence == divergence(pdfa, one.pdfa).forward.per_symbol
    if bound == 10:
        assert one.states == 1
    elif one.states > 1:
        assert simplify(pdfa, states=max(1, one.states - 4)).divergence > bound


def test_copies_of_a_state_are_found_again() -> None:
    truth = small_pdfa(5, 3, 2)
    random = np.random.default_rng(1)
    copies = np.repeat(np.arange(5), 4)
    transitions = truth.transitions[copies] * 4 + random.integers(4, size=(20, 3))
    rows = truth.probabilities[copies] * random.uniform(0.98, 1.02, (20, 4))
    rows /= rows.sum(axis=1, keepdims=True)
    pdfa = PDFA(alphabet="abc", transitions=transitions, probabilities=rows)
    five, four = simplify(pdfa, states=[5, 4])
    assert five.divergence < 1e-4 < 1e-3 < four.divergence
    np.testing.assert_array_equal(
        quotient(five.pdfa, equivalence=Exact()).transitions,
        quotient(truth, equivalence=Exact()).transitions,
    )


@pytest.mark.slow
def test_many_states_are_thinned_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simplifying, "MOST_COMPARED", 100)
    pdfa = random_pdfa(150, 2, seed=7)
    ten, one = simplify(pdfa, states=[10, 1])
    assert ten.states == 10
    assert ten.divergence < one.divergence


@pytest.mark.slow
def test_more_pairs_than_can_be_walked(monkeypatch: pytest.MonkeyPatch) -> None:
    pdfa = random_pdfa(60, 2, exact_size=True, seed=1)
    wanted = simplify(pdfa, divergence=0.02)
    monkeypatch.setattr(walks, "MOST_PAIRS", 1500)
    monkeypatch.setattr(simplifying, "_COMPARED", 1200)
    with pytest.raises(InputError, match=r"^50 states are too many .*ask for fewer states$"):
        simplify(pdfa, states=50)
    found = simplify(pdfa, divergence=0.02)
    assert found.divergence <= 0.02
    assert found.states <= 1.3 * wanted.states
    assert simplify(pdfa, divergence=0.0).states == 60


@pytest.mark.parametrize(
    ("arguments", "culprit"),
    [
        ({}, "either states or divergence"),
        ({"states": 3, "divergence": 0.1}, "either states or divergence"),
        ({"states": 0}, "states 0 is not an integer from 1"),
        ({"states": 2.5}, "states 2.5 is not an integer"),
        ({"states": "3"}, "states '3' is not an integer"),
        ({"states": [3, None]}, "states None is not an integer"),
        ({"divergence": -0.1}, "divergence -0.1 is not a number from 0"),
        ({"divergence": math.nan}, "divergence nan"),
        ({"divergence": "small"}, "divergence 'small' is not a number"),
    ],
)
def test_bad_arguments(arguments: dict[str, Any], culprit: str) -> None:
    with pytest.raises(InputError, match=culprit):
        simplify(random_pdfa(5, seed=1), **arguments)
