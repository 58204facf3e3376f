"""Drawings of classification trees, as in the paper's Figure 3."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import BinaryIO

from pdfalearn.alphabet import Symbol
from pdfalearn.errors import InputError
from pdfalearn.io.dot import (
    TIME_LIMIT,
    list_label,
    picture,
    picture_writers,
    short_symbol_label,
)
from pdfalearn.results import NumberedNode, TreeNode, numbered_nodes

MOST_LEAVES = 300
"""Pictures of larger trees are refused."""
MOST_LEAVES_DOWNWARDS = 10
"""Trees of more leaves grow to the right: there are more leaves than would fit side by side."""
MOST_SYMBOLS = 16
"""Words are cut after this many symbols."""
_REMEDY = "learn at a smaller kappa, or save as .dot for other tools"
_BEGIN = """\
digraph tree {
  ordering=out; nodesep=0.3; ranksep=0.6;
  node [fontname="Helvetica", fontsize=12, style="filled,rounded"];
  edge [fontname="Helvetica", fontsize=11, arrowsize=0.7];
"""
_DOWNWARDS = "  rankdir=TB;\n"
_TO_THE_RIGHT = "  rankdir=LR; edge [headport=w];\n"
_INNER = 'shape=ellipse, fillcolor="#f2f2f2", width=0.45, height=0.45, margin="0.05,0.03"'
_LEAF = 'shape=box, fillcolor="#ffffff", margin="0.12,0.08"'
_UNDEFINED = 'label=" undefined ", style=dashed, color="#999999", fontcolor="#999999"'


def tree_to_dot(tree: TreeNode) -> str:
    r"""Describe a drawing of a classification tree in Graphviz's DOT language.

    An inner node shows its distinguishing suffix, an arc the key of its class, a leaf its access
    word and distribution; λ is the empty word.
    """
    nodes = numbered_nodes(tree)
    words = [word for node, _, _ in nodes for word in (node.suffix, node.access_word)]
    separator = "" if all(len(str(symbol)) == 1 for word in words for symbol in word or ()) else " "
    lines = [_BEGIN, _DOWNWARDS if _count_leaves(nodes) <= MOST_LEAVES_DOWNWARDS else _TO_THE_RIGHT]
    for number, (node, parent, arc) in enumerate(nodes):
        if node.suffix is not None:
            look = f'label="{_word(node.suffix, separator)}", {_INNER}'
        else:
            word, row = _word(node.access_word or (), separator), _numbers(node.distribution or ())
            look = f'label="{word}\\n{row}", {_LEAF}'
        lines.append(f"  {number} [{look}];\n")
        if parent is not None:
            arrow = _UNDEFINED if arc is None else f'label=" {_numbers(arc)} "'
            lines.append(f"  {parent} -> {number} [{arrow}];\n")
    return "".join([*lines, "}\n"])


def render_tree(tree: TreeNode, kind: str, *, time_limit: float = TIME_LIMIT) -> bytes:
    """Draw a classification tree of at most ``MOST_LEAVES`` leaves with Graphviz."""
    leaves = _count_leaves(numbered_nodes(tree))
    if leaves > MOST_LEAVES:
        raise InputError(f"a picture of {leaves} leaves won't help; {_REMEDY}")
    name = f"a tree of {leaves} leaves"
    return picture(tree_to_dot(tree), kind, name=name, remedy=_REMEDY, time_limit=time_limit)


def _write_dot(tree: TreeNode, stream: BinaryIO) -> None:
    stream.write(tree_to_dot(tree).encode())


def _count_leaves(nodes: list[NumberedNode]) -> int:
    return sum(not node.children for node, _, _ in nodes)


def _word(word: Sequence[Symbol], separator: str) -> str:
    return list_label(word, separator, show=short_symbol_label, most=MOST_SYMBOLS) or "λ"


def _numbers(values: Sequence[float]) -> str:
    texts = [f"{value:.4g}" if isinstance(value, float) else str(value) for value in values]
    return f"({list_label(texts, ', ')})"


TREE_WRITERS: dict[str, Callable[[TreeNode, BinaryIO], None]] = {
    ".dot": _write_dot,
    **picture_writers(render_tree),
}
