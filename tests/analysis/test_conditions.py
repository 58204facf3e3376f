"""Automata of words given that they are in a language."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdfalearn import PDFA
from pdfalearn.analysis import condition, length, probability
from pdfalearn.datasets import random_pdfa
from pdfalearn.errors import InputError
from pdfalearn.languages.kinds import BeginsWith, Contains, HasLength
from tests.analysis.brute import automata, words_with_mass
from tests.support import examples, need_module


@examples(100)
@given(pdfa=automata(), pattern=st.sampled_from(["a*", "(ab)*", "a(a|b)*b|", "b+a?", "[ab]{0,3}"]))
def test_words_have_their_probability_given_the_language(pdfa: PDFA, pattern: str) -> None:
    need_module("interegular")
    whole = probability(pdfa, pattern)
    if whole == 0:
        with pytest.raises(InputError, match="has probability 0"):
            condition(pdfa, pattern)
        return
    words, _ = words_with_mass(pdfa, 7)
    result = condition(pdfa, pattern)
    for word, mass in words.items():
        expected = mass / whole if re.fullmatch(pattern, word) else 0.0
        assert result.probability(word) == pytest.approx(expected, rel=1e-9)
    assert probability(result, pattern) == pytest.approx(1, rel=1e-9)
    assert length(result).endless_states == ()


@examples(50)
@given(pdfa=automata())
def test_a_condition_that_all_words_meet_changes_nothing_but_endless_ones(pdfa: PDFA) -> None:
    ends = probability(pdfa, HasLength())
    if ends == 0:
        return
    words, _ = words_with_mass(pdfa, 6)
    result = condition(pdfa, HasLength())
    for word, mass in words.items():
        assert result.probability(word) == pytest.approx(mass / ends, rel=1e-9)


@pytest.mark.slow
def test_the_unlikeliest_condition_is_exact() -> None:
    size = 3000
    onwards = [[min(state + 1, size), size] for state in range(size + 1)]
    rows = [[0.0, 0.01, 0.99]] * (size - 1) + [[0.25, 0.5, 0.25]] + [[1.0, 0.0, 0.0]]
    pdfa = PDFA(alphabet="ab", transitions=onwards, probabilities=rows)
    deep = condition(pdfa, BeginsWith("a" * (size - 1)))
    assert deep.probability("a" * size) == pytest.approx(0.5, rel=1e-12)


def test_a_large_automaton_draws_only_such_words() -> None:
    pdfa = random_pdfa(20_000, 2, seed=3)
    result = condition(pdfa, Contains("0110"))
    words = ["".join(map(str, word)) for word in result.sample(2_000, seed=1).words]
    assert all("0110" in word for word in words)
    long = np.mean([len(word) > 8 for word in words])
    share = probability(pdfa, HasLength(least=9), given=Contains("0110"))
    assert share == pytest.approx(long, abs=0.06)
