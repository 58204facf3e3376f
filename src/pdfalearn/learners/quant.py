"""QuaNT, built for speed (§3 of the paper, with many words sifted at once)."""

from __future__ import annotations

import numpy as np

from pdfalearn.errors import InputError, OracleError
from pdfalearn.learners._counterexamples import Breaks, Counterexamples
from pdfalearn.learners._likely import LikelyFirst
from pdfalearn.learners._unresolved import Unresolved, find_answered_transitions
from pdfalearn.learners.classification_tree import (
    EMPTY_FRONT,
    LEAF,
    NONE,
    ROOT,
    UNDEFINED_LEAF,
    ClassificationTree,
    Front,
    choose_bits,
    keep_tree,
    lengthen_suffixes,
    parting_suffixes,
)
from pdfalearn.learners.protocol import Findings
from pdfalearn.models import FEW
from pdfalearn.observations import UNDEFINED, ObservationTree
from pdfalearn.pdfa import PDFA, pdfa_of_arrays
from pdfalearn.typing import Codes, Integers
from pdfalearn.words import Words, visited_states

# New states wait where their transitions would make the front larger than this.
_LARGEST_FRONT = 2**18
# At most this many transitions are looked up at once.
_AT_ONCE = 2**20
# Where likely words come first, at least and at most this many are sifted at once; more where
# asking is free.
_FEWEST, _MOST, _MOST_FREE = 32, 2**10, 2**16
# From more symbols than this on, memory counts for more than time.
_WIDE = 4096
_NOTHING = np.empty(0, dtype=np.int64)


class QuaNT:
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
        The observation tree to ask.
    traces : bool, optional
        Whether arcs are labelled with traces, for fewer words and more symbols, or with classes. If
        not given, the model's cost decides.

    Examples
    --------
    >>> from functools import partial
    >>> from pdfalearn import learn
    >>> from pdfalearn.datasets import figure_3
    >>> len(learn(figure_3(), learner=partial(QuaNT, traces=False)).pdfa)
    4
    """

    def __init__(self, observations: ObservationTree, *, traces: bool | None = None) -> None:
        self.observations = observations
        self._symbols = len(observations.alphabet)
        self._tree = ClassificationTree()
        cost, budget = observations.query_cost, observations.budget
        bits = choose_bits(cost)
        # Whether arcs are labelled with traces, or with classes.
        self._are_traces = bits > 0 or cost.prefix == 0 if traces is None else traces
        self._labels, self._known_label = observations.classes, observations.known_class
        if self._are_traces:
            self._labels, self._known_label = observations.traces, observations.known_trace
        are_scarce = budget.max_symbols is not None or budget.max_word_length is not None
        # If suffixes are lengthened, they could tell 2 to this many states apart.
        self._told_bits = bits if self._are_traces and not are_scarce else 0
        self._random = np.random.default_rng(0) if self._told_bits else None
        self._at_once = max(1, _LARGEST_FRONT // self._symbols)
        self._likely = LikelyFirst(observations) if budget.bounds_questions else None
        self.size = 0
        """How many states there are."""
        self._complete = 0  # how many the last complete hypothesis had
        self._access = self._leaves = np.empty(0, dtype=np.int64)
        # The leaf that each transition leads to, at state * symbols + symbol; an inner node as long
        # as its word has not been sifted further.
        self._targets = np.empty(0, dtype=np.int32 if self._symbols > _WIDE else np.int64)
        # The same arrays as views that plain Python reads one by one; renewed as states are added.
        self._access_of, self._leaf_of = self._access.data, self._leaves.data
        self._target_of = self._targets.data

    def start(self) -> None:
        """Sift the empty word, then the successors of every new state."""
        if not self.size:
            class_ = self.observations.asked_classes(np.zeros(1, dtype=np.int64))
            leaf = self._tree.children_of_root(class_)
            self._add_states(1)  # its access word is node 0
            self._leaves[:1], self._tree.states[leaf] = leaf, 0
        self._sift(_NOTHING, first_new=0)

    def hypothesis(self) -> PDFA:
        """Return the current hypothesis; its states are numbered as they were discovered."""
        if not self.size:
            raise InputError("QuaNT has no hypothesis yet; call start, then hypothesis")
        table, unresolved = self._table(), self.unresolved()
        access, observations = self._access[: self.size], self.observations
        if len(unresolved):
            at, leaves = self._targets[unresolved], self._leaves[: self.size]
            known = (self._tree, leaves, access, observations, self._complete)
            Unresolved(unresolved, at, *known).resolve(table)
        else:
            self._complete = self.size
        return pdfa_of_arrays(observations.alphabet, table, observations.rows(access))

    def unresolved(self) -> Integers:
        """Return the transitions, as state * symbols + symbol, without a state of their own."""
        targets = self._targets[: self.size * self._symbols]
        is_open = (self._table()[:-1].reshape(-1) < 0) & (targets != UNDEFINED_LEAF)
        return np.flatnonzero(is_open)

    def findings(self, states: int = 0) -> Findings:
        """Return access words and the tree, without the distributions of its first states.

        Where arcs are labelled with traces, an inner node stands for several: one for each prefix
        of its suffix after which classes part.
        """
        tree, observations = self._tree, self.observations
        inner = int((tree.suffixes[: tree.size] != LEAF).sum())
        rows = observations.rows(self._access[states : self.size])
        return Findings(
            access_words=observations.word_tree(self._access[: self.size]),
            structure_size=inner + self.size,
            tree=keep_tree(tree, observations, rows, are_traces=self._are_traces),
            tree_depth=int(tree.depths[self._leaves[: self.size]].max()),
            inner_nodes=inner,
        )

    def refine(self, counterexamples: Words) -> None:
        """Split leaves until the hypothesis agrees with every counterexample."""
        given = Counterexamples(self.observations, counterexamples)
        wrong = np.arange(len(counterexamples))
        is_first = True
        while len(wrong):
            words = counterexamples.take(wrong)
            runs = visited_states(self._table(), 0, words)
            states = runs[words.ends]
            classes = self.observations.nodes.classes[self._access[states]]
            is_wrong = np.where(states < 0, UNDEFINED, classes) != given.truths[wrong]
            if not is_wrong.all():
                if is_first:
                    word = self.observations.alphabet.decode(words[int(np.argmin(is_wrong))])
                    raise OracleError(f"the word {word} is not a counterexample to the hypothesis")
                wrong = wrong[is_wrong]
                continue
            is_first = False
            if self.size == self.observations.budget.max_states:
                self.observations.meter.grant_states(self.size, 1)
                return
            self._split(given, given.breaks(wrong, runs, self._access))

    def _table(self) -> Codes:
        """Return the hypothesis's transitions, and a last row that is undefined."""
        table = np.full((self.size + 1, self._symbols), -1, dtype=np.int32)
        states, flat = self._tree.states[: self._tree.size].astype(np.int32), table.reshape(-1)
        for begin in range(0, self.size * self._symbols, _AT_ONCE):
            end = min(begin + _AT_ONCE, self.size * self._symbols)
            flat[begin:end] = states[self._targets[begin:end]]
        return table

    def _split(self, given: Counterexamples, found: Breaks) -> None:
        """Split the leaf of every state that breaks come after, once each, and sift on."""
        firsts = np.unique(found.afters, return_index=True)[1]
        granted = self.observations.meter.grant_states(self.size, len(firsts))
        chosen = np.sort(firsts)[:granted]
        splits = Breaks(*(part[chosen] for part in found))
        first = self._add_states(granted)
        places = splits.befores * self._symbols + splits.symbols
        self._access[first : self.size] = self._words_at(places)
        if self._likely is not None:
            self._likely.note_states(first, places, self._access)
        try:
            self._sift(_NOTHING, first_new=first, stop=first + granted)
        except BaseException:  # also where nothing may be asked any more, new states have leaves
            self._split_leaves(given, splits, first, may_ask=False)
            raise
        self._split_leaves(given, splits, first, may_ask=True)
        targets = self._targets[: (first + granted) * self._symbols]
        moved = (self._tree.suffixes[targets] != LEAF).nonzero()[0]
        self._sift(moved, first_new=first + granted)

    def _split_leaves(
        self, given: Counterexamples, splits: Breaks, first: int, *, may_ask: bool
    ) -> None:
        """Make old states' leaves inner nodes, each with a leaf for it and one for a new state."""
        olds = splits.afters
        both = np.concatenate((olds, np.arange(first, first + len(olds))))
        words, suffixes = (
            self._access[both],
            self._distinguishing(both.reshape(2, -1), given, splits),
        )
        labels = None
        try:
            if may_ask:
                longer = self._lengthen(suffixes)
                labels = self._labels(words, np.tile(longer, 2))
                suffixes = longer
        finally:
            if labels is None:
                labels = self.observations.known_labels(words, suffixes, traces=self._are_traces)
            self._leaves[both] = self._tree.split(self._leaves[olds], suffixes, labels, both)

    def _distinguishing(self, pairs: Integers, given: Counterexamples, splits: Breaks) -> Integers:
        """Return for each two states of one leaf a suffix that tells them apart."""
        every = np.arange(self._symbols)
        lefts, rights = self._targets[pairs[:, :, None] * self._symbols + every]
        suffixes = parting_suffixes(self._tree, self.observations.suffixes, lefts, rights)
        for place in (suffixes == NONE).nonzero()[0].tolist():
            suffixes[place] = given.suffix(
                int(splits.examples[place]), int(splits.positions[place])
            )
        return suffixes

    def _lengthen(self, suffixes: Integers) -> Integers:
        """Lengthen short suffixes where that costs no words and may tell more states apart."""
        targets, random = self._targets[: self.size * self._symbols], self._random
        if random is None or (targets == UNDEFINED_LEAF).any():
            return suffixes
        return lengthen_suffixes(suffixes, self._told_bits, self.observations, random)

    def _sift(self, moved: Integers, first_new: int, stop: int | None = None) -> None:
        """Sift transitions on from where they are, and those of all states from ``first_new`` on.

        With ``stop``, states from there on have to wait, also those that are discovered.
        """
        front = EMPTY_FRONT
        if self._likely is not None:
            self._likely.add_transitions(moved, self._access)
        elif len(moved):
            front = self._front_at(moved)
        try:
            while True:
                states_end = self.size if stop is None else stop
                front, first_new = self._with_waiting(front, first_new, states_end)
                if not len(front.transitions) and first_new == states_end:
                    return
                front = self._step(front)
        except BaseException:
            # Every word stays where answers have brought it, for the hypothesis of a stopped run.
            self._sink(front)
            if self._likely is not None:
                self._sink_answered()
            raise

    def _sink_answered(self) -> None:
        """Sift all words down as far as their answers go, those of new states too."""
        size = 0
        while size < self.size:
            size = self.size
            access = self._access[: self.size]
            transitions, words = find_answered_transitions(self.observations, access)
            at = self._targets[transitions].astype(np.int64)
            is_open = (self._tree.states[at] < 0) & (at != UNDEFINED_LEAF)
            self._sink(Front(transitions[is_open], words[is_open], at[is_open]))

    def _words_at(self, transitions: Integers) -> Integers:
        """Return the words of transitions: the access word of the state before, and the symbol."""
        states, symbols = np.divmod(transitions, self._symbols)
        return self.observations.nodes.step(self._access[states], symbols)

    def _front_at(self, transitions: Integers) -> Front:
        """Return a front of transitions, each at the node that it has reached."""
        at = self._targets[transitions].astype(np.int64)
        return Front(transitions, self._words_at(transitions), at)

    def _with_waiting(self, front: Front, first_new: int, states_end: int) -> tuple[Front, int]:
        """Add transitions that wait to a front; return also the first state left to wait."""
        likely = self._likely
        if likely is not None:
            likely.add_states(first_new, states_end)
            most = _MOST_FREE if self.observations.query_cost.is_free else _MOST
            most = min(max(_FEWEST, self.size // 4), most)
            taken = likely.take(most - len(front.transitions), self._access, self._targets)
            return front.join(self._front_at(taken)), states_end
        until = min(states_end, first_new + self._at_once)
        if first_new == until:
            return front, until
        new, successors = self.observations.successors(self._access[first_new:until])
        first, count = first_new * self._symbols, (until - first_new) * self._symbols
        if len(new) < count:  # the other successors are undefined
            left_out = np.ones(count, dtype=bool)
            left_out[new] = False
            self._targets[first + left_out.nonzero()[0]] = UNDEFINED_LEAF
        return front.join(Front(new + first, successors, np.full(len(new), ROOT))), until

    def _step(self, front: Front) -> Front:
        """Take words one arc down the tree; return those that are not at a leaf yet."""
        tree, (transitions, words, at) = self._tree, front
        size_before = tree.size
        if not at.any():
            children = tree.children_of_root(self.observations.asked_classes(words))
            return self._land(transitions, words, size_before, children)
        labels = self._labels(words, tree.suffixes[at])
        on = self._land(transitions, words, size_before, tree.children(at, labels))
        # Labelled with classes, a chain of 300 states takes 4 times as long without this loop.
        return self._sink(on) if len(on.transitions) < FEW else on

    def _sink(self, front: Front) -> Front:
        """Follow words down as long as their labels are known; return those not at a leaf."""
        tree, known_label = self._tree, self._known_label
        on = []
        for transition, word, at in zip(*(part.tolist() for part in front), strict=True):
            while (suffix := tree.suffix_of[at]) != LEAF:
                label = known_label(word, suffix)
                if label is None:
                    on.append((transition, word, at))
                    break
                size_before = tree.size
                at = tree.child(at, label)
                if at == size_before and self.observations.meter.grant_states(self.size, 1):
                    self._new_state(word, at, transition)
            self._target_of[transition] = at
        return Front(*np.array(on, dtype=np.int64).T) if on else EMPTY_FRONT

    def _land(
        self, transitions: Integers, words: Integers, size_before: int, at: Integers
    ) -> Front:
        """Make states of the leaves that are new in the tree; return the next front."""
        tree = self._tree
        granted = self.observations.meter.grant_states(self.size, tree.size - size_before)
        if granted:
            first = self._add_states(granted)
            new = ((at >= size_before) & (at < size_before + granted)).nonzero()[0]
            new = new[::-1]  # of equal leaves the first word is written last
            self._access[first + at[new] - size_before] = words[new]
            if self._likely is not None:
                found = np.empty(granted, dtype=np.int64)
                found[at[new] - size_before] = transitions[new]
                self._likely.note_states(first, found, self._access)
            leaves = slice(size_before, size_before + granted)
            self._leaves[first : self.size] = np.arange(leaves.start, leaves.stop)
            tree.states[leaves] = np.arange(first, self.size)
        inner = tree.suffixes[at] != LEAF
        if not inner.any():
            self._targets[transitions] = at
            return EMPTY_FRONT
        landed = ~inner
        self._targets[transitions[landed]] = at[landed]
        return Front(transitions[inner], words[inner], at[inner])

    def _new_state(self, word: int, leaf: int, transition: int) -> None:
        """Make a word's leaf a state, which was found by a transition."""
        state = self._add_states(1)
        if self._likely is not None:
            self._likely.note_states(state, np.array([transition]), self._access)
        self._access_of[state] = word
        self._leaf_of[state] = leaf
        self._tree.state_of[leaf] = state

    def _add_states(self, more: int) -> int:
        """Make room for more states; return the number of the first."""
        first = self.size
        self.size += more
        if self.size > len(self._access):
            is_wide = self._symbols > _WIDE
            capacity = self.size + self.size // 4 if is_wide else max(512, 2 * self.size)
            states = np.zeros((2, capacity), dtype=np.int64)
            states[:, :first] = self._access[:first], self._leaves[:first]
            self._access, self._leaves = states
            targets = np.zeros(capacity * self._symbols, dtype=self._targets.dtype)  # at the root
            targets[: len(self._targets)] = self._targets
            self._targets = targets
            self._access_of, self._leaf_of = self._access.data, self._leaves.data
            self._target_of = self._targets.data
        return first
