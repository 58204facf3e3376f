"""What a learner has to offer."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pdfalearn.alphabet import WordTree
from pdfalearn.observations.tree import ObservationTree
from pdfalearn.pdfa import PDFA
from pdfalearn.results.trees import KeptTree
from pdfalearn.words import Words


class Learner(Protocol):
    """Sorts the words it has seen into classes and proposes a PDFA. It never sees an oracle.

    Examples
    --------
    >>> from pdfalearn import AutomatonModel, LPStar, ObservationTree, Tolerance, tomita
    >>> with ObservationTree(AutomatonModel(tomita(5)), Tolerance(0.1)) as tree:
    ...     learner = LPStar(tree)
    ...     learner.start()
    ...     learner.size == len(learner.hypothesis())
    True
    """

    observations: ObservationTree
    """The observation tree that the learner asks."""

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
            If one of them is not a counterexample to the current hypothesis.
        """
        ...

    def hypothesis(self) -> PDFA:
        """Return the current hypothesis; its states are numbered as they were discovered."""
        ...

    def unresolved(self) -> NDArray[np.int64]:
        """Return the transitions that lead to the best match instead of a state of their own.

        There are none unless a bound was reached. A transition is state * symbols + symbol.
        """
        ...

    def access_words(self) -> WordTree:
        """Return the access word of every state of the hypothesis, and of further states."""
        ...

    @property
    def structure_size(self) -> int:
        """The size of what it keeps: the nodes of its tree, or the cells of its table."""
        ...

    def tree(self, states: int = 0) -> KeptTree | None:
        """Return the classification tree, without the distributions of its first states.

        It is None if the learner keeps a table instead.
        """
        ...

    def tree_shape(self) -> tuple[int, int]:
        """Return the depth of the classification tree and the number of inner nodes, or 0, 0."""
        ...
