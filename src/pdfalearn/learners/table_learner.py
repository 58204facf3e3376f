"""What learners that keep an observation table have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pdfalearn.alphabet import WordTree, shortened
from pdfalearn.equivalence.relations import check_tolerance
from pdfalearn.errors import InputError, OracleError
from pdfalearn.learners.observation_table import ObservationTable, Places
from pdfalearn.observations.tree import EMPTY, UNDEFINED, Nodes, ObservationTree
from pdfalearn.pdfa import PDFA
from pdfalearn.results.trees import KeptTree
from pdfalearn.words import Words, visited_states


class _Proposal(NamedTuple):
    """A hypothesis."""

    pdfa: PDFA
    access: Nodes
    """The node of every state's access word."""
    unresolved: Places


class TableLearner(ABC):
    """A learner with an observation table, which compares rows by a tolerance.

    Parameters
    ----------
    observations : ObservationTree
        The observation tree to ask; its relation has to be a `Tolerance`.
    """

    name: str

    def __init__(self, observations: ObservationTree) -> None:
        self.observations = observations
        self.by = check_tolerance(observations.by)
        self.table = ObservationTable(observations)
        self._newest: _Proposal | None = None
        self._given: _Proposal | None = None

    @property
    def size(self) -> int:
        """How many states the newest hypothesis has."""
        return 0 if self._newest is None else len(self._newest.pdfa)

    @property
    def structure_size(self) -> int:
        """The number of cells of the table."""
        return self.table.cell_count

    def hypothesis(self) -> PDFA:
        """Return the newest hypothesis; its states are numbered as they were discovered."""
        self._given = self._newest
        return self._started(self._given).pdfa

    def access_words(self) -> WordTree:
        """Return the access word of every state of the last hypothesis."""
        return self.observations.word_tree(self._started(self._given).access)

    def unresolved(self) -> Places:
        """Return the transitions that lead to the best match because their own state is missing.

        A transition is state * symbols + symbol.
        """
        return self._started(self._given).unresolved

    def tree(self, states: int = 0) -> KeptTree | None:
        """Return None: there is no classification tree."""
        return None

    def tree_shape(self) -> tuple[int, int]:
        """Return depth 0 and no inner nodes: there is no classification tree."""
        return 0, 0

    def start(self) -> None:
        """Ask for the empty word, then for what a first hypothesis needs."""
        empty_word = np.zeros(1, dtype=np.int64)
        self.table.add_prefixes(empty_word)
        symbols = len(self.observations.alphabet)
        # Should asking be stopped before the table is complete, this is what is known.
        loops = np.zeros((1, symbols), dtype=np.int64)
        self._propose(loops, self.table.distributions, empty_word, np.arange(symbols))
        self._begin()

    @abstractmethod
    def _begin(self) -> None:
        """Complete the table, which holds the empty word, and propose a first hypothesis."""

    def _propose(
        self,
        transitions: Places,
        probabilities: NDArray[np.float64],
        access: Nodes,
        unresolved: Places,
    ) -> None:
        """Put forward a hypothesis, unless it has more states than there may be."""
        states = len(probabilities)
        if self.observations.meter.grant_states(0, states) < states:
            return
        alphabet = self.observations.alphabet
        pdfa = PDFA(alphabet=alphabet, transitions=transitions, probabilities=probabilities)
        self._newest = _Proposal(pdfa, access, unresolved)

    def _started(self, proposal: _Proposal | None) -> _Proposal:
        if proposal is None:
            raise InputError(f"{self.name} has no hypothesis yet; call start, then hypothesis")
        return proposal

    def _are_wrong(self, words: Words, ends: Nodes) -> NDArray[np.bool_]:
        """Return for each word and its node whether the newest hypothesis is wrong after it."""
        hypothesis = self._started(self._newest).pdfa
        states = visited_states(hypothesis.table, hypothesis.initial, words)[words.ends]
        said = hypothesis.probabilities[states]
        said[states < 0] = np.nan
        truth = self.observations.distributions(ends, np.full(len(ends), EMPTY))
        both_undefined = np.isnan(said[:, 0]) & np.isnan(truth[:, 0])
        return ~(both_undefined | self.by.similar(said, truth))

    def _checked(self, words: Words) -> Nodes:
        """Return the nodes of words; refuse words that are not counterexamples."""
        ends = self.observations.path(words)[words.ends]
        wrong = self._are_wrong(words, ends)
        if not wrong.all():
            word = shortened(self.observations.word(int(ends[wrong.argmin()])))
            raise OracleError(f"the word {word} is not a counterexample to the hypothesis")
        return ends

    def _add_path(self, end: int) -> Places:
        """Make a word and its prefixes, as far as it is defined, prefixes of the table."""
        path = self.observations.path(self.observations.words(np.array([end])))
        places = self.table.add_prefixes(path)
        defined: Places = places[places != UNDEFINED]
        return defined
