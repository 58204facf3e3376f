"""Fitting automata to models and to words, against dictionaries."""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.distilling.black_boxes import BlackBox
from benchmarks.distilling.truth import same_structure
from pdfalearn import PDFA, Budget, Corpus, divergence, refit
from pdfalearn.alphabet import Word
from pdfalearn.datasets import figure_1, figure_3, random_pdfa
from pdfalearn.errors import InputError
from pdfalearn.samplers import ModelWords
from tests.distilling.samplers import Listed, prefixes
from tests.strategies import all_words, shuffled
from tests.support import examples

BUDGET = Budget(max_symbols=200)


def after(pdfa: PDFA, codes: tuple[int, ...]) -> int:
    state = pdfa.initial
    for code in codes:
        state = int(pdfa.transitions[state, code])
    return state


@pytest.mark.parametrize("seed", range(5))
def test_rows_are_the_means_of_a_models_answers(seed: int) -> None:
    truth, pdfa = random_pdfa(9, 2, seed=seed), random_pdfa(4, 2, seed=seed + 10)
    sampler = Listed(truth.sample(50, seed=1, max_length=8).words)
    found = refit(pdfa, BlackBox(truth), sampler=sampler, budget=BUDGET)
    sums: dict[int, list[np.ndarray]] = defaultdict(list)
    for codes in prefixes(sampler.drawn):
        sums[after(pdfa, codes)].append(truth.probabilities[after(truth, codes)])
    assert found.transitions.tolist() == pdfa.transitions.tolist()
    for state, before in enumerate(pdfa.probabilities):
        rows = [*sums[state], before]  # which counts as one word
        assert found.probabilities[state] == pytest.approx(np.mean(rows, axis=0))


@examples(50)
@given(st.lists(st.sampled_from(all_words("01", 5)), min_size=1, max_size=20), st.integers(0, 9))
def test_rows_are_the_means_of_what_follows_in_words(words: list[str], seed: int) -> None:
    pdfa = random_pdfa(4, 2, seed=seed)
    found = refit(pdfa, words)
    follows: dict[int, Counter[int]] = defaultdict(Counter)
    for word in words:
        codes = tuple(map(int, word))
        for end in range(len(codes)):
            follows[after(pdfa, codes[:end])][1 + codes[end]] += 1
        follows[after(pdfa, codes)][0] += 1
    for state, row in enumerate(pdfa.probabilities.tolist()):
        counts = [follows[state][column] + share for column, share in enumerate(row)]
        assert found.probabilities[state] == pytest.approx(np.array(counts) / sum(counts))


def test_many_symbols_in_words() -> None:
    pdfa = random_pdfa(3, 100, seed=1)
    words: list[Word] = [("7", "99"), ("7",), ()]
    row = refit(pdfa, words).probabilities[pdfa.initial]
    start = np.zeros(101)
    for column, codes in ((8, ()), (100, (7,)), (0, (7, 99)), (8, ()), (0, (7,)), (0, ())):
        if after(pdfa, codes) == pdfa.initial:
            start[column] += 1
    expected = start + pdfa.probabilities[pdfa.initial]
    assert row == pytest.approx(expected / expected.sum())


@pytest.mark.parametrize("initial", [0, 2])
def test_transitions_are_repaired(initial: int) -> None:
    order = np.roll(np.arange(4), initial)
    truth = shuffled(figure_3(), order)
    broken = truth.transitions.copy()
    broken[after(truth, (0,)), 1] = truth.initial
    wrong = PDFA(
        alphabet=truth.alphabet,
        transitions=broken,
        probabilities=truth.probabilities,
        initial=truth.initial,
    )
    assert divergence(truth, wrong).forward.per_symbol > 0.001
    only_rows = refit(wrong, BlackBox(truth), seed=1, budget=BUDGET)
    assert not same_structure(truth, only_rows)
    repaired = refit(wrong, BlackBox(truth), transitions=True, seed=1, budget=BUDGET)
    assert same_structure(truth, repaired)
    assert divergence(truth, repaired).forward.per_symbol < 1e-4


def test_transitions_are_repaired_by_words_too() -> None:
    truth = figure_3()
    broken = truth.transitions.copy()
    broken[after(truth, (0,)), 1] = 0
    wrong = PDFA(alphabet="01", transitions=broken, probabilities=truth.probabilities)
    words = list[Word](truth.sample(2000, seed=1).words)
    assert same_structure(truth, refit(wrong, words, transitions=True))


def test_the_same_seed_gives_the_same_automaton() -> None:
    pdfa, truth = random_pdfa(4, 2, seed=1), random_pdfa(9, 2, seed=2)
    found = [refit(pdfa, truth, seed=seed, budget=BUDGET) for seed in (1, 1, 2)]
    assert found[0] == found[1] != found[2]


def test_a_state_that_no_word_reaches_keeps_its_row() -> None:
    pdfa = random_pdfa(5, 2, seed=3)
    found = refit(pdfa, [""])
    assert (found.probabilities[1:] == pdfa.probabilities[1:]).all()


def test_undefined_transitions_stay_so() -> None:
    truth = random_pdfa(10, 3, zero_probability=0.4, undefined=True, seed=2)
    found = refit(truth, BlackBox(truth), budget=BUDGET)
    assert (found.transitions == truth.transitions).all()
    assert found.probabilities == pytest.approx(truth.probabilities)


def test_an_undefined_word_is_refused() -> None:
    pdfa = PDFA(alphabet="ab", transitions=[[0, -1]], probabilities=[[0.5, 0.5, 0]])
    with pytest.raises(InputError, match=r"word \('a', 'b'\) is undefined .* leave it out"):
        refit(pdfa, ["a", "ab"])


def test_no_words_are_refused() -> None:
    with pytest.raises(InputError, match="there are no words"):
        refit(figure_1(), [])


def test_another_alphabet_is_refused() -> None:
    with pytest.raises(InputError, match="the same symbols in the same order"):
        refit(figure_1(), figure_3())
    with pytest.raises(InputError, match="no event of these words, such as 'x'"):
        refit(figure_1(), ["xx", "y"])


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"budget": 100}, "not a Budget"),
        ({"budget": Budget(max_states=5)}, "does not bound what is asked"),
        ({"sampler": "ab"}, "not a sampler"),
        ({"seed": -1}, "seed"),
        ({"sampler": Corpus(["02"])}, "'2'"),
    ],
)
def test_bad_arguments(options: dict[str, object], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        refit(figure_3(), figure_3(), **options)  # type: ignore[arg-type]


def test_what_is_not_an_automaton_is_refused() -> None:
    with pytest.raises(InputError, match="pdfa"):
        refit("automaton", figure_3())  # type: ignore[arg-type]


def test_a_tiny_budget_is_not_about_words_that_nobody_holds_out() -> None:
    with pytest.raises(InputError, match="max_symbols=20 is too small to draw any words"):
        refit(figure_3(), figure_3(), budget=Budget(max_symbols=20))
    endless = PDFA(alphabet="a", transitions=[[0]], probabilities=[[0.0, 1.0]])
    with pytest.raises(InputError, match="ended before a word was drawn; give a larger budget"):
        refit(endless, endless, budget=Budget(max_symbols=60), sampler=ModelWords(1000))
