"""Where transitions lead that learning could not resolve before it stopped."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pdfalearn.alphabet import WordTree
from pdfalearn.learners._clusters import nearest
from pdfalearn.learners.classification_tree import LEAF, ROOT, ClassificationTree
from pdfalearn.observations import UNKNOWN, ObservationTree
from pdfalearn.typing import Codes, Integers

# At most this many transitions are looked at together.
_AT_ONCE = 2**20
# Longer suffixes than this are not tried.
_LONGEST = 256
# In tables of more probabilities than this, nearest distributions are not searched.
_MOST_CELLS = 2**25


class Unresolved(NamedTuple):
    """Transitions without a state of their own, and what is known about them."""

    # As state * symbols + symbol.
    transitions: Integers
    # The nodes of the classification tree that their words have reached.
    at: NDArray[Any]
    tree: ClassificationTree
    # The leaf and the node of the access word of every state.
    leaves: Integers
    access: Integers
    observations: ObservationTree

    # The number of states of the last hypothesis in which nothing was unresolved.
    complete: int

    def resolve(self, table: Codes) -> None:
        """Write a state for each of the transitions into a table of all transitions.

        A word that has been sifted down to an inner node leads to the oldest state below it, where
        it led before the leaf was split. A state that is newer than the last hypothesis has the
        transitions of the state that it was taken for. Every other transition goes where the
        longest resolved suffix of its word leads. If there is no such suffix, it goes to the state
        with the nearest distribution.
        """
        flat, tree = table.reshape(-1), self.tree
        words = self.observations.word_tree(self.access)
        found = np.empty(len(self.transitions), dtype=np.int32)
        for part in _parts(len(found)):
            found[part] = suffix_matches(table, words, self.transitions[part])
        oldest, sifted = self._oldest(), (self.at != ROOT).nonzero()[0]
        at = self.at[sifted]
        at = np.where(tree.suffixes[at] == LEAF, tree.parents[at], at)
        found[sifted] = np.where(at == ROOT, -1, oldest[at])
        flat[self.transitions[sifted]] = found[sifted]
        before = self._taken_for(oldest)
        for part in _parts(len(found)):
            states, symbols = np.divmod(self.transitions[part], table.shape[1])
            as_before = table[before[states], symbols]
            is_taken = (self.at[part] == ROOT) & (as_before >= 0)
            found[part] = np.where(is_taken, as_before, found[part])
        self._to_nearest(found)
        flat[self.transitions] = np.maximum(found, 0)

    def _taken_for(self, oldest: Integers) -> Integers:
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

    def _oldest(self) -> Integers:
        """Return the oldest state below every node of the tree."""
        tree = self.tree
        oldest = np.full(tree.size, len(self.leaves))
        oldest[self.leaves] = np.arange(len(self.leaves))
        deepest_first = np.argsort(-tree.depths[: tree.size], kind="stable")
        borders = np.flatnonzero(np.diff(tree.depths[deepest_first])) + 1
        for nodes in np.split(deepest_first, borders)[:-1]:
            np.minimum.at(oldest, tree.parents[nodes], oldest[nodes])
        return oldest

    def _to_nearest(self, found: Codes) -> None:
        """Where nothing was found and a word's answer is known, take the nearest distribution."""
        observations = self.observations
        transitions, words = find_answered_transitions(observations, self.access)
        places = np.searchsorted(self.transitions, transitions)
        places = np.minimum(places, len(found) - 1)
        is_lost = (self.transitions[places] == transitions) & (found[places] < 0)
        is_lost &= observations.nodes.rows[words] >= 0
        if is_lost.any():
            rows = observations.rows(self.access)
            found[places[is_lost]] = nearest(rows, observations.rows(words[is_lost]))


def find_answered_transitions(
    observations: ObservationTree, access: Integers
) -> tuple[Integers, Integers]:
    """Return the transitions whose words have answers, and the nodes of these words."""
    table = observations.nodes
    nodes = (table.classes[: table.size] != UNKNOWN).nonzero()[0][1:]
    state_of = np.full(table.size, -1, dtype=np.int64)
    state_of[access] = np.arange(len(access))
    befores = state_of[table.parents[nodes]]
    nodes, befores = nodes[befores >= 0], befores[befores >= 0]
    symbols = table.last_symbols[nodes]
    return befores * len(observations.alphabet) + symbols, nodes


def _parts(count: int) -> list[slice]:
    return [slice(begin, begin + _AT_ONCE) for begin in range(0, count, _AT_ONCE)]


def suffix_matches(
    table: NDArray[np.integer], access_words: WordTree, transitions: Integers
) -> Integers:
    """Return the state after the longest proper suffix of each transition's word that has one.

    Suffixes are run from state 0 on, all of one length at once, the shortest first. They have one
    symbol at least. The table is -1 where nothing is known, and so is what is returned.

    Examples
    --------
    >>> words = WordTree(np.array([0, 0]), np.array([0, 0]), np.array([0, 1]))  # (), a
    >>> suffix_matches(np.array([[1, 0], [-1, -1], [-1, -1]]), words, np.array([1, 2, 3]))
    array([-1,  1,  0])
    """
    befores, symbols = np.divmod(transitions, table.shape[1])
    nodes = above = access_words.ends[befores]
    found = np.full(len(transitions), -1, dtype=np.int64)
    active = np.arange(len(transitions))
    after = np.zeros(len(access_words.parents), dtype=table.dtype)
    for _ in range(_LONGEST):
        # ``after`` has the state after the last symbols of every word, one more each time, and
        # ``above`` what stands before them: nothing where the suffix would be the whole word.
        active = active[above[active] > 0]
        if not len(active) or (after < 0).all():
            break
        ends = table[after[nodes[active]], symbols[active]]
        found[active[ends >= 0]] = ends[ends >= 0]
        after = table[after[access_words.parents], access_words.symbols]
        after[0] = -1
        above = access_words.parents[above]
    return found
