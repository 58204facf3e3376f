"""Scores of sessions, against sums in plain Python."""

from __future__ import annotations

from math import exp, inf, log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdfalearn import PDFA, Corpus
from pdfalearn.datasets import figure_1
from pdfalearn.errors import InputError
from pdfalearn.watching import score_sessions
from pdfalearn.watching.session_scores import Scale
from tests.strategies import pdfas
from tests.support import examples

OTHER = 1e-4
# One symbol more than any automaton here has.
WORDS = st.lists(st.text("abcdz", max_size=12), min_size=1, max_size=80)


def score_in_plain_python(pdfa: PDFA, word: str, window: int) -> dict[str, float]:
    rows = pdfa.probabilities / pdfa.probabilities.sum(axis=1, keepdims=True)
    state, costs, means, variances = pdfa.initial, [], [], []
    for symbol in [*word, "$"]:
        row = rows[state]
        known = symbol == "$" or symbol in pdfa.alphabet
        column = 0 if symbol == "$" else (pdfa.alphabet.index(symbol) + 1 if known else -1)
        chance = row[column] if known and row[column] > 0 else OTHER
        costs.append(-log(chance))
        mean = sum(-p * log(p) for p in row if p > 0)
        means.append(mean)
        gaps = {p: -log(p) - mean for p in row if p > 0}
        variances.append(sum(p * gaps[p] ** 2 for p in row if p > 0 and abs(gaps[p]) > 1e-12))
        if known and column and pdfa.transitions[state, column - 1] >= 0:
            state = int(pdfa.transitions[state, column - 1])
    excess = [cost - mean for cost, mean in zip(costs, means, strict=True)]
    sums = [sum(excess[max(0, end - window) : end]) for end in range(1, len(excess) + 1)]
    gap, variance = sum(excess), sum(variances)
    deviation = gap / sqrt(variance) if variance > 0 else (0.0 if abs(gap) < 1e-9 else inf)
    largest = max(costs)
    return {
        "peaks": log(sum(exp(cost) for cost in costs)),
        "largest": largest,
        "after": next(i for i, cost in enumerate(costs) if cost > largest - 1e-12),
        "window": max(0.0, *sums),
        "sum": abs(deviation),
    }


@pytest.mark.slow
@examples(40)
@given(pdfas(max_symbols=3), WORDS, st.integers(1, 6))
def test_scores_are_as_in_plain_python(pdfa: PDFA, words: list[str], window: int) -> None:
    found = score_sessions(pdfa, Corpus(words), other=OTHER, window=window)
    for number, word in enumerate(words):
        expected = score_in_plain_python(pdfa, word, window)
        for name in ("peaks", "largest", "window"):
            assert found.values(name)[number] == pytest.approx(expected[name], abs=1e-9)
        if expected["sum"] < 1e3:  # else the variance is rounding
            assert found.values("sum")[number] == pytest.approx(expected["sum"], rel=1e-6, abs=1e-6)
        known = found.describe(number)
        assert known["after"] == expected["after"]
        assert known["events"] == len(word) + 1


@pytest.mark.slow
@examples(40)
@given(pdfas(max_symbols=3), WORDS, st.integers(1, 6), st.integers(0, 2**32))
def test_events_may_come_in_parts(pdfa: PDFA, words: list[str], window: int, seed: int) -> None:
    from pdfalearn.words import Words

    scale, random = Scale(pdfa, OTHER, window), np.random.default_rng(seed)
    columns: dict[object, int] = {one: column for column, one in enumerate(pdfa.alphabet, 1)}
    left = [[*(columns.get(one, scale.unknown) for one in word), 0] for word in words]
    records = scale.new_records(len(words))
    while any(left):
        chosen = [i for i, rest in enumerate(left) if rest and random.random() < 0.7]
        parts = [left[i][: random.integers(1, 5)] for i in chosen]
        for i, part in zip(chosen, parts, strict=True):
            left[i] = left[i][len(part) :]
        if chosen:
            advanced = records[chosen]
            scale.advance(advanced, Words.of(parts))
            records[chosen] = advanced
    whole = score_sessions(pdfa, Corpus(words), other=OTHER, window=window).records
    for name in whole.dtype.names or ():
        assert np.allclose(records[name], whole[name], rtol=1e-9, atol=1e-9), name


def test_words_that_were_cut_have_no_end_that_counts(tmp_path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "words.txt"
    path.write_text("a\na (cut)\n (cut)\n")
    found = score_sessions(figure_1(), path)
    assert found.records["events"].tolist() == [2, 1, 0]
    assert found.describe(2)["event"] is None
    assert found.describe(2)["expected_instead"] == ()


def test_what_is_wrong_is_named() -> None:
    with pytest.raises(InputError, match="other"):
        score_sessions(figure_1(), ["a"], other=0)
    with pytest.raises(InputError, match="window"):
        score_sessions(figure_1(), ["a"], window=0)
