"""What subtrees cost in other states, against plain recursion."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdfalearn.distilling import evidence as module
from pdfalearn.distilling import polishing
from pdfalearn.distilling.machines import Machine, fit_rows
from pdfalearn.distilling.polishing import Edges, find_images, merge_costs, subtree_costs
from pdfalearn.distilling.settings import DEFAULTS
from tests.distilling.trees import (
    PlainTree,
    Word,
    divergence,
    machines_over,
    random_machine,
    random_tree,
    state_after,
    trees,
    words_of,
)
from tests.support import examples


def plain_cost(machine: Machine, tree: PlainTree, word: Word, state: int) -> float:
    here = tree.weights[word] * divergence(tree.answers[word], machine.rows[state].tolist())
    return here + sum(
        plain_cost(machine, tree, child, int(machine.transitions[state, child[-1]]))
        for child in tree.children(word)
    )


@examples(30)
@given(st.data(), trees(), st.booleans(), st.sampled_from([1, 10**9]))
def test_costs_of_subtrees(data: st.DataObject, tree: PlainTree, sparse: bool, short: int) -> None:
    evidence = tree.evidence(sparse=sparse)
    fit = fit_rows(data.draw(machines_over(tree.width)), evidence)
    machine = fit.machine
    groups = np.arange(evidence.size)[::-1] // 2
    count = int(groups.max()) + 1
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(polishing, "_SHORT", short)
        found = subtree_costs(fit, evidence, groups, count)
    plain = np.zeros((count, len(machine.rows)))
    for word, group in zip(words_of(evidence), groups.tolist(), strict=True):
        for state in range(len(machine.rows)):
            plain[group, state] += plain_cost(machine, tree, word, state)
    assert found.shape == plain.shape
    assert found == pytest.approx(plain, rel=1e-4, abs=1e-3)


@examples(30)
@given(st.data(), trees())
def test_edges_are_the_transitions_that_words_take(data: st.DataObject, tree: PlainTree) -> None:
    evidence = tree.evidence()
    fit = fit_rows(data.draw(machines_over(tree.width)), evidence)
    edges = Edges(fit, evidence)
    machine = fit.machine
    plain: dict[int, list[Word]] = defaultdict(list)
    for word in tree.words:
        before = state_after(machine, word[:-1])
        plain[before * tree.width + word[-1] if word else -1].append(word)
    assert edges.numbers.tolist() == sorted(plain)
    of_word = dict(zip(words_of(evidence), edges.of_node.tolist(), strict=True))
    for place, number in enumerate(edges.numbers.tolist()):
        assert all(of_word[word] == place for word in plain[number])
        assert edges.weights[place] == sum(tree.weights[word] for word in plain[number])
        for state in range(len(machine.rows)):
            expected = sum(plain_cost(machine, tree, word, state) for word in plain[number])
            assert edges.costs[place, state] == pytest.approx(expected, rel=1e-4, abs=1e-3)
        target = 0 if number < 0 else machine.transitions[divmod(number, tree.width)]
        assert edges.targets[place] == target


@examples(30)
@given(st.data(), trees(80))
def test_costs_where_symbols_lead_to(data: st.DataObject, tree: PlainTree) -> None:
    """The same as in all states, and what merges cost by them, too."""
    evidence = tree.evidence()
    fit = fit_rows(data.draw(machines_over(tree.width, 12)), evidence)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_DEEP", 100)
        whole = Edges(fit, evidence)
        plain = merge_costs(fit, evidence, DEFAULTS)
        patch.setattr(polishing, "_FEW", 0)
        patch.setattr(polishing, "_AT_ONCE", 1)
        patch.setattr(polishing, "_MOST_LED", 1.0)
        images = find_images(fit, evidence)
        assert images is not None
        some = Edges(fit, evidence, images)
        evidence.kept = fit, some
        merges = merge_costs(fit, evidence, DEFAULTS)
    assert merges == pytest.approx(plain, rel=1e-3, abs=1e-2)
    news, gains = some.find_best()
    for place, number in enumerate(some.numbers.tolist()):
        column = 0 if number < 0 else fit.machine.transitions[:, number % tree.width]
        led = sorted({*np.atleast_1d(column).tolist(), 0})  # 0 fills rows up
        costs = whole.costs[place]
        assert costs[news[place]] == pytest.approx(costs[led].min(), rel=1e-4, abs=1e-3) or (
            costs[news[place]] == pytest.approx(costs[led[1:]].min(), rel=1e-4, abs=1e-3)
        )
        gained = costs[some.targets[place]] - costs[news[place]]
        assert gains[place] == pytest.approx(gained, rel=1e-3, abs=1e-2)


@examples(30)
@given(st.data(), trees(120))
def test_long_words_are_looked_at_some_symbols_ahead(data: st.DataObject, tree: PlainTree) -> None:
    evidence = tree.evidence()
    fit = fit_rows(data.draw(machines_over(tree.width)), evidence)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_DEEP", 1)
        patch.setattr(module, "_PERIOD", 3)
        found = subtree_costs(fit, evidence, np.arange(evidence.size), evidence.size)
        ahead = evidence.sweep.wrap is not None
    for place, word in enumerate(words_of(evidence)):
        # Up to the end of the next period, three to five symbols further.
        most = len(word) + (5 - len(word) % 3 if ahead else 100)
        near = {w: weight if len(w) <= most else 0.0 for w, weight in tree.weights.items()}
        for state in range(len(fit.machine.rows)):
            cost = plain_cost(fit.machine, replace(tree, weights=near), word, state)
            assert found[place, state] == pytest.approx(cost, rel=1e-4, abs=1e-3)


def test_the_beginning_costs_the_whole_loss() -> None:
    tree = random_tree(5, 3, 200)
    fit = fit_rows(random_machine(5, 6, 3), tree.evidence())
    beginning = Edges(fit, tree.evidence()).costs[0, 0]
    assert beginning == pytest.approx(fit.loss * tree.total, rel=1e-4)
