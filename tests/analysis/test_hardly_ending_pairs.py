"""Distances of automata whose words hardly ever end, against fractions."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction
from math import inf, isnan, log, log1p

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pdfalearn import PDFA, divergence
from pdfalearn.analysis import distances
from tests.analysis.brute import solved_exactly
from tests.analysis.test_hardly_ending import exact_rows, hardly_ending, two_states
from tests.support import examples

# Digits of roots: more than what the smallest probabilities take.
DIGITS = 700


@st.composite
def pairs(draw: st.DrawFn) -> tuple[PDFA, PDFA]:
    """Draw two unrelated automata, one with other rows, or one with rows that hardly differ."""
    a, b, mode = draw(hardly_ending(3)), draw(hardly_ending(3)), draw(st.integers(0, 2))
    if mode == 0:
        return a, b
    rows = b.probabilities[np.arange(len(a)) % len(b)]
    if mode == 2:
        rows = a.probabilities * (
            1 + 1e-5 * np.random.default_rng(draw(st.integers(0, 99))).random(a.probabilities.shape)
        )
        rows /= rows.sum(axis=1, keepdims=True)
    return a, PDFA(alphabet="ab", transitions=a.transitions, probabilities=rows)


def root(value: Fraction) -> Fraction:
    with localcontext(prec=DIGITS):
        return Fraction((Decimal(value.numerator) / Decimal(value.denominator)).sqrt())


def sum_words(a: PDFA, b: PDFA, weigh: Callable[[Fraction, Fraction], Fraction]) -> Fraction:
    """Add up a product over all words, which follows the pairs of states that words reach."""
    rows, others = exact_rows(a), exact_rows(b)
    reached = [(a.initial, b.initial)]
    moves: dict[tuple[int, int], list[tuple[Fraction, tuple[int, int]]]] = {}
    for state, other in reached:
        moves[state, other] = []
        for symbol in (0, 1):
            weight = weigh(rows[state][symbol + 1], others[other][symbol + 1])
            after = int(a.transitions[state, symbol]), int(b.transitions[other, symbol])
            if weight:
                moves[state, other].append((weight, after))
                if after not in reached:
                    reached.append(after)
    matrix = [[Fraction(int(i == j)) for j in reached] for i in reached]
    for place, pair in enumerate(reached):
        for weight, after in moves[pair]:
            matrix[place][reached.index(after)] -= weight
    gains = [weigh(rows[state][0], others[other][0]) for state, other in reached]
    return solved_exactly(matrix, gains)[0]


def one_loop(ends: float, other: float) -> PDFA:
    """Make an automaton of one state that takes symbol b hardly ever."""
    return PDFA(alphabet="ab", transitions=[[0, 0]], probabilities=[[ends, 1.0, other]])


def beside(ends: float, unreached: float) -> PDFA:
    rows = [[ends, 1.0, 0.0], [unreached, 1.0, 0.0]]
    return PDFA(alphabet="ab", transitions=[[0, 1], [0, 0]], probabilities=rows)


@examples(200)
@given(both=pairs())
@example(both=(one_loop(2e-200, 2e-200), beside(2e-300, 2e-30)))
def test_distances_keep_their_digits(both: tuple[PDFA, PDFA]) -> None:
    a, b = both
    found = distances(a, b)
    squares = [sum_words(p, q, lambda x, y: x * y) for p, q in ((a, a), (b, b), (a, b))]
    l2 = float(root(max(squares[0] + squares[1] - 2 * squares[2], Fraction(0))))
    # Rows are divided by their sums in doubles: what is less than their rounding may be different.
    rounding = float(root(squares[0] + squares[1])) * 2.0**-50
    if not isnan(found.l2):  # not told where all digits are lost
        assert found.l2 == pytest.approx(l2, rel=1e-7, abs=rounding + 1e-140)
    common = sum_words(a, b, lambda x, y: root(x * y))
    hellinger = float(root(max(1 - common, Fraction(0))))
    assert found.hellinger == pytest.approx(hellinger, rel=1e-7, abs=1e-20)
    if common > 0:
        expected = log(common.denominator) - log(common.numerator)
        if common > 0.5:
            expected = -log1p(-float(1 - common))
        assert found.bhattacharyya == pytest.approx(expected, rel=1e-6, abs=1e-15)
    else:
        assert found.bhattacharyya == inf


@pytest.mark.parametrize("end", [1e-12, 1e-17, 1e-100, 1e-300])
def test_divergence_of_two_that_hardly_end(end: float) -> None:
    forward = divergence(two_states(end, end), two_states(3 * end, 3 * end)).forward
    # For each step, a ends with a third of b's chance: ln(1/3) + 2 for each word.
    assert forward.per_word == pytest.approx(2 - log(3), rel=1e-9)
    assert forward.per_symbol == pytest.approx(end * (2 - log(3)), rel=1e-9)


def test_divergence_from_what_ends_by_a_hair() -> None:
    never = PDFA(alphabet="a", transitions=[[0]], probabilities=[[0.0, 1.0]])
    hardly = PDFA(alphabet="a", transitions=[[0]], probabilities=[[1e-17, 1.0]])
    found = divergence(never, hardly)
    assert found.forward.per_word == inf
    assert found.forward.per_symbol == pytest.approx(1e-17)
    assert found.backward.per_word == inf
    assert distances(never, hardly).hellinger == 1
    assert distances(never, hardly).bhattacharyya == inf


def test_divergences_of_rows_that_hardly_differ_keep_their_digits() -> None:
    def stopping(share: float) -> PDFA:
        return PDFA(alphabet="a", transitions=[[0]], probabilities=[[share, 1 - share]])

    for gap in (2.0**-9, 2.0**-20, 2.0**-40):
        found = divergence(stopping(0.5), stopping(0.5 + gap)).forward.per_word
        assert found == pytest.approx(4 * gap**2, rel=4 * gap)
