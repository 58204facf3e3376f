"""What the files of classification trees have in common."""

from __future__ import annotations

from pdfalearn.alphabet import Symbol
from pdfalearn.tree_nodes import NumberedNode


def symbols_of(nodes: list[NumberedNode]) -> set[Symbol]:
    """Collect the symbols of all suffixes and access words."""
    symbols: set[Symbol] = set()
    for node, _, _ in nodes:
        symbols.update(node.suffix or (), node.access_word or ())
    return symbols
