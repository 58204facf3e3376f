"""What comes out of learning."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from pdfalearn._checks import checked_number
from pdfalearn.certificates import Certificate
from pdfalearn.equivalence.relations import Quantization, Rounded
from pdfalearn.errors import InputError
from pdfalearn.learners.protocol import Learner, TreeNode, Word
from pdfalearn.pdfa import PDFA


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
    """What learning has cost, and the shape of its classification tree."""

    batches: tuple[int, ...]
    """The size of every call for distributions."""
    audited_words: int
    """Words that the audit asked for a second time."""
    largest_difference: float
    """By how much a probability differed at most the second time."""
    tree_depth: int
    inner_nodes: int


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
        observations = self._learner.observations
        quantization = observations.by
        if isinstance(quantization, Rounded):
            quantization = quantization.by
        if not isinstance(quantization, Quantization):
            raise InputError(f"{quantization!r} has no intervals, so nothing is near a boundary")
        distance = checked_number(distance, "distance", 0, 1)
        distances = quantization.boundary_distances(observations.answers.rows)
        return int((distances <= distance).sum())

    @cached_property
    def tree(self) -> TreeNode:
        """The classification tree, from its root."""
        return self._learner.tree()


class LearningInterrupted(KeyboardInterrupt):
    """Learning was interrupted; ``result`` is what was learnt until then, if there was anything."""

    def __init__(self, result: Result | None) -> None:
        super().__init__("learning was interrupted")
        self.result = result
