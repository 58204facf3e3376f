"""The exact divergence, against sums over words, elimination, and drawn words."""

from __future__ import annotations

import math
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdfalearn import PDFA, divergence
from pdfalearn.chains import walks
from pdfalearn.datasets import figure_1, figure_3, random_pdfa
from pdfalearn.errors import InputError
from pdfalearn.metrics import evaluate_exactly
from pdfalearn.results import DirectedDivergence
from tests.metrics import slow
from tests.metrics.test_evaluate import reordered
from tests.strategies import all_words, pdfas, shuffled


def sum_over_words(a: PDFA, b: PDFA, length: int) -> tuple[float, float]:
    """Add up P ln(P / P̂) of all words to a length; also return their probability."""
    words = all_words("".join(map(str, a.alphabet.symbols)), length)
    logs, others = a.log_probabilities(words), b.log_probabilities(words)
    possible = np.isfinite(logs)
    shares = np.exp(logs[possible])
    return float(shares @ (logs[possible] - others[possible])), float(shares.sum())


def positions_of(a: PDFA, b: PDFA, doublings: int) -> tuple[list[float], list[float]]:
    """Return the divergence at each pair, and its expected visits before position 2 ** doublings.

    The powers of the matrix of pairs are added up by doubling their number.
    """
    pairs, moves = [(a.initial, b.initial)], []
    for place, (state, other) in enumerate(pairs):
        for code in np.flatnonzero(a.probabilities[state, 1:] > 0).tolist():
            pair = int(a.table[state, code]), int(b.table[other, code])
            if pair not in pairs:
                pairs.append(pair)
            moves.append((place, pairs.index(pair), a.probabilities[state, code + 1]))
    power, total = np.zeros((len(pairs), len(pairs))), np.eye(len(pairs))
    for place, following, probability in moves:
        power[place, following] += probability
    for _ in range(doublings):
        power, total = power @ power, total + power @ total
    rows = [
        (list(a.probabilities[p]), None if q < 0 else list(b.probabilities[q])) for p, q in pairs
    ]
    return [slow.kl(*row) for row in rows], total[0].tolist()


def check_sums(one: DirectedDivergence) -> None:
    assert one.by_state.sum() == pytest.approx(one.per_symbol, rel=1e-12)
    assert one.visits.sum() == pytest.approx(1.0)
    assert one.per_symbol >= 0
    assert 0 <= one.infinite_share <= 1 + 1e-12
    if one.infinite_share > 0:
        assert one.per_symbol == one.per_word == math.inf


@pytest.mark.parametrize("seed", range(5))
def test_sums_over_all_words(seed: int) -> None:
    random = np.random.default_rng(seed)
    a, b = (
        PDFA(
            alphabet="01",
            transitions=random.integers(5, size=(5, 2)),
            probabilities=0.6 * random.dirichlet([2, 1, 1], 5) + [0.4, 0, 0],
        )
        for _ in range(2)
    )
    total, mass = sum_over_words(a, b, 14)
    assert mass > 1 - 1e-5
    assert divergence(a, b).forward.per_word == pytest.approx(total, abs=50 * (1 - mass))
    assert divergence(b, a).backward.per_word == pytest.approx(total, abs=50 * (1 - mass))


@given(pdfas(6, alphabet="ab"), pdfas(6, alphabet="ab"))
def test_any_two_automata(a: PDFA, b: PDFA) -> None:
    result = divergence(a, b)
    for one, first, second in ((result.forward, a, b), (result.backward, b, a)):
        check_sums(one)
        terms, visits = map(np.array, positions_of(first, second, 30))
        finite = np.isfinite(terms)
        assert one.is_infinite == (not finite.all())
        assert one.infinite_share == pytest.approx(visits[~finite].sum() / visits.sum(), abs=1e-6)
        mean = visits[finite] @ terms[finite] / visits.sum()
        if one.infinite_share < 1:
            assert one.finite_mean * (1 - one.infinite_share) == pytest.approx(mean, abs=1e-6)
        if math.isfinite(one.expected_length):
            assert one.expected_length == pytest.approx(visits.sum() - 1, rel=1e-6)
        elif one.per_symbol:
            assert one.per_word == math.inf
        if not one.is_infinite:
            assert one.per_symbol == pytest.approx(mean, abs=1e-6)
        if math.isfinite(one.per_word):
            assert one.per_word == pytest.approx(visits @ terms, rel=1e-6)


@given(st.integers(0, 50))
def test_terms_of_an_evaluation(seed: int) -> None:
    target = random_pdfa(12, 3, distributions=4, seed=seed)
    candidate = random_pdfa(9, 3, distributions=3, seed=seed + 1)
    one, other = divergence(target, candidate).forward, evaluate_exactly(target, candidate)
    assert one.per_word == pytest.approx(other.kl_of_words)
    assert one.per_symbol == pytest.approx(other.over_prefixes.kl)
    assert one.expected_length == pytest.approx(other.mean_length)


def test_drawn_words_tend_to_it() -> None:
    a, b = random_pdfa(40, 3, seed=1), random_pdfa(30, 3, seed=2)
    words = a.sample(20_000, seed=7).words
    differences = a.log_probabilities(words) - b.log_probabilities(words)
    error = float(differences.std()) / math.sqrt(len(words))
    assert divergence(a, b).forward.per_word == pytest.approx(differences.mean(), abs=4 * error)


def test_several_components_that_never_end() -> None:
    # A third of the words ends at once; the others go round in one of two cycles for ever.
    rows = np.array([[1 / 3, 1 / 2, 1 / 6], [0, 0.5, 0.5], [0, 1, 0], [0, 0.25, 0.75]])
    a = PDFA(alphabet="ab", transitions=[[1, 2], [1, 1], [3, -1], [2, 3]], probabilities=rows)
    b = PDFA(alphabet="ab", transitions=[[0, 0]], probabilities=[[0.2, 0.4, 0.4]])
    kls = [slow.kl(list(row), [0.2, 0.4, 0.4]) for row in rows]
    shares = [0, 0.75, 0.25 * 0.2, 0.25 * 0.8]
    one = divergence(a, b).forward
    np.testing.assert_allclose(one.visits, shares, atol=1e-12)
    assert one.per_symbol == pytest.approx(np.dot(shares, kls))
    assert one.per_word == one.expected_length == math.inf
    again = divergence(a, shuffled(a, np.array([2, 0, 3, 1])))
    assert again.forward.per_word == again.forward.per_symbol == 0.0
    assert again.forward.expected_length == math.inf


def test_a_difference_before_the_long_run_counts_per_word_only() -> None:
    rows = np.array([[0, 0.5, 0.5], [0, 0.9, 0.1], [0, 1, 0]])
    a, b, never = (
        PDFA(alphabet="ab", transitions=[[1, 1]] * 2, probabilities=[row, rows[0]]) for row in rows
    )
    one = divergence(a, b).forward
    assert one.per_symbol == 0.0
    assert one.per_word == pytest.approx(slow.kl([0.5, 0.5], [0.9, 0.1]))
    one = divergence(a, never).forward
    assert one.per_symbol == one.per_word == math.inf
    assert one.by_state.tolist() == [math.inf, 0.0]
    assert (one.infinite_share, one.finite_mean) == (0.0, 0.0)


@pytest.mark.parametrize("stop", [1e-3, 1e-6, 1e-9])
def test_words_of_a_million_symbols(stop: float) -> None:
    cycle = [[(state + 1) % 7] for state in range(7)]
    a = PDFA(alphabet="a", transitions=cycle, probabilities=[[stop, 1 - stop]] * 7)
    b = PDFA(alphabet="a", transitions=[[0]], probabilities=[[2 * stop, 1 - 2 * stop]])
    one = divergence(a, b).forward
    exact = stop * math.log(0.5) + (1 - stop) * (math.log1p(-stop) - math.log1p(-2 * stop))
    assert one.expected_length == pytest.approx(1 / stop - 1, rel=1e-15 / stop)
    assert one.per_word == pytest.approx(exact / stop, rel=1e-14 / stop)


def test_rows_are_normalised() -> None:
    a = PDFA(alphabet="a", transitions=[[0]], probabilities=[[0.5, 0.5]])
    b = PDFA(alphabet="a", transitions=[[0]], probabilities=[[0.5 * (1 + 9e-7)] * 2])
    assert divergence(a, b).forward.per_word == divergence(a, b).backward.per_word == 0.0


def test_symbols_are_matched_by_name_and_terminals_need_not_be() -> None:
    a = random_pdfa(10, 3, seed=3)
    other = PDFA(
        alphabet=a.alphabet.symbols,
        transitions=a.transitions,
        probabilities=a.probabilities,
        terminal="end",
    )
    assert divergence(a, reordered(other, "201")).forward.per_word == pytest.approx(0, abs=1e-12)
    result = divergence(figure_1(), figure_3())
    assert result.forward.infinite_share == result.backward.infinite_share == 1


def test_too_many_pairs_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walks, "MOST_PAIRS", 100)
    with pytest.raises(InputError, match=r"more than 100 pairs of states .* \(65 and 50 states\)"):
        divergence(random_pdfa(60, seed=1), random_pdfa(50, seed=2))


def test_nothing_changes_in_a_result() -> None:
    result = divergence(figure_1(), figure_1(0.25))
    assert str(result).startswith("KL(a ‖ b) = 0.095894 per symbol, 0.287682 per word; KL(b ‖ a)")
    with pytest.raises(FrozenInstanceError):
        result.forward.per_word = 0.0  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        result.forward.by_state[0] = 1.0
