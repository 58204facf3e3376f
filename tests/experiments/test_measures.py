"""The metrics of a run."""

from __future__ import annotations

from dataclasses import asdict, replace

import pytest

from pdfalearn import PDFA, Quantization, Tolerance, evaluate, quotient
from pdfalearn.datasets import random_pdfa
from pdfalearn.experiments.plans import EXPERIMENTS
from pdfalearn.experiments.runs import LONGEST_WORD, WORDS, measures

TARGET = random_pdfa(30, seed=5)
SETTING = EXPERIMENTS[3].settings([10], [0.05])[0]


def test_the_target_itself_is_perfect() -> None:
    perfect = measures(TARGET, TARGET, SETTING, 1)
    assert perfect.perplexity == perfect.target_perplexity > 1
    figures = asdict(perfect)
    for name in ("perplexity", "target_perplexity"):
        del figures[name]
    assert figures.pop("ndcg") == pytest.approx(1, abs=1e-12)
    assert set(figures.values()) == {0.0}


def test_what_is_wrong_shows() -> None:
    coarse = quotient(TARGET, equivalence=Quantization(1))
    found = measures(TARGET, coarse, SETTING, 1)
    assert 0 < found.word_error_rate < 1
    assert found.ndcg < 1
    assert found.log_probability_error is not None
    assert found.log_probability_error > 0
    assert 0 < found.out_of_tolerance <= 1
    assert 0 < found.other_class <= 1
    assert found.l1 > 0
    assert found.kl > 0


def test_similar_is_not_the_same_class() -> None:
    """The shares go by the κ and the t of the setting, each on its own."""
    shifted = PDFA(
        alphabet=TARGET.alphabet,
        transitions=TARGET.transitions,
        probabilities=TARGET.probabilities * 0.99 + 0.01 / 3,
    )
    found = measures(TARGET, shifted, SETTING, 1)
    assert found.out_of_tolerance == 0 < found.other_class
    narrow = measures(TARGET, shifted, replace(SETTING, kappa=1, tolerance=1e-6), 1)
    assert narrow.other_class == 0 < narrow.out_of_tolerance


def test_words_get_around() -> None:
    """Uniform words see more of a target than as many of its own, which end early."""
    random_ones = measures(TARGET, TARGET, SETTING, 1).target_perplexity
    own = evaluate(TARGET, TARGET, count=WORDS, max_length=LONGEST_WORD, equivalence=Tolerance(0))
    assert random_ones > own.target_perplexity
