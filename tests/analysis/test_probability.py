"""The probability of a language, with and without a condition."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pdfalearn import PDFA
from pdfalearn.analysis import probability
from pdfalearn.datasets import random_pdfa
from pdfalearn.errors import InputError
from pdfalearn.languages.kinds import BeginsWith, Contains, EndsWith, HasLength, Not
from tests.analysis.brute import automata, words_with_mass
from tests.support import examples, need_module

LANGUAGES = ["a*", "(ab)*", "a(a|b)*b|", "b+a?", "[ab]{0,3}", "[ab]*", "a[ab]*|", "[ab]*bb[ab]*"]
LONGEST = 9


@examples(100)
@given(pdfa=automata(), pattern=st.sampled_from(LANGUAGES))
def test_as_all_words_of_a_language_together(pdfa: PDFA, pattern: str) -> None:
    need_module("interegular")
    words, rest = words_with_mass(pdfa, LONGEST)
    inside = sum(p for word, p in words.items() if re.fullmatch(pattern, word))
    assert inside - 1e-12 <= probability(pdfa, pattern) <= inside + rest + 1e-12


@examples(80)
@given(pdfa=automata(), part=st.text("ab", max_size=3))
def test_a_language_and_the_others_are_all_words_that_end(pdfa: PDFA, part: str) -> None:
    every = probability(pdfa, HasLength())
    assume(part)
    for language in (BeginsWith(part), EndsWith(part), Contains(part)):
        parts = probability(pdfa, language), probability(pdfa, Not(language))
        assert sum(parts) == pytest.approx(every, rel=1e-9, abs=1e-12)


@examples(80)
@given(pdfa=automata(), pattern=st.sampled_from(LANGUAGES))
def test_a_condition_divides(pdfa: PDFA, pattern: str) -> None:
    need_module("interegular")
    short = HasLength(most=4)
    words, _ = words_with_mass(pdfa, 4)
    whole = sum(words.values())
    if whole == 0:
        with pytest.raises(InputError, match=r"the condition HasLength\(.*\) has probability 0"):
            probability(pdfa, pattern, given=short)
        return
    inside = sum(p for word, p in words.items() if re.fullmatch(pattern, word))
    assert probability(pdfa, pattern, given=short) == pytest.approx(inside / whole, rel=1e-9)


@pytest.mark.slow
def test_words_too_unlikely_for_a_number_are_still_compared() -> None:
    size = 3000
    onwards = [[min(state + 1, size), size] for state in range(size + 1)]
    rows = [[0.0, 0.01, 0.99]] * (size - 1) + [[0.25, 0.5, 0.25]] + [[1.0, 0.0, 0.0]]
    pdfa = PDFA(alphabet="ab", transitions=onwards, probabilities=rows)
    deep = BeginsWith("a" * (size - 1))
    assert probability(pdfa, deep) == 0.0
    assert probability(pdfa, ["a" * size], given=deep) == pytest.approx(0.5, rel=1e-12)


def test_files_may_be_off_by_a_millionth() -> None:
    pdfa = PDFA(alphabet="a", transitions=[[0]], probabilities=[[0.5, 0.5 + 9e-7]])
    assert probability(pdfa, HasLength()) == pytest.approx(1, abs=1e-15)


def test_as_sampling_says_of_a_large_automaton() -> None:
    pdfa = random_pdfa(20_000, 3, seed=5)
    words = ["".join(map(str, word)) for word in pdfa.sample(40_000, seed=1).words]
    shares = {
        Contains("12"): np.mean(["12" in word for word in words]),
        HasLength(2, 5): np.mean([2 <= len(word) <= 5 for word in words]),
    }
    for language, share in shares.items():
        assert probability(pdfa, language) == pytest.approx(share, abs=0.0125)
