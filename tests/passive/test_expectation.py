"""EM on the tree of prefixes, against Baum and Welch's passes word by word in double precision."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdfalearn import PDFA, Alphabet, Corpus
from pdfalearn.corpora import PrefixTree
from pdfalearn.errors import InputError
from pdfalearn.models import PFA
from pdfalearn.passive import expectation, fit_pfa, predict_rows, train_teacher
from pdfalearn.passive.expectation import improve, make_pfa
from pdfalearn.passive.first_weights import Weights, cluster_weights, draw_weights
from pdfalearn.words import Words
from tests.support import examples

PRIOR = 1e-6


def improve_slowly(
    weights: Weights, words: list[list[int]], is_cut: list[bool]
) -> tuple[Weights, float]:
    """One round, a word at a time, without scaling: for short words only."""
    states = len(weights.initial)
    begun, ended = np.full(states, PRIOR), np.full(states, PRIOR)
    moves = np.full(weights.matrices.shape, PRIOR)
    total = 0.0
    for word, is_open in zip(words, is_cut, strict=True):
        last = np.ones(states) if is_open else weights.ends
        ahead = [weights.initial]
        for symbol in word:
            ahead.append(ahead[-1] @ weights.matrices[symbol])
        back = [last]
        for symbol in reversed(word):
            back.append(weights.matrices[symbol] @ back[-1])
        back.reverse()
        probability = ahead[-1] @ last
        total += float(np.log(probability))
        begun += ahead[0] * back[0] / probability
        if not is_open:
            ended += ahead[-1] * weights.ends / probability
        for place, symbol in enumerate(word):
            pair = np.outer(ahead[place], back[place + 1]) * weights.matrices[symbol]
            moves[symbol] += pair / probability
    visits = ended + moves.sum(axis=(0, 2))
    new = Weights(begun / begun.sum(), moves / visits[None, :, None], ended / visits)
    return new, total / len(words)


def words_of_codes(symbols: int) -> st.SearchStrategy[list[list[int]]]:
    word = st.lists(st.integers(0, symbols - 1), max_size=6)
    return st.lists(word, min_size=1, max_size=12)


@examples(60)
@given(data=st.data(), states=st.integers(1, 4), symbols=st.integers(1, 3), seed=st.integers(0, 99))
def test_a_round_is_that_of_baum_and_welch(
    data: st.DataObject, states: int, symbols: int, seed: int
) -> None:
    words = data.draw(words_of_codes(symbols))
    is_cut = data.draw(st.lists(st.booleans(), min_size=len(words), max_size=len(words)))
    tree, nodes = PrefixTree.with_ends(Words.of(words), symbols)
    tree = replace(tree, ends=tree.ends - np.bincount(nodes, is_cut, minlength=len(tree)))
    weights = draw_weights(states, symbols, np.random.default_rng(seed))
    for _ in range(3):
        expected, score = improve_slowly(weights, words, is_cut)
        weights, found, _ = improve(weights, tree)
        assert found == pytest.approx(score, abs=1e-5)
        for mine, theirs in zip(weights, expected, strict=True):
            assert mine == pytest.approx(theirs, abs=2e-5)


@examples(40)
@given(data=st.data(), states=st.integers(1, 5), symbols=st.integers(1, 3), seed=st.integers(0, 99))
def test_the_probability_never_falls(
    data: st.DataObject, states: int, symbols: int, seed: int
) -> None:
    words = data.draw(words_of_codes(symbols))
    tree = PrefixTree.of(Words.of(words), symbols)
    weights = draw_weights(states, symbols, np.random.default_rng(seed))
    scores = [
        improve(each, tree)[1] for each in expectation._improve_often(weights, tree, None, 30)
    ]
    assert (np.diff(scores) > -1e-4).all()


@examples(40)
@given(data=st.data(), states=st.integers(1, 5), symbols=st.integers(1, 3), seed=st.integers(0, 99))
def test_clusters_give_a_whole_automaton(
    data: st.DataObject, states: int, symbols: int, seed: int
) -> None:
    words = data.draw(words_of_codes(symbols)) * data.draw(st.sampled_from([1, 20]))
    tree = PrefixTree.of(Words.of(words), symbols)
    weights = cluster_weights(tree, states, np.random.default_rng(seed))
    assert weights.matrices.shape == (symbols, states, states)
    make_pfa(weights, Alphabet("abc"[:symbols]))  # which checks that all sum to 1


def test_clusters_are_near_what_is_deterministic() -> None:
    # Only the last symbol counts, and words after a and b go on in different ways.
    truth = PDFA(
        alphabet="ab",
        transitions=[[0, 1], [0, 1]],
        probabilities=[[0.1, 0.8, 0.1], [0.2, 0.1, 0.7]],
    )
    words = truth.sample(3000, seed=1).words
    tree = PrefixTree.of(truth.alphabet.encode_words(words), 2)
    random = np.random.default_rng(0)
    chance = improve(draw_weights(2, 2, random), tree)[1]
    clusters = improve(cluster_weights(tree, 2, random), tree)[1]
    assert chance < clusters < truth.log_probabilities(words).mean() + 0.01


def test_words_held_out_are_counted_apart() -> None:
    words = Words.of([[0, 1], [0], [], [1, 1, 0]] * 50)
    tree = PrefixTree.of(words, 2)
    fitted, held = expectation._hold_out(tree, 0.3, np.random.default_rng(1))
    assert held is not None
    assert (fitted.ends + held.ends == tree.ends).all()
    assert (fitted.passes + held.passes == tree.passes).all()
    assert 30 < held.passes[0] < 90
    weights = draw_weights(3, 2, np.random.default_rng(2))
    _, score, test = improve(weights, fitted, held)
    for part, found in ((fitted, score), (held, test)):
        pfa, total = make_pfa(weights, Alphabet("ab")), 0.0
        for word, count in zip(["", "a", "ab", "bba"], _counts(part), strict=True):
            total += count * pfa.log_probability(word)
        assert found == pytest.approx(total / part.passes[0], abs=1e-5)


def _counts(tree: PrefixTree) -> list[float]:
    """How often the words "", "a", "ab" and "bba" are in a tree; no other word is."""
    lengths = np.repeat(np.arange(len(tree.borders) - 1), np.diff(tree.borders))
    return [float(tree.ends[lengths == length].sum()) for length in range(4)]


def test_hidden_states_are_found() -> None:
    # A word is all a or all b: one state cannot say so, two can.
    truth = PFA.from_hmm("ab", [0.5, 0.5], np.eye(2), np.eye(2), [0.25, 0.25])
    words = truth.sample(4000, seed=1).words
    fresh = truth.sample(4000, seed=2).words
    true = truth.log_probabilities(fresh).mean()
    assert fit_pfa(words, 2, seed=1).log_probabilities(fresh).mean() > true - 0.01
    assert fit_pfa(words, 1, seed=1).log_probabilities(fresh).mean() < true - 0.5


def test_a_mixture_is_the_mean_of_its_members() -> None:
    random = np.random.default_rng(0)
    members = [draw_weights(states, 2, random) for states in (1, 3)]
    alphabet = Alphabet("ab")
    mixed = make_pfa(expectation._mix_weights(members, np.array([0.25, 0.75])), alphabet)
    for word in ("", "a", "abba"):
        one, other = (make_pfa(member, alphabet).probability(word) for member in members)
        assert mixed.probability(word) == pytest.approx(0.25 * one + 0.75 * other)
    assert len(fit_pfa(["ab", "b"] * 30, 2, members=3, seed=1)) == 6


def test_shares_of_members_are_those_of_the_words() -> None:
    # Three words of four come from the first member, and each member makes words of its own.
    ends = np.array([0.5])
    a, b = (Weights(np.ones(1), row.reshape(2, 1, 1), ends) for row in np.eye(2) * 0.5 + 1e-9)
    words = Words.of([[0] * length for length in range(1, 10)] * 300 + [[1], [1, 1], [1] * 3] * 300)
    tree = PrefixTree.of(words, 2)
    _, held = expectation._hold_out(tree, 0.5, np.random.default_rng(1))
    shares = expectation._share_members([a, b], tree, held)
    assert shares == pytest.approx([0.75, 0.25], abs=0.03)


def test_a_teacher_predicts_after_every_prefix() -> None:
    truth = PFA.from_hmm("ab", [1, 0], [[0.5, 0.5], [0.5, 0.5]], np.eye(2), [0.25, 0.25])
    tree = PrefixTree.of(truth.alphabet.encode_words(truth.sample(3000, seed=1).words), 2)
    rows = predict_rows(train_teacher(tree, 1, states=4, members=2), tree)
    assert rows.sum(axis=1) == pytest.approx(1)
    often = tree.passes > 300
    assert np.abs(rows[0] - [0.25, 0.75, 0]).max() < 0.03
    assert np.abs(rows[often][1:] - [0.25, 0.375, 0.375]).max() < 0.1


WORDS: dict[str, Any] = {
    "empty words": [""] * 5,
    "one symbol": ["a" * length for length in range(30)],
    "a long word": ["ab" * 500, "b"],
    "one word": ["abc"],
    "many symbols": [[number, number + 1] for number in range(300)],
}


@pytest.mark.parametrize("name", WORDS)
@pytest.mark.parametrize("states", [1, 5])
def test_odd_corpora(name: str, states: int) -> None:
    alphabet = "ab" if name == "empty words" else None
    pfa = fit_pfa(WORDS[name], states, alphabet=alphabet, seed=3, rounds=20)
    assert np.isfinite(pfa.log_probabilities(WORDS[name])).all()


def test_same_seed_same_automaton() -> None:
    words = ["ab", "b", "abab", ""] * 20
    assert fit_pfa(words, 3, seed=1) == fit_pfa(words, 3, seed=1) != fit_pfa(words, 3, seed=2)


def test_ctrl_c_keeps_the_automaton_so_far() -> None:
    rounds: list[int] = []

    def stop(done: int, total: int) -> None:
        rounds.append(done)
        assert total == 50
        if done == 3:
            raise KeyboardInterrupt

    pfa = fit_pfa(["ab", "ba", "a"] * 30, 3, rounds=50, seed=1, progress=stop)
    assert rounds == [1, 2, 3]
    assert len(pfa) == 3


def test_a_corpus_brings_its_alphabet() -> None:
    corpus = Corpus(["ab", "b"], alphabet="abc")
    assert fit_pfa(corpus, 2, seed=1).alphabet == Alphabet("abc")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"words": []}, "needs a word"),
        ({"states": 0}, "states"),
        ({"rounds": 0}, "rounds"),
        ({"held_out": 0.9}, "held_out"),
        ({"states": 2**27}, "prefixes and 134217728 states need more than 1 GiB; take at most"),
        ({"words": ["ac"], "alphabet": "ab"}, "'c'"),
    ],
)
def test_bad_arguments(arguments: dict[str, object], message: str) -> None:
    given: dict[str, object] = {"words": ["ab"], "states": 2} | arguments
    with pytest.raises(InputError, match=message):
        fit_pfa(**given)  # type: ignore[arg-type]
