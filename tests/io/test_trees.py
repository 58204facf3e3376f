from __future__ import annotations

import re
from pathlib import Path

import pytest

from pdfalearn import save
from pdfalearn.errors import InputError
from pdfalearn.io import check_can_save
from pdfalearn.io.tree_files import tree_to_dot
from pdfalearn.results.trees import TreeNode
from tests.io.sample_trees import FIGURE_3, deep, leaf


def test_undefined_arcs() -> None:
    tree = TreeNode(suffix=("a",), children={None: leaf("a"), (1, 2): leaf("b")})
    (line,) = re.findall(r".*undefined.*", tree_to_dot(tree))
    assert "style=dashed" in line


@pytest.mark.slow
def test_trees_may_be_deeper_than_recursion_goes() -> None:
    tree = deep(3000)
    assert tree_to_dot(tree).count("->") == 2 * 2999


@pytest.mark.parametrize("name", ["tree.npz", "tree", "tree.json"])
def test_endings(name: str, tmp_path: Path) -> None:
    refused = r": \.dot, \.svg, \.png, \.pdf$"
    with pytest.raises(InputError, match=refused):
        check_can_save(tmp_path / name, TreeNode)
    with pytest.raises(InputError, match=refused):
        save(FIGURE_3, tmp_path / name)
