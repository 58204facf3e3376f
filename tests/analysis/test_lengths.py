"""Mean, variance, distribution and quantiles of the length of words."""

from __future__ import annotations

from math import inf, sqrt

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pdfalearn import PDFA
from pdfalearn.analysis import length
from pdfalearn.datasets import random_pdfa
from pdfalearn.errors import InputError
from tests.analysis.brute import automata, exact_mean_length, words_with_mass
from tests.support import examples


@examples(100)
@given(pdfa=automata())
def test_distributions_are_those_of_all_words(pdfa: PDFA) -> None:
    words, rest = words_with_mass(pdfa, 8)
    sums = np.bincount([len(word) for word in words], list(words.values()), 9)
    result = length(pdfa)
    np.testing.assert_allclose(result.distribution(8), sums, rtol=1e-12, atol=1e-15)
    assert result.endless_mass <= rest + 1e-12
    assert (result.mean == inf) == bool(result.endless_states)
    if rest < 1e-14:
        lengths = np.arange(9)
        assert result.mean == pytest.approx(sums @ lengths, abs=1e-11)
        assert result.variance == pytest.approx(
            sums @ (lengths - result.mean) ** 2, abs=1e-10, rel=1e-9
        )


@examples(80)
@given(pdfa=automata())
def test_means_have_all_digits(pdfa: PDFA) -> None:
    assume((pdfa.probabilities[:, 0] > 0).all() and (pdfa.transitions >= 0).all())
    result, exact = length(pdfa), exact_mean_length(pdfa)
    assert abs(result.mean - float(exact)) <= 1e-12 * (1 + float(exact))
    assert abs(result.mean - float(exact)) <= result.error + 1e-15 * float(exact)


@examples(80)
@given(pdfa=automata(), share=st.sampled_from([0.0, 0.1, 0.5, 0.9, 0.99, 1.0]))
def test_quantiles_are_where_the_distribution_passes(pdfa: PDFA, share: float) -> None:
    result = length(pdfa)
    quantile = result.quantile(share)
    if quantile == inf:
        assert result.endless_mass > 1 - share - 1e-12 or result.distribution(200).sum() < 1
        return
    if quantile > 5000:
        return
    below = result.distribution(int(quantile))
    assert below.sum() >= share - 1e-9
    if share and quantile:
        assert below[:-1].sum() < share + 1e-9
    assert below[-1] > 0 or share == 1.0


def ring(size: int, stop: float) -> PDFA:
    onwards = [[(state + 1) % size, state] for state in range(size)]
    rows = np.tile([stop, (1 - stop) / 4, 0.0], (size, 1))
    rows[:, 2] = 1 - rows[:, 0] - rows[:, 1]
    return PDFA(alphabet="ab", transitions=onwards, probabilities=rows)


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 100, 10_000])
def test_a_million_symbols_have_nine_digits(size: int) -> None:
    # Every state ends words with the same chance but for rounding, so that the mean is known.
    pdfa = ring(size, 1e-6)
    stop, *moves = pdfa.probabilities[0].tolist()
    result = length(pdfa)
    assert result.mean == pytest.approx(sum(moves) / stop, rel=1e-12)
    assert result.error <= 1e-9 * result.mean


@pytest.mark.slow
def test_a_million_symbols_have_nine_digits_in_fractions() -> None:
    random = np.random.default_rng(3)
    size = 60
    rows = random.dirichlet([1.0, 1.0, 1.0], size)
    rows[:, 0] *= 1e-6
    rows /= rows.sum(axis=1, keepdims=True)
    onwards = random.integers(0, size, (size, 2))
    pdfa = PDFA(alphabet="ab", transitions=onwards, probabilities=rows)
    result, exact = length(pdfa), float(exact_mean_length(pdfa))
    assert exact > 1e6
    assert result.mean == pytest.approx(exact, rel=1e-12)


@pytest.mark.slow
def test_the_error_is_told_of_large_automata() -> None:
    random = np.random.default_rng(3)
    size = 20_000
    rows = random.dirichlet([1.0, 1.0, 1.0], size)
    rows[:, 0] *= 1e-4
    rows /= rows.sum(axis=1, keepdims=True)
    onwards = random.integers(0, size, (size, 2))
    result = length(PDFA(alphabet="ab", transitions=onwards, probabilities=rows))
    assert result.mean > 9e3
    assert 0 < result.error <= 1e-8 * result.mean


def test_quantiles_of_very_long_words_come_by_powers() -> None:
    stop = 1e-6
    result = length(ring(3, stop))
    median = np.log(0.5) / np.log1p(-stop)
    assert result.quantile(0.5) == pytest.approx(median, abs=2)
    assert result.deviation == pytest.approx(sqrt(1 - stop) / stop, rel=1e-9)


@pytest.mark.slow
def test_the_shortest_and_the_longest_word_of_a_long_chain() -> None:
    size = 20_000
    onwards = [[min(state + 1, size), min(state + 1, size)] for state in range(size + 1)]
    rows = np.tile([0.0, 0.5, 0.5], (size + 1, 1))
    rows[-1] = [1.0, 0.0, 0.0]
    result = length(PDFA(alphabet="ab", transitions=onwards, probabilities=rows))
    assert (result.mean, result.variance) == (size, 0)
    assert (result.quantile(0), result.quantile(1)) == (size, size)
    assert length(ring(3, 0.5)).quantile(1) == inf


def test_words_that_never_end_are_part_of_the_answer() -> None:
    rows = [[0.25, 0.5, 0.25], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]
    pdfa = PDFA(alphabet="ab", transitions=[[0, 1], [1, -1], [2, 2]], probabilities=rows)
    result = length(pdfa)
    assert (result.mean, result.variance, result.endless_states) == (inf, inf, (1,))
    assert result.endless_mass == pytest.approx(0.5, rel=1e-15)
    assert result.quantile(0.4) == 2
    assert result.quantile(0.6) == inf


def test_as_sampling_says_of_a_large_automaton() -> None:
    pdfa = random_pdfa(20_000, 3, seed=5)
    lengths = np.array([len(word) for word in pdfa.sample(40_000, seed=1).words])
    result = length(pdfa)
    assert result.mean == pytest.approx(lengths.mean(), abs=5 * result.deviation / 200)
    assert result.quantile(0.5) == np.median(lengths)


@pytest.mark.parametrize("share", [-0.1, 1.1, float("nan"), "half"])
def test_quantiles_outside_of_one_are_refused(share: float) -> None:
    with pytest.raises(InputError, match="quantile"):
        length(ring(1, 0.5)).quantile(share)
