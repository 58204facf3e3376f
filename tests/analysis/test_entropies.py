"""Entropy, expected counts, expected visits."""

from __future__ import annotations

from math import inf, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdfalearn import PDFA
from pdfalearn.analysis import entropy, expected_count, expected_visits, length
from pdfalearn.datasets import random_pdfa
from pdfalearn.languages.kinds import EndsWith, HasLength
from tests.analysis.brute import automata, words_with_mass
from tests.support import examples


@examples(100)
@given(pdfa=automata(), part=st.text("ab", min_size=1, max_size=2))
def test_as_all_words_say_where_these_are_all(pdfa: PDFA, part: str) -> None:
    words, rest = words_with_mass(pdfa, 9)
    surprisal = sum(-p * log(p) for p in words.values())
    result = entropy(pdfa)
    occurrences = sum(
        p * sum(word.startswith(part, at) for at in range(len(word))) for word, p in words.items()
    )
    if rest < 1e-15:
        assert result.per_word == pytest.approx(surprisal, abs=1e-9)
        assert expected_count(pdfa, EndsWith(part)) == pytest.approx(occurrences, abs=1e-9)
    else:
        assert result.per_word >= surprisal - 1e-9
        assert expected_count(pdfa, EndsWith(part)) >= occurrences - 1e-9


@examples(100)
@given(pdfa=automata())
def test_visits_lengths_and_counts_agree(pdfa: PDFA) -> None:
    visits, mean = expected_visits(pdfa), length(pdfa).mean
    # Visits lose as many digits as words are long; lengths do not.
    loss = max(1e-8, 1e-14 * mean) if mean < inf else 1e-8
    assert visits.states.sum() == pytest.approx(mean + 1, rel=loss)
    assert visits.transitions.sum() == pytest.approx(mean, rel=loss)
    assert expected_count(pdfa, HasLength()) == pytest.approx(mean + 1, rel=1e-9)
    symbols = sum(expected_count(pdfa, EndsWith(symbol)) for symbol in "ab")
    assert symbols == pytest.approx(mean, rel=1e-9)
    assert visits.endless_states == length(pdfa).endless_states
    by_visits = visits.states[visits.states < inf] @ entropy(pdfa).by_state[visits.states < inf]
    if mean < inf:
        assert entropy(pdfa).per_word == pytest.approx(by_visits, rel=loss, abs=1e-12)
        assert entropy(pdfa).per_symbol == pytest.approx(
            by_visits / (mean + 1), rel=loss, abs=1e-12
        )


def test_endless_words_are_infinitely_uncertain_at_a_rate() -> None:
    rows = [[0.5, 0.25, 0.25], [0.0, 0.5, 0.5]]
    pdfa = PDFA(alphabet="ab", transitions=[[1, 1], [1, 1]], probabilities=rows)
    result = entropy(pdfa)
    assert (result.per_word, result.endless_states) == (inf, (1,))
    assert result.per_symbol == pytest.approx(log(2))
    assert expected_visits(pdfa).states.tolist() == [1.0, inf]
    assert expected_count(pdfa, EndsWith("a")) == inf
    assert expected_count(pdfa, ["a", "b"]) == 0.5


def test_as_sampling_says_of_a_large_automaton() -> None:
    pdfa = random_pdfa(20_000, 2, seed=5)
    words = pdfa.sample(20_000, seed=1).words
    surprisals = -pdfa.log_probabilities(words)
    error = 5 * surprisals.std() / np.sqrt(len(words))
    assert entropy(pdfa).per_word == pytest.approx(surprisals.mean(), abs=error)
