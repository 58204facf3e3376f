"""Merging prefixes into states, against automata that are known and comparisons word by word."""

from __future__ import annotations

import math
from itertools import count, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.distilling.black_boxes import random_target
from benchmarks.distilling.truth import same_structure
from pdfalearn import PDFA
from pdfalearn.datasets import figure_3, reber, tomita
from pdfalearn.distilling import merging
from pdfalearn.distilling.evidence import Evidence, xlogx
from pdfalearn.distilling.machines import fit_rows, make_pdfa
from pdfalearn.distilling.merging import Folding, merge_prefixes
from pdfalearn.distilling.prefixes import polish
from tests.distilling.test_searching import tree_of
from tests.distilling.trees import PlainTree, Word, trees, words_of
from tests.support import examples


def clear_target(states: int, symbols: int, distributions: int | None = None) -> PDFA:
    """Return a random automaton whose rows differ by more than is tolerated."""
    targets = (
        random_target(states, symbols, distributions=distributions, seed=seed) for seed in count()
    )
    return next(target for target in targets if _least_divergence(target) > 0.1)


def _least_divergence(target: PDFA) -> float:
    rows = np.unique(target.probabilities, axis=0)
    pairs = permutations(rows, 2)
    return min(float((one * np.log(one / other)).sum()) for one, other in pairs)


TARGETS = {
    "figure 3": figure_3(),
    "reber": reber(),
    "tomita 5": tomita(5),
    "distinct rows": clear_target(6, 4),
    "three rows": clear_target(12, 2, 3),
}


@pytest.mark.parametrize("name", TARGETS)
def test_automata_are_found_from_their_words(name: str) -> None:
    target: PDFA = TARGETS[name]
    evidence = tree_of(target, 1500, seed=1).evidence()
    machine = merge_prefixes(evidence, 0.02, 64)
    assert machine is not None
    found = make_pdfa(fit_rows(machine, evidence), evidence, target.alphabet)
    assert len(found) == len(target)
    assert same_structure(target, found)


@examples(40)
@given(tree=trees(), most=st.integers(1, 6), tolerated=st.sampled_from([0.0, 0.02, 0.5]))
def test_no_word_is_lost_and_all_transitions_lead_somewhere(
    tree: PlainTree, most: int, tolerated: float
) -> None:
    evidence = tree.evidence()
    folding = Folding(evidence, tolerated)
    while merging._do_round(folding, evidence.size):
        pass
    assert folding.weights[folding.reds].sum() == pytest.approx(evidence.total)
    sums, _ = evidence.sums(np.zeros(evidence.size, dtype=np.int64), 1)
    assert folding.sums[folding.reds].sum(axis=0) == pytest.approx(sums[0])
    for sparse in (False, True):
        machine = merge_prefixes(tree.evidence(sparse=sparse), tolerated, most)
        assert (machine is None) == (len(folding.reds) > most)
        if machine is None:
            continue
        assert len(machine.rows) == len(folding.reds)
        assert ((machine.transitions >= 0) & (machine.transitions < len(machine.rows))).all()
        assert np.allclose(machine.rows.sum(axis=1), 1)


def plain_scores(tree: PlainTree, left: Word, right: Word, tolerated: float) -> tuple[float, float]:
    """Compare what follows two prefixes, word by word."""
    if left not in tree.weights or right not in tree.weights:
        return 0.0, 0.0
    weights = tree.weights[left], tree.weights[right]
    rows = np.array(tree.answers[left]), np.array(tree.answers[right])
    mean = (weights[0] * rows[0] + weights[1] * rows[1]) / sum(weights)
    lost = sum(
        weight * float(value * math.log(value / average))
        for weight, row in zip(weights, rows, strict=True)
        for value, average in zip(row, mean, strict=True)
        if value > 0
    )
    shared = weights[0] * weights[1] / sum(weights)
    capped = min(shared, merging._HEAVY)
    excess = max(0.0, lost / shared - tolerated) * capped
    if min(weights) < merging._LIGHT:
        return excess, capped
    further = [
        plain_scores(tree, (*left, symbol), (*right, symbol), tolerated)
        for symbol in range(tree.width)
    ]
    return excess + sum(pair[0] for pair in further), capped + sum(pair[1] for pair in further)


@examples(40)
@given(tree=trees(), tolerated=st.sampled_from([0.0, 0.02, 0.5]), pairs=st.integers(1, 40))
def test_scores_are_those_of_comparisons_word_by_word(
    tree: PlainTree, tolerated: float, pairs: int
) -> None:
    evidence = tree.evidence()
    folding, words = Folding(evidence, tolerated), words_of(evidence)
    nodes = np.arange(min(12, len(words)))  # the shortest, with all that follows these
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(merging, "_AT_ONCE", pairs)
        scores = folding.scores(nodes, nodes)
    for left, right in np.ndindex(len(nodes), len(nodes)):
        expected = plain_scores(tree, words[left], words[right], tolerated)
        assert scores.excess[left, right] == pytest.approx(expected[0], abs=1e-9)
        assert scores.weights[left, right] == pytest.approx(expected[1])


def test_only_the_heaviest_prefixes_are_merged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(merging, "_MOST_NODES", 50)
    evidence = tree_of(figure_3(), 500, seed=1).evidence()
    folding = Folding(evidence, 0.02)
    assert 1 < len(folding.weights) <= 60 < evidence.size
    assert folding.weights[0] == evidence.weights[0]


def test_large_alphabets_are_left_to_contexts() -> None:
    width = merging._WIDEST + 1
    answers = np.full((1, width + 1), 1 / (width + 1))
    zero = np.zeros(1, dtype=np.int64)
    assert merge_prefixes(Evidence(zero, zero, np.ones(1), answers), 0.02, 64) is None


def count_words(target: PDFA, words: int, seed: int) -> Evidence:
    """Return what followed every prefix of words of an automaton, as shares."""
    follow: dict[Word, list[float]] = {}
    for word in target.sample(words, seed=seed).words:
        codes = tuple(target.alphabet.encode(word).tolist())
        for end in range(len(codes) + 1):
            row = follow.setdefault(codes[:end], [0.0] * (len(target.alphabet) + 1))
            row[codes[end] + 1 if end < len(codes) else 0] += 1
    weights = {prefix: sum(row) for prefix, row in follow.items()}
    answers = {prefix: [x / weights[prefix] for x in row] for prefix, row in follow.items()}
    return PlainTree(len(target.alphabet), weights, answers).evidence()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["figure 3", "reber", "distinct rows"])
def test_automata_are_found_from_counts(name: str) -> None:
    target = TARGETS[name]
    evidence = count_words(target, 6000, seed=2)
    machine = merge_prefixes(evidence, 0.0, 64, deviations=4.0)
    assert machine is not None
    found = make_pdfa(polish(machine, evidence), evidence, target.alphabet)
    assert len(found) == len(target)
    assert same_structure(target, found)


def test_one_distribution_is_one_state_by_the_test_and_not_by_the_tolerance() -> None:
    row = np.array([[0.2, 0.3, 0.5]])
    zero = np.zeros((1, 2), dtype=np.int32)
    single = PDFA(alphabet=figure_3().alphabet, transitions=zero, probabilities=row)
    for seed in range(5):
        evidence = count_words(single, 1000, seed)
        machine = merge_prefixes(evidence, 0.0, 64, deviations=4.0)
        assert machine is not None
        assert len(machine.rows) == 1


@pytest.mark.parametrize(("left", "right"), [(12, 12), (12, 400), (60, 60), (1000, 2000)])
def test_what_chance_loses(left: int, right: int) -> None:
    random = np.random.default_rng(left + right)
    row = random.dirichlet(np.ones(6))
    ours, theirs = (random.multinomial(n, row, 4000).astype(np.float64) for n in (left, right))
    both, total = ours + theirs, left + right
    lost = (xlogx(ours) + xlogx(theirs) - xlogx(both)).sum(axis=1)
    lost += total * math.log(total) - left * math.log(left) - right * math.log(right)
    weights = [np.full(4000, float(count)) for count in (left, right)]
    expected = merging._expect_loss(weights[0], weights[1], both / total)
    assert expected.mean() == pytest.approx(lost.mean(), rel=0.15)
