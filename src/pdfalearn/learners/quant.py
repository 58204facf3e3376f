"""QuaNT, built for speed (§3 of the paper, with many words sifted at once)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pdfalearn.errors import OracleError
from pdfalearn.learners._counterexamples import Breaks, Counterexamples, Runs
from pdfalearn.learners._nearest import nearest
from pdfalearn.learners._suffix_choice import NONE, lengthened, parting_suffixes
from pdfalearn.learners.arc_labels import ArcLabels
from pdfalearn.learners.classification_tree import (
    LEAF,
    ROOT,
    UNDEFINED_LEAF,
    ClassificationTree,
)
from pdfalearn.learners.kept_tree import KeptTree, kept_tree
from pdfalearn.observations.suffixes import EMPTY
from pdfalearn.observations.tree import UNDEFINED, ObservationTree
from pdfalearn.pdfa import PDFA
from pdfalearn.runs import visited_states
from pdfalearn.word_trees import WordTree
from pdfalearn.words import Words

Numbers = NDArray[np.int64]

_FEW = 48
"""Below this many words, one after the other is faster than array passes."""


class _Front(NamedTuple):
    """Transitions on their way down the tree: where each is noted, its word, the node it is at."""

    places: Numbers | list[int]
    words: Numbers | list[int]
    at: Numbers | list[int]


class Quant:
    """The paper's learner with whole fronts of words sifted at once.

    A counterexample is searched for a break by halves (Rivest and Schapire 1993), used until the
    hypothesis agrees with it, and every leaf is split at most once in a round. A split re-sifts
    only the transitions into the split leaf. As in the paper, the new distinguishing suffix is a
    symbol and the suffix of a least common ancestor: that of successors of the two states. Only
    where all their successors agree it is the rest of the counterexample. Where arcs are labelled
    with traces, short suffixes are lengthened by random symbols, to tell more states apart.

    Parameters
    ----------
    observations : ObservationTree
        Whom to ask.
    traces : bool
        Whether arcs are labelled with traces where the answers to prefixes are free: far fewer
        words, each of them longer. Otherwise, and where they are not, with classes.
    """

    def __init__(self, observations: ObservationTree, *, traces: bool = True) -> None:
        self.observations = observations
        self._symbols = len(observations.model.alphabet)
        self._tree = ClassificationTree()
        self._labels = ArcLabels(observations, traces=traces)
        self._random = np.random.default_rng(0)
        self._size = 0
        self._access = np.empty(0, dtype=np.int64)
        self._leaves = np.empty(0, dtype=np.int64)
        self._targets = np.empty(0, dtype=np.int64)
        """The leaf that each transition leads to, at state * symbols + symbol; an inner node as
        long as its word has not been sifted further."""

    @property
    def size(self) -> int:
        """How many states have been discovered."""
        return self._size

    def start(self) -> None:
        """Sift the empty word, then the successors of every new state."""
        (class_,) = self.observations.classes_of_few([0], [EMPTY])
        self._new_state(0, self._tree.child(ROOT, class_))
        self._sift(_Front([], [], []), first_new=0)

    def hypothesis(self) -> PDFA:
        """Give the current hypothesis; its states are numbered as they were discovered."""
        targets = self._targets[: self._size * self._symbols]
        transitions = self._tree.states[targets]
        unresolved = self.unresolved()
        if len(unresolved):
            transitions[unresolved] = self._best_matches(unresolved)
        return PDFA(
            alphabet=self.observations.model.alphabet,
            transitions=transitions.reshape(-1, self._symbols),
            probabilities=self.observations.rows(self._access[: self._size]),
        )

    def unresolved(self) -> Numbers:
        """Give the transitions, as state * symbols + symbol, that lead to no state of their own."""
        targets = self._targets[: self._size * self._symbols]
        is_lost = (self._tree.states[targets] < 0) & (targets != UNDEFINED_LEAF)
        return np.flatnonzero(is_lost)

    def _best_matches(self, unresolved: Numbers) -> Numbers:
        """Give a state for each unresolved transition.

        Of the states below the inner node that its word has reached it is the one whose
        distribution is nearest to the word's, as far as that is known.
        """
        nodes, tree = self.observations.nodes, self._tree
        words = nodes.step(self._access[unresolved // self._symbols], unresolved % self._symbols)
        at = self._targets[unresolved]
        at = np.where(tree.suffixes[at] == LEAF, tree.parents[at], at)
        order = np.argsort(at, kind="stable")
        different, begins = np.unique(at[order], return_index=True)
        states_below = tree.below(different, self._leaves[: self._size])
        chosen = np.zeros(len(unresolved), dtype=np.int64)
        for node, here in zip(different.tolist(), np.split(order, begins[1:]), strict=True):
            states = states_below[node]
            chosen[here] = states.min()
            here = here[nodes.rows[words[here]] >= 0]
            if len(here):
                rows = self.observations.rows(self._access[states])
                chosen[here] = states[nearest(rows, self.observations.rows(words[here]))]
        return chosen

    def access_words(self) -> WordTree:
        """Return the access word of every state."""
        nodes = self.observations.nodes
        return WordTree.above(nodes.parents, nodes.last_symbols, self._access[: self._size])

    def tree(self) -> KeptTree:
        """Return the classification tree.

        Where arcs are labelled with traces, an inner node stands for several: one for each prefix
        of its suffix after which classes part.
        """
        rows = self.observations.rows(self._access[: self._size])
        return kept_tree(self._tree, self._labels, self.observations, rows)

    @property
    def structure_size(self) -> int:
        """The number of inner nodes and states of the classification tree."""
        return self.tree_shape()[1] + self.size

    def tree_shape(self) -> tuple[int, int]:
        """Return how many suffixes lie on the longest path of the tree, and how many it has."""
        depth = int(self._tree.depths[self._leaves[: self._size]].max())
        return depth, int((self._tree.suffixes[: self._tree.size] != LEAF).sum())

    def refine(self, counterexamples: Words) -> None:
        """Split leaves until the hypothesis agrees with every counterexample."""
        given = Counterexamples(self.observations, counterexamples)
        wrong = np.arange(len(given))
        is_first = True
        while len(wrong):
            words = given.at(wrong)
            runs = Runs.of(visited_states(self._table(), 0, words), words)
            is_wrong = self._classes(runs.states[runs.ends]) != given.truths[wrong]
            if not is_wrong.all():
                if is_first:
                    first = int(np.argmin(is_wrong))
                    codes = words.symbols[words.offsets[first] : words.offsets[first + 1]]
                    word = self.observations.model.alphabet.decode(codes.tolist())
                    raise OracleError(f"the word {word} is no counterexample to the hypothesis")
                wrong = wrong[is_wrong]
                continue
            is_first = False
            if self._size == self.observations.meter.budget.max_states:
                self.observations.meter.grant_states(self._size, 1)
                return
            self._split(given, given.breaks(wrong, runs, self._access))

    def _table(self) -> NDArray[np.int32]:
        """Give the hypothesis's transitions, and a last row that is undefined."""
        table = np.full((self._size + 1, self._symbols), -1, dtype=np.int32)
        targets = self._targets[: self._size * self._symbols]
        table[:-1] = self._tree.states[targets].reshape(-1, self._symbols)
        return table

    def _classes(self, states: NDArray[np.int32]) -> Numbers:
        """Give the classes of states."""
        classes = self.observations.nodes.classes[self._access[states]]
        return np.where(states < 0, UNDEFINED, classes)

    def _split(self, given: Counterexamples, found: Breaks) -> None:
        """Split the leaf of every state that breaks come after, once each, and sift on."""
        wanted = len(np.unique(found.afters))
        granted = self.observations.meter.grant_states(self._size, wanted)
        splits = found.first_of_each_after(granted)
        first = self._add_states(granted)
        nodes = self.observations.nodes
        words = nodes.step(self._access[splits.befores], splits.symbols)
        self._access[first : self._size] = words
        nodes.kept[words] = True
        try:
            self._sift(_Front([], [], []), first_new=first, stop=first + granted)
        except BaseException:  # also where nothing may be asked any more, new states have leaves
            self._split_leaves(given, splits, first, may_ask=False)
            raise
        self._split_leaves(given, splits, first, may_ask=True)
        targets = self._targets[: (first + granted) * self._symbols]
        moved = (self._tree.suffixes[targets] != LEAF).nonzero()[0]
        states, symbols = np.divmod(moved, self._symbols)
        words = nodes.step(self._access[states], symbols)
        self._sift(_Front(moved, words, targets[moved]), first_new=first + granted)

    def _split_leaves(
        self, given: Counterexamples, splits: Breaks, first: int, *, may_ask: bool
    ) -> None:
        """Make old states' leaves inner nodes, each with a leaf for it and one for a new state.

        Labels by the suffixes are known; only where these are lengthened they have to be asked.
        """
        olds = splits.afters
        news = np.arange(first, first + len(olds))
        both = np.concatenate((olds, news))
        words, known = self._access[both], self._distinguishing(olds, news, given, splits)
        suffixes = self._lengthened(known) if may_ask else known
        try:
            labels = self._labels.after(words, np.tile(suffixes, 2))
        except BaseException:
            suffixes, labels = known, self._labels.after(words, np.tile(known, 2))
            raise
        finally:
            tree, leaves = self._tree, self._leaves[olds]
            tree.suffixes[leaves] = suffixes
            tree.states[leaves] = -1
            children = tree.children(np.tile(leaves, 2), labels)
            tree.states[children] = both
            self._leaves[both] = children

    def _distinguishing(
        self, olds: Numbers, news: Numbers, given: Counterexamples, splits: Breaks
    ) -> Numbers:
        """Give for each two states of one leaf a suffix that tells them apart."""
        every = np.arange(self._symbols)
        lefts, rights = (
            self._targets[states[:, None] * self._symbols + every] for states in (olds, news)
        )
        suffixes = parting_suffixes(self._tree, self.observations.suffixes, lefts, rights)
        for place in (suffixes == NONE).nonzero()[0].tolist():
            suffixes[place] = given.suffix(int(splits.words[place]), int(splits.places[place]))
        return suffixes

    def _lengthened(self, suffixes: Numbers) -> Numbers:
        """Lengthen short suffixes where that costs no words and may tell more states apart."""
        targets = self._targets[: self._size * self._symbols]
        budget = self.observations.meter.budget
        are_scarce = budget.max_symbols is not None or budget.max_word_length is not None
        if not self._labels.are_traces or are_scarce or (targets == UNDEFINED_LEAF).any():
            return suffixes
        table, classes = self.observations.suffixes, self.observations.answers.class_count
        return lengthened(table, suffixes, classes, self._symbols, self._random)

    def _sift(self, front: _Front, first_new: int, stop: int | None = None) -> None:
        """Sift a front of transitions, and those of all states from ``first_new`` on.

        With ``stop``, states from there on have to wait, also those that are discovered.
        """
        while len(front.places) or first_new < (self._size if stop is None else stop):
            known = self._size if stop is None else stop
            if not len(front.places):
                front, first_new = self._discovered(first_new, known), known
                continue
            is_small = len(front.places) + (known - first_new) * self._symbols < _FEW
            front = (self._with_few if is_small else self._with_many)(front, first_new, known)
            first_new = known
            try:
                front = (self._step_few if is_small else self._step_many)(front)
            except BaseException:
                self._targets[front.places] = front.at
                raise

    def _with_few(self, front: _Front, first_new: int, known: int) -> _Front:
        """Add the transitions of new states to a front, one by one."""
        places, words, at = (list(map(int, part)) for part in front)
        step = self.observations.nodes.step_one
        for place in range(first_new * self._symbols, known * self._symbols):
            state, symbol = divmod(place, self._symbols)
            places.append(place)
            words.append(step(self._access_of[state], symbol))
            at.append(ROOT)
        return _Front(places, words, at)

    def _step_few(self, front: _Front) -> _Front:
        """Take few words down the tree as far as answers are known, after asking for one each."""
        suffixes = [self._tree.suffix_of[node] for node in front.at]
        labels = self._labels.after_few(list(front.words), suffixes)
        on: tuple[list[int], list[int], list[int]] = [], [], []
        for place, word, node, label in zip(*front, labels, strict=True):
            node = self._sunk(word, node, label)
            if self._tree.suffix_of[node] == LEAF:
                self._target_of[place] = node
            else:
                for part, value in zip(on, (place, word, node), strict=True):
                    part.append(value)
        return _Front(*on)

    def _sunk(self, word: int, node: int, label: int | None) -> int:
        """Follow a word down as long as its labels are known; it may become a state."""
        tree, known_label = self._tree, self._labels.known
        while label is not None:
            known = tree.size
            node = tree.child(node, label)
            if node == known and self.observations.meter.grant_states(self._size, 1):
                self._new_state(word, node)
            suffix = tree.suffix_of[node]
            if suffix == LEAF:
                return node
            label = known_label(word, suffix)
        return node

    def _discovered(self, first_new: int, known: int) -> _Front:
        """Take the transitions of new states one arc down; give those that are not at a leaf."""
        new, words, classes = self.observations.asked_successors(self._access[first_new:known])
        places = self._placed(new, first_new, known)
        return self._landed(places, words, self._tree.size, self._tree.children_of_root(classes))

    def _placed(self, new: Numbers, first_new: int, known: int) -> Numbers:
        """Give the places of transitions of new states; those left out are undefined."""
        first, count = first_new * self._symbols, (known - first_new) * self._symbols
        if len(new) < count:
            left_out = np.ones(count, dtype=bool)
            left_out[new] = False
            self._targets[first + left_out.nonzero()[0]] = UNDEFINED_LEAF
        return new + first

    def _with_many(self, front: _Front, first_new: int, known: int) -> _Front:
        """Add the transitions of new states to a front, all at once."""
        places, words, at = (np.asarray(part, dtype=np.int64) for part in front)
        if first_new == known:
            return _Front(places, words, at)
        new, successors = self.observations.successors(self._access[first_new:known])
        return _Front(
            np.concatenate((places, self._placed(new, first_new, known))),
            np.concatenate((words, successors)),
            np.concatenate((at, np.full(len(new), ROOT))),
        )

    def _step_many(self, front: _Front) -> _Front:
        """Take many words one arc down the tree; give those that are not at a leaf yet."""
        tree = self._tree
        places, words, at = (np.asarray(part) for part in front)
        labels = self._labels.after(words, tree.suffixes[at])
        return self._landed(places, words, tree.size, tree.children(at, labels))

    def _landed(self, places: Numbers, words: Numbers, known: int, at: Numbers) -> _Front:
        """Make new leaves, those from a known size of the tree on, states; give who goes on."""
        tree = self._tree
        granted = self.observations.meter.grant_states(self._size, tree.size - known)
        if granted:
            first = self._add_states(granted)
            new = ((at >= known) & (at < known + granted)).nonzero()[0]
            new = new[::-1]  # of equal leaves the first word is written last
            self._access[first + at[new] - known] = words[new]
            self.observations.nodes.kept[self._access[first : self._size]] = True
            self._leaves[first : self._size] = np.arange(known, known + granted)
            tree.states[known : known + granted] = np.arange(first, self._size)
        inner = tree.suffixes[at] != LEAF
        landed = ~inner
        self._targets[places[landed]] = at[landed]
        return _Front(places[inner], words[inner], at[inner])

    def _new_state(self, word: int, leaf: int) -> None:
        state = self._add_states(1)
        self._access_of[state] = word
        self.observations.nodes.kept[word] = True
        self._leaf_of[state] = leaf
        self._tree.state_of[leaf] = state

    def _add_states(self, more: int) -> int:
        """Make room for more states; give the first of them."""
        first = self._size
        self._size += more
        if self._size > len(self._access):
            capacity = max(512, 2 * self._size)
            self._access = _larger(self._access, capacity)
            self._leaves = _larger(self._leaves, capacity)
            self._targets = _larger(self._targets, capacity * self._symbols)
            self._access_of, self._leaf_of = self._access.data, self._leaves.data
            self._target_of = self._targets.data
        return first


def _larger(old: Numbers, capacity: int) -> Numbers:
    """Copy an array into a larger one; transitions not sifted yet are at the root."""
    new = np.full(capacity, ROOT, dtype=np.int64)
    new[: len(old)] = old
    return new
