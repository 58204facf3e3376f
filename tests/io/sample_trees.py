"""Classification trees to save and draw."""

from __future__ import annotations

from pdfalearn import Quantization, learn
from pdfalearn.datasets import figure_3
from pdfalearn.results.trees import TreeNode

FIGURE_3 = learn(figure_3(), equivalence=Quantization(10)).tree


def leaf(*word: object) -> TreeNode:
    return TreeNode(access_word=word, distribution=(0.25, 0.75))


def star(leaves: int) -> TreeNode:
    return TreeNode(suffix=(), children={(i,): leaf(i) for i in range(leaves)})


def deep(leaves: int) -> TreeNode:
    """A tree in which every inner node has one leaf and one inner node below it."""
    node = leaf()
    for depth in range(leaves - 1):
        node = TreeNode(suffix=("a",) * depth, children={(0, 1): leaf("b"), (1, 0): node})
    return node
