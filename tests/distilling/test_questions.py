"""Blind spots, against plain sums."""

from __future__ import annotations

from collections import defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdfalearn.distilling import questions
from pdfalearn.distilling.machines import fit_rows
from pdfalearn.distilling.questions import blind_edges
from tests.distilling.trees import PlainTree, Word, machines_over, state_after, trees, words_of
from tests.support import examples

Edge = tuple[int, int]


@examples(30)
@given(st.data(), trees(), st.booleans(), st.integers(1, 12))
def test_flows_into_what_was_not_seen(
    data: st.DataObject, tree: PlainTree, sparse: bool, count: int
) -> None:
    evidence = tree.evidence(sparse=sparse)
    fit = fit_rows(data.draw(machines_over(tree.width)), evidence)
    flows: dict[Edge, float] = defaultdict(float)
    seen: dict[Edge, float] = defaultdict(float)
    for word in tree.words:
        state = state_after(fit.machine, word)
        if word:
            seen[state_after(fit.machine, word[:-1]), word[-1]] += tree.weights[word]
        for symbol in range(tree.width):
            flows[state, symbol] += tree.weights[word] * tree.answers[word][symbol + 1]
    unseen = {edge: flow for edge, flow in flows.items() if seen[edge] < min(1.5, 0.5 * flow)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(questions, "_SEEN", 1.5)
        nodes, symbols, found = blind_edges(fit, evidence, count)
    assert len(nodes) == len(symbols) == min(count, len(unseen))
    words = words_of(evidence)
    chosen: dict[Edge, Word] = {}
    for node, symbol, flow in zip(nodes.tolist(), symbols.tolist(), found.tolist(), strict=True):
        edge = (state_after(fit.machine, words[node]), symbol)
        assert flow == pytest.approx(unseen[edge])
        chosen[edge] = words[node]
    assert len(chosen) == len(nodes)
    assert found.tolist() == pytest.approx(sorted(unseen.values(), reverse=True)[: len(nodes)])
    for (state, symbol), word in chosen.items():
        there = [other for other in tree.words if state_after(fit.machine, other) == state]
        likeliest = max(tree.weights[other] * tree.answers[other][symbol + 1] for other in there)
        mine = tree.weights[word] * tree.answers[word][symbol + 1]
        assert mine == pytest.approx(likeliest, rel=1e-5)
