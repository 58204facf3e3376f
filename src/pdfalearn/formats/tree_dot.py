"""Drawings of classification trees, made with Graphviz, in the style of the paper's Figure 3."""

from __future__ import annotations

from collections.abc import Sequence
from typing import BinaryIO

from pdfalearn.alphabet import Symbol
from pdfalearn.errors import InputError
from pdfalearn.formats._tree_nodes import symbols_of
from pdfalearn.formats.graphviz import TIME_LIMIT, picture
from pdfalearn.formats.labels import list_label, short_symbol_label
from pdfalearn.tree_nodes import ArcLabel, NumberedNode, TreeNode, numbered_nodes

MOST_LEAVES = 300
"""Pictures of larger trees are refused."""

MOST_LEAVES_DOWNWARDS = 10
"""Trees of more leaves grow to the right: there are more leaves than would fit side by side."""

MOST_SYMBOLS = 16
"""Words are cut after this many symbols."""

_REMEDY = "learn at a smaller kappa, or save as .dot or .json for other tools"

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


def to_dot(tree: TreeNode) -> str:
    r"""Describe a drawing of a classification tree in Graphviz's DOT language.

    An inner node shows its distinguishing suffix, an arc the key of its class, a leaf its access
    word and distribution; λ is the empty word.

    Examples
    --------
    >>> leaf = TreeNode(access_word=(), distribution=(0.5, 0.5))
    >>> print(to_dot(TreeNode(suffix=(), children={(5, 5): leaf})))  # doctest: +ELLIPSIS
    digraph tree {
      ...
      0 [label="λ", shape=ellipse, ...];
      1 [label="λ\n(0.5, 0.5)", shape=box, ...];
      0 -> 1 [label=" (5, 5) "];
    }
    <BLANKLINE>
    """
    return _text(numbered_nodes(tree))


def render(tree: TreeNode, kind: str, *, time_limit: float = TIME_LIMIT) -> bytes:
    """Draw a classification tree with Graphviz.

    Parameters
    ----------
    tree : TreeNode
        The tree, of at most ``MOST_LEAVES`` leaves.
    kind : {"svg", "png", "pdf"}
        The kind of picture.
    time_limit : float
        Seconds that Graphviz may take.

    Raises
    ------
    MissingExtraError
        If Graphviz is not installed.
    InputError
        If the tree is too large for a picture.
    """
    nodes = numbered_nodes(tree)
    leaves = _count_leaves(nodes)
    if leaves > MOST_LEAVES:
        raise InputError(f"a picture of {leaves} leaves won't help; {_REMEDY}")
    name = f"a tree of {leaves} leaves"
    return picture(_text(nodes), kind, name=name, remedy=_REMEDY, time_limit=time_limit)


def write(tree: TreeNode, stream: BinaryIO) -> None:
    """Write a classification tree in the DOT language."""
    stream.write(to_dot(tree).encode())


def _count_leaves(nodes: list[NumberedNode]) -> int:
    return sum(not node.children for node, _, _ in nodes)


def _text(nodes: list[NumberedNode]) -> str:
    separator = "" if all(len(str(symbol)) == 1 for symbol in symbols_of(nodes)) else " "
    is_small = _count_leaves(nodes) <= MOST_LEAVES_DOWNWARDS
    lines = [_BEGIN, _DOWNWARDS if is_small else _TO_THE_RIGHT]
    for number, (node, parent, arc) in enumerate(nodes):
        lines.append(f"  {number} [{_node_style(node, separator)}];\n")
        if parent is not None:
            lines.append(f"  {parent} -> {number} [{_arc_style(arc)}];\n")
    return "".join([*lines, "}\n"])


def _node_style(node: TreeNode, separator: str) -> str:
    if node.suffix is not None:
        return f'label="{_word(node.suffix, separator)}", {_INNER}'
    word = _word(node.access_word or (), separator)
    return f'label="{word}\\n{_numbers(node.distribution or ())}", {_LEAF}'


def _arc_style(arc: ArcLabel) -> str:
    return _UNDEFINED if arc is None else f'label=" {_numbers(arc)} "'


def _word(word: Sequence[Symbol], separator: str) -> str:
    return list_label(word, separator, show=short_symbol_label, most=MOST_SYMBOLS) or "λ"


def _numbers(values: Sequence[float]) -> str:
    return f"({list_label(values, ', ', show=_number)})"


def _number(value: float) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
