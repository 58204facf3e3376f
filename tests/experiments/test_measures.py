"""The metrics of a run."""

from __future__ import annotations

import pytest

from pdfalearn import PDFA, Quantization, Tolerance, evaluate, quotient
from pdfalearn.datasets import random_pdfa
from pdfalearn.experiments.runs import LONGEST_WORD, WORDS, measure

TARGET = random_pdfa(30, seed=5)
KAPPA = 10


def test_the_target_itself_is_perfect() -> None:
    perfect = measure(TARGET, TARGET, KAPPA, 1)
    assert perfect["perplexity"] == perfect["target_perplexity"] > 1
    figures = dict(perfect)
    for name in ("perplexity", "target_perplexity"):
        del figures[name]
    assert figures.pop("ndcg") == pytest.approx(1, abs=1e-12)
    assert set(figures.values()) == {0.0}


def test_what_is_wrong_shows() -> None:
    coarse = quotient(TARGET, equivalence=Quantization(1))
    found = measure(TARGET, coarse, KAPPA, 1)
    assert 0 < found["word_error_rate"] < 1
    assert found["ndcg"] < 1
    assert found["log_probability_error"] is not None
    assert found["log_probability_error"] > 0
    assert 0 < found["out_of_tolerance"] <= 1
    assert 0 < found["other_class"] <= 1
    assert found["l1"] > 0
    assert found["kl"] > 0


def test_similar_is_not_the_same_class() -> None:
    shifted = PDFA(
        alphabet=TARGET.alphabet,
        transitions=TARGET.transitions,
        probabilities=TARGET.probabilities * 0.99 + 0.01 / 3,
    )
    found = measure(TARGET, shifted, KAPPA, 1)
    assert found["out_of_tolerance"] == 0 < found["other_class"]


def test_words_get_around() -> None:
    """Uniform words see more of a target than as many of its own, which end early."""
    random_ones = measure(TARGET, TARGET, KAPPA, 1)["target_perplexity"]
    own = evaluate(TARGET, TARGET, count=WORDS, max_length=LONGEST_WORD, equivalence=Tolerance(0))
    assert random_ones > own.target_perplexity
