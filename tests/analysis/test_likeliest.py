"""The likeliest words and prefixes, in exact order."""

from __future__ import annotations

from itertools import islice, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdfalearn import PDFA
from pdfalearn.analysis import most_likely, most_likely_prefixes
from pdfalearn.datasets import chain, random_pdfa
from pdfalearn.errors import InputError
from pdfalearn.languages.kinds import Contains, HasLength
from tests.analysis.brute import automata, words_with_mass
from tests.support import examples


def ordered(words: dict[str, float]) -> list[str]:
    """Sort words by probability; those equal to twelve digits by length and alphabet."""
    by_mass = sorted(words, key=lambda word: -words[word])
    found: list[str] = []
    while by_mass:
        top = words[by_mass[0]]
        same = [word for word in by_mass if words[word] >= top * (1 - 1e-11)]
        found += sorted(same, key=lambda word: (len(word), word))
        by_mass = by_mass[len(same) :]
    return found


@examples(150)
@given(pdfa=automata(), only=st.sampled_from(["", "b", "ab"]))
def test_in_the_order_of_all_words(pdfa: PDFA, only: str) -> None:
    words, rest = words_with_mass(pdfa, 8)
    language = Contains(only) if only else None
    expected = [word for word in ordered(words) if only in word and words[word] > rest * (1 + 1e-9)]
    found = list(most_likely(pdfa, len(expected), language))
    assert ["".join(map(str, one.word)) for one in found] == expected
    for one in found:
        assert one.probability == pytest.approx(words["".join(map(str, one.word))], rel=1e-12)
        assert np.exp(one.log_probability) == pytest.approx(one.probability, rel=1e-12)


@examples(80)
@given(pdfa=automata(), length=st.integers(0, 5))
def test_prefixes_of_a_length(pdfa: PDFA, length: int) -> None:
    rows = pdfa.probabilities / pdfa.probabilities.sum(axis=1, keepdims=True)
    exact = PDFA(
        alphabet="ab", transitions=pdfa.transitions, probabilities=rows, initial=pdfa.initial
    )
    all_prefixes = ["".join(word) for word in product("ab", repeat=length)]
    masses = dict(zip(all_prefixes, exact.prefix_probabilities(all_prefixes), strict=True))
    possible = {word: float(mass) for word, mass in masses.items() if mass > 0}
    found = list(most_likely_prefixes(pdfa, length))
    assert ["".join(map(str, one.word)) for one in found] == ordered(possible)


def test_ties_are_found_lazily() -> None:
    uniform = PDFA(alphabet="ab", transitions=[[0, 0]], probabilities=[[0.5, 0.25, 0.25]])
    words = ["".join(map(str, one.word)) for one in most_likely(uniform, 7)]
    assert words == ["", "a", "b", "aa", "ab", "ba", "bb"]
    deep = islice(most_likely(uniform, language=HasLength(60, 60)), 3)
    assert ["".join(map(str, one.word))[-3:] for one in deep] == ["aaa", "aab", "aba"]


def test_long_words_are_found_one_after_the_other() -> None:
    pdfa = chain(5_000)
    first, second = most_likely(pdfa, 2)
    assert first.log_probability >= second.log_probability


@pytest.mark.slow
def test_a_thousand_words_of_a_large_automaton() -> None:
    pdfa = random_pdfa(100_000, 2, seed=1)
    words = list(most_likely(pdfa, 1000))
    masses = [one.probability for one in words]
    assert masses == sorted(masses, reverse=True)
    assert len({one.word for one in words}) == 1000
    np.testing.assert_allclose(pdfa.word_probabilities([one.word for one in words]), masses)
    drawn = set(pdfa.sample(20_000, seed=2).words)
    least = masses[-1]
    likely = {word for word in drawn if pdfa.probability(word) > least * (1 + 1e-9)}
    assert likely <= {one.word for one in words}


def test_automata_without_words_have_no_likeliest() -> None:
    endless = PDFA(alphabet="a", transitions=[[0]], probabilities=[[0.0, 1.0]])
    assert list(most_likely(endless, 3)) == []
    assert [one.probability for one in most_likely_prefixes(endless, 3)] == [1.0]


@pytest.mark.parametrize("count", [-1, 2.5, "three"])
def test_counts_are_whole_numbers(count: int) -> None:
    with pytest.raises(InputError, match="count"):
        most_likely(random_pdfa(3, 2, seed=1), count)
