"""What a learner has to offer."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np

from pdfalearn.alphabet import WordTree
from pdfalearn.budgets import BudgetReached
from pdfalearn.errors import InputError
from pdfalearn.observations import ObservationTree
from pdfalearn.pdfa import PDFA
from pdfalearn.reachability import reachable, reachable_part
from pdfalearn.results import KeptTree
from pdfalearn.typing import Integers
from pdfalearn.words import Words


class Findings(NamedTuple):
    """What a result keeps of a learner, beside its hypothesis."""

    # The access word of every state of the hypothesis, and of further states.
    access_words: WordTree
    # The size of what it keeps: the nodes of its tree, or the cells of its table.
    structure_size: int
    # The classification tree; None if the learner keeps a table instead.
    tree: KeptTree | None = None
    # How many suffixes lie on the longest path of the tree.
    tree_depth: int = 0
    # How many suffixes it has.
    inner_nodes: int = 0
    # What came of the automaton that it began with, ready for JSON.
    reference: dict[str, object] | None = None


class ThreeVerbs(Protocol):
    """The least that a learner has to have; `PlainLearner` adds the rest."""

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


class Learner(ThreeVerbs, Protocol):
    """Sorts the words it has seen into classes and proposes a PDFA. It never sees an oracle.

    `start`, `refine` and `hypothesis` are enough for a learner of one's own: without `findings`,
    what is missing is taken from its hypotheses, and where a budget stops it, the last whole
    hypothesis counts.

    Examples
    --------
    >>> from pdfalearn import Tolerance
    >>> from pdfalearn.datasets import tomita
    >>> from pdfalearn.learners import LPStar, ObservationTree
    >>> from pdfalearn.models import AutomatonModel
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

    def unresolved(self) -> Integers:
        """Return the transitions that lead to the best match instead of a state of their own.

        There are none unless a bound was reached. A transition is state * symbols + symbol.
        """
        ...

    def findings(self, states: int = 0) -> Findings:
        """Return what a result keeps of the learner, once there is a hypothesis.

        The tree goes without the distributions of its first states, which an automaton has.
        """
        ...


class PlainLearner:
    """A learner of three verbs with all else that a run needs, taken from its hypotheses.

    Its hypotheses keep their reachable states only, numbered breadth first. Once a bound has
    stopped it in the middle of a verb, it is not trusted any more: its last hypothesis counts,
    or one of a single state if there is none. So it is where there is no learner any more.
    """

    _learner: Any  # of three verbs, or none

    def __init__(
        self,
        learner: ThreeVerbs | None,
        observations: ObservationTree,
        last: PDFA | None = None,
    ) -> None:
        self.observations = observations
        self._learner = learner
        self._pdfa = None if last is None else reachable_part(last)
        # Whether nothing has been learnt since the last hypothesis, or nothing can be any more.
        self._is_current = learner is None

    @property
    def size(self) -> int:
        """How many states the last hypothesis has."""
        return 1 if self._pdfa is None else len(self._pdfa)

    def start(self) -> None:
        """Let the learner start."""
        # Where a bound ends `start`, the last hypothesis counts; else there is a new one.
        self._is_current = True
        self._learner.start()
        self._is_current = False

    def refine(self, counterexamples: Words) -> None:
        """Let the learner refine its hypothesis."""
        self._is_current = True
        self._learner.refine(counterexamples)
        self._is_current = False

    def hypothesis(self) -> PDFA:
        """Return the learner's hypothesis, or its last one where a bound came in between."""
        if not self._is_current:
            self._is_current = True
            found = self._learner.hypothesis()
            if not isinstance(found, PDFA):
                raise InputError(f"{self._learner!r} proposed {found!r}, which is not a PDFA")
            limit = self.observations.budget.max_states
            if limit is not None and len(found) > limit:
                raise BudgetReached("max_states", limit)
            self._pdfa = reachable_part(found)
        return self._make_single_state() if self._pdfa is None else self._pdfa

    def _make_single_state(self) -> PDFA:
        """Return an automaton that answers always as after the empty word."""
        root = np.zeros(1, dtype=np.int64)
        self.observations.asked_classes(root)
        row = self.observations.rows(root)
        transitions = np.where(row[:, 1:] > 0, 0, -1)
        return PDFA(alphabet=self.observations.alphabet, transitions=transitions, probabilities=row)

    def unresolved(self) -> Integers:
        """Return no transitions: a hypothesis is whole."""
        return np.empty(0, dtype=np.int64)

    def findings(self, states: int = 0) -> Findings:
        """Return the shortest access words of the states."""
        pdfa = self.hypothesis()
        part = reachable(pdfa)
        above = pdfa.transitions[part.parents]
        last_symbols = (above == part.states[:, None]).argmax(axis=1)
        last_symbols[0] = 0
        numbers = np.arange(len(pdfa), dtype=np.int32)
        words = WordTree(part.parents.astype(np.int32), last_symbols.astype(np.int32), numbers)
        return Findings(words, structure_size=len(pdfa))
