"""QuaNT that begins with an automaton which the model may be like, and trusts none of it."""

from __future__ import annotations

import numpy as np

from pdfalearn.arrays import grown
from pdfalearn.learners._counterexamples import Breaks, Counterexamples
from pdfalearn.learners._reference import Reference, Walks
from pdfalearn.learners.classification_tree import LEAF, ROOT, UNDEFINED_LEAF
from pdfalearn.learners.protocol import Findings
from pdfalearn.learners.quant import QuaNT
from pdfalearn.observations import UNDEFINED, UNKNOWN, ObservationTree
from pdfalearn.pdfa import PDFA
from pdfalearn.reachability import reachable_in
from pdfalearn.typing import Codes, Flags, Integers
from pdfalearn.words import NO_WORDS, Words, offsets_of, prefixes_of, visited_states

# Walks have this many symbols, or this many times the depth of the reference if that is more.
_SYMBOLS, _TIMES = 64, 4
# Tables of more transitions than this are not walked through.
_MOST_CELLS = 2**20
# A reference is dropped after more misses than this, if fewer than so many hits come with each.
_MISSES, _HITS = 3, 4
_NOTHING = np.empty(0, dtype=np.int64)


class RelearningQuaNT(QuaNT):
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
    (420, 12)
    """

    _from_end = True

    def __init__(
        self, observations: ObservationTree, *, reference: PDFA, traces: bool | None = None
    ) -> None:
        super().__init__(observations, traces=traces)
        self._reference = Reference(reference, observations)
        self._is_dropped = False
        self._is_walking = False
        self._suffix = observations.suffixes.add_word(self._reference.suffix)
        # Which transitions are guessed, and the states that walks have led to; -1 where unknown.
        self._guessed = np.zeros(0, dtype=bool)
        self._shown = np.zeros(0, dtype=np.int64)
        # The state of the reference that each state is taken for, and the other way round.
        self._twins: list[int] = []
        self._state_of = np.full(len(self._reference) + 1, -1)
        # All walks, the nodes of their prefixes, and the tree's nodes that these have reached.
        self._walks, self._path, self._at = NO_WORDS, _NOTHING, _NOTHING
        # How many transitions the reference has told rightly, and on how many walks wrongly.
        self._hits = self._misses = 0

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

    def findings(self, states: int = 0) -> Findings:
        """Return what `QuaNT` does, and how much rests on guesses."""
        guessed = self._guessed[: self.size * self._symbols]
        report = {
            "states": len(self._reference),
            "dropped": self._is_dropped,
            "walks": len(self._walks),
            "not_sifted": int(guessed.sum()),
            "not_tested": int((guessed & ~self._tested()).sum()),
        }
        return super().findings(states)._replace(reference=report)

    # Walks

    def _walk(self) -> None:
        """Walk until every transition of the hypothesis has been taken or sifted."""
        depth = reachable_in(self._reference.table[:-1], 0).depth
        length = max(_SYMBOLS, _TIMES * depth)
        while not self._is_dropped:
            plans, walks = self._plans(), []
            for _ in range(1 + len(self._walks) // 4):
                if not (word := plans.plan(length)):
                    break
                walks.append(word)
            if not walks:
                return
            self._take(Words.of(walks))
            while len(words := self._contradicted()):
                self.refine(words)
                self._update()
                self._sift(_NOTHING, self.size)

    def _plans(self) -> Walks:
        """Plan through the hypothesis, and through the reference where no state is known yet."""
        reference, size, symbols = self._reference, self.size, self._symbols
        numbers = np.append(np.where(self._state_of[:-1] >= 0, self._state_of[:-1], 0), -1)
        is_new = np.append(self._state_of[:-1] < 0, False)
        numbers[is_new] = size + is_new.nonzero()[0]
        known, ways = self._table()[:-1], numbers[reference.table[self._twins]]
        is_open = np.zeros(size * symbols, dtype=bool)
        is_open[self.unresolved()] = True
        is_open = is_open.reshape(size, symbols)
        known[is_open] = ways[is_open]
        table = np.vstack((known, numbers[reference.table]))
        left = table >= 0
        untested = (self._guessed[: size * symbols] & ~self._tested()).reshape(size, symbols)
        left[:size] &= is_open | untested
        left[size:] &= is_new[:, None]
        fresh = np.append(np.zeros(size, dtype=bool), is_new)
        return Walks(table, left, fresh, reference.suffix)

    def _take(self, words: Words) -> None:
        """Ask for walks, and learn from them."""
        path = self.observations.ask_path(words)
        self._count_hits(words, path)
        self._walks = Words(
            np.concatenate((self._walks.symbols, words.symbols)),
            offsets_of(np.concatenate((self._walks.lengths, words.lengths))),
        )
        self._path = np.concatenate((self._path, path))
        self._update(self._place(np.full(len(path), ROOT)))
        few_twins = 2 * sum(twin >= 0 for twin in self._twins) < self.size > 2 * _MISSES
        if few_twins or (self._misses > _MISSES and self._hits < _HITS * self._misses):
            self._drop()
        self._sift(_NOTHING, self.size)

    def _count_hits(self, words: Words, path: Integers) -> None:
        """Count the guesses that walks take for the first time before they show a difference."""
        runs, wrong = self._runs(words, path)
        places = self._transitions(words, runs)
        firsts = np.full(len(words), len(runs))
        owners = np.repeat(np.arange(len(words)), words.lengths + 1)
        np.minimum.at(firsts, owners[wrong], wrong)
        is_new = np.append(self._guessed[: self.size * self._symbols] & ~self._tested(), False)
        self._hits += int((is_new[places] & (np.arange(len(runs)) < firsts[owners])).sum())
        self._misses += len(np.unique(owners[wrong]))

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

    def _transitions(self, words: Words, runs: Integers) -> Integers:
        """Return the transition taken after each prefix of words; -1 where there is none."""
        places = np.full(len(runs), -1)
        is_inside = np.ones(len(runs), dtype=bool)
        is_inside[words.ends] = False
        states = runs[is_inside].astype(np.int64)
        is_known = (states >= 0) & (states < self.size)
        places[is_inside] = np.where(is_known, states * self._symbols + words.symbols, -1)
        return places

    def _tested(self) -> Flags:
        """Return which transitions walks have taken."""
        tested = np.zeros(self.size * self._symbols + 1, dtype=bool)
        tested[self._transitions(self._walks, self._runs(self._walks, self._path)[0])] = True
        return tested[:-1]

    def _contradicted(self) -> Words:
        """Return of every walk that the hypothesis contradicts the shortest such prefix."""
        wrong = self._runs(self._walks, self._path)[1]
        begins = self._walks.offsets[:-1] + np.arange(len(self._walks))
        owners, firsts = np.unique(
            np.searchsorted(begins, wrong, side="right") - 1, return_index=True
        )
        return prefixes_of(self._walks, owners, wrong[firsts] - begins[owners])

    # States

    def _place(self, at: Integers) -> Integers:
        """Sift the last prefixes of walks as far as their answers go; return where they are."""
        tree, observations = self._tree, self.observations
        begin = len(self._path) - len(at)
        for place, node in enumerate(self._path[begin:].tolist()):
            here = int(at[place])
            while (suffix := tree.suffix_of[here]) != LEAF:
                label = self._known_label(node, suffix)
                if label is None:
                    break
                size_before = tree.size
                here = tree.child(here, label)
                if here == size_before and observations.meter.grant_states(self.size, 1):
                    before = tree.state_of[int(at[place - 1])] if place else -1
                    symbol = observations.nodes.last_symbol[node]
                    self._new_state(node, here, max(before, 0) * self._symbols + symbol)
            at[place] = here
        return at

    def _update(self, added: Integers = _NOTHING) -> None:
        """Sift on what is known now, find out which states these are, and what walks show."""
        at = np.concatenate((self._at, added))
        while True:
            # What a split has moved is sifted on; what was not answered is not looked at again.
            split = (self._tree.suffixes[at] != LEAF) & (at != ROOT)
            if self._deepen() or len(at) > len(self._at):
                self._at = at = self._place(at)
            elif not split.any():
                break
            else:
                self._at = at = self._place(at)
                break
        self._release(self._guessed.nonzero()[0])
        self._sink_answered()
        self._find_twins()
        states = self._tree.states[at]
        places = self._transitions(self._walks, states)
        inner = (places[:-1] >= 0) & (states[1:] >= 0)
        self._grow()
        self._shown[:] = -1
        self._shown[places[:-1][inner]] = states[1:][inner]

    def _deepen(self) -> bool:
        """Let the suffix tell states of a class apart where the reference has several of it."""
        tree, reference, found = self._tree, self._reference, False
        if not reference.suffix:
            return False
        reference.refresh()
        for state in (tree.depths[self._leaves[: self.size]] == 1).nonzero()[0].tolist():
            leaf = self._leaf_of[state]
            label = self._known_label(self._access_of[state], self._suffix)
            if label is None or (reference.labels[:, 0] == tree.label_of[leaf]).sum() < 2:
                continue
            tree.suffix_of[leaf], tree.state_of[leaf], found = self._suffix, -1, True
            child = tree.child(leaf, label)
            self._leaf_of[state], tree.state_of[child] = child, state
        return found

    def _find_twins(self) -> None:
        """Find for new states the states of the reference that they may be."""
        reference, nodes = self._reference, self.observations.nodes
        reference.refresh()
        state_at = {node: state for state, node in enumerate(self._access[: self.size].tolist())}
        for place, node in enumerate(self._path.tolist()):
            state_at.setdefault(node, int(self._tree.states[self._at[place]]))
        for state in range(len(self._twins), self.size):
            node, expected = self._access_of[state], 0
            if node:
                before = state_at.get(nodes.parent[node], -1)
                twin = self._twins[before] if 0 <= before < state else -1
                expected = int(reference.table[twin, nodes.last_symbol[node]])
            known = nodes.known_classes(node, self._suffix, self.observations.suffixes)
            label = [nodes.class_at[node], *(known or ())][: 1 + len(reference.suffix)]
            twin = reference.match(label, expected, self._state_of[:-1] < 0)
            self._twins.append(twin)
            if twin >= 0 and self._state_of[twin] < 0:
                self._state_of[twin] = state

    # Guesses

    def _sift(self, moved: Integers, first_new: int, stop: int | None = None) -> None:
        """Guess where transitions lead, and sift those that cannot be guessed."""
        if self._is_dropped:
            super()._sift(moved, first_new, stop)
            return
        self._release(moved[self._guessed[moved]] if len(moved) else moved)
        end = self.size if stop is None else stop
        while len(left := self._guess(end)) and not self._is_walking:
            super()._sift(left, self.size, self.size)
            end = self.size if stop is None else stop

    def _grow(self) -> None:
        """Make room for the guesses of all states."""
        self._guessed = grown(self._guessed, self.size * self._symbols, 0)
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
        expected = reference.table[np.array(self._twins)[states], symbols]
        of_group = np.full(int(reference.groups.max()) + 2, -1)
        known = (self._state_of[:-1] >= 0).nonzero()[0][::-1]
        of_group[reference.groups[known]] = self._state_of[known]
        found = self._state_of[expected]
        alike = np.where(expected >= 0, of_group[reference.groups[expected]], -1)
        found = np.where(found >= 0, found, alike)
        found = np.where(self._shown[left] >= 0, self._shown[left], found)
        # Where a word has been sifted down to an inner node, the guess has to be below it.
        at, leaves = self._targets[left].astype(np.int64), self._leaves[found]
        fits = (found >= 0) & (tree.states[leaves] == found)
        fits &= (at == ROOT) | (tree.parents[leaves] == at)
        self._targets[left[fits]], self._guessed[left[fits]] = leaves[fits], True
        return left[~fits]

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
        QuaNT._sift(self, loose, self.size, self.size)
        self._sift(_NOTHING, self.size)

    def _distinguishing(self, pairs: Integers, given: Counterexamples, splits: Breaks) -> Integers:
        """Return for each two states of one leaf a suffix that tells them apart, without guesses."""
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
