"""Files of classification trees: JSON and Graphviz drawings."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import BinaryIO

from pdfalearn.files import named
from pdfalearn.formats import tree_dot
from pdfalearn.formats._tree_nodes import symbols_of
from pdfalearn.formats.file_symbols import check_symbols
from pdfalearn.formats.graphviz import check_can_draw, picture_writers
from pdfalearn.tree_nodes import NumberedNode, TreeNode, numbered_nodes

FORMAT = "classification tree"
VERSION = 1


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
    named.write(tree, path, _WRITERS)


def check_can_save_tree(path: str | os.PathLike[str]) -> None:
    """Raise now what `save_tree` would raise later: `check_can_save` for trees."""
    named.check_can_write(path, _WRITERS)
    check_can_draw(path)


def _write_json(tree: TreeNode, stream: BinaryIO) -> None:
    nodes = numbered_nodes(tree)
    check_symbols(symbols_of(nodes))
    stream.write(f'{{"format":"{FORMAT}","version":{VERSION},\n"nodes":[\n'.encode())
    stream.write(",\n".join(map(_node_text, nodes)).encode())
    stream.write(b"]}\n")


def _node_text(numbered: NumberedNode) -> str:
    node, parent, arc = numbered
    values = {
        "suffix": node.suffix,
        "access_word": node.access_word,
        "distribution": node.distribution,
    }
    given = {name: value for name, value in values.items() if value is not None}
    return json.dumps({"parent": parent, "class": arc, **given}, separators=(",", ":"))


_WRITERS: dict[str, Callable[[TreeNode, BinaryIO], None]] = {
    ".json": _write_json,
    ".dot": tree_dot.write,
    **picture_writers(tree_dot.render),
}
