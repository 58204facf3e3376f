"""The observation tree asks for every word once, and counts what it asks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdfalearn import PDFA, Exact, Quantization
from pdfalearn.datasets import combination_lock, random_pdfa
from pdfalearn.equivalence.relations import Equivalence
from pdfalearn.models import AutomatonModel
from pdfalearn.observations.tree import UNDEFINED, ObservationTree
from tests.models.watched import COSTS, WatchedModel
from tests.observations.ways import one_by_one
from tests.strategies import equivalences, pdfas
from tests.support import examples

Codes = tuple[int, ...]


def ask(tree: ObservationTree, words: list[Codes], few: bool) -> list[int]:
    """Ask for the classes after words, in one of the two ways."""
    suffixes = np.array([tree.suffixes.add_word(word) for word in words], dtype=np.int64)
    with one_by_one(few):
        classes: list[int] = tree.classes(np.zeros(len(words), np.int64), suffixes).tolist()
    return classes


@examples(300)
@given(pdfas(), equivalences(), st.booleans(), st.sampled_from([None, 3, 5]), st.data())
def test_classes_are_those_of_the_model(
    pdfa: PDFA,
    equivalence: Equivalence,
    prefixes_free: bool,
    capacity: int | None,
    data: st.DataObject,
) -> None:
    word = st.lists(st.integers(0, len(pdfa.alphabet) - 1), max_size=6).map(tuple)
    batches = data.draw(st.lists(st.tuples(st.lists(word, max_size=5), st.booleans()), max_size=4))
    model = WatchedModel(AutomatonModel(pdfa), cost=COSTS[prefixes_free], capacity=capacity)
    tree = ObservationTree(model, equivalence)
    key_of: dict[int, bytes] = {}
    for words, few in batches:
        for codes, class_ in zip(words, ask(tree, words, few), strict=True):
            row = pdfa.next_distribution(pdfa.alphabet.decode(codes))
            assert (row is None) == (class_ == UNDEFINED)
            if row is not None:
                key = equivalence.keys(row[None]).tobytes()
                assert key_of.setdefault(class_, key) == key
    assert len(set(key_of.values())) == len(key_of)
    assert len(set(model.asked)) == len(model.asked)


@pytest.mark.parametrize("few", [True, False])
def test_prefixes_are_read_with_a_word_where_they_are_free(few: bool) -> None:
    model = WatchedModel(AutomatonModel(combination_lock(5)), cost=COSTS[True])
    tree = ObservationTree(model, Exact())
    ask(tree, [(0, 1, 1)], few)
    assert model.batches == [[(0,), (0, 1), (0, 1, 1)]]
    ask(tree, [(0, 1), (0,)], few)
    assert len(model.batches) == 1
    ask(tree, [(0, 1, 0)], few)
    assert model.batches[1:] == [[(0, 1, 0)]]
    assert (tree.counts.words, tree.counts.distributions, tree.counts.symbols) == (2, 4, 4)
    assert tree.counts.batches == [3, 1]


@pytest.mark.parametrize("few", [True, False])
def test_as_many_prefixes_as_words_are_told_from_them(few: bool) -> None:
    model = WatchedModel(AutomatonModel(combination_lock(5)), cost=COSTS[True])
    tree = ObservationTree(model, Exact())
    assert len(set(ask(tree, [(), (0, 1)], few))) == 1
    assert sorted(model.asked) == [(), (0,), (0, 1)]


@pytest.mark.parametrize("few", [True, False])
def test_prefixes_are_not_read_where_they_cost(few: bool) -> None:
    model = WatchedModel(AutomatonModel(combination_lock(5)), cost=COSTS[False])
    tree = ObservationTree(model, Exact())
    ask(tree, [(0, 1, 1), (1,)], few)
    assert [sorted(batch) for batch in model.batches] == [[(0, 1, 1), (1,)]]
    ask(tree, [(0, 1), ()], few)
    assert model.batches[1:] == [[(), (0, 1)]]
    assert (tree.counts.words, tree.counts.distributions, tree.counts.symbols) == (4, 4, 4)
    assert tree.counts.batches == [2, 2]


@pytest.mark.parametrize("prefixes_free", [True, False])
@pytest.mark.parametrize("capacity", [None, 3, 9])
def test_counts_are_those_of_the_model(prefixes_free: bool, capacity: int | None) -> None:
    pdfa = random_pdfa(30, 3, zero_probability=0.3, undefined=True, seed=1)
    random = np.random.default_rng(1)
    model = WatchedModel(AutomatonModel(pdfa), cost=COSTS[prefixes_free], capacity=capacity)
    tree = ObservationTree(model, Quantization(100))
    wanted: set[Codes] = set()
    for number in range(60):
        words = [tuple(random.integers(0, 3, random.integers(8)).tolist()) for _ in range(10)]
        wanted.update(words)
        ask(tree, words, few=bool(number % 2))
    assert tree.counts.batches == [len(batch) for batch in model.batches]
    assert len(model.asked) == len(set(model.asked))
    # What is undefined costs nothing where the row before it is read and says so.
    free = model.undefined if prefixes_free else 0
    assert tree.counts.distributions == len(model.asked) - free
    assert tree.counts.symbols == model.symbols - free
    if prefixes_free:
        assert len(wanted & set(model.asked)) >= tree.counts.words
    else:
        assert set(model.asked) <= wanted
        assert tree.counts.words == len(model.asked)


def test_batches_are_reported_as_they_are_answered() -> None:
    tree = ObservationTree(AutomatonModel(combination_lock(5)), Exact())
    seen: list[list[int]] = []
    tree.asker.on_batch = lambda: seen.append(list(tree.counts.batches))
    ask(tree, [(0,)], few=True)
    ask(tree, [(1,), (1, 0)], few=False)
    assert seen[0] == [1]
    assert seen[-1] == tree.counts.batches
    assert len(seen) == len(tree.counts.batches)


def test_rows_and_words_of_nodes() -> None:
    pdfa = random_pdfa(10, seed=2)
    tree = ObservationTree(AutomatonModel(pdfa), Quantization(10))
    node = tree.node((1, 0, 1))
    (class_,) = tree.asked_classes(np.array([node])).tolist()
    row = pdfa.next_distribution("101")
    assert row is not None
    assert tree.word(node) == ("1", "0", "1")
    assert list(tree.nodes.words(np.array([node, 0]))) == [[1, 0, 1], []]
    assert tree.rows(np.array([node])).tolist() == [row.tolist()]
    assert tree.class_keys()[class_].tolist() == Quantization(10).intervals(row).tolist()
    assert tree.nodes.size >= 4
