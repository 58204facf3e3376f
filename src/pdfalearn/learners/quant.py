"""QuaNT, built for speed (§3 of the paper, with many words sifted at once)."""

from __future__ import annotations

from itertools import islice, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pdfalearn._runs import visited_states
from pdfalearn.errors import OracleError
from pdfalearn.learners._counterexamples import Break, breaks_of, counterexamples_of
from pdfalearn.learners._nearest import nearest
from pdfalearn.learners.classification_tree import (
    LEAF,
    ROOT,
    UNDEFINED_LEAF,
    ClassificationTree,
)
from pdfalearn.learners.protocol import TreeNode, Word
from pdfalearn.observations.suffixes import EMPTY
from pdfalearn.observations.tree import UNDEFINED, ObservationTree
from pdfalearn.pdfa import PDFA
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
    symbol and the suffix of a least common ancestor: that of successors of the two states, which
    costs no question. Only where all their successors agree it is the rest of the counterexample.

    Parameters
    ----------
    observations : ObservationTree
        Whom to ask.
    """

    def __init__(self, observations: ObservationTree) -> None:
        self.observations = observations
        self._symbols = len(observations.model.alphabet)
        self._tree = ClassificationTree()
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

    def access_words(self) -> list[Word]:
        """Give the access word of every state."""
        return [self.observations.word(node) for node in self._access[: self._size].tolist()]

    def tree(self) -> TreeNode:
        """Give the classification tree."""
        tree, decode = self._tree, self.observations.model.alphabet.decode
        rows = self.observations.rows(self._access[: self._size]).tolist()
        words = self.access_words()
        shown: list[TreeNode] = []
        for node in range(tree.size):
            state = tree.state_of[node]
            if tree.suffix_of[node] != LEAF:
                suffix = self.observations.suffixes.word(tree.suffix_of[node])
                shown.append(TreeNode(suffix=decode(suffix)))
            elif state >= 0:
                shown.append(TreeNode(access_word=words[state], distribution=tuple(rows[state])))
            else:
                shown.append(TreeNode())
            if node not in (ROOT, UNDEFINED_LEAF):
                label = self.observations.arc_label(tree.class_of[node])
                shown[tree.parent_of[node]].children[label] = shown[node]
        return shown[ROOT]

    @property
    def structure_size(self) -> int:
        """The number of inner nodes and states of the classification tree."""
        return self.tree_shape()[1] + self.size

    def tree_shape(self) -> tuple[int, int]:
        """Give the depth of the classification tree and the number of its inner nodes."""
        depth = int(self._tree.depths[self._leaves[: self._size]].max())
        return depth, int((self._tree.suffixes[: self._tree.size] != LEAF).sum())

    def refine(self, counterexamples: Words) -> None:
        """Split leaves until the hypothesis agrees with every counterexample."""
        symbols, offsets = counterexamples.symbols.tolist(), counterexamples.offsets.tolist()
        codes = [symbols[begin:end] for begin, end in pairwise(offsets)]
        wrong = counterexamples_of(self.observations, codes)
        is_first = True
        while wrong:
            runs = self._runs([ce.codes for ce in wrong])
            said = [self._class_of(run[-1]) for run in runs]
            still = [i for i, ce in enumerate(wrong) if said[i] != ce.truth]
            if is_first and len(still) < len(wrong):
                right = next(ce for i, ce in enumerate(wrong) if said[i] == ce.truth)
                word = self.observations.model.alphabet.decode(right.codes)
                raise OracleError(f"the word {word} is no counterexample to the hypothesis")
            is_first = False
            wrong, runs = [wrong[i] for i in still], [runs[i] for i in still]
            said = [said[i] for i in still]
            if wrong:
                if self._size == self.observations.meter.budget.max_states:
                    self.observations.meter.grant_states(self._size, 1)
                    return
                self._split(breaks_of(self.observations, self._access_of, wrong, runs, said))

    def _runs(self, words: list[list[int]]) -> list[list[int]]:
        """Give the hypothesis's states along words; -1 from where it is undefined."""
        if len(words) < _FEW:
            return [self._run(codes) for codes in words]
        targets = self._targets[: self._size * self._symbols].reshape(-1, self._symbols)
        undefined = np.full((1, self._symbols), -1)
        table = np.concatenate((self._tree.states[targets], undefined)).astype(np.int32)
        batch = Words.of(words)
        visited = visited_states(table, 0, batch).tolist()
        ends = [0, *(batch.ends + 1).tolist()]
        return [visited[begin:end] for begin, end in pairwise(ends)]

    def _run(self, codes: list[int]) -> list[int]:
        """Give the hypothesis's states along one word."""
        target_of, state_of, symbols = self._target_of, self._tree.state_of, self._symbols
        state = 0
        run = [state]
        for symbol in codes:
            if state >= 0:
                state = state_of[target_of[state * symbols + symbol]]
            run.append(state)
        return run

    def _class_of(self, state: int) -> int:
        return UNDEFINED if state < 0 else self.observations.nodes.class_at[self._access_of[state]]

    def _split(self, breaks: list[Break]) -> None:
        """Split the leaf of every state that breaks come after, once each, and sift on."""
        chosen = {found.after: found for found in reversed(breaks)}
        granted = self.observations.meter.grant_states(self._size, len(chosen))
        chosen = dict(islice(chosen.items(), granted))
        first = self._add_states(granted)
        nodes = self.observations.nodes
        for new, found in enumerate(chosen.values(), first):
            word = nodes.step_one(self._access_of[found.before], found.symbol)
            self._access_of[new] = word
            nodes.kept[word] = True
        try:
            self._sift(_Front([], [], []), first_new=first)
        finally:  # also where nothing may be asked any more, the new states have leaves
            for new, (old, found) in enumerate(chosen.items(), first):
                self._split_leaf(old, new, found)
        targets = self._targets[: self._size * self._symbols]
        moved = (self._tree.suffixes[targets] != LEAF).nonzero()[0]
        states, symbols = np.divmod(moved, self._symbols)
        words = nodes.step(self._access[states], symbols)
        self._sift(_Front(moved, words, targets[moved]), first_new=self._size)

    def _split_leaf(self, old: int, new: int, found: Break) -> None:
        """Make the old state's leaf an inner node, with a leaf for it and one for the new state."""
        tree, leaf = self._tree, self._leaf_of[old]
        suffix, old_class, new_class = self._distinguishing(old, new, found)
        tree.suffix_of[leaf] = suffix
        tree.state_of[leaf] = -1
        for state, class_ in ((old, old_class), (new, new_class)):
            child = tree.child(leaf, class_)
            tree.state_of[child] = state
            self._leaf_of[state] = child

    def _distinguishing(self, old: int, new: int, found: Break) -> tuple[int, int, int]:
        """Give a suffix that tells two states of one leaf apart, and the classes after it."""
        tree, suffixes, symbols = self._tree, self.observations.suffixes, self._symbols
        shortest = None
        for symbol in range(symbols):
            left, right = (
                self._target_of[old * symbols + symbol],
                self._target_of[new * symbols + symbol],
            )
            if left != right:
                meeting = tree.meeting(left, right)
                if meeting.node in (left, right):  # one was not sifted as far as the other
                    continue
                rest = tree.suffix_of[meeting.node]
                if shortest is None or suffixes.lengths[rest] < suffixes.lengths[shortest[1]]:
                    shortest = symbol, rest, meeting
        if shortest is None:
            return found.suffix(suffixes), found.old_class, found.counterexample.truth
        symbol, rest, meeting = shortest
        return suffixes.add(symbol, rest), meeting.left_class, meeting.right_class

    def _sift(self, front: _Front, first_new: int) -> None:
        """Sift a front of transitions, and those of all states from ``first_new`` on."""
        while len(front.places) or first_new < self._size:
            known = self._size
            is_small = len(front.places) + (known - first_new) * self._symbols < _FEW
            front = (self._with_few if is_small else self._with_many)(front, first_new)
            first_new = known
            try:
                front = (self._step_few if is_small else self._step_many)(front)
            except BaseException:
                self._targets[front.places] = front.at
                raise

    def _with_few(self, front: _Front, first_new: int) -> _Front:
        """Add the transitions of new states to a front, one by one."""
        places, words, at = (list(map(int, part)) for part in front)
        step = self.observations.nodes.step_one
        for place in range(first_new * self._symbols, self._size * self._symbols):
            state, symbol = divmod(place, self._symbols)
            places.append(place)
            words.append(step(self._access_of[state], symbol))
            at.append(ROOT)
        return _Front(places, words, at)

    def _step_few(self, front: _Front) -> _Front:
        """Take few words down the tree as far as answers are known, after asking for one each."""
        suffixes = [self._tree.suffix_of[node] for node in front.at]
        classes = self.observations.classes_of_few(list(front.words), suffixes)
        on: tuple[list[int], list[int], list[int]] = [], [], []
        for place, word, node, class_ in zip(*front, classes, strict=True):
            node = self._sunk(word, node, class_)
            if self._tree.suffix_of[node] == LEAF:
                self._target_of[place] = node
            else:
                for part, value in zip(on, (place, word, node), strict=True):
                    part.append(value)
        return _Front(*on)

    def _sunk(self, word: int, node: int, class_: int | None) -> int:
        """Follow a word down as long as its classes are known; it may become a state."""
        tree, known_class = self._tree, self.observations.known_class
        while class_ is not None:
            known = tree.size
            node = tree.child(node, class_)
            if node == known and self.observations.meter.grant_states(self._size, 1):
                self._new_state(word, node)
            suffix = tree.suffix_of[node]
            if suffix == LEAF:
                return node
            class_ = known_class(word, suffix)
        return node

    def _with_many(self, front: _Front, first_new: int) -> _Front:
        """Add the transitions of new states to a front, all at once."""
        places, words, at = (np.asarray(part, dtype=np.int64) for part in front)
        if first_new == self._size:
            return _Front(places, words, at)
        new, successors = self.observations.successors(self._access[first_new : self._size])
        new = new + first_new * self._symbols
        if len(new) < (self._size - first_new) * self._symbols:
            left_out = np.ones(self._size * self._symbols, dtype=bool)
            left_out[: first_new * self._symbols] = left_out[new] = False
            self._targets[left_out.nonzero()[0]] = UNDEFINED_LEAF
        if not len(places):
            return _Front(new, successors, np.full(len(new), ROOT))
        return _Front(
            np.concatenate((places, new)),
            np.concatenate((words, successors)),
            np.concatenate((at, np.full(len(new), ROOT))),
        )

    def _step_many(self, front: _Front) -> _Front:
        """Take many words one arc down the tree; give those that are not at a leaf yet."""
        tree = self._tree
        places, words, at = (np.asarray(part) for part in front)
        classes = self.observations.classes(words, tree.suffixes[at])
        known = tree.size
        at = tree.children(at, classes)
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
