"""A classification tree as people look at it. Trees can be too deep for recursion."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from pdfalearn.alphabet import Symbol
from pdfalearn.errors import InputError
from pdfalearn.registry import shown
from pdfalearn.text import described

Word = tuple[Symbol, ...]
ArcLabel = tuple[float, ...] | None
"""The key of a class, such as its quantization vector; None for undefined."""


@dataclass(eq=False, repr=False)
class TreeNode:
    """A node of a classification tree.

    An inner node has a distinguishing suffix, and a child for each class that was seen after it. A
    leaf is a state: it has an access word and a distribution. Nodes are equal if all that is below
    them is.

    Examples
    --------
    >>> leaf = TreeNode(access_word=(), distribution=(0.5, 0.5))
    >>> tree = TreeNode(suffix=(), children={(5, 5): leaf})
    >>> tree, tree.children[(5, 5)]
    (TreeNode(suffix=(), 1 children), TreeNode(access_word=()))
    """

    suffix: Word | None = None
    children: dict[ArcLabel, TreeNode] = field(default_factory=dict)
    access_word: Word | None = None
    distribution: tuple[float, ...] | None = None

    def __repr__(self) -> str:
        if self.suffix is None:
            return f"TreeNode(access_word={self.access_word!r})"
        return f"TreeNode(suffix={self.suffix!r}, {len(self.children)} children)"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> Any:
        return shown("notebook", self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TreeNode):
            return NotImplemented
        pairs = [(self, other)]
        for one, two in pairs:  # the list grows in front of the loop
            if _own(one) != _own(two) or one.children.keys() != two.children.keys():
                return False
            pairs += ((child, two.children[arc]) for arc, child in one.children.items())
        return True

    __hash__ = None  # type: ignore[assignment]

    def __copy__(self) -> TreeNode:
        return replace(self)

    def __reduce__(self) -> tuple[object, ...]:
        return _linked, ([(_own(node), *place) for node, *place in numbered_nodes(self)],)


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


_Own = tuple[Word | None, Word | None, tuple[float, ...] | None]
"""What a node has beside its children: suffix, access word and distribution."""


def _own(node: TreeNode) -> _Own:
    return node.suffix, node.access_word, node.distribution


def _linked(nodes: Iterable[tuple[_Own, int | None, ArcLabel]]) -> TreeNode:
    """Make a tree of nodes in the order of their numbers."""
    made: list[TreeNode] = []
    for (suffix, access_word, distribution), parent, arc in nodes:
        node = TreeNode(suffix, {}, access_word, distribution)
        if parent is not None:
            made[parent].children[arc] = node
        made.append(node)
    return made[0]


def checked_tree(given: object, name: str) -> TreeNode:
    """Return a classification tree as it is; refuse anything else.

    Examples
    --------
    >>> checked_tree(None, "tree")
    Traceback (most recent call last):
    pdfalearn.errors.InputError: tree is None, not a TreeNode; give learn(model).tree
    """
    if isinstance(given, TreeNode):
        return given
    remedy = "give learn(model).tree"
    if isinstance(getattr(given, "tree", None), TreeNode):
        remedy = "give its attribute tree"
    elif hasattr(given, "next_distributions"):
        remedy = "save(pdfa, path) writes automata"
    raise InputError(f"{name} is {described(given)}, not a TreeNode; {remedy}")
