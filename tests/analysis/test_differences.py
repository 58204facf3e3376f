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
    assert shares == sorted(shares, reverse=True)
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
    assert all(x >= y * (1 - 1e-9) for x, y in pairwise(shares))
    assert sum(shares) <= 1 + 1e-9
    for one in result.prefixes:
        prefix = "".join(map(str, one.prefix))
        row, other = rows_after(a, prefix), rows_after(b, prefix)
        assert row is not None
        assert other is not None
        column = 0 if one.symbol == "$" else "ab".index(str(one.symbol)) + 1
        assert (one.probability_a, one.probability_b) == (row[column], other[column])
        gap = ((np.sqrt(row) - np.sqrt(other)) ** 2).sum() / 2
        weight = 1.0
        for end in range(len(prefix)):
            at = "ab".index(prefix[end]) + 1
            before, others = rows_after(a, prefix[:end]), rows_after(b, prefix[:end])
            assert before is not None
            assert others is not None
            weight *= sqrt(before[at] * others[at])
        assert one.share * result.squared_hellinger == pytest.approx(weight * gap, rel=1e-9)


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
