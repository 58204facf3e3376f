"""Trees that are too deep for recursion are compared all the same."""

from __future__ import annotations

import pytest

from pdfalearn.results.trees import TreeNode, numbered_nodes


def deep(depth: int, *, last: float = 0.5) -> TreeNode:
    node = TreeNode(access_word=("z",), distribution=(last, 1 - last))
    for _ in range(depth):
        node = TreeNode(suffix=("a",), children={None: node, (0, 1): TreeNode(access_word=("b",))})
    return node


@pytest.mark.slow
def test_deep_trees() -> None:
    tree = deep(100_000)
    assert tree == deep(100_000)
    assert tree != deep(100_000, last=0.25)
    assert tree != deep(99_999)
    assert len(numbered_nodes(tree)) == 200_001


def test_what_is_different() -> None:
    leaf = TreeNode(access_word=("a",), distribution=(0.5, 0.5))
    assert leaf == TreeNode(access_word=("a",), distribution=(0.5, 0.5))
    for other in (
        TreeNode(access_word=("a",)),
        TreeNode(access_word=("b",), distribution=(0.5, 0.5)),
        TreeNode(suffix=(), access_word=("a",), distribution=(0.5, 0.5)),
        TreeNode(children={None: leaf}, access_word=("a",), distribution=(0.5, 0.5)),
        "leaf",
    ):
        assert leaf != other
    one = TreeNode(suffix=(), children={(1,): leaf, None: TreeNode()})
    assert one == TreeNode(suffix=(), children={None: TreeNode(), (1,): leaf})
    assert one != TreeNode(suffix=(), children={None: TreeNode(), (2,): leaf})
    with pytest.raises(TypeError, match="unhashable"):
        hash(leaf)
