"""Every prefix of every word is compared, and asked for once."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdfalearn import PDFA, Quantization, Tolerance
from pdfalearn.datasets import random_pdfa
from pdfalearn.equivalence.relations import Equivalence, Relation
from pdfalearn.models import AutomatonModel
from pdfalearn.observations.tree import ObservationTree
from pdfalearn.oracles import comparison as comparing
from pdfalearn.oracles.comparison import differing, first_differences, make_comparison
from pdfalearn.results.trees import Word
from pdfalearn.words import Words
from tests.learners.checks import label_after
from tests.models.watched import COSTS, WatchedModel
from tests.strategies import equivalences, pdfas


def watched(target: PDFA, capacity: int | None = None, prefixes_free: bool = True) -> WatchedModel:
    return WatchedModel(AutomatonModel(target), capacity=capacity, cost=COSTS[prefixes_free])


def shortest_wrong(
    word: Word, target: PDFA, hypothesis: PDFA, equivalence: Equivalence
) -> Word | None:
    for end in range(len(word) + 1):
        if label_after(target, word[:end], equivalence) != label_after(
            hypothesis, word[:end], equivalence
        ):
            return word[:end]
    return None


def state_before(word: Word, hypothesis: PDFA) -> int | None:
    return hypothesis.state_after(word[:-1]) if word else None


@given(
    st.data(),
    equivalences(),
    st.lists(st.lists(st.integers(0, 1), max_size=6), max_size=60),
    st.sampled_from([None, 3, 10]),
    st.booleans(),
)
def test_the_shortest_differing_prefixes_are_found(
    data: st.DataObject,
    equivalence: Equivalence,
    codes: list[list[int]],
    capacity: int | None,
    prefixes_free: bool,
) -> None:
    target, hypothesis = data.draw(pdfas(alphabet="ab")), data.draw(pdfas(alphabet="ab"))
    tree = ObservationTree(watched(target, capacity, prefixes_free), equivalence)
    words = Words.of(codes)
    found = target.alphabet.decode_words(first_differences(words, hypothesis, tree))
    wrong = [
        prefix
        for word in target.alphabet.decode_words(words)
        if (prefix := shortest_wrong(word, target, hypothesis, equivalence)) is not None
    ]
    befores = [state_before(word, hypothesis) for word in found]
    assert set(found) <= set(wrong)
    assert len(set(befores)) == len(befores)
    assert set(befores) == {state_before(word, hypothesis) for word in wrong}
    for word, before in zip(found, befores, strict=True):
        rivals = [other for other in wrong if state_before(other, hypothesis) == before]
        assert len(word) == min(map(len, rivals))
    assert list(map(len, found)) == sorted(map(len, found))


@pytest.mark.parametrize("prefixes_free", [True, False])
@pytest.mark.parametrize("symbols", [2, 40])
@pytest.mark.parametrize("count", [3, 300])
def test_every_prefix_is_asked_once(count: int, symbols: int, prefixes_free: bool) -> None:
    target = random_pdfa(50, symbols, seed=1)
    model = watched(target, prefixes_free=prefixes_free)
    tree = ObservationTree(model, Quantization(1000))
    random = np.random.default_rng(1)
    codes = [tuple(random.integers(symbols, size=random.integers(30))) for _ in range(count)]
    path = tree.ask_path(Words.of(codes))
    prefixes = [word[:end] for word in codes for end in range(len(word) + 1)]
    assert list(map(tuple, tree.nodes.words(path))) == prefixes
    assert sorted(model.asked) == sorted(set(prefixes))
    tree.ask_path(Words.of(codes))
    assert len(model.asked) == len(set(prefixes))


@pytest.mark.slow
@pytest.mark.parametrize("prefixes_free", [True, False])
def test_a_thousand_words_take_few_batches(prefixes_free: bool) -> None:
    model = watched(random_pdfa(50, seed=1), prefixes_free=prefixes_free)
    tree = ObservationTree(model, Quantization(1000))
    symbols = np.random.default_rng(1).integers(2, size=100_000, dtype=np.int32)
    tree.ask_path(Words(symbols, np.arange(1001) * 100))
    assert len(model.batches) < 40


@pytest.mark.slow
@pytest.mark.parametrize("prefixes_free", [True, False])
@pytest.mark.parametrize("capacity", [8, 64])
def test_hardly_a_symbol_is_led_through_twice(capacity: int, prefixes_free: bool) -> None:
    model = watched(random_pdfa(50, seed=1), capacity, prefixes_free)
    tree = ObservationTree(model, Quantization(1000))
    symbols = np.random.default_rng(1).integers(2, size=5000, dtype=np.int32)
    tree.ask_path(Words(symbols, np.arange(51) * 100))
    assert len(set(model.asked)) == len(model.asked) == tree.nodes.size
    assert model.symbols < 1.1 * tree.nodes.size


def test_no_words_ask_nothing() -> None:
    model = watched(random_pdfa(50, seed=1))
    assert len(ObservationTree(model, Quantization(10)).ask_path(Words.of([]))) == 0
    assert model.batches == []


def test_wide_rows_are_compared_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    target, hypothesis = random_pdfa(30, seed=1), random_pdfa(30, seed=2)
    tree = ObservationTree(AutomatonModel(target), Quantization(5))
    path = tree.ask_path(Words.of([[0, 1] * 20, [1] * 30]))
    states = np.arange(len(path)) % 30
    at_once = differing(path, states, hypothesis, tree)
    monkeypatch.setattr(comparing, "_NUMBERS_AT_ONCE", 1)
    in_parts = differing(path, states, hypothesis, tree)
    assert at_once.any()
    assert not at_once.all()
    assert in_parts.tolist() == at_once.tolist()


@given(
    st.data(),
    st.one_of(equivalences(), st.sampled_from([0.0, 0.1]).map(Tolerance)),
    st.lists(st.lists(st.integers(0, 1), max_size=6), max_size=20),
)
def test_words_are_compared_by_their_classes(
    data: st.DataObject, equivalence: Relation, codes: list[list[int]]
) -> None:
    target, hypothesis = data.draw(pdfas(alphabet="ab")), data.draw(pdfas(alphabet="ab"))
    tree = ObservationTree(AutomatonModel(target), equivalence)
    path = np.unique(tree.ask_path(Words.of([[], *codes])))
    nodes = np.repeat(path, len(hypothesis) + 1)
    states = np.tile(np.arange(-1, len(hypothesis)), len(path))
    found = make_comparison(hypothesis, tree)(nodes, states)
    assert found.tolist() == differing(nodes, states, hypothesis, tree).tolist()


def test_there_are_never_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    target = random_pdfa(300, seed=1)
    rows = target.probabilities.copy()
    rows[100:] = np.roll(rows[100:], 1, axis=0)
    hypothesis = PDFA(alphabet="01", transitions=target.transitions, probabilities=rows)
    tree = ObservationTree(AutomatonModel(target), Quantization(1000))
    words = Words.of(np.random.default_rng(1).integers(2, size=(500, 12)).tolist())
    found = first_differences(words, hypothesis, tree)
    assert 3 < len(found) <= 64
    monkeypatch.setattr(comparing, "_MOST", 3)
    fewer = first_differences(words, hypothesis, tree)
    assert target.alphabet.decode_words(fewer) == target.alphabet.decode_words(found)[:3]
