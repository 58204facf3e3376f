"""Distances between the words of two automata."""

from __future__ import annotations

from math import log, sqrt

import numpy as np
import pytest
from hypothesis import given

from pdfalearn import PDFA, divergence
from pdfalearn.analysis import distances
from pdfalearn.datasets import figure_1, figure_3, random_pdfa
from pdfalearn.errors import InputError
from tests.analysis.brute import automata, words_with_mass
from tests.support import examples


@examples(100)
@given(a=automata(), b=automata())
def test_as_all_words_say(a: PDFA, b: PDFA) -> None:
    (first, rest), (second, other) = (words_with_mass(one, 9) for one in (a, b))
    result = distances(a, b)
    words = first.keys() | second.keys()
    pairs = [(first.get(word, 0.0), second.get(word, 0.0)) for word in words]
    squared = sum((sqrt(p) - sqrt(q)) ** 2 for p, q in pairs) / 2
    assert squared - 1e-9 <= result.hellinger**2 <= squared + (rest + other) / 2 + 1e-9
    l2 = sum((p - q) ** 2 for p, q in pairs)
    assert l2 - 1e-9 <= result.l2**2 <= l2 + rest**2 + other**2 + 1e-9
    variation = sum(abs(p - q) for p, q in pairs) / 2
    assert result.total_variation_low <= variation + (rest + other) / 2 + 1e-9
    assert result.total_variation_high >= variation - 1e-9
    if result.hellinger**2 < 1 - 1e-9:  # beyond that, 1 - H² is nothing but rounding
        expected = -log(1 - result.hellinger**2)
        assert result.bhattacharyya == pytest.approx(expected, rel=1e-6, abs=1e-15)
    else:
        assert result.bhattacharyya > 20


@examples(100)
@given(a=automata(), b=automata())
def test_both_ways_are_the_same(a: PDFA, b: PDFA) -> None:
    one, other = distances(a, b), distances(b, a)
    assert one.hellinger == pytest.approx(other.hellinger, abs=1e-9)
    assert one.l2 == pytest.approx(other.l2, abs=1e-7)


@examples(100)
@given(a=automata())
def test_an_automaton_is_at_no_distance_from_itself(a: PDFA) -> None:
    result = distances(a, a)
    assert (result.hellinger, result.l2, result.bhattacharyya) == (0.0, 0.0, 0.0)
    assert result.total_variation_high == 0.0


def test_a_loop_near_one_keeps_the_digits_both_ways() -> None:
    rows = [[0.5, 0.5, 0.0], [0.5, 0.5, 0.0], [0.0, 0.5, 0.5]]
    short = PDFA(alphabet="ab", transitions=[[2, 0], [0, 0], [0, 0]], probabilities=rows)
    share = 1e-9
    long = PDFA(alphabet="ab", transitions=[[0, 0]], probabilities=[[share, 1 - share, 0.0]])
    # Of short Σ P² = 2/7, of long it is share/2, and Σ PQ = 2/3 share but for its square.
    expected = sqrt(2 / 7 + share / 2 - 2 * 2 / 3 * share)
    assert distances(short, long).l2 == pytest.approx(expected, rel=1e-9)
    assert distances(long, short).l2 == pytest.approx(expected, rel=1e-9)


def test_small_changes_keep_their_digits() -> None:
    def stopping(share: float) -> PDFA:
        return PDFA(alphabet="a", transitions=[[0]], probabilities=[[share, 1 - share]])

    gap = 2.0**-30
    result = distances(stopping(0.5), stopping(0.5 + gap))
    # Geometric words: P(n) = s(1-s)^n; the Fisher information at s=1/2 is 1/(s²(1-s)) = 8.
    assert result.hellinger == pytest.approx(gap * sqrt(8 / 8), rel=1e-6)
    # Σ (dP/ds)² with dP/ds = (1-s)^n - n·s·(1-s)^(n-1) = (1-n)/2^n.
    assert result.l2 == pytest.approx(
        gap * sqrt(sum((1 - n) ** 2 / 4**n for n in range(200))), rel=1e-6
    )


def test_a_large_automaton_and_one_with_other_rows() -> None:
    a = random_pdfa(20_000, 2, seed=1)
    rows = a.probabilities.copy()
    rows[::7] = rows[::7, ::-1]
    b = PDFA(alphabet=a.alphabet, transitions=a.transitions, probabilities=rows, initial=a.initial)
    result = distances(a, b)
    words = a.sample(20_000, seed=3).words
    ratios = np.exp((b.log_probabilities(words) - a.log_probabilities(words)) / 2)
    assert 1 - result.hellinger**2 == pytest.approx(ratios.mean(), abs=0.02)
    assert result.hellinger**2 <= divergence(a, b).forward.per_word / 2


def test_unrelated_automata_reach_too_many_pairs() -> None:
    a, b = random_pdfa(200, 2, seed=1), random_pdfa(200, 2, seed=2)
    with pytest.raises(InputError, match=r"more than 1,000 pairs .* allow more with most_pairs"):
        distances(a, b, most_pairs=1000)
    with pytest.raises(InputError, match="most_pairs"):
        distances(a, b, most_pairs=0)


def test_automata_without_a_common_symbol_are_as_far_apart_as_can_be() -> None:
    assert distances(figure_1(), figure_3()).hellinger == 1
