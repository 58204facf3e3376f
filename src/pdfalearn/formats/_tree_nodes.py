"""The nodes of a classification tree in a row: trees can be too deep for recursion."""

from __future__ import annotations

from typing import NamedTuple

from pdfalearn.alphabet import Symbol
from pdfalearn.tree_nodes import ArcLabel, TreeNode, checked_tree


class NumberedNode(NamedTuple):
    """A node, the number of its parent (None at the root), and the label of the arc from there."""

    node: TreeNode
    parent: int | None
    arc: ArcLabel


def numbered_nodes(tree: TreeNode) -> list[NumberedNode]:
    """List the nodes level by level; the place of a node is its number."""
    nodes = [NumberedNode(checked_tree(tree, "tree"), None, None)]
    for number, (node, _, _) in enumerate(nodes):  # the list grows in front of the loop
        nodes += (NumberedNode(child, number, arc) for arc, child in node.children.items())
    return nodes


def symbols_of(nodes: list[NumberedNode]) -> set[Symbol]:
    """Collect the symbols of all suffixes and access words."""
    symbols: set[Symbol] = set()
    for node, _, _ in nodes:
        symbols.update(node.suffix or (), node.access_word or ())
    return symbols
