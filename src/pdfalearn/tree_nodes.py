"""A classification tree as people look at it."""

from __future__ import annotations

from dataclasses import dataclass, field

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
    leaf is a state: it has an access word and a distribution.
    """

    suffix: Word | None = None
    children: dict[ArcLabel, TreeNode] = field(default_factory=dict)
    access_word: Word | None = None
    distribution: tuple[float, ...] | None = None

    def __repr__(self) -> str:
        if self.suffix is None:
            return f"TreeNode(access_word={self.access_word!r})"
        return f"TreeNode(suffix={self.suffix!r}, {len(self.children)} children)"

    def _repr_svg_(self) -> str | None:
        svg: str | None = shown("svg", self)
        return svg


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
