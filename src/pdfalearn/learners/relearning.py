"""QuaNT that begins with an automaton which the model may be like, and trusts none of it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pdfalearn.arrays import grown
from pdfalearn.learners._guessing import GuessingQuaNT
from pdfalearn.learners._reference import Walks
from pdfalearn.learners.classification_tree import LEAF, ROOT
from pdfalearn.learners.protocol import Findings
from pdfalearn.observations import UNDEFINED, UNKNOWN
from pdfalearn.reachability import reachable_in
from pdfalearn.typing import Codes, Flags, Integers
from pdfalearn.words import Words, offsets_of, prefixes_of, visited_states

# Walks have this many symbols, or this many times the depth of the reference if that is more.
_SYMBOLS, _TIMES = 64, 4
# Tables of more transitions than this are not walked through.
_MOST_CELLS = 2**20
# A reference is dropped after more misses than this, if there are fewer hits than this times them.
_MISSES, _HITS = 3, 2
# Walks try to find a state of the reference at most this many times.
_SOUGHT = 2
_NOT_SOUGHT = -2
_NOTHING = np.empty(0, dtype=np.int64)


class RelearningQuaNT(GuessingQuaNT):
    """QuaNT that begins with an automaton which the model may be like, and trusts none of it.

    A few long words walk through the reference. Where the classes along them have not been seen
    together before, there is a new state. A transition is guessed: it leads where a walk shows that
    it leads, or else where the reference says. Only a transition that cannot be guessed is sifted.
    Where a counterexample breaks at a guess, this transition is sifted before any leaf is split.
    Where walks contradict the reference too often, it is dropped: what was asked still counts.

    Parameters
    ----------
    observations : ObservationTree
        The observation tree to ask.
    reference : PDFA
        The automaton. Its symbols are those of the same name.
    traces : bool, optional
        As for `QuaNT`.

    Notes
    -----
    Where distributions on the way to a word cost something, nothing is walked: then every state is
    found by a word of its own, and the guesses are those of the reference.

    Examples
    --------
    >>> from functools import partial
    >>> from pdfalearn import learn
    >>> from pdfalearn.datasets import random_pdfa
    >>> old = random_pdfa(200, seed=1)
    >>> learn(old).statistics.words, learn(old, reference=old).statistics.words
    (403, 15)
    """

    def start(self) -> None:
        """Walk through the reference, then sift what cannot be guessed."""
        cells = self._symbols * (len(self._reference) + 1)
        is_free = self.observations.query_cost.prefix == 0 and self._are_traces
        self._is_walking = not self.size and is_free and cells <= _MOST_CELLS
        super().start()
        if self._is_walking:
            self._walk()
            self._is_walking = False
            self._sift(_NOTHING, self.size)
            self._walk()

    def findings(self, states: int = 0) -> Findings:
        """Return what `QuaNT` does, and how much rests on guesses."""
        self._grow()
        guessed = self._guessed[: self.size * self._symbols]
        report: dict[str, object] = {
            "states": len(self._reference),
            "dropped": self._is_dropped,
            "walks": len(self._walks),
            "not_sifted": int(guessed.sum()),
            "not_tested": int((guessed & ~self._find_tested()).sum()),
        }
        return super().findings(states)._replace(reference=report)

    # Walks

    def _walk(self) -> None:
        """Walk until every transition of the hypothesis has been taken or sifted."""
        depth = reachable_in(self._reference.table[:-1], 0).depth
        length = max(_SYMBOLS, _TIMES * depth)
        while not self._is_dropped:
            plans, walks, size = self._plans(), list[list[int]](), self.size
            left, fresh = plans.left.copy(), plans.fresh.copy()
            while len(walks) <= len(self._walks) // 4 and (word := plans.plan(length)):
                walks.append(word)
            asked = self.observations.counts.words
            if not walks:
                return
            taken = left & ~plans.left
            self._tried[: size * self._symbols] |= taken[:size].reshape(-1)
            self._sought += (fresh & ~plans.fresh)[size:]
            self._take(Words.of(walks))
            while len(words := self._find_contradiction()):
                self.refine(words)
                self._update()
                self._sift(_NOTHING, self.size)
            if self.observations.counts.words == asked:
                return

    def _plans(self) -> Walks:
        """Plan through the hypothesis, and through the reference where no state is known yet."""
        reference, size, symbols = self._reference, self.size, self._symbols
        found = self._states_for(np.arange(len(reference) + 1))
        numbers = np.where(self._state_of < 0, size + np.arange(len(found)), self._state_of)
        numbers[-1] = -1
        is_new = (found < 0) & (self._sought < _SOUGHT)
        is_new[-1] = False
        known, ways = self._table()[:-1], numbers[reference.table[self._twins[:size]]]
        is_open = np.zeros((size, symbols), dtype=bool)
        is_open.reshape(-1)[self.unresolved()] = True
        guessed = self._guessed[: size * symbols].reshape(size, symbols)
        shown = self._shown[: size * symbols].reshape(size, symbols) >= 0
        told = (is_open | (guessed & ~shown)) & (ways >= 0)
        known[told] = ways[told]
        table = np.vstack((known, numbers[reference.table]))
        left = table >= 0
        untested = guessed & ~self._find_tested().reshape(size, symbols)
        tried = self._tried[: size * symbols].reshape(size, symbols)
        left[:size] &= (is_open & ~tried) | untested
        left[size:] &= is_new[:, None]
        fresh = np.append(np.zeros(size, dtype=bool), is_new)
        fresh[0] = not len(self._walks)
        states = np.append(self._twins[:size], np.arange(len(reference) + 1))
        return Walks(
            table,
            left,
            fresh,
            lambda at: reference.suffix(states[at]) if states[at] >= 0 else [],
        )

    def _take(self, words: Words) -> None:
        """Ask for walks, and learn from them."""
        path = self.observations.ask_path(words)
        self._walks = Words(
            np.concatenate((self._walks.symbols, words.symbols)),
            offsets_of(np.concatenate((self._walks.lengths, words.lengths))),
        )
        self._path = np.concatenate((self._path, path))
        self._at = np.concatenate((self._at, np.full(len(path), ROOT)))
        self._is_stuck = np.concatenate((self._is_stuck, np.zeros(len(path), dtype=bool)))
        self._update()
        few_twins = 2 * (self._twins[: self.size] >= 0).sum() < self.size > 2 * _MISSES
        if few_twins or (self._misses > _MISSES and self._hits < _HITS * self._misses):
            self._drop()
        self._sift(_NOTHING, self.size)

    def _runs(self, words: Words, path: Integers) -> tuple[Codes, Integers]:
        """Return the runs of words, and the places of classes that are not as they say.

        A state behind the last one stands for all that is not known.
        """
        size = self.size
        table = np.full((size + 2, self._symbols), -1, dtype=np.int32)
        table[:size] = self._table()[:-1]
        table[:size].reshape(-1)[self.unresolved()] = table[size] = size
        runs = visited_states(table, 0, words)
        classes = self.observations.nodes.classes
        expected = np.append(classes[self._access[:size]], (UNKNOWN, UNDEFINED))[runs]
        return runs, ((runs != size) & (expected != classes[path])).nonzero()[0]

    def _transitions(self, words: Words, runs: NDArray[np.integer]) -> Integers:
        """Return the transition taken after each prefix of words; -1 where there is none."""
        places = np.full(len(runs), -1)
        is_inside = np.ones(len(runs), dtype=bool)
        is_inside[words.ends] = False
        states = runs[is_inside].astype(np.int64)
        is_known = (states >= 0) & (states < self.size)
        places[is_inside] = np.where(is_known, states * self._symbols + words.symbols, -1)
        return places

    def _find_tested(self) -> Flags:
        """Return which transitions walks have taken."""
        tested = np.zeros(self.size * self._symbols + 1, dtype=bool)
        tested[self._transitions(self._walks, self._runs(self._walks, self._path)[0])] = True
        return tested[:-1]

    def _find_contradiction(self) -> Words:
        """Return the shortest prefix of a walk that the hypothesis contradicts, or no words.

        Others often have the same cause, and to find that costs words.
        """
        wrong = self._runs(self._walks, self._path)[1]
        begins = self._walks.offsets[:-1] + np.arange(len(self._walks))
        owners = np.searchsorted(begins, wrong, side="right") - 1
        lengths = wrong - begins[owners]
        shortest = lengths.argsort(kind="stable")[:1]
        return prefixes_of(self._walks, owners[shortest], lengths[shortest])

    # States

    def _update(self) -> None:
        """Sift on what is known now, find out which states these are, and what walks show."""
        tree = self._tree
        while True:
            # What an answer is missing for is not looked at again; a split may move all others.
            moved = (~self._is_stuck & (tree.suffixes[self._at] != LEAF)).nonzero()[0]
            if len(moved):
                self._place(moved)
            elif not self._deepen():
                break
        self._align()
        self._release(self._guessed.nonzero()[0])
        self._sink_answered()
        self._find_twins()
        ends = tree.states[self._at]
        begins = np.where(ends >= 0, ends, self._states_for(self._aligned))
        places = self._transitions(self._walks, begins)
        inner = ((places[:-1] >= 0) & (ends[1:] >= 0)).nonzero()[0]
        self._grow()
        self._shown[:] = -1
        self._shown[places[inner]] = ends[inner + 1]

    def _align(self) -> None:
        """Follow the reference along new walks, from each state that is known on anew."""
        reference, tree, classes = self._reference, self._tree, self.observations.nodes.classes
        reference.refresh()
        self._twins = grown(self._twins, self.size, _NOT_SOUGHT)
        columns, begin = self._walks.next_columns().tolist(), len(self._aligned)
        labels, groups, here, aligned = reference.labels[:, 0], reference.groups, -1, []
        for place in range(begin, len(self._path)):
            is_first = place == 0 or not columns[place - 1]
            here = 0 if is_first else int(reference.table[here, columns[place - 1] - 1])
            state, class_ = int(tree.states[self._at[place]]), classes[self._path[place]]
            is_wrong = False
            if here >= 0:
                told = int(labels[here])
                if told < UNKNOWN:
                    told = reference.class_instead(here, int(class_))
                is_wrong = told not in (class_, UNKNOWN)
                self._hits += told == class_
                self._misses += is_wrong
            if state >= 0:
                twin = self._find_twin(state, here)
                if here < 0 or twin < 0 or groups[here] != groups[twin]:
                    here = twin
            elif is_wrong:
                here = -1
            aligned.append(here)
        self._aligned = np.append(self._aligned, np.array(aligned, dtype=np.int64))

    def _place(self, places: Integers) -> None:
        """Sift prefixes of walks as far as their answers go."""
        tree, observations = self._tree, self.observations
        for place in places.tolist():
            here, node = int(self._at[place]), int(self._path[place])
            while (suffix := tree.suffix_of[here]) != LEAF:
                label = self._known_label(node, suffix)
                if label is None:
                    break
                size_before, is_top = tree.size, here == ROOT
                here = tree.child(here, label)
                if here < size_before:
                    continue
                if is_top and (word := self._reference.suffix_after(label)):
                    tree.suffix_of[here] = observations.suffixes.add_word(word)
                elif observations.meter.grant_states(self.size, 1):
                    before = tree.state_of[int(self._at[place - 1])] if place else -1
                    symbol = observations.nodes.last_symbol[node]
                    self._new_state(node, here, max(before, 0) * self._symbols + symbol)
            self._at[place], self._is_stuck[place] = here, tree.suffix_of[here] != LEAF

    def _deepen(self) -> bool:
        """Let suffixes tell states of a class apart where the reference has several of it."""
        tree, suffixes, found = self._tree, self.observations.suffixes, False
        for state in (tree.depths[self._leaves[: self.size]] == 1).nonzero()[0].tolist():
            leaf, access = self._leaf_of[state], self._access[state : state + 1]
            if leaf and (word := self._reference.suffix_after(tree.label_of[leaf])):
                suffix, found = suffixes.add_word(word), True
                label = int(self._labels(access, np.array([suffix]))[0])
                tree.suffix_of[leaf], tree.state_of[leaf] = suffix, -1
                child = tree.child(leaf, label)
                self._leaf_of[state], tree.state_of[child] = child, state
        return found
