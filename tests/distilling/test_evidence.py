"""Weighted prefixes, against dictionaries."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from pdfalearn.distilling.evidence import Evidence, make_dense
from pdfalearn.distilling.searching import search
from tests.distilling.trees import PlainTree, divergence, state_after, trees, words_of
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
    steps = evidence.steps
    assert [(step.below, step.above) for step in steps] == [
        pair[::-1] for pair in list(pairwise(evidence.levels))[::-1]
    ]
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
