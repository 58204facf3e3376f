"""The words and prefixes that make the difference."""

from __future__ import annotations

import tracemalloc
from itertools import pairwise
from math import sqrt
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given

from pdfalearn import PDFA
from pdfalearn.analysis import differences, word_differences
from pdfalearn.datasets import random_pdfa
from pdfalearn.typing import Floats
from tests.analysis.brute import automata, words_with_mass
from tests.support import examples


def rows_after(pdfa: PDFA, word: str) -> np.ndarray[tuple[int], np.dtype[np.float64]] | None:
    row = pdfa.next_distribution(word)
    return None if row is None else row / row.sum()


@examples(80)
@given(a=automata(4), b=automata(4))
def test_words_with_the_largest_gaps_come_first(a: PDFA, b: PDFA) -> None:
    (first, rest), (second, other) = (words_with_mass(one, 8) for one in (a, b))
    with patch("pdfalearn.analysis.word_differences._MOST_STEPS", 2000):
        result = differences(a, b, 5)
    gaps = sorted(
        (
            (sqrt(first.get(word, 0.0)) - sqrt(second.get(word, 0.0))) ** 2 / 2
            for word in first.keys() | second.keys()
        ),
        reverse=True,
    )
    shares = [one.share * result.squared_hellinger for one in result.words]
    # Shares that are equal but for rounding come in any order.
    assert shares == pytest.approx(sorted(shares, reverse=True), rel=1e-12)
    for found, gap in zip(shares, gaps, strict=False):
        if gap > max(rest, other) / 2 + 1e-9:
            assert found == pytest.approx(gap, rel=1e-9)
    for one in result.words:
        word = "".join(map(str, one.word))
        if len(word) <= 8:
            assert one.probability_a == pytest.approx(first.get(word, 0.0), rel=1e-9)
            assert one.probability_b == pytest.approx(second.get(word, 0.0), rel=1e-9)


@examples(80)
@given(a=automata(4), b=automata(4))
def test_prefixes_have_their_shares(a: PDFA, b: PDFA) -> None:
    with patch("pdfalearn.analysis.word_differences._MOST_STEPS", 0):
        result = differences(a, b, 6)
    shares = [one.share for one in result.prefixes]
    assert all(x >= y for x, y in pairwise(shares))
    assert sum(shares) <= 1 + 1e-9
    assert len({one.states for one in result.prefixes}) == len(shares)
    for one in result.prefixes:
        prefix = "".join(map(str, one.prefix))
        row, other = rows_after(a, prefix), rows_after(b, prefix)
        assert row is not None
        assert other is not None
        column = 0 if one.symbol == "$" else "ab".index(str(one.symbol)) + 1
        assert (one.probability_a, one.probability_b) == (row[column], other[column])
        assert one.states == (a.state_after(prefix), b.state_after(prefix))


@examples(80)
@given(a=automata(4), b=automata(4))
def test_pairs_of_states_have_the_shares_of_all_their_prefixes(a: PDFA, b: PDFA) -> None:
    """Pass √(P·Q) on from pair to pair, symbol by symbol, as prefixes one by one would."""
    with patch("pdfalearn.analysis.word_differences._MOST_STEPS", 0):
        result = differences(a, b, 1000)
    here, visits = {(a.initial, b.initial): 1.0}, dict[tuple[int, int], float]()
    for _ in range(400):
        after = dict[tuple[int, int], float]()
        for (p, q), weight in here.items():
            visits[p, q] = visits.get((p, q), 0.0) + weight
            for code in range(2):
                on = weight * sqrt(rows_of(a)[p, code + 1] * rows_of(b)[q, code + 1])
                if on:
                    pair = int(a.transitions[p, code]), int(b.transitions[q, code])
                    after[pair] = after.get(pair, 0.0) + on
        here = after
    if sum(here.values()) > 1e-12:  # words that hardly end
        return
    expected = {
        (p, q): weight * ((np.sqrt(rows_of(a)[p]) - np.sqrt(rows_of(b)[q])) ** 2).sum() / 2
        for (p, q), weight in visits.items()
    }
    found = {one.states: one.share * result.squared_hellinger for one in result.prefixes}
    for pair, gap in expected.items():
        assert found.get(pair, 0.0) == pytest.approx(gap, rel=1e-6, abs=1e-12)


@examples(80)
@given(a=automata(4), b=automata(4))
def test_prefixes_are_the_likeliest_to_their_pairs(a: PDFA, b: PDFA) -> None:
    with patch("pdfalearn.analysis.word_differences._MOST_STEPS", 0):
        result = differences(a, b, 1000)
    best = dict[tuple[int, int], float]()
    here = {(a.initial, b.initial): 1.0}
    for _ in range(len(a) * len(b) + 1):
        after = dict[tuple[int, int], float]()
        for (p, q), weight in here.items():
            best[p, q] = max(best.get((p, q), 0.0), weight)
            for code in range(2):
                on = weight * sqrt(rows_of(a)[p, code + 1] * rows_of(b)[q, code + 1])
                pair = int(a.transitions[p, code]), int(b.transitions[q, code])
                if on:
                    after[pair] = max(after.get(pair, 0.0), on)
        here = after
    for one in result.prefixes:
        weight, states = 1.0, (a.initial, b.initial)
        for symbol in one.prefix:
            code = "ab".index(str(symbol))
            weight *= sqrt(rows_of(a)[states[0], code + 1] * rows_of(b)[states[1], code + 1])
            states = int(a.transitions[states[0], code]), int(b.transitions[states[1], code])
        assert states == one.states
        assert weight == pytest.approx(best[states], rel=1e-6)


def rows_of(pdfa: PDFA) -> Floats:
    """Return the rows, divided by their sums."""
    return np.asarray(pdfa.probabilities / pdfa.probabilities.sum(axis=1, keepdims=True))


def test_one_change_is_listed_once_and_the_next_one_follows() -> None:
    loop = PDFA(alphabet="ab", transitions=[[0, 1], [0, 1]], probabilities=[[0.1, 0.6, 0.3]] * 2)
    rows = [[0.1, 0.4, 0.5], [0.1, 0.65, 0.25]]
    other = PDFA(alphabet="ab", transitions=[[0, 1], [0, 1]], probabilities=rows)
    found = differences(loop, other, 10).prefixes
    assert [(one.prefix, one.states) for one in found] == [((), (0, 0)), (("b",), (1, 1))]
    assert sum(one.share for one in found) == pytest.approx(1.0)


def test_one_changed_row_is_found_in_a_large_automaton() -> None:
    a = random_pdfa(20_000, 2, seed=1)
    changed = a.state_after("01")
    assert changed is not None
    rows = a.probabilities.copy()
    rows[changed] = rows[changed, [1, 2, 0]]
    b = PDFA(alphabet=a.alphabet, transitions=a.transitions, probabilities=rows, initial=a.initial)
    result = differences(a, b, 3)
    assert a.state_after(result.prefixes[0].prefix) == changed
    assert all(
        changed in {a.state_after(one.word[:end]) for end in range(len(one.word) + 1)}
        for one in result.words
    )


def test_equal_automata_have_no_differences() -> None:
    a = random_pdfa(50, 2, seed=1)
    assert (differences(a, a).words, differences(a, a).prefixes) == ((), ())


def test_long_words_share_what_they_have_in_common(monkeypatch: pytest.MonkeyPatch) -> None:
    def stopping(share: float) -> PDFA:
        return PDFA(alphabet="a", transitions=[[0]], probabilities=[[share, 1 - share]])

    monkeypatch.setattr(word_differences, "_MOST_STEPS", 6000)  # 130 MB, were each word written out
    tracemalloc.start()
    try:
        differences(stopping(1e-4), stopping(1.1e-4), 3)
        assert tracemalloc.get_traced_memory()[1] < 2**24
    finally:
        tracemalloc.stop()
