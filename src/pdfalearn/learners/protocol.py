"""What a learner has to offer."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from pdfalearn.alphabet import WordTree
from pdfalearn.observations import ObservationTree
from pdfalearn.pdfa import PDFA
from pdfalearn.results import KeptTree
from pdfalearn.words import Words


class Findings(NamedTuple):
    """What a result keeps of a learner, beside its hypothesis."""

    access_words: WordTree
    """The access word of every state of the hypothesis, and of further states."""
    structure_size: int
    """The size of what it keeps: the nodes of its tree, or the cells of its table."""
    tree: KeptTree | None = None
    """The classification tree; None if the learner keeps a table instead."""
    tree_depth: int = 0
    """How many suffixes lie on the longest path of the tree."""
    inner_nodes: int = 0
    """How many suffixes it has."""


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

    def findings(self, states: int = 0) -> Findings:
        """Return what a result keeps of the learner, once there is a hypothesis.

        The tree goes without the distributions of its first states, which an automaton has.
        """
        ...
