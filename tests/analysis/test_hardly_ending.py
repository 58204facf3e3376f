"""Automata whose words hardly ever end, against elimination in fractions: right, or refused."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import inf, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdfalearn import PDFA
from pdfalearn.analysis import (
    condition,
    entropy,
    expectations,
    expected_count,
    expected_visits,
    length,
    probability,
)
from pdfalearn.chains import systems
from pdfalearn.errors import InputError
from pdfalearn.languages import DFA, BeginsWith, EndsWith
from tests.analysis.brute import exact_mean_length, solved_exactly
from tests.support import examples

TINY = [0.0, 1e-300, 1e-200, 1e-100, 1e-30, 3e-17, 1e-16, 1e-12, 1e-6, 0.25, 1.0]


@st.composite
def hardly_ending(draw: st.DrawFn, most: int = 5) -> PDFA:
    """Draw an automaton over a, b with weights of all magnitudes, each state of which can end."""
    size = draw(st.integers(1, most))
    rows = []
    for _ in range(size):
        end = draw(st.sampled_from(TINY[1:]))
        others = draw(st.lists(st.sampled_from(TINY), min_size=2, max_size=2))
        others[0] = max(others[0], 0.5)  # the rest of the row
        rows.append([end, *others])
    table = np.array(rows)
    table /= table.sum(axis=1, keepdims=True)
    onwards = draw(
        st.lists(
            st.lists(st.integers(0, size - 1), min_size=2, max_size=2), min_size=size, max_size=size
        )
    )
    return PDFA(alphabet="ab", transitions=onwards, probabilities=table)


def exact_rows(pdfa: PDFA) -> list[list[Fraction]]:
    rows = [[Fraction(value) for value in row] for row in pdfa.probabilities.tolist()]
    return [[value / sum(row) for value in row] for row in rows]


def exact_values(pdfa: PDFA, gains: list[Fraction], *, turned: bool = False) -> list[Fraction]:
    """Solve x = gains + Px, or the transposed system, for all states."""
    size, rows = len(pdfa), exact_rows(pdfa)
    matrix = [[Fraction(int(i == j)) for j in range(size)] for i in range(size)]
    for state, row in enumerate(rows):
        for symbol, after in enumerate(pdfa.transitions[state].tolist()):
            i, j = (after, state) if turned else (state, after)
            matrix[i][j] -= row[symbol + 1]
    return solved_exactly(matrix, gains)


def or_refused(question: Callable[[], float]) -> float | None:
    """Return the answer; None if words are too long for one."""
    try:
        return question()
    except InputError as error:
        if "too long" not in str(error):
            raise
        return None


def assert_close(found: float, exact: Fraction, whole: Fraction = Fraction(1)) -> None:
    # What is next to nothing of the whole may be too small to be written on the way.
    assert abs(Fraction(found) - exact) <= exact / 10**12 + whole / 10**280


@examples(300)
@given(pdfa=hardly_ending())
def test_visits_and_lengths_have_all_digits_or_are_refused(pdfa: PDFA) -> None:
    start = [Fraction(int(state == pdfa.initial)) for state in range(len(pdfa))]
    visits = exact_values(pdfa, start, turned=True)
    if sum(visits) > Fraction(10) ** 304:
        with pytest.raises(InputError, match="too long"):
            expected_visits(pdfa)
        return
    for found, exact in zip(expected_visits(pdfa).states.tolist(), visits, strict=True):
        assert_close(found, exact, sum(visits, start=Fraction(1)))
    result, mean = length(pdfa), exact_mean_length(pdfa)
    assert_close(result.mean, mean)
    assert abs(Fraction(result.mean) - mean) <= Fraction(result.error)


@examples(200)
@given(pdfa=hardly_ending())
def test_probabilities_have_all_digits(pdfa: PDFA) -> None:
    # Words that end in the state that an a leads to: the last symbol is an a.
    found = or_refused(lambda: probability(pdfa, EndsWith("a")))
    if found is None:
        return
    size, rows = len(pdfa), exact_rows(pdfa)
    # Pairs of a state and whether the last symbol was an a.
    pairs = 2 * size
    matrix = [[Fraction(int(i == j)) for j in range(pairs)] for i in range(pairs)]
    for state in range(size):
        for last in (0, 1):
            for symbol, after in enumerate(pdfa.transitions[state].tolist()):
                matrix[2 * state + last][2 * after + (symbol == 0)] -= rows[state][symbol + 1]
    right = [rows[pair // 2][0] * (pair % 2) for pair in range(pairs)]
    assert_close(found, solved_exactly(matrix, right)[2 * pdfa.initial])


def two_states(first: float, second: float) -> PDFA:
    """Two states, each of which leads to the other one, and hardly ends."""
    return PDFA(
        alphabet="a",
        transitions=[[1], [0]],
        probabilities=[[first, 1 - first], [second, 1 - second]],
    )


EVEN = DFA(alphabet="a", transitions=[[1], [0]], accepting=[True, False])


@pytest.mark.parametrize("end", [1e-12, 1e-16, 1e-17, 1e-100, 1e-300])
def test_two_states_that_hardly_end(end: float) -> None:
    pdfa = two_states(end, 3 * end)
    visits = expected_visits(pdfa)
    assert visits.states == pytest.approx([0.25 / end, 0.25 / end], rel=1e-11)
    assert probability(pdfa, EVEN) == pytest.approx(0.25, rel=1e-11)
    assert length(pdfa).mean == pytest.approx(0.5 / end, rel=1e-11)
    assert length(pdfa).deviation == pytest.approx(0.5 / end, rel=1e-11)
    assert length(pdfa).quantile(0.5) == pytest.approx(np.log(2) * 0.5 / end, rel=1e-11)
    assert expected_count(pdfa, EVEN) == pytest.approx(0.25 / end, rel=1e-11)
    assert entropy(pdfa).per_word > 0
    given_even = condition(pdfa, EVEN)
    assert length(given_even).mean == pytest.approx(0.5 / end, rel=1e-11)


def test_variance_that_is_too_large_to_be_written() -> None:
    assert length(two_states(1e-300, 1e-300)).variance == inf


def test_what_hardly_ends_in_another_cluster() -> None:
    # Three in ten go to where words end soon, the others to where they hardly ever end.
    for end in (1e-9, 1e-13, 1e-18, 1e-280):
        rows = [[0.0, 0.3, 0.7], [0.5, 0.5, 0.0], [end, 0.5, 0.5], [2 * end, 0.5, 0.5]]
        onwards = [[1, 2], [1, 1], [3, 2], [2, 3]]
        pdfa = PDFA(alphabet="ab", transitions=onwards, probabilities=rows)
        ends_in_a = probability(pdfa, BeginsWith("a"))
        assert ends_in_a == pytest.approx(0.3, rel=1e-12)
        assert probability(pdfa, BeginsWith("b")) == pytest.approx(0.7, rel=1e-12)
        assert length(pdfa).mean == pytest.approx(0.7 / (1.5 * end), rel=1e-7)


@pytest.mark.parametrize("size", [150, 400])
def test_components_of_many_states_that_hardly_end(size: int) -> None:
    random = np.random.default_rng(size)
    onwards = random.integers(0, size, (size, 2))
    rows = np.pad(random.dirichlet([1.0, 1.0], size), ((0, 0), (1, 0)))
    rows[:, 0] = random.choice([1e-17, 3e-17, 1e-20], size)
    pdfa = PDFA(alphabet="ab", transitions=onwards, probabilities=rows)
    states = expected_visits(pdfa).states
    # What ends is what has begun, and every state is left as often as it is entered.
    assert states @ (rows[:, 0] / rows.sum(axis=1)) == pytest.approx(1.0, rel=1e-11)
    moves = states[:, None] * (rows / rows.sum(axis=1, keepdims=True))[:, 1:]
    entered = np.bincount(onwards.ravel(), moves.ravel(), size)
    entered[0] += 1
    assert entered == pytest.approx(states, rel=1e-11)
    assert length(pdfa).mean == pytest.approx(states.sum(), rel=1e-11)


def test_blocks_of_the_elimination_are_of_any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    from pdfalearn.chains import elimination

    random = np.random.default_rng(5)
    weights, leaving = random.random((30, 30)), random.random(30) * 1e-12
    gains = random.random(30)
    expected = elimination.Elimination.of(weights.copy(), leaving).solution(gains)
    for block in (1, 7, 29):
        monkeypatch.setattr(elimination, "_BLOCK", block)
        found = elimination.Elimination.of(weights.copy(), leaving).solution(gains)
        assert found == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("end", [1e-8, 1e-18])
def test_what_is_too_large_to_eliminate_is_right_or_refused(
    end: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(systems, "MOST_ELIMINATED", 100)
    monkeypatch.setattr(systems, "_MOST_WORK", 2**22)
    random = np.random.default_rng(2)
    size = 300
    onwards = random.integers(0, size, (size, 2))
    rows = np.pad(random.dirichlet([1.0, 1.0], size), ((0, 0), (1, 0)))
    rows[:, 0] = end
    pdfa = PDFA(alphabet="ab", transitions=onwards, probabilities=rows)
    mean = or_refused(lambda: length(pdfa).mean)
    if mean is None:
        assert end < 1e-12
    else:
        monkeypatch.undo()
        assert mean == pytest.approx(length(pdfa).mean, rel=1e-9)
        assert mean == pytest.approx(1 / end, rel=1e-6)


@pytest.mark.parametrize("endless", [0.5, 0.3, 1 - 1e-9])
def test_quantiles_near_the_share_of_words_that_end(endless: float) -> None:
    rows = [[(1 - endless) / 2, (1 - endless) / 2, endless], [0.0, 1.0, 0.0]]
    pdfa = PDFA(alphabet="ab", transitions=[[0, 1], [1, -1]], probabilities=rows)
    result = length(pdfa)
    ending = float(sum(rows[0][:1]) / (rows[0][0] + endless))
    for share in (np.nextafter(ending, 0), ending, np.nextafter(ending, 1)):
        with pytest.raises(InputError, match="but for rounding"):
            result.quantile(share)
    assert result.quantile(min(1.0, ending * (1 + 1e-9))) == inf
    assert result.quantile(ending / 2) < 2
    assert result.quantile(ending * (1 - 1e-6)) < 30 / -np.log(rows[0][1])


def test_quantiles_of_small_shares() -> None:
    pdfa = two_states(1e-20, 1e-20)
    assert length(pdfa).quantile(1e-20) == 0
    assert length(pdfa).quantile(1e-19) == pytest.approx(9, abs=0)
    assert length(pdfa).quantile(1e-15) == pytest.approx(1e5, rel=1e-4)
    deviation = sqrt(float(length(pdfa).variance))
    assert deviation == pytest.approx(1e20, rel=1e-9)


def test_quantiles_of_many_states_take_bounded_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expectations, "_MOST_DENSE", 1)
    monkeypatch.setattr(expectations, "_MOST_WORK", 2**25)
    with pytest.raises(InputError, match="too long"):
        length(two_states(1e-20, 1e-20)).quantile(0.5)
