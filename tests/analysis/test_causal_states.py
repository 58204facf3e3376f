"""Statistical complexity and excess entropy, against closed forms and entropies of blocks."""

from __future__ import annotations

from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.special import entr

from pdfalearn import PDFA
from pdfalearn.analysis import complexity
from pdfalearn.analysis import entropy as entropy_of
from pdfalearn.datasets import figure_1, random_pdfa
from pdfalearn.equivalence import Exact, Rounded
from pdfalearn.errors import InputError
from tests.support import examples


def two(p: float) -> float:
    return -p * log(p) - (1 - p) * log(1 - p)


def golden(p: float) -> PDFA:
    """No two 1 in a row; p is the probability of a 1 where it may be."""
    rows = [[0, 1 - p, p], [0.0, 1.0, 0.0]]
    return PDFA(alphabet="01", transitions=[[0, 1], [0, -1]], probabilities=rows)


def even(p: float) -> PDFA:
    """Blocks of 1 have even lengths."""
    return PDFA(
        alphabet="01", transitions=[[0, 1], [-1, 0]], probabilities=[[0, 1 - p, p], [0.0, 0.0, 1.0]]
    )


def noisy(p: float) -> PDFA:
    """Every second symbol is a 1; the others are, with probability p."""
    rows = [[0.0, 0.0, 1.0], [0, 1 - p, p]]
    return PDFA(alphabet="01", transitions=[[-1, 1], [0, 0]], probabilities=rows)


@pytest.mark.parametrize("p", [0.2, 0.5, 0.75])
def test_closed_forms(p: float) -> None:
    first = 1 / (1 + p)  # the share of the first state of the golden mean and of the even process
    for pdfa, whole, rate, excess in (
        (golden(p), two(first), first * two(p), two(first) - first * two(p)),
        (even(p), two(first), first * two(p), two(first)),
        (noisy(p), log(2), two(p) / 2, log(2)),
        (noisy(1.0), 0.0, 0.0, 0.0),
        (noisy(0.0), log(2), 0.0, log(2)),
    ):
        found = complexity(pdfa)
        assert found.statistical_complexity == pytest.approx(whole, abs=1e-12)
        assert found.entropy_rate == pytest.approx(rate, abs=1e-12)
        assert found.entropy_rate == pytest.approx(entropy_of(pdfa).per_symbol, abs=1e-12)
        assert found.excess_low - 1e-12 <= excess <= found.excess_high + 1e-12
        assert found.excess_high - found.excess_low <= 1e-9
        assert found.shares.sum() == pytest.approx(1)


def endless(pdfa: PDFA) -> PDFA:
    rows = pdfa.probabilities.copy()
    rows[:, 0] = 0
    rows[rows.sum(axis=1) == 0, 1] = 1
    rows /= rows.sum(axis=1, keepdims=True)
    return PDFA(alphabet=pdfa.alphabet, transitions=pdfa.transitions, probabilities=rows)


def block_bounds(
    pdfa: PDFA, shares: NDArray[np.float64], length: int, rate: float
) -> tuple[float, float]:
    """H(X₁…X_L) - L·h, and the same with H(S_L | X₁…X_L) added, by going through all words."""
    vectors = [shares]
    for _ in range(length):
        longer = []
        for vector in vectors:
            for symbol in range(len(pdfa.alphabet)):
                after = np.zeros(len(pdfa))
                weights = vector * pdfa.probabilities[:, symbol + 1]
                used = weights > 0
                np.add.at(after, pdfa.transitions[used, symbol], weights[used])
                if used.any():
                    longer.append(after)
        vectors = longer
    table = np.array(vectors)
    masses = table.sum(axis=1)
    low = float(entr(masses).sum()) - length * rate
    return low, low + float(entr(table).sum() - entr(masses).sum())


@examples(8)
@given(st.integers(2, 4), st.integers(0, 10**6))
@pytest.mark.slow
def test_entropies_of_blocks_agree(size: int, seed: int) -> None:
    pdfa = endless(random_pdfa(size, 2, zero_probability=0.2, seed=seed))
    try:
        found = complexity(pdfa, gap=1e-3)
    except InputError as error:
        assert "come to stay" in str(error)  # noqa: PT017
        return
    assert found.excess_low <= found.excess_high <= found.statistical_complexity + 1e-12
    for length in (1, 4, 10):
        low, high = block_bounds(found.states, found.shares, length, found.entropy_rate)
        assert low <= found.excess_high + 1e-9
        assert high >= found.excess_low - 1e-9


def test_the_beginning_the_copies_and_the_impossible_do_not_count() -> None:
    plain = complexity(golden(0.3))
    rows = [[0, 0, 1.0], [0, 0.7, 0.3], [0, 1.0, 0], [0, 0.7, 0.3], [0, 1.0, 0]]
    table = [[0, 1], [3, 2], [1, 0], [1, 4], [3, 4]]  # twice the same, and a way there
    doubled = PDFA(alphabet="01", transitions=table, probabilities=rows)
    found = complexity(doubled)
    assert len(found.states) == 2
    assert found.statistical_complexity == pytest.approx(plain.statistical_complexity, abs=1e-12)
    assert found.excess_low == pytest.approx(plain.excess_low, abs=1e-9)
    rows[3] = [0, 0.7 + 1e-12, 0.3 - 1e-12]
    nearly = PDFA(alphabet="01", transitions=table, probabilities=rows)
    assert len(complexity(nearly).states) == 4
    assert len(complexity(nearly, equivalence=Rounded(Exact(), 9)).states) == 2


@pytest.mark.slow
def test_many_states_have_wide_bounds() -> None:
    found = complexity(endless(random_pdfa(12, 3, seed=2)))
    assert 0 < found.excess_low < found.excess_high <= found.statistical_complexity + 1e-12
    assert " to " in str(found)


def test_bad_input() -> None:
    with pytest.raises(InputError, match="words may end in state 1"):
        complexity(figure_1())
    split = PDFA(
        alphabet="01",
        transitions=[[1, 2], [1, -1], [-1, 2]],
        probabilities=[[0, 0.5, 0.5], [0, 1.0, 0], [0, 0, 1.0]],
    )
    with pytest.raises(InputError, match=r"one of 2 parts .* one of the states 1, 2 as initial"):
        complexity(split)
    with pytest.raises(InputError, match="gap"):
        complexity(even(0.5), gap=-1)
    with pytest.raises(InputError, match="not an equivalence"):
        complexity(even(0.5), equivalence=10)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="pdfa"):
        complexity("even")  # type: ignore[arg-type]
