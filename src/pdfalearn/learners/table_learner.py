"""The observation table, and what learners that keep one have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from pdfalearn.alphabet import shorten
from pdfalearn.arrays import grown, numbered_rows
from pdfalearn.equivalence import Equivalence, Tolerance, check_relation
from pdfalearn.errors import InputError, OracleError
from pdfalearn.learners.protocol import Findings
from pdfalearn.observations import EMPTY, UNDEFINED, Nodes, ObservationTree
from pdfalearn.pdfa import PDFA
from pdfalearn.results import Word
from pdfalearn.typing import Flags, Floats, Integers
from pdfalearn.words import Words, visited_states

# Stands where a word is undefined: farther from any probability than the largest tolerance.
UNDEFINED_CELL = -2

_UNKNOWN = -2
# The last symbol of a suffix whose cells are classes.
_CLASS = -1


class ObservationTable:
    """Prefixes by suffixes: in a cell stands π^ℓ, the probability of the suffix's last symbol.

    A suffix is a word of Σ*·Σ_$: a *stem* and a last symbol, which may be the terminal. The table
    begins without prefixes and with the suffixes Σ_$, the terminal first, so that the first cells
    of a row are the distribution after its prefix. Undefined words are never prefixes.

    Where the relation is an equivalence, suffixes are words of Σ*, at first the empty one, and in a
    cell stands the number of the class after prefix and suffix.

    Parameters
    ----------
    observations : ObservationTree
        The observation tree to ask.
    """

    def __init__(self, observations: ObservationTree) -> None:
        self.observations = observations
        self._symbols = len(observations.alphabet)
        self._has_classes = isinstance(observations.equivalence, Equivalence)
        self._last_symbols = (
            np.array([_CLASS]) if self._has_classes else np.arange(self._symbols + 1)
        )
        self._stems = np.full(len(self._last_symbols), EMPTY, dtype=np.int64)
        self._size = 0
        self._nodes = np.empty(0, dtype=np.int64)
        # With room to grow; what is not in use holds undefined cells, its last row always.
        self._cells = np.full((1, self.width), UNDEFINED_CELL, dtype=np.float64)
        # The place of every node that is a prefix.
        self._place_of = np.empty(0, dtype=np.int64)

    def __len__(self) -> int:
        return self._size

    @property
    def width(self) -> int:
        """The number of suffixes."""
        return len(self._stems)

    @property
    def nodes(self) -> Nodes:
        """The node of every prefix."""
        return self._nodes[: self._size]

    @property
    def rows(self) -> Floats:
        """The row of every prefix by its place; place -1 finds the row of undefined words."""
        return self._cells[:, : self.width]

    @property
    def distributions(self) -> Floats:
        """The distribution after every prefix."""
        return self._cells[: self._size, : self._symbols + 1]

    def suffix(self, number: int) -> Word:
        """Return a suffix; where cells are probabilities, its last symbol may be the terminal."""
        alphabet, (stem, last) = self.observations.alphabet, self._parts(number)
        if last == _CLASS:
            return alphabet.decode(stem)
        return (*alphabet.decode(stem), alphabet.symbols[last - 1] if last else alphabet.terminal)

    def suffix_probabilities(self, place: int, symbols: Integers, suffixes: Integers) -> Floats:
        """Return the probabilities of a symbol and a suffix, all their symbols, after a prefix."""
        step, start = self.observations.nodes.step_one, int(self._nodes[place])
        nodes: list[int] = []
        columns: list[int] = []
        begins = []
        for symbol, number in zip(symbols.tolist(), suffixes.tolist(), strict=True):
            begins.append(len(nodes))
            stem, last = self._parts(number)
            nodes += accumulate([symbol, *stem], step, initial=start)
            columns += [symbol + 1, *(code + 1 for code in stem), last]
        rows = self.observations.distributions(np.array(nodes))
        factors = rows[np.arange(len(nodes)), columns]
        # What comes after an undefined word has come by a symbol of probability 0.
        return np.multiply.reduceat(np.nan_to_num(factors, nan=0.0), begins)

    def _parts(self, number: int) -> tuple[list[int], int]:
        """Return a suffix as the codes of its stem and the column of its last symbol."""
        stem = self.observations.suffixes.word(int(self._stems[number]))
        return stem, int(self._last_symbols[number])

    def numbers(self) -> Integers:
        """Number the different rows: by place, and -1 at place -1, that of undefined words."""
        return np.append(numbered_rows(self.rows[: self._size]), -1)

    def add_prefixes(self, nodes: Nodes) -> Integers:
        """Return the places of prefixes, adding those that are new; -1 where one is undefined."""
        self._reserve_nodes()
        new = nodes[self._place_of[nodes] == _UNKNOWN]
        if len(new):
            self._add(self.observations.nodes.different(new))
        return self._place_of[nodes]

    def successors(self, places: Integers) -> Integers:
        """Return the places of prefixes one symbol longer, a row of them for each prefix."""
        symbols = np.tile(np.arange(self._symbols), len(places))
        nodes = self.observations.nodes.step(np.repeat(self._nodes[places], self._symbols), symbols)
        return self.add_prefixes(nodes).reshape(len(places), self._symbols)

    def add_suffixes(self, new: Sequence[tuple[int, int]]) -> None:
        """Add suffixes, each a symbol followed by the suffix of a number."""
        stems = self._stems
        longer = [self.observations.suffixes.add(symbol, int(stems[old])) for symbol, old in new]
        last_symbols = self._last_symbols[[old for _, old in new]]
        cells = self._ask_cells(self.nodes, np.array(longer), last_symbols)
        first, width = self.width, self.width + len(new)
        if width > self._cells.shape[1]:
            more = (0, 0), (0, width)
            self._cells = np.pad(self._cells, more, constant_values=UNDEFINED_CELL)
        self._cells[: self._size, first:width] = cells
        self._stems = np.append(stems, longer)
        self._last_symbols = np.append(self._last_symbols, last_symbols)

    def _add(self, nodes: Nodes) -> None:
        cells = self._ask_cells(nodes, self._stems, self._last_symbols)
        defined = cells[:, 0] != UNDEFINED_CELL
        self._reserve_nodes()
        self._place_of[nodes[~defined]] = UNDEFINED
        nodes = nodes[defined]
        first = self._size
        self._size += len(nodes)
        self._cells = grown(self._cells, self._size + 1, UNDEFINED_CELL)
        self._nodes = grown(self._nodes, self._size)
        self._nodes[first : self._size] = nodes
        self._place_of[nodes] = np.arange(first, self._size)
        self._cells[first : self._size, : self.width] = cells[defined]

    def _ask_cells(self, nodes: Nodes, stems: Nodes, last_symbols: Nodes) -> Floats:
        """Ask for the cells of prefixes; each stem once, whatever its last symbols."""
        different, stem_of = np.unique(stems, return_inverse=True)
        words = np.repeat(nodes, len(different)), np.tile(different, len(nodes))
        if self._has_classes:
            classes = self.observations.classes(*words).reshape(len(nodes), len(different))
            return np.where(classes == UNDEFINED, UNDEFINED_CELL, classes)[:, stem_of].astype(float)
        rows = self.observations.distributions(self.observations.descend(*words))
        rows = rows.reshape(len(nodes), len(different), self._symbols + 1)
        cells = rows[:, stem_of, last_symbols]
        cells[np.isnan(cells)] = UNDEFINED_CELL
        return cells + 0.0  # -0.0 becomes 0.0, so that equal rows have equal bytes

    def _reserve_nodes(self) -> None:
        self._place_of = grown(self._place_of, self.observations.nodes.size, _UNKNOWN)


class _Proposal(NamedTuple):
    """A hypothesis."""

    pdfa: PDFA
    # The node of every state's access word.
    access: Nodes
    unresolved: Integers


class TableLearner(ABC):
    """A learner with an observation table, which compares rows by a tolerance, or rows of classes.

    Parameters
    ----------
    observations : ObservationTree
        The observation tree to ask.
    """

    name: str

    def __init__(self, observations: ObservationTree) -> None:
        self.observations = observations
        relation = check_relation(observations.equivalence)
        # Classes are compared as numbers: they are the same or at least 1 apart.
        self.equivalence = relation if isinstance(relation, Tolerance) else Tolerance(0)
        self.table = ObservationTable(observations)
        self._proposal: _Proposal | None = None

    @property
    def size(self) -> int:
        """How many states the newest hypothesis has."""
        return 0 if self._proposal is None else len(self._proposal.pdfa)

    @property
    def _newest(self) -> _Proposal:
        if self._proposal is None:
            raise InputError(f"{self.name} has no hypothesis yet; call start, then hypothesis")
        return self._proposal

    def hypothesis(self) -> PDFA:
        """Return the newest hypothesis; its states are numbered as they were discovered."""
        return self._newest.pdfa

    def findings(self, states: int = 0) -> Findings:
        """Return the access words of the hypothesis, and how many cells the table has."""
        words = self.observations.word_tree(self._newest.access)
        return Findings(words, structure_size=len(self.table) * self.table.width)

    def unresolved(self) -> Integers:
        """Return the transitions, as state * symbols + symbol, that lead to the best match only."""
        return self._newest.unresolved

    def start(self) -> None:
        """Ask for the empty word, then for what a first hypothesis needs."""
        empty_word = np.zeros(1, dtype=np.int64)
        self.table.add_prefixes(empty_word)
        symbols = len(self.observations.alphabet)
        # Should asking be stopped before the table is complete, this is what is known.
        loops = np.zeros((1, symbols), dtype=np.int64)
        self._propose(loops, self.observations.rows(empty_word), empty_word, np.arange(symbols))
        self._begin()

    @abstractmethod
    def _begin(self) -> None:
        """Complete the table, which holds the empty word, and propose a first hypothesis."""

    def _propose(
        self, transitions: Integers, probabilities: Floats, access: Nodes, unresolved: Integers
    ) -> None:
        """Put forward a hypothesis, unless it has more states than there may be."""
        states = len(probabilities)
        if self.observations.meter.grant_states(0, states) < states:
            return
        alphabet = self.observations.alphabet
        pdfa = PDFA(alphabet=alphabet, transitions=transitions, probabilities=probabilities)
        self._proposal = _Proposal(pdfa, access, unresolved)

    def _are_wrong(self, words: Words, ends: Nodes) -> Flags:
        """Return for each word and its node whether the newest hypothesis is wrong after it."""
        hypothesis = self._newest.pdfa
        states = visited_states(hypothesis.table, hypothesis.initial, words)[words.ends]
        if isinstance(self.observations.equivalence, Equivalence):
            classes = np.append(self.observations.classes_of(hypothesis.probabilities), UNDEFINED)
            return np.asarray(classes[states] != self.observations.asked_classes(ends))
        said = hypothesis.probabilities[states]
        said[states < 0] = np.nan
        truth = self.observations.distributions(ends)
        both_undefined = np.isnan(said[:, 0]) & np.isnan(truth[:, 0])
        return ~(both_undefined | self.equivalence.similar(said, truth))

    def _check_counterexamples(self, words: Words) -> Nodes:
        """Return the nodes of words; refuse words that are not counterexamples."""
        ends = self.observations.path(words)[words.ends]
        wrong = self._are_wrong(words, ends)
        if not wrong.all():
            word = shorten(self.observations.word(int(ends[wrong.argmin()])))
            raise OracleError(f"the word {word} is not a counterexample to the hypothesis")
        return ends

    def _add_path(self, end: int) -> Integers:
        """Make a word and its prefixes, as far as it is defined, prefixes of the table."""
        path = self.observations.path(self.observations.nodes.words(np.array([end])))
        places = self.table.add_prefixes(path)
        defined: Integers = places[places != UNDEFINED]
        return defined
