"""A classification tree as people look at it."""

from __future__ import annotations

from dataclasses import dataclass, field

from pdfalearn.alphabet import Symbol
from pdfalearn.registry import shown

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
