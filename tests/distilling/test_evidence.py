"""Weighted prefixes, against dictionaries."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from pdfalearn.distilling import evidence as module
from pdfalearn.distilling.evidence import Evidence, make_dense
from pdfalearn.distilling.searching import search
from tests.distilling.trees import PlainTree, divergence, random_tree, state_after, trees, words_of
from tests.distilling.trees import machines_over as machines
from tests.support import examples


@examples(30)
@given(trees(), st.booleans())
def test_nodes_are_in_order_and_keep_what_belongs_to_them(tree: PlainTree, sparse: bool) -> None:
    evidence = tree.evidence(sparse=sparse)
    words = words_of(evidence)
    assert words == [tree.words[number] for number in evidence.order.tolist()]
    assert sorted(words) == sorted(tree.words)
    lengths_and_lasts = [(len(word), word[-1:]) for word in words]
    assert lengths_and_lasts == sorted(lengths_and_lasts)
    assert evidence.weights.tolist() == [tree.weights[word] for word in words]
    answers = evidence.answers
    rows = answers.toarray() if isinstance(answers, csr_array) else answers
    assert np.array_equal(rows, [tree.answers[word] for word in words])
    assert (evidence.size, evidence.width) == (len(words), tree.width)
    assert evidence.total == pytest.approx(tree.total)


@examples(30)
@given(trees())
def test_levels_and_steps_join_the_lengths(tree: PlainTree) -> None:
    evidence = tree.evidence()
    words = words_of(evidence)
    for length, level in enumerate(evidence.levels):
        assert {len(word) for word in words[level]} == {length}
    assert sum(level.stop - level.start for level in evidence.levels) == len(words)


@examples(30)
@given(trees(), st.sampled_from([40, 1]))
def test_a_sweep_takes_all_from_children_to_parents(tree: PlainTree, deep: int) -> None:
    evidence = tree.evidence()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_DEEP", deep)
        patch.setattr(module, "_PERIOD", 2)
        sweep = evidence.sweep
    words = [words_of(evidence)[node] for node in sweep.order.tolist()]
    assert words[0] == ()
    assert sorted(words) == sorted(tree.words)
    steps = [*sweep.steps, *([] if sweep.wrap is None else [sweep.wrap])]
    assert (sweep.wrap is None) == (len(evidence.levels) <= max(deep, 2))
    # Every word but the empty one is below in one step, and so is every child of each above.
    assert sorted(word for step in steps for word in words[step.below]) == sorted(words)[1:]
    for step in steps:
        values = np.arange(1.0, step.below.stop - step.below.start + 1, dtype=np.float32)
        plain: dict[tuple[int, ...], float] = defaultdict(float)
        for word, value in zip(words[step.below], values.tolist(), strict=True):
            plain[word[:-1]] += value
        sums = np.zeros(step.above.stop - step.above.start)
        if step.sums is None:  # no two have the same parent
            sums[step.parents] += values
        else:
            sums += step.sums @ values
        assert np.array_equal(sums, [plain[word] for word in words[step.above]])
        below = [word[-1] for word in words[step.below]]
        assert step.symbols.tolist() == below
        runs = [symbol for begin, end, symbol in step.runs for _ in range(begin, end)]
        assert runs == below


@examples(30)
@given(trees(200), st.integers(1, 100), st.booleans())
def test_some_of_the_words(tree: PlainTree, most: int, sparse: bool) -> None:
    # Weights as those of words that were drawn: some end after every prefix.
    weights = dict(tree.weights)
    for word in sorted(tree.words, key=len, reverse=True)[:-1]:
        weights[word[:-1]] += weights[word]
    evidence = replace(tree, weights=weights).evidence(sparse=sparse)
    some = evidence.thin(most)
    assert some is evidence.thin(most)
    assert (some is evidence) == (evidence.size <= most)
    assert some.size >= min(most, evidence.size)  # the last word is there as a whole
    ends = some.weights - np.bincount(some.parents[1:], some.weights[1:], some.size)
    assert (some.weights > 0).all()
    assert (ends >= -1e-6 * some.weights).all()
    rows, found = make_dense(some.answers), words_of(some)
    assert all(np.allclose(row, tree.answers[w]) for row, w in zip(rows, found, strict=True))


def test_some_of_the_words_weigh_alike() -> None:
    tree = random_tree(4, 2, 3000)
    weights = dict(tree.weights)
    for word in sorted(tree.words, key=len, reverse=True)[:-1]:
        weights[word[:-1]] += weights[word]
    evidence = replace(tree, weights=weights).evidence()
    some = evidence.thin(1500)
    share = some.total / evidence.total
    places = {word: place for place, word in enumerate(words_of(evidence))}
    for word, weight in zip(words_of(some)[:15], some.weights.tolist(), strict=False):
        assert weight == pytest.approx(share * evidence.weights[places[word]], rel=0.3)


@examples(30)
@given(st.data(), trees(), st.booleans())
def test_states_and_sums(data: st.DataObject, tree: PlainTree, sparse: bool) -> None:
    evidence = tree.evidence(sparse=sparse)
    words = words_of(evidence)
    machine = data.draw(machines(tree.width))
    states = evidence.states(machine.transitions, 0)
    assert states.tolist() == [state_after(machine, word) for word in words]
    groups = states.copy()
    groups[data.draw(st.integers(0, len(words) - 1))] = -1
    sums, weights = evidence.sums(groups, len(machine.rows))
    for group in range(len(machine.rows)):
        mine = [word for word, other in zip(words, groups, strict=True) if other == group]
        assert weights[group] == pytest.approx(sum(tree.weights[word] for word in mine))
        for column in range(tree.width + 1):
            plain = sum(tree.weights[word] * tree.answers[word][column] for word in mine)
            assert sums[group, column] == pytest.approx(plain)


@examples(30)
@given(trees())
def test_a_missing_transition_leads_nowhere_for_good(tree: PlainTree) -> None:
    evidence = tree.evidence()
    transitions = np.zeros((1, tree.width), dtype=np.int32)
    transitions[0, 0] = -1
    states = evidence.states(transitions, 0)
    assert states.tolist() == [-1 if 0 in word else 0 for word in words_of(evidence)]


@examples(30)
@given(trees(), st.booleans())
def test_entropies_and_weighted_answers(tree: PlainTree, sparse: bool) -> None:
    evidence = tree.evidence(sparse=sparse)
    words, ones = words_of(evidence), [1.0] * (tree.width + 1)
    plain = [divergence(tree.answers[word], ones) for word in words]
    assert evidence.negative_entropies.tolist() == pytest.approx(plain, abs=1e-12)
    weights = [tree.weights[word] for word in words]
    expected = [weight * value for weight, value in zip(weights, plain, strict=True)]
    weighted, entropies = evidence.weighted
    assert entropies.tolist() == pytest.approx(expected, rel=1e-5, abs=1e-5)
    rows = weighted if isinstance(weighted, np.ndarray) else weighted.toarray()
    rows_plain = np.array([tree.answers[word] for word in words]) * np.array(weights)[:, None]
    assert rows == pytest.approx(rows_plain, rel=1e-5)


@pytest.mark.parametrize("sparse", [False, True])
def test_rare_symbols_share_a_column(sparse: bool) -> None:
    random = np.random.default_rng(3)
    rows = np.full((200, 41), 1e-6)
    rows[:, :6] = random.dirichlet(np.ones(6), 200)
    rows /= rows.sum(axis=1, keepdims=True)
    parents = np.maximum(np.arange(200) - 1, 0)
    symbols = random.integers(5, size=200)
    answers = csr_array(rows) if sparse else rows
    evidence = Evidence(parents, symbols, np.ones(200), answers)
    lumped = evidence.lumped
    assert lumped.lumped is lumped
    assert (lumped.answers.shape[1], lumped.width) == (7, 40)
    table = make_dense(lumped.answers)
    assert table[:, :6] == pytest.approx(rows[:, :6])
    assert table[:, 6] == pytest.approx(rows[:, 6:].sum(axis=1))
    assert lumped.spread(table) == pytest.approx(rows, abs=1e-9)
    assert make_dense(lumped.lump(answers)) == pytest.approx(table)
    fits = dict(search(evidence, [1, 3], cycles=False))
    assert fits[1].machine.rows[0] == pytest.approx(rows.mean(axis=0), rel=0.05, abs=1e-6)
    assert fits[3].loss < fits[1].loss


def test_few_symbols_keep_their_columns() -> None:
    evidence = PlainTree(1, {(): 1.0}, {(): [0.5, 0.5]}).evidence()
    assert evidence.lumped is evidence
