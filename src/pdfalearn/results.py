"""What comes out of learning."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from pdfalearn.certificates import Certificate
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

    @cached_property
    def tree(self) -> TreeNode:
        """The classification tree, from its root."""
        return self._learner.tree()


class LearningInterrupted(KeyboardInterrupt):
    """Learning was interrupted; ``result`` is what was learnt until then, if there was anything."""

    def __init__(self, result: Result | None) -> None:
        super().__init__("learning was interrupted")
        self.result = result
