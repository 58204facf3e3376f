"""ALERGIA, MDI and the likelihood ratio: the same automata as plain Python, and as AALpy's."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.corpora.aalpy_machines import alergia_of_aalpy, merging_of_aalpy, read_machine
from pdfalearn import PDFA
from pdfalearn.corpora import PrefixTree
from pdfalearn.datasets import random_pdfa, reber
from pdfalearn.errors import InputError
from pdfalearn.passive import (
    alergia,
    clark_thollard,
    likelihood_ratio,
    mdi,
    merge_variously,
    smooth_rows,
)
from pdfalearn.words import Words
from tests.passive import plain_merging as plain

LEARNERS: dict[str, Callable[..., PDFA]] = {
    "alergia": alergia,
    "recorded": lambda words, **rest: alergia(words, recorded=True, **rest),
    "mdi": mdi,
    "likelihood_ratio": likelihood_ratio,
    "clark_thollard": lambda words, **rest: clark_thollard(words, mu=0.1, minimum=5, **rest),
}
SYMBOLS = 3
WORDS = st.lists(st.integers(0, SYMBOLS - 1), max_size=4).map(tuple)
BAGS = st.lists(WORDS, min_size=1, max_size=25)
# Plain Python copies the whole automaton for every merge that it tries.
SMALL_BAGS = st.lists(WORDS, min_size=1, max_size=10)


def draw_words(seed: int, count: int) -> list[tuple[int, ...]]:
    source = random_pdfa(4, SYMBOLS, zero_probability=0.3, undefined=True, seed=seed)
    words = source.sample(count, seed=seed, max_length=10).words
    return [tuple(int(str(symbol)) for symbol in word) for word in words]


def assert_same(reds: dict[plain.Word, plain.Node], pdfa: PDFA) -> None:
    order = sorted(reds, key=plain.shortlex)
    numbers = {id(reds[word]): number for number, word in enumerate(order)}
    transitions, rows = [], []
    for word in order:
        node = reds[word]
        children = [node.children.get(symbol) for symbol in range(SYMBOLS)]
        transitions.append([-1 if child is None else numbers[id(child)] for child in children])
        rows.append([node.counts[column] / node.total for column in (None, *range(SYMBOLS))])
    np.testing.assert_array_equal(transitions, pdfa.transitions)
    np.testing.assert_allclose(rows, pdfa.probabilities, rtol=1e-12)


@settings(max_examples=60, deadline=None)
@given(BAGS, st.sampled_from([1e-3, 0.05, 0.5, 1.5, 2.0]))
def test_alergia_is_that_of_plain_python(words: list[plain.Word], epsilon: float) -> None:
    expected = plain.learn(words, plain.hoeffding(epsilon))
    assert_same(expected, alergia(words, epsilon=epsilon, alphabet=range(SYMBOLS)))


@settings(max_examples=40, deadline=None)
@given(SMALL_BAGS, st.sampled_from([0.0031, 0.0173, 0.11, 0.73]))
def test_mdi_is_that_of_plain_python(words: list[plain.Word], alpha: float) -> None:
    expected = plain.learn(words, plain.divergence_increment(alpha, len(words)))
    assert_same(expected, mdi(words, alpha=alpha, alphabet=range(SYMBOLS)))


@settings(max_examples=40, deadline=None)
@given(SMALL_BAGS, st.sampled_from([0.0113, 0.0517, 0.5331]))
def test_likelihood_ratio_is_that_of_plain_python(words: list[plain.Word], alpha: float) -> None:
    expected = plain.learn(words, plain.ratio_test(alpha), largest=True)
    found = likelihood_ratio(words, alpha=alpha, least=0, alphabet=range(SYMBOLS))
    assert_same(expected, found)


def test_larger_samples_are_merged_as_in_plain_python() -> None:
    words = draw_words(1, 150)
    expected = plain.learn(words, plain.hoeffding(0.5))
    assert_same(expected, alergia(words, epsilon=0.5, alphabet=range(SYMBOLS)))
    few = words[:25]
    expected = plain.learn(few, plain.divergence_increment(0.0123, len(few)))
    assert_same(expected, mdi(few, alpha=0.0123, alphabet=range(SYMBOLS)))


@pytest.mark.parametrize("seed", range(3))
def test_long_words_are_merged_as_in_plain_python(seed: int) -> None:
    random = np.random.default_rng(seed)
    block = random.integers(SYMBOLS, size=5)
    tails = [np.where(random.random(15) < 0.2, 0, np.tile(block, 3)) for _ in range(5)]
    words = [(*[1] * (seed + k % 2), *tail[: 15 - k].tolist()) for k, tail in enumerate(tails)]
    words += words[:1]  # with simple parameters, losses would be equal to the bounds
    expected = plain.learn(words, plain.divergence_increment(0.1417, len(words)))
    assert_same(expected, mdi(words, alpha=0.1417, alphabet=range(SYMBOLS)))
    expected = plain.learn(words, plain.ratio_test(0.0517), largest=True)
    found = likelihood_ratio(words, alpha=0.0517, least=0, alphabet=range(SYMBOLS))
    assert_same(expected, found)


@pytest.mark.parametrize("recorded", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_merging_of_aalpy_finds_the_same_automaton(seed: int, recorded: bool) -> None:
    pytest.importorskip("aalpy")
    words = draw_words(seed, 60)
    epsilon = (0.05, 0.5, 1.0, 1.5)[seed]
    found = alergia(words, epsilon=epsilon, recorded=recorded, alphabet=range(SYMBOLS))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        machine = merging_of_aalpy(words, SYMBOLS, epsilon, recorded=recorded)
    transitions, rows = read_machine(machine, SYMBOLS)
    np.testing.assert_array_equal(transitions, found.transitions)
    np.testing.assert_allclose(rows, found.probabilities)


def test_alergia_of_aalpy_finds_the_same_automaton_where_no_two_prefixes_meet() -> None:
    pytest.importorskip("aalpy")
    words = [tuple(w) for w in reber().sample(300, seed=1).words]
    codes = [reber().alphabet.encode(word).tolist() for word in words]
    found = alergia(words, recorded=True, alphabet=reber().alphabet)
    transitions, rows = read_machine(alergia_of_aalpy(codes, 5, 0.05), 5)
    np.testing.assert_array_equal(transitions, found.transitions)
    np.testing.assert_allclose(rows, found.probabilities)


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize(
    "words",
    [["a"], [""] * 9, ["a" * 30], ["", "a", "aa"] * 4, ["abcab"] * 50, ["ab", "ba"]],
    ids=["one word", "empty words", "one long word", "one symbol", "equal words", "two words"],
)
def test_small_corpora_have_an_automaton(name: str, words: list[str]) -> None:
    pdfa = LEARNERS[name](words, alphabet="abc")
    assert (pdfa.word_probabilities(words) > 0).all()
    smooth = smooth_rows(pdfa, words)
    assert (smooth.word_probabilities(["cccc", "", "bac"]) > 0).all()


@pytest.mark.parametrize("name", LEARNERS)
def test_large_alphabets_are_learnt(name: str) -> None:
    random = np.random.default_rng(1)
    words = [random.integers(0, 500, size=random.integers(0, 6)).tolist() for _ in range(300)]
    pdfa = LEARNERS[name](words, alphabet=range(500))
    assert (pdfa.word_probabilities(words) > 0).all()


@pytest.mark.parametrize("name", LEARNERS)
def test_words_are_needed(name: str) -> None:
    with pytest.raises(InputError, match="needs a word"):
        LEARNERS[name]([], alphabet="ab")
    with pytest.raises(InputError, match="give an alphabet"):
        LEARNERS[name](["", ""])


@given(BAGS)
@settings(max_examples=25, deadline=None)
def test_rows_are_shares_of_the_words(words: list[plain.Word]) -> None:
    """Whatever is merged, the expected number of each symbol is that of the words."""
    for learner in (alergia, mdi, likelihood_ratio):
        pdfa = learner(words, alphabet=range(SYMBOLS))
        batch = pdfa.alphabet.encode_words(words)
        visits = np.bincount(pdfa._run(batch, None), minlength=len(pdfa))
        counts = visits[:, None] * pdfa.probabilities
        np.testing.assert_allclose(counts, counts.round(), atol=1e-6)
        columns = np.bincount(batch.next_columns(), minlength=SYMBOLS + 1)
        np.testing.assert_allclose(counts.sum(axis=0), columns, atol=1e-6)


def test_a_greater_epsilon_and_a_smaller_alpha_keep_more_states() -> None:
    words = draw_words(5, 400)
    symbols = range(SYMBOLS)
    few = [alergia(words, epsilon=1e-9, alphabet=symbols), mdi(words, alpha=9, alphabet=symbols)]
    many = [alergia(words, epsilon=1.9, alphabet=symbols), mdi(words, alpha=0, alphabet=symbols)]
    assert [len(pdfa) for pdfa in few] == [1, 1]
    assert all(len(pdfa) > 20 for pdfa in many)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: alergia(["ab"], epsilon=0), "epsilon"),
        (lambda: alergia(["ab"], epsilon=2.1), "epsilon"),
        (lambda: mdi(["ab"], alpha=-1), "alpha"),
        (lambda: likelihood_ratio(["ab"], alpha=2), "alpha"),
        (lambda: likelihood_ratio(["ab"], least=-1), "least"),
        (lambda: smooth_rows(alergia(["ab"]), ["ab"], weight=0), "weight"),
    ],
)
def test_arguments_are_checked(call: Callable[[], PDFA], message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()


@settings(max_examples=60, deadline=None)
@given(BAGS)
def test_automata_of_all_criteria_have_the_counts_of_their_words(words: list[plain.Word]) -> None:
    tree = PrefixTree.of(Words.of(words), SYMBOLS)
    merged = list(merge_variously(tree, len(tree)))
    assert len(merged) >= 3  # each criterion has one
    few = [counts for _, counts in merge_variously(tree, 2)]
    assert list(map(len, few)) == [len(counts) for _, counts in merged if len(counts) <= 2]
    for transitions, counts in merged:
        found = np.zeros_like(counts)
        for word in words:
            state = 0
            for symbol in word:
                found[state, symbol + 1] += 1
                state = transitions[state, symbol]
            found[state, 0] += 1
        np.testing.assert_array_equal(found, counts)
        assert transitions.min() >= 0


def test_a_merge_that_costs_just_the_bound_is_not_done() -> None:
    # One bit a word for two states; more of the same words change nothing.
    for count in (1, 2, 5, 100, 1000):
        assert len(mdi(["aa", ""] * count, alpha=0.5)) == 2
        assert len(mdi(["aa", ""] * count, alpha=0.501)) == 1
    assert len(mdi(["aa", ""] * 2)) == 2
