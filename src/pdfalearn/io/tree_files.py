"""Files of classification trees: JSON and Graphviz drawings."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from typing import BinaryIO

from pdfalearn.alphabet import Symbol
from pdfalearn.errors import InputError
from pdfalearn.files import write_named
from pdfalearn.io.dot import (
    TIME_LIMIT,
    list_label,
    picture,
    picture_writers,
    short_symbol_label,
)
from pdfalearn.io.pdfa_files import check_symbols
from pdfalearn.results import NumberedNode, TreeNode, numbered_nodes

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


def save_tree(tree: TreeNode, path: str | os.PathLike[str]) -> None:
    """Write a classification tree to a file, in the format that the ending of its name says.

    Parameters
    ----------
    tree : TreeNode
        The tree, such as ``learn(…).tree``.
    path : str or os.PathLike
        ``.json``, or a drawing as in the paper's Figure 3: ``.dot``, and with Graphviz ``.svg``,
        ``.png`` and ``.pdf``.

    Raises
    ------
    InputError
        If the ending is unknown, or the tree does not fit the format.
    MissingExtraError
        If a drawing needs Graphviz and it is not installed.

    Notes
    -----
    JSON lists the nodes level by level, one a line, each with the place of its parent in the list
    and the key of its class, which is null for undefined.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> leaf = TreeNode(access_word=(), distribution=(0.5, 0.5))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_tree(TreeNode(suffix=(), children={(5, 5): leaf}), f"{folder}/tree.json")
    ...     print(pathlib.Path(folder, "tree.json").read_text(), end="")
    {"format":"classification tree","version":1,
    "nodes":[
    {"parent":null,"class":null,"suffix":[]},
    {"parent":0,"class":[5,5],"access_word":[],"distribution":[0.5,0.5]}]}
    """
    write_named(tree, path, TREE_WRITERS)


def _write_json(tree: TreeNode, stream: BinaryIO) -> None:
    nodes = numbered_nodes(tree)
    check_symbols(_symbols_of(nodes))
    lines = []
    for node, parent, arc in nodes:
        parts = vars(node) | {"children": None}
        given = {name: value for name, value in parts.items() if value is not None}
        document = {"parent": parent, "class": arc, **given}
        lines.append(json.dumps(document, separators=(",", ":")))
    text = ",\n".join(lines)
    stream.write(f'{{"format":"classification tree","version":1,\n"nodes":[\n{text}]}}\n'.encode())


def tree_to_dot(tree: TreeNode) -> str:
    r"""Describe a drawing of a classification tree in Graphviz's DOT language.

    An inner node shows its distinguishing suffix, an arc the key of its class, a leaf its access
    word and distribution; λ is the empty word.
    """
    nodes = numbered_nodes(tree)
    separator = "" if all(len(str(symbol)) == 1 for symbol in _symbols_of(nodes)) else " "
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


def _symbols_of(nodes: list[NumberedNode]) -> set[Symbol]:
    """Collect the symbols of all suffixes and access words."""
    words = [word for node, _, _ in nodes for word in (node.suffix, node.access_word)]
    return {symbol for word in words for symbol in word or ()}


TREE_WRITERS: dict[str, Callable[[TreeNode, BinaryIO], None]] = {
    ".json": _write_json,
    ".dot": _write_dot,
    **picture_writers(render_tree),
}
