"""Automata that are not deterministic, against sums over all ways through their states."""

from __future__ import annotations

import pickle
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdfalearn import PDFA, Alphabet, Budget, Quantization, distill, evaluate, learn, sample
from pdfalearn.datasets import figure_1, random_pdfa
from pdfalearn.errors import InputError
from pdfalearn.models import PFA, Batch
from pdfalearn.testing import check_model
from tests.strategies import all_words, pdfas
from tests.support import examples


def random_pfa(states: int, symbols: int, seed: int, zeros: float = 0.5) -> PFA:
    """A PFA many of whose entries are 0; some states may neither end nor be left."""
    random = np.random.default_rng(seed)
    tables = random.random((states, 1 + symbols * states))
    tables[random.random(tables.shape) < zeros] = 0
    tables[~tables.any(axis=1), 0] = 1
    tables /= tables.sum(axis=1, keepdims=True)
    initial = random.random(states) * (random.random(states) < 0.6)
    initial[0] += not initial.any()
    return PFA(
        "abcdef"[:symbols],
        initial=initial / initial.sum(),
        matrices=tables[:, 1:].reshape(states, symbols, states).transpose(1, 0, 2),
        ends=tables[:, 0],
    )


def pfas() -> st.SearchStrategy[PFA]:
    return st.builds(
        random_pfa, st.integers(1, 4), st.integers(1, 3), st.integers(0, 10**6), st.floats(0, 0.95)
    )


def probability_by_ways(pfa: PFA, word: str) -> float:
    """Sum over every sequence of states; nothing is shared with the forward vector."""
    codes = [pfa.alphabet.index(symbol) for symbol in word]
    total = 0.0
    for way in product(range(len(pfa)), repeat=len(word) + 1):
        share = pfa.initial[way[0]] * pfa.ends[way[-1]]
        for code, state, successor in zip(codes, way, way[1:], strict=False):
            share *= pfa.matrices[code, state, successor]
        total += share
    return float(total)


@examples(60)
@given(pfa=pfas())
def test_probabilities_are_sums_over_ways(pfa: PFA) -> None:
    words = all_words("".join(map(str, pfa.alphabet)), 3)
    expected = [probability_by_ways(pfa, word) for word in words]
    # One by one, and many at once along their shared prefixes.
    assert [pfa.probability(word) for word in words] == pytest.approx(expected, abs=1e-12)
    assert np.exp(pfa.log_probabilities(words)) == pytest.approx(expected, abs=1e-12)
    assert (pfa.log_probabilities(words) == -np.inf).tolist() == [not each for each in expected]


@examples(60)
@given(pfa=pfas())
def test_next_distributions_are_conditional(pfa: PFA) -> None:
    words = all_words("".join(map(str, pfa.alphabet)), 2)
    rows = pfa.next_distributions(words)
    for word, row in zip(words, rows, strict=True):
        vector = pfa.initial
        for symbol in word:
            vector = vector @ pfa.matrices[pfa.alphabet.index(symbol)]
        if vector.any():
            expected = [vector @ pfa.ends, *(vector @ each.sum(axis=1) for each in pfa.matrices)]
            assert row == pytest.approx(np.array(expected) / vector.sum(), abs=1e-12)
            assert pfa.next_distribution(word) == pytest.approx(row, abs=1e-15)
        else:
            assert np.isnan(row).all()
            assert pfa.next_distribution(word) is None


@examples(60)
@given(pdfa=pdfas())
def test_a_pdfa_is_a_special_case(pdfa: PDFA) -> None:
    pfa = PFA.from_pdfa(pdfa)
    words = all_words("".join(map(str, pdfa.alphabet)), 3)
    found, expected = pfa.log_probabilities(words), pdfa.log_probabilities(words)
    assert np.exp(found) == pytest.approx(np.exp(expected), rel=1e-12)
    possible = pdfa.prefix_probabilities(words) > 0
    rows = pfa.next_distributions(words)
    assert np.isnan(rows[:, 0]).tolist() == (~possible).tolist()
    assert rows[possible] == pytest.approx(pdfa.next_distributions(words)[possible], abs=1e-12)


@examples(40)
@given(pfa=pfas(), seed=st.integers(0, 99))
def test_it_keeps_what_the_protocol_asks(pfa: PFA, seed: int) -> None:
    check_model(pfa, words=100, seed=seed)


@pytest.mark.parametrize("most", [1, 5])
def test_forgetting_changes_nothing(most: int) -> None:
    pfa = random_pfa(4, 2, 3, 0.2)
    opened = pfa.open()
    opened._most = most
    words = all_words("ab", 4)
    codes = [[pfa.alphabet.index(symbol) for symbol in word] for word in words]
    for some in (codes[:7], codes[5:], codes[::3]):
        batch = Batch.of(some)
        expected = pfa.next_distributions([pfa.alphabet.decode(word) for word in batch.words])
        assert opened.answer(batch).to_dense() == pytest.approx(expected, nan_ok=True)


def test_a_hidden_markov_model() -> None:
    moves, emissions, ends = [[0.5, 0.5], [0.25, 0.75]], [[0.9, 0.1], [0.2, 0.8]], [0.25, 0.5]
    hmm = PFA.from_hmm(["x", "y"], [1, 0], moves, emissions, ends)
    # Emit x in state 0, move, end: in either state.
    expected = 0.75 * 0.9 * (0.5 * 0.25 + 0.5 * 0.5)
    assert hmm.probability(["x"]) == pytest.approx(expected)
    with pytest.raises(InputError, match="transitions of 2 states, emissions of 1"):
        PFA.from_hmm("xy", [1, 0], moves, [[0.9, 0.1]], ends)


def test_long_words_neither_underflow_nor_take_long() -> None:
    pfa = random_pfa(5, 2, 4, 0.0)
    one = pfa.log_probability("ab" * 50_000)
    assert -np.inf < one < -10_000
    many = pfa.log_probabilities(["ab" * length for length in range(100, 120)])
    alone = [pfa.log_probability("ab" * length) for length in range(100, 120)]
    assert many == pytest.approx(alone)


@examples(60)
@given(pfa=pfas())
def test_whether_and_when_words_end(pfa: PFA) -> None:
    moves = pfa.matrices.sum(axis=0)
    vector, ended, length = pfa.initial, 0.0, 0.0
    for step in range(4000):
        ended += float(vector @ pfa.ends)
        length += step * float(vector @ pfa.ends)
        vector = vector @ moves
    if vector.sum() < 1e-9:
        assert pfa.ending_probability == pytest.approx(1)
        assert pfa.mean_length == pytest.approx(length, rel=1e-4)
    elif pfa.mean_length == np.inf:
        assert pfa.ending_probability == pytest.approx(ended, abs=1e-3)


def test_words_that_hardly_end_keep_their_digits() -> None:
    pfa = PFA("a", initial=[1, 0], matrices=[[[0.5, 0.5], [0.5, 0.5]]], ends=[1e-14, 3e-14])
    assert pfa.mean_length == pytest.approx(5e13, rel=1e-9)
    assert pfa.ending_probability == 1.0


def test_samples_have_the_right_frequencies() -> None:
    pfa = random_pfa(3, 2, 8, 0.2)
    words, cut = sample(pfa, 20_000, seed=1, max_length=30)
    assert (words, cut.tolist()) == (pfa.sample(20_000, 1, 30).words, cut.tolist())
    for word in ("", "a", "b", "ab"):
        p = pfa.probability(word)
        assert abs(words.count(tuple(word)) - 20_000 * p) < 5 * np.sqrt(20_000 * p) + 1
    endless = PFA("a", initial=[1], matrices=[[[1.0]]], ends=[0])
    assert endless.sample(2, seed=0, max_length=4).cut.all()


def test_learning_and_distilling_it() -> None:
    pfa = PFA.from_pdfa(random_pdfa(6, seed=2))
    result = learn(pfa, equivalence=Quantization(100), seed=1)
    figures = evaluate(pfa, result.pdfa, count=200, seed=2)
    assert figures.over_prefixes.l1 < 0.02
    hidden = random_pfa(4, 2, 3, 0.2)
    frontier = distill(hidden, budget=Budget(max_symbols=500), seed=1)
    assert frontier.points[-1].divergence < frontier.points[0].divergence
    stopped = learn(hidden, equivalence=Quantization(100), budget=Budget(max_words=300), seed=1)
    assert len(stopped.pdfa) > 1


def test_equal_hashed_pickled_and_never_changed() -> None:
    pfa, same, other = random_pfa(3, 2, 1), random_pfa(3, 2, 1), random_pfa(3, 2, 2)
    assert pfa == same != other
    assert hash(pfa) == hash(same)
    assert pfa.fingerprint == same.fingerprint != other.fingerprint
    again = pickle.loads(pickle.dumps(pfa))  # noqa: S301
    assert again == pfa
    assert not again.matrices.flags.writeable
    assert repr(pfa) == "PFA(3 states, alphabet=('a', 'b'))"
    assert repr(PFA.from_pdfa(random_pdfa(1, 9, seed=1))) == "PFA(1 state, alphabet=9 symbols)"
    with pytest.raises(AttributeError, match="never change"):
        pfa.ends = other.ends
    assert pfa != figure_1()


GOOD: dict[str, Any] = {"initial": [1.0], "matrices": [[[0.5]]], "ends": [0.5]}
BAD: dict[str, dict[str, Any]] = {
    "initial sums to 0.5": {"initial": [0.5]},
    "initial is not an array of numbers": {"initial": ["often"]},
    r"initial has the shape \(\)": {"initial": 1.0},
    "ends and matrices of state 0 sum to 1.25": {"ends": [0.75]},
    "ends has entries that are not finite numbers": {"ends": [np.nan]},
    r"1 states and 1 symbols need matrices of the shape \(1, 1, 1\)": {"matrices": [[[0.2, 0.3]]]},
    "and 1 ends, not": {"ends": [0.5, 0.5]},
}


@pytest.mark.parametrize("message", BAD)
def test_bad_arrays(message: str) -> None:
    with pytest.raises(InputError, match=message):
        PFA(Alphabet("a"), **(GOOD | BAD[message]))
