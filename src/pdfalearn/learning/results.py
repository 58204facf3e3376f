"""What comes out of learning."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from pdfalearn.certificates import Certificate
from pdfalearn.checks import checked_number
from pdfalearn.equivalence.relations import Quantization, Rounded
from pdfalearn.errors import InputError
from pdfalearn.learners.protocol import Learner
from pdfalearn.pdfa import PDFA
from pdfalearn.tree_nodes import TreeNode, Word


@dataclass(frozen=True)
class Progress:
    """How far learning has come."""

    states: int
    """States discovered so far."""
    words: int
    """Membership queries: words that the model was asked for."""
    distributions: int
    """Distributions read: with a word's own may come those of its prefixes."""
    symbols: int
    """Symbols that the model was led through."""
    equivalence_queries: int
    learning_seconds: float
    equivalence_seconds: float


@dataclass(frozen=True)
class Statistics(Progress):
    """What learning has cost, and the shape of what the learner keeps."""

    batches: tuple[int, ...]
    """How many distributions were read at once, each time."""
    stored_words: int
    """Words that were not asked, as a store had their answers."""
    audited_words: int
    """Words that the audit asked for a second time."""
    largest_difference: float
    """By how much a probability differed at most the second time."""
    learning_process_seconds: float
    """Of the processor's time, in all threads of this process; other seconds are a clock's."""
    equivalence_process_seconds: float
    tree_depth: int
    """How many suffixes lie on the longest path of the tree; 0 for a learner with a table."""
    inner_nodes: int
    """How many distinguishing suffixes the tree holds; 0 for a learner with a table."""
    structure_size: int
    """Suffixes and states of the classification tree, or the cells of the table."""


@dataclass(frozen=True, eq=False)
class Result:
    """What has been learnt, what it cost, and what is known about it."""

    pdfa: PDFA
    """The automaton; its states are numbered as they were discovered."""
    statistics: Statistics
    history: tuple[Progress, ...]
    """How far learning had come before each equivalence query."""
    certificate: Certificate
    """What is known about the automaton."""
    _learner: Learner = field(repr=False)
    notes: tuple[str, ...] = ()

    @cached_property
    def access_words(self) -> list[Word]:
        """A word for each state that leads to it."""
        return self._learner.access_words()[: len(self.pdfa)]

    def near_boundary(self, distance: float) -> int:
        """Count the observed probabilities within a distance of a boundary between intervals.

        Where a model answers a little differently from one batch to the next, these may fall into
        another class. Each different distribution that was observed counts once.

        Parameters
        ----------
        distance : float
            How near, as a difference of probabilities; for instance 1e-6 for float32.

        Raises
        ------
        InputError
            If learning was not by quantization, as there are no boundaries then.
        """
        quantization = self._quantization()
        if quantization is None:
            raise InputError("learning was not by quantization, so there are no boundaries")
        distance = checked_number(distance, "distance", 0, 1)
        rows = self._learner.observations.numbered_rows(
            np.arange(self._learner.observations.row_count)
        ).to_dense()
        return int((quantization.boundary_distances(rows) <= distance).sum())

    @property
    def has_boundaries(self) -> bool:
        """Whether learning was by quantization, so that there are boundaries to be near to."""
        return self._quantization() is not None

    def _quantization(self) -> Quantization | None:
        by = self._learner.observations.by
        while isinstance(by, Rounded):
            by = by.by
        return by if isinstance(by, Quantization) else None

    @cached_property
    def tree(self) -> TreeNode:
        """The classification tree, from its root; an `InputError` if the learner has none."""
        return self._learner.tree()


class LearningInterrupted(KeyboardInterrupt):
    """Learning was interrupted; ``result`` is what was learnt until then, if there was anything."""

    def __init__(self, result: Result | None) -> None:
        super().__init__("learning was interrupted")
        self.result = result
