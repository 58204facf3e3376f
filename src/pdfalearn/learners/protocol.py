"""What a learner has to offer, and its classification tree as people look at it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pdfalearn.alphabet import Symbol
from pdfalearn.observations.tree import ObservationTree
from pdfalearn.pdfa import PDFA
from pdfalearn.words import Words

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
        from pdfalearn.formats.tree_dot import notebook_svg

        return notebook_svg(self)


class Learner(Protocol):
    """Sorts the words it has seen into classes and proposes a PDFA. It never sees an oracle."""

    observations: ObservationTree
    """Where the learner asks."""

    @property
    def size(self) -> int:
        """How many states have been discovered."""
        ...

    def start(self) -> None:
        """Ask what is needed for a first hypothesis."""
        ...

    def refine(self, counterexamples: Words) -> None:
        """Learn from words after which the model and the hypothesis differ.

        Raises
        ------
        OracleError
            If one of them is no counterexample to the current hypothesis.
        """
        ...

    def hypothesis(self) -> PDFA:
        """Give the current hypothesis; its states are numbered as they were discovered."""
        ...

    def unresolved(self) -> NDArray[np.int64]:
        """Give the transitions that lead to the best match instead of a state of their own.

        There are none unless a bound was reached. A transition is state * symbols + symbol.
        """
        ...

    def access_words(self) -> list[Word]:
        """Give the access word of every state of the hypothesis."""
        ...

    @property
    def structure_size(self) -> int:
        """How large what it keeps is: the nodes of its tree, or the cells of its table."""
        ...

    def tree(self) -> TreeNode:
        """Give the classification tree.

        Raises
        ------
        InputError
            If the learner keeps a table instead.
        """
        ...

    def tree_shape(self) -> tuple[int, int]:
        """Give the depth of the classification tree and the number of its inner nodes, or 0, 0."""
        ...
