"""What a frontier answers for the model behind it: honest, and certain where all was asked."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from pdfalearn import (
    PDFA,
    Budget,
    Corpus,
    Frontier,
    FunctionModel,
    distill,
    load,
    probability,
    save,
)
from pdfalearn.analysis import Estimate, entropy, length
from pdfalearn.analysis.network_estimates import _bound_mean, _levels, _refit
from pdfalearn.errors import InputError
from pdfalearn.languages import BeginsWith, Contains, EndsWith, HasLength, LanguageLike, Not
from pdfalearn.samplers import ModelWords, UniformWords

LANGUAGES: list[LanguageLike] = [
    *(HasLength(most=3), Contains("abc"), EndsWith("ca"), Not(Contains("a")), BeginsWith("aab")),
    [("a", "b", "c")],
]


def target(seed: int, states: int = 20) -> PDFA:
    """Return an automaton that no small one comes near to."""
    random = np.random.default_rng(seed)
    rows = random.dirichlet(np.full(4, 0.5), states)
    rows[:, 0] = 0.3 * rows[:, 0] + 0.02
    rows /= rows.sum(axis=1, keepdims=True)
    transitions = random.integers(states, size=(states, 3))
    return PDFA(alphabet="abc", transitions=transitions, probabilities=rows)


@cache
def frontier(seed: int, max_symbols: int = 1000, most: int = 4) -> Frontier:
    sizes = [size for size in (1, 4) if size <= most]
    return distill(target(seed), budget=Budget(max_symbols=max_symbols), sizes=sizes, seed=seed)


@pytest.mark.slow
def test_intervals_cover_and_the_correction_helps() -> None:
    covered, nearer, total = 0, 0, 0
    for seed in range(4):
        for language in LANGUAGES:
            known = probability(target(seed), language)
            found = probability(frontier(seed), language)
            total += 1
            covered += found.low <= known <= found.high
            nearer += abs(found.value - known) <= abs(found.of_automaton - known) + 1e-12
            assert found.low <= found.value <= found.high
            assert found.of_automaton == probability(frontier(seed).best, language)
    assert covered >= 0.9 * total
    assert nearer >= 0.8 * total


def test_short_words_are_certain() -> None:
    """How likely a word is that was asked is known, however bad the automaton."""
    pdfa, small = target(1), frontier(1, most=1)
    for word in ([""], ["a"], ["b"], ["aa"], ["ab", "c"]):
        known, found = probability(pdfa, word), probability(small, word)
        assert found.low <= known <= found.high
    found = probability(small, [""])
    assert found.high - found.low < 1e-11
    assert found.disagrees
    assert "warning: the automaton's figure is outside" in str(found)
    assert "the model behind the frontier, certain by its answers, as too few held" in str(found)
    near = replace(found, low=0.345277, high=0.345277, of_automaton=0.345276)
    assert not near.disagrees
    assert replace(near, of_automaton=0.34526).disagrees
    assert "with confidence 0.95 where 5 held-out words decide" in str(replace(near, words=5))


@pytest.mark.slow
def test_conditions_and_cut_words() -> None:
    covered, total = 0, 0
    for seed in range(3):
        budget, pdfa = Budget(max_symbols=600), target(seed)
        short = distill(pdfa, budget=budget, sizes=[2], seed=seed, sampler=ModelWords(4))
        assert short.kept_words is not None
        assert short.kept_words.is_cut.any()
        for language in LANGUAGES:
            # Nothing is known of what follows cut words, and the interval leaves it open.
            known, found = probability(pdfa, language), probability(short, language)
            assert found.low <= known <= found.high
            known = probability(pdfa, language, given=HasLength(least=1))
            found = probability(frontier(seed), language, given=HasLength(least=1))
            covered, total = covered + (found.low <= known <= found.high), total + 1
    assert covered >= 0.8 * total


def test_frontiers_say_of_what_they_are_exact() -> None:
    small = frontier(1)
    for text in (str(length(small)), str(entropy(small))):
        assert "exact of the automaton of" in text
        assert "divergence on held-out words is" in text
        assert "explore asks the model itself" in text
    assert length(small).mean == length(small.best).mean
    assert "exact of this automaton" in str(length(small.best))


def test_rows_have_seen_nothing_of_held_out_words() -> None:
    found = distill(target(6), budget=Budget(max_symbols=500), sizes=[64], seed=6)
    kept, pdfa = found.kept_words, found.best
    assert kept is not None
    levels = list(_levels(kept.parents[1:]))
    refit = _refit(kept, pdfa, kept.is_learnt.astype(float), levels)
    # Neither what only they were answered nor the automaton's own rows, made of that, matter.
    answers, rows = kept.answers.copy(), pdfa.probabilities.copy()
    answers[np.setdiff1d(kept.rows, kept.rows[kept.is_learnt])] = 0.25
    rows[(rows > 0).all(axis=1)] = 0.25
    others = (
        replace(kept, answers=answers),
        PDFA(
            alphabet=pdfa.alphabet,
            transitions=pdfa.transitions,
            probabilities=rows,
            initial=pdfa.initial,
        ),
    )
    assert _refit(*others, kept.is_learnt.astype(float), levels) == refit


def test_files_keep_the_words(tmp_path: object) -> None:
    from pathlib import Path

    path = Path(str(tmp_path), "frontier.zip")
    save(frontier(1), path)
    again = load(path)
    assert again == frontier(1)
    assert probability(again, ["a"]) == probability(frontier(1), ["a"])


def test_what_has_no_words_of_a_model() -> None:
    model = FunctionModel(lambda words: [[0.5, 0.3, 0.2]] * len(words), "ab")
    drawn = distill(model, budget=Budget(max_symbols=300), sampler=UniformWords(5), sizes=[1])
    recorded = distill(Corpus(["ab", "a", "", "b"] * 20), sizes=[1])
    for one in (drawn, recorded, replace(frontier(1), kept_words=None)):
        with pytest.raises(InputError, match="no words of a model are kept"):
            probability(one, ["a"])
    found = probability(distill(model, budget=Budget(max_symbols=300), sizes=[1]), ["a"])
    assert isinstance(found, Estimate)
    with pytest.raises(InputError, match="probability 0"):
        probability(frontier(1), ["a"], given=[("c",) * 400])


def test_few_words_or_equal_ones_are_not_certain() -> None:
    assert _bound_mean(np.full(4, 0.2), 1, 0.95) == np.inf
    assert _bound_mean(np.full(30, 0.2), 1, 0.95) == pytest.approx(0.3)
    assert _bound_mean(np.full(30, 0.2), -1, 0.95) == pytest.approx(0.1)
    varied = np.linspace(0.1, 0.3, 30)
    assert 0.2 < _bound_mean(varied, 1, 0.95) < 0.3
