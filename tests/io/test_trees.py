from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from pdfalearn import learn
from pdfalearn.datasets import random_pdfa
from pdfalearn.errors import InputError
from pdfalearn.io import check_can_save, save_tree
from pdfalearn.io.tree_files import tree_to_dot
from pdfalearn.results.trees import TreeNode
from tests.io.sample_trees import FIGURE_3, deep, leaf


def saved_json(tree: TreeNode, folder: Path) -> dict[str, Any]:
    save_tree(tree, folder / "tree.json")
    document = json.loads((folder / "tree.json").read_text())
    assert isinstance(document, dict)
    return document


def test_json(tmp_path: Path) -> None:
    document = saved_json(FIGURE_3, tmp_path)
    nodes = document.pop("nodes")
    assert document == {"format": "classification tree", "version": 1}
    assert nodes[0] == {"parent": None, "class": None, "suffix": []}
    assert {"parent": 0, "class": [1, 3, 6], "suffix": ["1"]} in nodes
    inner = nodes.index({"parent": 0, "class": [1, 3, 6], "suffix": ["1"]})
    assert {
        "parent": inner,
        "class": [1, 6, 3],
        "access_word": ["0", "1"],
        "distribution": [0.1, 0.3, 0.6],
    } in nodes


def test_undefined_arcs(tmp_path: Path) -> None:
    tree = TreeNode(suffix=("a",), children={None: leaf("a"), (1, 2): leaf("b")})
    (line,) = re.findall(r".*undefined.*", tree_to_dot(tree))
    assert "style=dashed" in line
    assert [node["class"] for node in saved_json(tree, tmp_path)["nodes"]] == [None, None, [1, 2]]


@pytest.mark.slow
def test_trees_may_be_deeper_than_recursion_goes(tmp_path: Path) -> None:
    tree = deep(3000)
    assert tree_to_dot(tree).count("->") == 2 * 2999
    assert len(saved_json(tree, tmp_path)["nodes"]) == 2 * 3000 - 1


def test_json_cannot_hold_every_symbol(tmp_path: Path) -> None:
    tree = TreeNode(suffix=(), children={(1,): leaf(("a", 1))})
    with pytest.raises(InputError, match=r"symbol \('a', 1\) cannot be in a file"):
        save_tree(tree, tmp_path / "tree.json")
    save_tree(tree, tmp_path / "tree.dot")


@pytest.mark.parametrize("name", ["tree.npz", "tree", "tree.json.gz"])
def test_endings(name: str, tmp_path: Path) -> None:
    refused = r": \.json, \.dot, \.svg, \.png, \.pdf$"
    with pytest.raises(InputError, match=refused):
        check_can_save(tmp_path / name, TreeNode)
    with pytest.raises(InputError, match=refused):
        save_tree(FIGURE_3, tmp_path / name)


def test_the_leaves_are_the_states_whichever_learner_it_is(tmp_path: Path) -> None:
    target = random_pdfa(30, zero_probability=0.3, undefined=True, seed=3)
    for learner in ("quant", "quant-paper"):
        result = learn(target, learner=learner)
        nodes = saved_json(result.tree, tmp_path)["nodes"]
        words = [tuple(node["access_word"]) for node in nodes if "access_word" in node]
        assert sorted(words) == sorted(result.access_words)
        assert sum("suffix" in node for node in nodes) == result.statistics.inner_nodes
