"""Deep automata: chains of many states, which no number of passes gets through quickly."""

from __future__ import annotations

import numpy as np
import pytest

from pdfalearn import PDFA
from pdfalearn.analysis import condition, distances, entropy, most_likely, probability
from pdfalearn.languages.kinds import EndsWith, HasLength


def deep(size: int, share: float) -> PDFA:
    onwards = np.minimum(np.arange(1, size + 2), size)
    rows = np.tile([0.0, share, 1 - share], (size + 1, 1))
    rows[-1] = [1.0, 0.0, 0.0]
    return PDFA(alphabet="ab", transitions=np.stack((onwards, onwards), axis=1), probabilities=rows)


@pytest.mark.slow
def test_all_questions_of_a_chain_of_twenty_thousand_states() -> None:
    size = 20_000
    pdfa = deep(size, 0.6)
    assert probability(pdfa, EndsWith("a")) == pytest.approx(0.6, rel=1e-12)
    assert probability(pdfa, HasLength()) == pytest.approx(1.0, rel=1e-12)
    row = -(0.6 * np.log(0.6) + 0.4 * np.log(0.4))
    assert entropy(pdfa).per_word == pytest.approx(size * row, rel=1e-12)
    first, second = most_likely(pdfa, 2)
    assert set(first.word) == {"a"}
    assert second.word == (*first.word[:-1], "b")
    assert first.log_probability == pytest.approx(size * np.log(0.6), rel=1e-12)
    given = condition(pdfa, EndsWith("ba"))
    assert given.prefix_probability("a") == pytest.approx(0.6, rel=1e-9)
    far = distances(deep(1000, 0.6), deep(1000, 0.6001))
    roots = np.sqrt(0.6 * 0.6001) + np.sqrt(0.4 * 0.3999)
    assert far.hellinger**2 == pytest.approx(1 - roots**1000, rel=1e-6)
