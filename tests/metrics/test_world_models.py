"""Coherence with a known automaton, against loops over all pairs of words."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import isnan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdfalearn import PDFA, Exact, FunctionModel, Quantization, Tolerance, TopP, quotient
from pdfalearn.analysis import expected_visits
from pdfalearn.datasets import random_pdfa, reber
from pdfalearn.equivalence import Equivalence, Support
from pdfalearn.errors import InputError
from pdfalearn.languages import DFA
from pdfalearn.metrics import Coherence, coherence, world_models
from tests.support import examples

Word = tuple[object, ...]
Beginning = tuple[Word, float]


def answer(pdfa: PDFA, word: Word, by: Equivalence) -> bytes | None:
    """What an automaton answers; None where it is undefined."""
    row = pdfa.next_distribution(word)
    return None if row is None else by.keys(row[None]).tobytes()


def state_of(pdfa: PDFA, word: Word) -> int:
    state = pdfa.initial
    for symbol in word:
        state = int(pdfa.table[state, pdfa.alphabet.index(symbol)])
    return state


def by_loops(
    beginnings: Sequence[Beginning],
    model: PDFA,
    truth: PDFA,
    by: Equivalence,
    suffixes: Sequence[Word],
) -> list[float | None]:
    """Compression, distinction, precision and recall, pair by pair and suffix by suffix."""
    known = {
        word: (
            [answer(truth, word + suffix, by) for suffix in suffixes],
            [answer(model, word + suffix, by) for suffix in suffixes],
        )
        for word, _ in beginnings
    }
    sums = np.zeros(7)
    for (word, weight), (other, more) in product(beginnings, repeat=2):
        (truths, answers), (other_truths, other_answers) = known[word], known[other]
        told = np.array([a != b for a, b in zip(answers, other_answers, strict=True)])
        right = np.array([a != b for a, b in zip(truths, other_truths, strict=True)])
        if right.any():
            counts = [0, 0, 1, told.any(), told.sum(), right.sum(), (told & right).sum()]
        else:
            counts = [1, not told.any(), 0, 0, 0, 0, 0]
        sums += weight * more * np.array(counts, dtype=float)
    same, compressed, apart, distinct, told_apart, to_tell, both = sums
    pairs = (compressed, same), (distinct, apart), (both, told_apart), (both, to_tell)
    return [part / whole if whole else None for part, whole in pairs]


def figures(found: Coherence) -> list[float | None]:
    given = found.compression, found.distinction, found.precision, found.recall
    return [None if isnan(one) else one for one in given]


def equivalences() -> st.SearchStrategy[Equivalence]:
    return st.sampled_from([Support(), Support(0.2), Quantization(3), Exact()])


def possible(pdfa: PDFA) -> PDFA:
    """The automaton without transitions of probability 0."""
    rows = pdfa.probabilities
    table = np.where(rows[:, 1:] > 0, pdfa.transitions, -1)
    return PDFA(alphabet=pdfa.alphabet, transitions=table, probabilities=rows, initial=pdfa.initial)


def mixed(states: int, zeros: float, seed: int) -> PDFA:
    """A random automaton whose states share two distributions, that many equivalents are merged."""
    return random_pdfa(states, 2, zero_probability=zeros, distributions=2, seed=seed)


@examples(40)
@given(st.integers(1, 6), st.integers(1, 6), st.integers(0, 10**6), equivalences())
@pytest.mark.slow
def test_automata_over_all_words(states: int, others: int, seed: int, by: Equivalence) -> None:
    truth, model = mixed(states, 0.3, seed), mixed(others, 0.3, seed + 1)
    found = coherence(model, truth, equivalence=by)
    # One beginning for each pair of states: how often words come by is known of the product.
    world, waiting = possible(truth), list[Word]([()])
    seen: dict[tuple[int, int], Word] = {}
    while waiting:
        word = waiting.pop(0)
        pair = state_of(world, word), state_of(model, word)
        if pair not in seen:
            seen[pair] = word
            waiting += [(*word, s) for s in "01" if state_of(world, (*word, s)) >= 0]
    pairs = list(seen)
    rows = np.array([world.probabilities[pair[0]] for pair in pairs])
    table = [
        [
            -1
            if (p := state_of(world, (*seen[pair], s))) < 0
            else pairs.index((p, state_of(model, (*seen[pair], s))))
            for s in "01"
        ]
        for pair in pairs
    ]
    both = PDFA(alphabet="01", transitions=table, probabilities=rows)
    visits = expected_visits(both).states
    weights = visits / visits.sum()
    beginnings = [(seen[pair], float(weight)) for pair, weight in zip(pairs, weights, strict=True)]
    expected = by_loops(beginnings, model, world, by, list(found.suffixes))
    assert figures(found) == pytest.approx(expected, abs=1e-9)
    # After more suffixes nothing else is the same.
    longer = [word for length in range(5) for word in product("01", repeat=length)]
    assert by_loops(beginnings, model, world, by, longer)[:2] == pytest.approx(
        expected[:2], abs=1e-9
    )
    check_witnesses(found, model, world, by)


def check_witnesses(found: Coherence, model: PDFA, world: PDFA, by: Equivalence) -> None:
    small = quotient(world, equivalence=by)
    for is_split, witnesses in ((True, found.split), (False, found.merged)):
        assert [one.mass for one in witnesses] == sorted((w.mass for w in witnesses), reverse=True)
        for one in witnesses:
            words = one.word, one.other
            assert (len({state_of(small, word) for word in words}) == 1) == is_split
            source = model if is_split else world
            assert len({answer(source, word + one.suffix, by) for word in words}) == 2
    # The shares are made of these pairs.
    assert (found.compression < 1) == bool(found.split)
    assert isnan(found.distinction) or (found.distinction < 1) == bool(found.merged)


@examples(10)
@given(st.integers(2, 5), st.integers(0, 10**6), equivalences())
@pytest.mark.slow
def test_black_boxes_over_likely_words(states: int, seed: int, by: Equivalence) -> None:
    truth, hidden = mixed(states, 0.2, seed), mixed(states, 0, seed + 1)
    turned = hidden.next_distributions  # the model has its symbols the other way round
    model = FunctionModel(lambda words: turned(words).take([0, 2, 1], axis=1), "10")
    found = coherence(model, truth, equivalence=by, least=0.1)
    world = possible(truth)
    beginnings: list[Beginning] = [((), 1.0)]
    for word, mass in beginnings:
        for symbol in "01":
            more = mass * world.probabilities[state_of(world, word), 1 + int(symbol)]
            if more >= 0.1:
                beginnings.append(((*word, symbol), more))
    assert found.beginnings == len(beginnings)
    length = expected_visits(world).states.sum()
    assert found.covered == pytest.approx(sum(mass for _, mass in beginnings) / length)
    expected = by_loops(beginnings, hidden, world, by, list(found.suffixes))
    assert figures(found) == pytest.approx(expected, abs=1e-9)
    check_witnesses(found, hidden, world, by)
    assert len(beginnings) <= found.words <= len(beginnings) * len(found.suffixes)


@pytest.mark.parametrize("wrap", [lambda pdfa: pdfa, lambda pdfa: TopP(pdfa, 1)])
def test_the_truth_itself_is_coherent(wrap: object) -> None:
    for truth in (reber(), random_pdfa(30, 3, zero_probability=0.5, undefined=True, seed=1)):
        found = coherence(wrap(truth), truth, equivalence=Support())  # type: ignore[operator]
        assert figures(found) == pytest.approx([1.0] * 4)
        assert not found.split + found.merged


def test_an_endless_world_and_a_model_that_forgets() -> None:
    ring = DFA(
        alphabet="lr",
        transitions=[[3, 1], [0, 2], [1, 3], [2, 0]],
        accepting=[True, False, False, False],
    )
    forgets = FunctionModel(lambda words: [[0.2, 0.4, 0.4]] * len(words), "lr")
    found = coherence(forgets, ring, least=0.01)
    assert (found.compression, found.distinction, found.recall) == (1, 0, 0)
    assert isnan(found.precision)
    assert found.merged[0].word == ()
    assert "beginnings of words" in str(found)
    table = [[3, 1], [0, 2], [1, 3], [2, 0]]
    endless = PDFA(alphabet="lr", transitions=table, probabilities=[[0, 0.5, 0.5]] * 4)
    assert coherence(forgets, endless).covered == 0
    assert coherence(endless, endless).compression == 1
    assert isnan(coherence(endless, endless).distinction)  # all states are the same


@pytest.mark.parametrize(
    ("change", "culprit"),
    [
        ({"truth": "reber"}, "truth"),
        ({"truth": random_pdfa(3, seed=1)}, "alphabets differ"),
        (
            {"truth": DFA(alphabet="PSTVX", transitions=[[0] * 5], accepting=[False])},
            "accepts no word",
        ),
        ({"least": 0}, "least"),
        ({"least": 1e-9}, "take a larger least"),
        (
            {
                "truth": PDFA(
                    alphabet="PSTVX", transitions=[[0] * 5], probabilities=[[0, 1] + [0] * 4]
                )
            },
            "a world whose words end",
        ),
        ({"count": -1}, "count"),
        ({"equivalence": Tolerance(0.1)}, "not transitive"),
        ({"model": 3}, "3"),
    ],
)
def test_bad_input(
    change: dict[str, object], culprit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(world_models, "_MOST_QUESTIONS", 1000)
    free = FunctionModel(lambda words: [[1 / 6] * 6] * len(words), "PSTVX")
    uniform = PDFA(alphabet="PSTVX", transitions=[[0] * 5], probabilities=[[1 / 6] * 6])
    given = {"model": free, "truth": uniform} | change
    with pytest.raises(InputError, match=culprit):
        coherence(**given)  # type: ignore[arg-type]
