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

    def resolve(self, table: NDArray[np.int32]) -> None:
        """Write a state for each of the transitions into a table of all transitions.

        A word that has been sifted as far as an inner node leads to a state below it: the oldest,
        to which it led before the node was one. The transitions of a state that was split off lead
        where those of the oldest state of the same inner node do. All others go where the longest
        suffix of their word leads that was resolved; and if there is none, to the state with the
        nearest distribution.
        """
        states, symbols = np.divmod(self.transitions, table.shape[1])
        by_suffix = suffix_matches(
            table, self.observations.word_tree(self.access), self.transitions
        )
        oldest = self._oldest()
        at = np.where(self.tree.suffixes[self.at] == LEAF, self.tree.parents[self.at], self.at)
        found = np.where(self.at == ROOT, by_suffix, np.where(at == ROOT, -1, oldest[at]))
        table[states, symbols] = np.where((self.at != ROOT) & (found >= 0), found, -1)
        above = self.tree.parents[self.leaves]
        older = np.where(above == ROOT, -1, oldest[above])
        as_older = table[older[states], symbols]
        found = np.where((self.at == ROOT) & (as_older >= 0), as_older, found)
        lost = (found < 0).nonzero()[0]
        found[lost] = self._nearest(states[lost], symbols[lost])
        table[states, symbols] = found

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

    def _nearest(self, befores: Numbers, symbols: Numbers) -> Numbers:
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
