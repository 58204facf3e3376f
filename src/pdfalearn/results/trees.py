"""Classification trees, as people look at them and as runs keep them.

Trees can be too deep for recursion.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pdfalearn.alphabet import Alphabet, Symbol
from pdfalearn.errors import InputError
from pdfalearn.frozen import ArrayValue
from pdfalearn.text import described
from pdfalearn.typing import Codes, Floats

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

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        from pdfalearn.viewing import tree_bundle

        return tree_bundle(self)

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


class NumberedNode(NamedTuple):
    """A node, the number of its parent (None at the root), and the label of the arc from there."""

    node: TreeNode
    parent: int | None
    arc: ArcLabel


def numbered_nodes(tree: TreeNode) -> list[NumberedNode]:
    """List the nodes level by level; the place of a node is its number."""
    nodes = [NumberedNode(_check_tree(tree), None, None)]
    for number, (node, _, _) in enumerate(nodes):  # the list grows in front of the loop
        nodes += (NumberedNode(child, number, arc) for arc, child in node.children.items())
    return nodes


# What a node has beside its children: suffix, access word and distribution.
_Own = tuple[Word | None, Word | None, tuple[float, ...] | None]


def _own(node: TreeNode) -> _Own:
    return node.suffix, node.access_word, node.distribution


def _check_tree(given: object) -> TreeNode:
    if isinstance(given, TreeNode):
        return given
    remedy = "give learn(model).tree"
    if isinstance(getattr(given, "tree", None), TreeNode):
        remedy = "give its attribute tree"
    elif hasattr(given, "next_distributions"):
        remedy = "save(pdfa, path) writes automata"
    raise InputError(f"tree is {described(given)}, not a TreeNode; {remedy}")


Trace = tuple[int, ...]


def hang_children(
    top: TreeNode,
    suffix: Word,
    children: Sequence[TreeNode],
    traces: Sequence[Trace],
    keys: Sequence[ArcLabel],
) -> None:
    """Hang children below a node, by inner nodes that tell their traces apart.

    A trace has the classes after every prefix of the suffix, or just the class after all of it.
    Each inner node gets the shortest prefix that tells any two of those below it apart.
    """
    groups = [(top, [*range(len(children))], 0)]
    for node, group, length in groups:  # the list grows in front of the loop
        first = traces[group[0]]
        while length < len(first) - 1 and all(traces[i][length] == first[length] for i in group):
            length += 1
        node.suffix = suffix[: length + 1] if len(first) > 1 else suffix
        parts: dict[int, list[int]] = {}
        for child in group:
            parts.setdefault(traces[child][length], []).append(child)
        for class_, part in parts.items():
            below = children[part[0]] if len(part) == 1 else TreeNode()
            node.children[keys[class_]] = below
            if len(part) > 1:
                groups.append((below, part, length + 1))


NONE = -1
"""The parent of the root, the suffix of a leaf, and the state of an inner node."""


@dataclass(frozen=True, eq=False, repr=False)
class KeptTree(ArrayValue):
    """A classification tree in arrays: quick to make, and small.

    Node 0 is the root, and parents come before their children. Suffix 0 is the empty one, and
    every other a symbol followed by an earlier suffix.
    """

    parents: Codes
    labels: Codes
    """What stands on the arc from the parent: a class, -1 for undefined, or the number of a trace;
    without meaning at the root."""
    suffixes: Codes
    """The suffix of an inner node."""
    states: Codes
    """The state of a leaf."""
    firsts: Codes
    """The first symbol of each suffix; without meaning for the empty one."""
    rests: Codes
    """The suffix that follows it."""
    keys: NDArray[np.generic]
    """The key of each class, a row each."""
    traces: tuple[bytes, ...] | None
    """Classes along a suffix, as int32, which label arcs by suffixes of two and more symbols; None
    where classes label all arcs."""
    distributions: Floats
    """Those of the last states; the automaton that is kept beside the tree has the others."""

    def __repr__(self) -> str:
        return f"KeptTree({len(self.parents)} nodes)"

    def to_nodes(self, alphabet: Alphabet, words: Sequence[Word], first_rows: Floats) -> TreeNode:
        """Make a tree with classes on its arcs; traces are spread over several inner nodes.

        ``words`` are the access words of all states, ``first_rows`` the distributions of the first,
        as far as they were left out here.
        """
        rows = [*first_rows.tolist(), *self.distributions.tolist()]
        states = [
            TreeNode(access_word=word, distribution=tuple(row))
            for word, row in zip(words, rows, strict=True)
        ]
        nodes = [states[state] if state >= 0 else TreeNode() for state in self.states.tolist()]
        keys: list[ArcLabel] = [*map(tuple, self.keys.tolist()), None]  # -1: undefined
        for node, children in self._families():
            suffix = alphabet.decode(self._suffix(node))
            below = [nodes[child] for child in children]
            traces: list[Trace] = [(label,) for label in self.labels[children].tolist()]
            if self.traces is not None and len(suffix) >= 2:
                traces = [tuple(array("i", self.traces[label])) for (label,) in traces]
            hang_children(nodes[node], suffix, below, traces, keys)
        return nodes[0]

    def _families(self) -> Iterator[tuple[int, list[int]]]:
        """Go through the inner nodes with their children."""
        # Children sorted by their parents, and cut where the parent changes.
        below = np.argsort(self.parents[1:], kind="stable") + 1
        nodes, begins = np.unique(self.parents[below], return_index=True)
        for node, children in zip(nodes.tolist(), np.split(below, begins[1:]), strict=True):
            yield node, children.tolist()

    def _suffix(self, node: int) -> list[int]:
        firsts, rests = self.firsts.data, self.rests.data
        codes, number = [], int(self.suffixes[node])
        while number:
            codes.append(firsts[number])
            number = rests[number]
        return codes
