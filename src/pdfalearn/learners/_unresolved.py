"""Where transitions lead that learning could not resolve before it stopped."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pdfalearn.learners._nearest import nearest
from pdfalearn.learners._suffix_matches import suffix_matches
from pdfalearn.learners.classification_tree import LEAF, ROOT, ClassificationTree
from pdfalearn.observations.tree import ObservationTree

Numbers = NDArray[np.int64]


_MOST_CELLS = 2**25
"""In tables of more probabilities than this, nobody looks for the nearest ones."""


class Unresolved(NamedTuple):
    """Transitions without a state of their own, and what is known of them."""

    transitions: Numbers
    """As state * symbols + symbol."""
    at: Numbers
    """The nodes of the classification tree that their words have reached."""
    tree: ClassificationTree
    leaves: Numbers
    access: Numbers
    """The leaf and the node of the access word of every state."""
    observations: ObservationTree

    complete: int
    """How many states, the first ones, a hypothesis had of which nothing was unresolved."""

    def resolve(self, table: NDArray[np.int32]) -> None:
        """Write a state for each of the transitions into a table of all transitions.

        A word that has been sifted as far as an inner node leads to a state below it: the oldest,
        to which it led before the node was one. A state that is newer than the last hypothesis goes
        on as the state does that it was taken for. All other transitions go where the longest
        suffix of their word leads that was resolved; and if there is none, to the state with the
        nearest distribution.
        """
        tree, (states, symbols) = self.tree, np.divmod(self.transitions, table.shape[1])
        words = self.observations.word_tree(self.access)
        found = suffix_matches(table, words, self.transitions)
        oldest, is_sifted = self._oldest(), self.at != ROOT
        at = np.where(tree.suffixes[self.at] == LEAF, tree.parents[self.at], self.at)
        found[is_sifted] = np.where(at == ROOT, -1, oldest[at])[is_sifted]
        table[states, symbols] = np.where(is_sifted, found, -1)
        as_before = table[self._taken_for(oldest)[states], symbols]
        found = np.where(~is_sifted & (as_before >= 0), as_before, found)
        lost = (found < 0).nonzero()[0]
        found[lost] = self._nearest_to_words(states[lost], symbols[lost])
        table[states, symbols] = found

    def _taken_for(self, oldest: Numbers) -> Numbers:
        """Return the older state that each state was taken for; -1 where there is none.

        It is the oldest of the same inner node. Where that is the root, it is the state of the last
        hypothesis with the nearest distribution.
        """
        above = self.tree.parents[self.leaves]
        older = np.where(above == ROOT, -1, oldest[above])
        new = self.complete + (above[self.complete :] == ROOT).nonzero()[0]
        cells = self.complete * (len(self.observations.alphabet) + 1)
        if len(new) and 0 < cells <= _MOST_CELLS:
            rows = self.observations.rows(self.access[: self.complete])
            older[new] = nearest(rows, self.observations.rows(self.access[new]))
        return older

    def _oldest(self) -> Numbers:
        """Return the oldest state below every node of the tree."""
        tree = self.tree
        oldest = np.full(tree.size, len(self.leaves))
        oldest[self.leaves] = np.arange(len(self.leaves))
        deepest_first = np.argsort(-tree.depths[: tree.size], kind="stable")
        borders = np.flatnonzero(np.diff(tree.depths[deepest_first])) + 1
        for nodes in np.split(deepest_first, borders)[:-1]:
            np.minimum.at(oldest, tree.parents[nodes], oldest[nodes])
        return oldest

    def _nearest_to_words(self, befores: Numbers, symbols: Numbers) -> Numbers:
        """Return the states with the nearest distributions; the first where none is known."""
        observations = self.observations
        words = observations.known_successors(self.access[befores], symbols)
        chosen = np.zeros(len(words), dtype=np.int64)
        known = (words >= 0).nonzero()[0]
        known = known[observations.row_numbers(words[known]) >= 0]
        if len(known):
            rows = observations.rows(self.access)
            chosen[known] = nearest(rows, observations.rows(words[known]))
        return chosen
