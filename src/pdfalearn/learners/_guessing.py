"""QuaNT with transitions that are guessed, as an automaton says which the model may be like."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pdfalearn.arrays import grown
from pdfalearn.learners._counterexamples import Breaks, Counterexamples
from pdfalearn.learners._reference import Reference
from pdfalearn.learners.classification_tree import ROOT, UNDEFINED_LEAF
from pdfalearn.learners.quant import QuaNT
from pdfalearn.observations import ObservationTree
from pdfalearn.pdfa import PDFA
from pdfalearn.typing import Flags, Integers
from pdfalearn.words import NO_WORDS

_NOT_SOUGHT = -2
_NOTHING = np.empty(0, dtype=np.int64)


class GuessingQuaNT(QuaNT):
    """QuaNT with transitions that are guessed; what it has walked along is filled in elsewhere."""

    _from_end = True

    def __init__(
        self, observations: ObservationTree, *, reference: PDFA, traces: bool | None = None
    ) -> None:
        super().__init__(observations, traces=traces)
        self._reference = Reference(reference, observations)
        self._is_dropped = False
        self._is_walking = False
        # Which transitions are guessed, and the states that walks have led to; -1 where unknown.
        self._guessed = np.zeros(0, dtype=bool)
        self._shown = np.zeros(0, dtype=np.int64)
        # The state of the reference that each state is taken for, and the other way round.
        self._twins = np.empty(0, dtype=np.int64)
        self._state_of = np.full(len(self._reference) + 1, -1)
        # All walks, the nodes of their prefixes, and the tree's nodes that these have reached.
        self._walks, self._path, self._at = NO_WORDS, _NOTHING, _NOTHING
        # Which of these nodes lack an answer, and the reference's states that they should lead to.
        self._is_stuck, self._aligned = np.zeros(0, dtype=bool), _NOTHING
        # Open transitions that a walk has been planned for, and states that walks were to find.
        self._tried = np.zeros(0, dtype=bool)
        self._sought = np.zeros(len(self._reference) + 1, dtype=np.int64)
        # How often walks have shown that the reference and its guesses are right, and wrong.
        self._hits = self._misses = 0

    def _find_twins(self) -> None:
        """Find for new states the states of the reference that they may be."""
        self._twins = grown(self._twins, self.size, _NOT_SOUGHT)
        new = (self._twins[: self.size] == _NOT_SOUGHT).nonzero()[0].tolist()
        if not new:
            return
        self._reference.refresh()
        nodes = self.observations.nodes
        aligned = dict(zip(self._path.tolist(), self._aligned.tolist(), strict=False))
        state_at = {node: state for state, node in enumerate(self._access[: self.size].tolist())}
        for state in new:
            node = self._access_of[state]
            above = state_at.get(nodes.parent[node])
            twin = aligned.get(nodes.parent[node], -1) if above is None else self._twins[above]
            expected = self._reference.table[max(twin, -1), nodes.last_symbol[node]]
            self._find_twin(state, int(expected) if node else 0)

    def _find_twin(self, state: int, expected: int) -> int:
        """Find the state of the reference that a state may be; return it."""
        if self._twins[state] == _NOT_SOUGHT:
            reference, suffixes = self._reference, self.observations.suffixes
            node = self._access_of[state]
            nodes = self.observations.nodes
            suffix = suffixes.add_word(reference.suffix_after(nodes.class_at[node]))
            known = nodes.known_classes(node, suffix, suffixes) if suffix else ()
            label = [nodes.class_at[node], *(known or ())]
            twin = reference.match(label, expected, self._state_of[:-1] < 0)
            self._twins[state] = twin
            if twin >= 0 and self._state_of[twin] < 0:
                self._state_of[twin] = state
        return int(self._twins[state])

    def _states_for(self, expected: NDArray[np.integer]) -> Integers:
        """Return the states that are taken for states of the reference, or for ones like these."""
        groups = self._reference.groups
        of_group = np.full(int(groups.max(initial=0)) + 1, -1)
        known = (self._state_of[:-1] >= 0).nonzero()[0][::-1]
        of_group[groups[known]] = self._state_of[known]
        of_group = np.append(of_group[groups], -1)
        found = self._state_of[expected]
        either: Integers = np.where(found >= 0, found, of_group[expected])
        return either

    def _sift(self, moved: Integers, first_new: int, stop: int | None = None) -> None:
        """Guess where transitions lead, and sift those that cannot be guessed."""
        if self._is_dropped:
            super()._sift(moved, first_new, stop)
            return
        self._release(moved[self._guessed[moved]] if len(moved) else moved)
        end = self.size if stop is None else stop
        while len(left := self._guess(end)) and not self._is_walking:
            self._ask_ahead(left)
            super()._sift(left, self.size, self.size)
            end = self.size if stop is None else stop

    def _ask_ahead(self, transitions: Integers) -> None:
        """Ask what will follow the words of transitions; their own answers come with that."""
        states, symbols = np.divmod(transitions, self._symbols)
        expected = self._reference.table[self._twins[states], symbols]
        if self.observations.query_cost.prefix == 0:
            words = self._words_at(transitions[expected >= 0]).tolist()
            suffixes = map(self._reference.suffix, expected[expected >= 0].tolist())
            ends = [
                self.observations.node(*pair[::-1]) for pair in zip(words, suffixes, strict=True)
            ]
            self.observations.ask(np.array(ends, dtype=np.int64))

    def _grow(self) -> None:
        """Make room for the guesses of all states."""
        self._guessed = grown(self._guessed, self.size * self._symbols, 0)
        self._tried = grown(self._tried, self.size * self._symbols, 0)
        self._shown = grown(self._shown, self.size * self._symbols)

    def _release(self, places: Integers) -> None:
        """Take guesses back."""
        self._guessed[places] = False
        self._targets[places] = ROOT

    def _guess(self, end: int) -> Integers:
        """Guess where open transitions of the first states lead; return those that stay open."""
        self._grow()
        if self._is_dropped:
            return _NOTHING
        self._find_twins()
        tree, reference = self._tree, self._reference
        left = self.unresolved()
        left = left[left < end * self._symbols]
        states, symbols = np.divmod(left, self._symbols)
        left = left[self._is_possible(states, symbols)]
        states, symbols = np.divmod(left, self._symbols)
        found = self._states_for(reference.table[self._twins[states], symbols])
        found = np.where(self._shown[left] >= 0, self._shown[left], found)
        # Where a word has been sifted down to an inner node, the guess has to be below it.
        at, leaves = self._targets[left].astype(np.int64), self._leaves[found]
        fits = (found >= 0) & (tree.states[leaves] == found)
        fits &= (at == ROOT) | (tree.parents[leaves] == at)
        self._targets[left[fits]], self._guessed[left[fits]] = leaves[fits], True
        still: Integers = left[~fits]
        return still

    def _is_possible(self, states: Integers, symbols: Integers) -> Flags:
        """Return which transitions are possible; note the others as undefined."""
        different = np.unique(states)
        places = self.observations.successor_logs(self._access[different])[0]
        befores, columns = np.divmod(places, self._symbols)
        possible = np.isin(
            states * self._symbols + symbols, different[befores] * self._symbols + columns
        )
        self._targets[(states * self._symbols + symbols)[~possible]] = UNDEFINED_LEAF
        return possible

    def _drop(self) -> None:
        """Drop the reference: from now on, every transition is sifted."""
        self._release(self._guessed.nonzero()[0])
        self._is_dropped, self._is_walking = True, False
        super()._sift(self.unresolved(), self.size)

    def _split(self, given: Counterexamples, found: Breaks) -> None:
        """Sift the transitions at breaks that are guessed; if there are none, split leaves."""
        self._grow()
        places = found.befores * self._symbols + found.symbols
        is_loose = self._guessed[places] | (found.afters < 0)
        if not is_loose.any():
            super()._split(given, found)
            return
        loose = np.unique(places[is_loose])
        self._release(loose)
        self._ask_ahead(loose)
        QuaNT._sift(self, loose, self.size, self.size)
        self._sift(_NOTHING, self.size)

    def _distinguishing(self, pairs: Integers, given: Counterexamples, splits: Breaks) -> Integers:
        """Return for each two states of a leaf a suffix that tells them apart, without guesses."""
        targets = self._targets
        self._grow()
        places = np.arange(self.size * self._symbols).reshape(self.size, -1)
        lefts, rights = pairs
        either = self._guessed[places[lefts]] | self._guessed[places[rights]]
        self._targets = targets.copy()
        try:
            for states in pairs:
                self._targets[places[states][either]] = ROOT
            return super()._distinguishing(pairs, given, splits)
        finally:
            self._targets = targets
