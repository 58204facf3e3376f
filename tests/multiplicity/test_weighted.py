"""Weighted automata over all of their words, against rational arithmetic and sums over words."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdfalearn import PDFA, Budget, Exact, distill, quotient
from pdfalearn.datasets import figure_1, random_pdfa
from pdfalearn.equivalence import same_function
from pdfalearn.errors import InputError, ModelError
from pdfalearn.models import PFA, WFA
from pdfalearn.multiplicity import (
    RankError,
    l2_distance,
    learn_wfa,
    minimise_wfa,
    shortest_difference,
    wfa_to_pdfa,
)
from pdfalearn.testing import check_model
from tests.multiplicity.rational import RationalWFA
from tests.strategies import all_words, pdfas
from tests.support import examples


@st.composite
def wfas(draw: st.DrawFn, symbols: int = 2) -> WFA:
    """Automata of small integers divided by 8: weights are negative, and ranks mostly low."""
    count = draw(st.integers(1, 4))
    entries = st.integers(-3, 3).map(lambda number: number / 8)
    values = draw(st.lists(entries, min_size=count * (2 + symbols * count), max_size=99))
    table = np.array(values[: count * (2 + symbols * count)])
    matrices = table[2 * count :].reshape(symbols, count, count)
    return WFA("ab"[:symbols], initial=table[:count], matrices=matrices, ends=table[count:][:count])


@examples(30)
@given(wfa=wfas())
def test_values_are_products(wfa: WFA) -> None:
    words = all_words("ab", 4)
    expected = [float(RationalWFA(wfa).value(word)) for word in words]
    assert wfa.word_probabilities(words) == pytest.approx(expected, abs=1e-12)
    again = pickle.loads(pickle.dumps(wfa))  # noqa: S301
    assert again == wfa
    assert hash(again) == hash(wfa)


@examples(40)
@given(wfa=wfas())
def test_the_minimal_automaton_has_the_rank_and_the_same_values(wfa: WFA) -> None:
    small = minimise_wfa(wfa)
    assert len(small) == max(1, RationalWFA(wfa).rank())
    words = all_words("ab", 4)
    expected = wfa.word_probabilities(words)
    assert small.word_probabilities(words) == pytest.approx(expected, abs=1e-12)
    assert shortest_difference(wfa, small) is None


@examples(30)
@given(first=wfas(), second=wfas())
def test_differences_are_the_shortest_and_found_if_there_are_any(first: WFA, second: WFA) -> None:
    found = shortest_difference(first, second)
    expected = RationalWFA(first).shortest_difference_length(RationalWFA(second))
    assert (None if found is None else len(found)) == expected
    if found is not None:
        values = [RationalWFA(each).value("".join(map(str, found))) for each in (first, second)]
        assert values[0] != values[1]


@examples(30)
@given(first=wfas(), second=wfas())
def test_distances_are_sums_over_words(first: WFA, second: WFA) -> None:
    # Entries are at most 3/8, so that sums may grow: shrink them until they converge.
    first, second = (
        WFA("ab", initial=each.initial, matrices=each.matrices / 4, ends=each.ends)
        for each in (first, second)
    )
    words = all_words("ab", 9)
    apart = first.word_probabilities(words) - second.word_probabilities(words)
    assert l2_distance(first, second) == pytest.approx(np.sqrt((apart**2).sum()), rel=1e-3)
    assert first.total == pytest.approx(first.word_probabilities(words).sum(), abs=1e-3)
    prefixes = ["", "a", "ba"]
    sums = [
        sum(first.word_probabilities([word for word in words if word.startswith(prefix)]))
        for prefix in prefixes
    ]
    assert first.prefix_probabilities(prefixes) == pytest.approx(sums, abs=1e-3)


def test_a_difference_is_looked_for_no_longer_than_there_are_directions() -> None:
    # In these spaces weak directions were found again and again, and the search did not end.
    target = random_pdfa(60, exact_size=True, seed=0)
    learnt = learn_wfa(target)
    assert shortest_difference(learnt.wfa, target) is None


def test_distances_keep_their_digits_and_may_be_infinite() -> None:
    half = WFA("a", initial=[1], matrices=[[[0.5]]], ends=[0.5])
    almost = WFA("a", initial=[1 + 1e-13], matrices=[[[0.5]]], ends=[0.5])
    assert l2_distance(half, almost) == pytest.approx(1e-13 * 0.5 / np.sqrt(0.75), rel=0.01)
    slow = [WFA("a", initial=[1], matrices=[[[r]]], ends=[1]) for r in (0.99, 0.98)]
    exact = 1 / (1 - 0.99**2) + 1 / (1 - 0.98**2) - 2 / (1 - 0.99 * 0.98)
    assert l2_distance(*slow) == pytest.approx(np.sqrt(exact), rel=1e-5)
    counter = WFA("a", initial=[1, 0], matrices=[[[1, 1], [0, 1]]], ends=[0, 1])
    assert l2_distance(counter, half) == np.inf
    # However little, the same again and again does not converge, unless it may be rounding.
    nothing = WFA("a", initial=[0], matrices=[[[0]]], ends=[0])
    for value, expected in ((1e-12, np.inf), (1e-16, 0.0)):
        again = WFA("a", initial=[1], matrices=[[[1]]], ends=[value])
        assert l2_distance(again, nothing) == pytest.approx(expected, abs=1e-14)
    with pytest.raises(InputError, match="does not converge"):
        _ = counter.total


def test_distances_do_not_stop_before_the_states_that_only_long_words_come_to() -> None:
    nothing = WFA("a", initial=[0], matrices=[[[0]]], ends=[0])
    for half in (30, 40, 60):
        # One word has the value 1: its weights grow for the first half, and shrink for the other.
        moves = np.diag([2.0] * half + [0.5] * half, 1)
        first, last = np.eye(len(moves))[[0, -1]]
        chain = WFA("a", initial=first, matrices=[moves], ends=last)
        assert l2_distance(chain, nothing) == l2_distance(nothing, chain) == 1.0
        if half == 40:
            basis, _ = np.linalg.qr(np.random.default_rng(1).normal(size=moves.shape))
            moves, first, last = basis.T @ moves @ basis, first @ basis, last @ basis
            dense = WFA("a", initial=first, matrices=[moves], ends=last)
            assert l2_distance(dense, nothing) == pytest.approx(1.0, rel=1e-6)


def test_distances_converge_where_lengths_rise_and_fall() -> None:
    # Ten states lead to the one before the end: sums of squares by length are 10 and 1 in turns.
    moves = np.zeros((12, 12))
    moves[:10, 10] = moves[10, 11] = 1.0
    moves[11, :10] = 0.05
    ends = np.zeros(12)
    ends[11] = 0.5
    cycle = PFA("a", initial=np.eye(12)[0], matrices=[moves], ends=ends)
    nothing = WFA("a", initial=[0], matrices=[[[0]]], ends=[0])
    # A word of 2 + 3k symbols has the probability 2⁻ᵏ⁻¹.
    assert l2_distance(cycle, nothing) == pytest.approx(np.sqrt(1 / 3), rel=1e-6)


@examples(30)
@given(pdfa=pdfas(max_states=6))
def test_a_pdfa_comes_back(pdfa: PDFA) -> None:
    pfa = PFA.from_pdfa(pdfa)
    if pfa.ending_probability < 1 - 1e-9:
        with pytest.raises(InputError, match="sum to"):
            wfa_to_pdfa(pdfa)
        return
    found = wfa_to_pdfa(pdfa)
    assert found.residual < 1e-9
    assert len(found.pdfa) <= len(quotient(pdfa, equivalence=Exact()))
    words = all_words("".join(map(str, pdfa.alphabet)), 3)
    expected = pdfa.word_probabilities(words)
    assert found.pdfa.word_probabilities(words) == pytest.approx(expected, abs=1e-9)


@examples(20)
@given(pdfa=pdfas(max_states=5), other=pdfas(max_states=5))
def test_differences_agree_with_those_of_pdfa(pdfa: PDFA, other: PDFA) -> None:
    if pdfa.alphabet == other.alphabet:
        assert (shortest_difference(pdfa, other) is None) == same_function(pdfa, other)
    assert shortest_difference(pdfa, pdfa) is None


def test_what_is_not_a_pdfa_is_refused_and_distilled() -> None:
    # Two states for good, whose mixture never becomes one of finitely many distributions.
    pfa = PFA(
        "a",
        initial=[0.5, 0.5],
        matrices=[[[0.5, 0], [0, 0.25]]],
        ends=[0.5, 0.75],
    )
    with pytest.raises(InputError, match="no PDFA of 20 states"):
        wfa_to_pdfa(pfa, tolerance=1e-12, max_states=20)
    # Within a tolerance it is one, and the residual says how far it is away.
    assert 1e-9 < wfa_to_pdfa(pfa, tolerance=1e-3).residual < 1e-2
    wfa = minimise_wfa(pfa)
    check_model(wfa, words=50)
    assert distill(wfa, budget=Budget(max_symbols=300), sizes=range(1, 4), seed=1).best is not None


def test_as_a_model_it_is_what_it_was_made_of() -> None:
    pfa = PFA.from_pdfa(random_pdfa(5, seed=3, zero_probability=0.3))
    wfa = minimise_wfa(pfa)
    words = all_words("01", 4)
    expected = pfa.next_distributions(words)
    assert wfa.next_distributions(words) == pytest.approx(expected, abs=1e-9, nan_ok=True)
    check_model(wfa, words=100)


def test_negative_values_are_refused() -> None:
    odd = WFA("a", initial=[1], matrices=[[[-0.5]]], ends=[1.5])
    with pytest.raises(ModelError, match=r"the word \(\).*negative"):
        distill(odd, budget=Budget(max_symbols=100))
    with pytest.raises(InputError, match="negative"):
        wfa_to_pdfa(odd)


@pytest.mark.parametrize("strength", [1e-11, 1e-12])
def test_a_rank_between_rounding_and_clear_is_refused(strength: float) -> None:
    wfa = WFA("a", initial=[1, 0], matrices=[[[0.5, strength], [0, 0.25]]], ends=[0.5, 0.5])
    with pytest.raises(RankError, match="cannot be decided"):
        minimise_wfa(wfa)


@pytest.mark.parametrize(
    "change",
    [
        {"initial": [np.nan]},
        {"initial": [1, 2]},
        {"matrices": [[0.5]]},
        {"ends": ["x"]},
        {"ends": []},
    ],
)
def test_bad_arrays(change: dict[str, object]) -> None:
    right = {"initial": [1], "matrices": [[[0.5]]], "ends": [0.5]}
    with pytest.raises(InputError, match=next(iter(change)) + "|need matrices"):
        WFA("a", **(right | change))  # type: ignore[arg-type]


def test_bad_arguments() -> None:
    wfa = WFA("a", initial=[1], matrices=[[[0.5]]], ends=[0.5])
    for call in (
        lambda: l2_distance(wfa, "x"),  # type: ignore[arg-type]
        lambda: l2_distance(wfa, random_pdfa(3, seed=1)),
        lambda: shortest_difference(wfa, wfa, tolerance=-1),
        lambda: minimise_wfa(None),  # type: ignore[arg-type]
        lambda: wfa_to_pdfa(wfa, max_states=0),
        lambda: wfa_to_pdfa(WFA("a", initial=[3], matrices=[[[0.5]]], ends=[0.5])),
    ):
        with pytest.raises(InputError):
            call()
    assert shortest_difference(figure_1(), PFA.from_pdfa(figure_1())) is None
