"""What the page of a run holds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from pdfalearn import Budget, Result, learn
from pdfalearn.datasets import chain, random_pdfa
from pdfalearn.results import Progress
from pdfalearn.results.learning_runs import History
from pdfalearn.results.trees import numbered_nodes
from pdfalearn.viewing import views as trees
from pdfalearn.viewing.choosing import cut_visits
from pdfalearn.viewing.views import MEANINGS, MOST_ROWS, run_data, statistics_rows, tree_data
from tests.io.run_samples import RUNS, run_of

ALL = pytest.mark.parametrize("name", RUNS)


@ALL
def test_rows_grow_and_end_with_the_statistics(name: str) -> None:
    result = run_of(name)
    rows = run_data(result)["rows"]
    for column in ("queries", "states", "words", "symbols", "counterexamples"):
        values = [row[column] for row in rows]
        if column != "states":  # what was proposed when learning stopped may have fewer
            assert values == sorted(values), column
    statistics = result.statistics
    assert rows[-1]["words"] == statistics.words
    assert rows[-1]["counterexamples"] == sum(statistics.counterexamples)
    assert len(rows) == len(result.history) + 1


def test_long_histories_are_thinned() -> None:
    result = run_of("quant")
    steps = [Progress(n, n, n, n, 0.0, n, 0.0, 0.0) for n in range(10_000)]
    long = replace(result, history=History(steps))
    data = run_data(long)
    assert data["steps"] == 10_001
    assert MOST_ROWS - 1 <= len(data["rows"]) <= MOST_ROWS
    assert data["rows"][0]["states"] == 0
    assert data["rows"][-1]["states"] == result.statistics.states


def test_counterexamples_that_a_file_does_not_tell() -> None:
    result = run_of("quant-paper")
    known = replace(result.statistics, counterexamples=(), longest_counterexamples=())
    rows = run_data(replace(result, statistics=known))["rows"]
    assert {row["counterexamples"] for row in rows} == {None}
    assert "counterexamples" not in dict(statistics_rows(replace(result, statistics=known)))


@ALL
def test_every_certificate_has_a_meaning(name: str) -> None:
    result = run_of(name)
    assert MEANINGS[result.certificate.kind]
    assert "drawn as those of the test" in MEANINGS["pac"]  # and not: for these words alone
    assert dict(statistics_rows(result))["states"] == str(len(result.pdfa))


@ALL
def test_the_tree_on_the_page_is_the_tree(name: str) -> None:
    result = run_of(name)
    data = tree_of(result)
    if result.kept_tree is None:
        assert "table" in data["reason"]
        return
    expected = numbered_nodes(result.tree)
    assert len(data["nodes"]) == len(expected)
    leaves = [node for node in data["nodes"] if "word" in node]
    states = sorted(node["state"] for node in leaves if node["state"] is not None)
    learnt = sum(not node.children for node, _, _ in expected)
    assert len(leaves) == data["leaves"] == learnt
    assert states == sorted(set(states))
    assert states[: len(result.pdfa)] == list(range(len(states)))
    assert data["inner"] == len(expected) - learnt
    assert_is_consistent(data)


def tree_of(result: Result) -> Any:
    return tree_data(result, cut_visits(result.pdfa).states)


def assert_is_consistent(data: Any) -> None:
    """Parents come first, and leaves below a node are those of its children, or left out."""
    below = np.zeros(len(data["nodes"]), dtype=int)
    for place, node in enumerate(data["nodes"]):
        assert (node["parent"] is None) == (place == 0)
        if place:
            assert node["parent"] < place
            assert "suffix" in data["nodes"][node["parent"]]
            below[node["parent"]] += node["leaves"]
    for node, sum_below in zip(data["nodes"], below, strict=True):
        assert sum_below <= node["leaves"] if "suffix" in node else node["leaves"] == 1


def test_large_trees_are_cut_where_words_seldom_go(monkeypatch: pytest.MonkeyPatch) -> None:
    result = learn(random_pdfa(200, 2, distributions=3, seed=5))
    whole = tree_of(result)
    monkeypatch.setattr(trees, "MOST_NODES", 60)
    cut = tree_of(result)
    assert len(cut["nodes"]) == 60
    assert cut["leaves"] == whole["leaves"] == len(result.pdfa)
    assert_is_consistent(cut)
    visits = cut_visits(result.pdfa).states
    there = {node["state"] for node in cut["nodes"] if "word" in node}
    assert int(visits.argmax()) in there


def test_trees_too_large_for_a_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trees, "MOST_CELLS", 10)
    data = tree_of(run_of("quant"))
    assert data["nodes"] == []
    assert "too large for a page" in data["reason"]


def test_deep_trees_and_long_words() -> None:
    data = tree_of(learn(chain(300), learner="quant-classes", budget=Budget(max_states=280)))
    assert_is_consistent(data)
    assert max(len(node["word"]) for node in data["nodes"] if "word" in node) < 100
