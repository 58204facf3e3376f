"""An automaton that a model is guessed to be, and what walks through the model change in it."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from pdfalearn.arrays import numbered_rows
from pdfalearn.equivalence import check_equivalence, checked_keys, quotient
from pdfalearn.errors import InputError
from pdfalearn.learners._explanations import Explanation, explain
from pdfalearn.observations import UNDEFINED, UNKNOWN, ObservationTree
from pdfalearn.pdfa import PDFA, check_pdfa
from pdfalearn.reachability import reachable_in
from pdfalearn.typing import Codes, Flags, Floats, Integers
from pdfalearn.words import Words, visited_states

# What an explanation of a walk costs: that a transition leads elsewhere, and how much more for each
# of at most this many walks that have taken it; that it leads somewhere where nothing is guessed;
# that a state has another class, before and after it was seen; and
# the first class of a kind of states.
_ELSEWHERE, _FOR_EACH_WALK, _MOST_WALKS, _ANYWHERE = 4, 2, 3, 1
_OTHER_CLASS, _OTHER_SEEN_CLASS, _FIRST_CLASS = 6, 12, 0
# Where distributions on the way cost something, one of this many is asked for.
_EVERY = 4
# Walks are explained anew at most this often before more is asked.
_ROUNDS = 12
# What follows a transition in a walk has at least this many symbols more than tell states apart.
# This many random words are tried to part states.
_TRIED = 64
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_MORE, _LONGEST_TAIL = 2, 32

# A state, a symbol, and the state that this leads to now.
Change = tuple[int, int, int]


class Guess:
    """An automaton that a model is guessed to be, over the symbols of the model.

    Every walk has a cheapest explanation: the states that it visits, where as few transitions as
    possible lead elsewhere than guessed. Of several explanations that are as cheap, none is
    trusted before another walk has one in common with it.
    """

    def __init__(self, reference: PDFA, observations: ObservationTree) -> None:
        by = check_equivalence(observations.equivalence)
        small = quotient(check_pdfa(reference, "reference"), equivalence=by)
        ours = observations.alphabet
        columns = np.array([place for place, s in enumerate(ours) if s in small.alphabet], int)
        if not len(columns):
            raise InputError(
                f"the reference has none of the model's symbols, such as {ours.symbols[0]!r}"
            )
        theirs = np.array([small.alphabet.index(ours.symbols[place]) for place in columns])
        self._observations = observations
        size, symbols = len(small), len(ours)
        self.table: Codes = np.full((size, symbols), -1, dtype=np.int32)
        """Where transitions are guessed to lead; -1 where that is not known."""
        self.table[:, columns] = small.table[:size, theirs]
        self.rows: Floats = np.zeros((size, symbols + 1))
        """The distributions that the reference says."""
        self.rows[:, 0] = small.probabilities[:, 0]
        self.rows[:, columns + 1] = small.probabilities[:, theirs + 1]
        self.rows[:, 0] += 1 - self.rows.sum(axis=1)  # for symbols that the model does not have
        # States that the reference has in one class are of one kind. The class of each kind is the
        # model's; UNKNOWN until it has shown one.
        self._kinds = numbered_rows(checked_keys(by, self.rows))
        self._examples = np.unique(self._kinds, return_index=True)[1]
        self._class_of = np.full(len(self._examples), UNKNOWN)
        self.initial = 0
        self.seen: Integers = np.full(size, -1)
        """The node of a word that leads to each state; -1 if no walk has."""
        self.possible: Flags = self.table >= 0
        """Which symbols are possible; before a state is seen, as the reference says."""
        self.counts: Integers = np.zeros((size, symbols), dtype=np.int64)
        """How many walks have taken each transition."""
        self.suspects: Flags = np.zeros((size, symbols), dtype=bool)
        """Which transitions may be wrong, as walks are not as they say."""
        # The transitions that have changed since walks were last explained.
        self._fresh: set[tuple[int, int]] = set()
        # What would explain each walk that is not as guessed.
        self._alternatives: dict[int, list[set[Change]]] = {}
        self._random = np.random.default_rng(0)
        self._first = self.table.copy()
        self.open: list[list[Change]] = []
        self._is_changed = np.zeros((size, symbols), dtype=bool)
        self._words: list[list[int]] = []
        self._paths: list[Integers] = []
        self._states: list[Integers] = []

    def __len__(self) -> int:
        return len(self.table)

    @property
    def walks(self) -> int:
        """How many walks there are."""
        return len(self._words)

    @property
    def tail(self) -> int:
        """How many symbols tell most pairs of states apart."""
        classes = max(2, self._observations.answers.class_count)
        length = math.ceil(math.log(max(2, len(self))) / math.log(classes)) + _MORE
        return min(length, _LONGEST_TAIL)

    def add(self, word: list[int]) -> None:
        """Ask for a walk, up to where it is undefined.

        Where distributions on the way cost something, those of new states and some more are asked.
        """
        words = Words.of([word])
        path = self._observations.path(words)
        if self._observations.query_cost.prefix == 0:
            self._observations.ask_path(words)
        else:
            states = self._runs(words)
            is_asked = np.arange(len(path)) % _EVERY == 0
            is_asked |= np.append(self.seen, -1)[states] < 0
            self._observations.ask(path[is_asked | (states < 0)])
        self._words.append(word)
        self._paths.append(path)
        self._states.append(np.full(len(path), -1))
        self._cut(self.walks - 1)

    def _cut(self, walk: int) -> None:
        """Cut a walk where it is undefined."""
        is_undefined = self._observations.nodes.classes[self._paths[walk]] == UNDEFINED
        if is_undefined.any():
            length = int(is_undefined.argmax())
            self._words[walk] = self._words[walk][: length - 1]
            self._paths[walk] = self._paths[walk][:length]
            self._states[walk] = np.full(length, -1)

    def _ask_all(self, walk: int) -> None:
        """Ask for all that is not known along a walk."""
        path, classes = self._paths[walk], self._observations.nodes.classes
        if (classes[path] == UNKNOWN).any():
            self._observations.ask(path)
            self._cut(walk)

    def make_pdfa(self) -> PDFA:
        """Return the part that can be reached, with the distributions that the model has told."""
        states = reachable_in(self.table, self.initial).states
        numbers = np.full(len(self) + 1, -1)
        numbers[states] = np.arange(len(states))
        rows, seen = self.rows[states], self.seen[states]
        rows[seen >= 0] = self._observations.rows(seen[seen >= 0])
        ends = np.maximum(numbers[self.table[states]], 0)
        table = np.where(rows[:, 1:] > 0, ends, -1)
        return PDFA(alphabet=self._observations.alphabet, transitions=table, probabilities=rows)

    def count_changes(self) -> float:
        """Return how many changes explain the last walk."""
        self._learn_classes()
        walk = self.walks - 1
        self._ask_all(walk)
        self._take_states(walk, self._explain(walk).states)
        return self._change_classes(walk) + self._explain(walk).cost / _ELSEWHERE

    def settle(self) -> int:
        """Change the guess until it is as walks say; return how many remain unexplained."""
        self._learn_classes()
        self.open = []
        self._fresh.clear()
        self._alternatives.clear()
        for _ in range(_ROUNDS):
            wrong = self._take_runs()
            self.suspects[:] = False
            if not wrong or not self._change(wrong):
                return len(wrong)
        return len(self._take_runs())

    def labels(self) -> Integers:
        """Return the class of every state."""
        return self._class_of[self._kinds]

    # How walks are explained

    def _take_runs(self) -> list[int]:
        """Take over the states of the walks that are as guessed; return the others."""
        words = Words.of(self._words)
        runs = self._runs(words)
        classes = self._observations.nodes.classes[np.concatenate(self._paths)]
        is_wrong = np.append(self.labels(), UNDEFINED)[runs] != classes
        is_wrong &= classes != UNKNOWN
        begins = (words.offsets + np.arange(len(self._words) + 1)).tolist()
        wrong = []
        for walk, (begin, end) in enumerate(pairwise(begins)):
            if is_wrong[begin:end].any():
                wrong.append(walk)
            else:
                self._see(walk, runs[begin:end])
                self._take_states(walk, runs[begin:end])
                self._alternatives.pop(walk, None)
        self._count()
        return wrong

    def _runs(self, words: Words) -> Integers:
        """Return the states along words, as guessed."""
        table = np.vstack((self.table, np.full(self.table.shape[1], -1, dtype=np.int32)))
        return visited_states(table, self.initial, words).astype(np.int64)

    def _see(self, walk: int, states: Integers) -> None:
        """Note the distributions of states that a walk has visited first."""
        for place in ((states >= 0) & (self.seen[states] < 0)).nonzero()[0].tolist():
            state, node = int(states[place]), self._paths[walk][place : place + 1]
            if self.seen[state] < 0 and self._observations.nodes.rows[node[0]] >= 0:
                self.seen[state] = node[0]
                self.possible[state] = self._observations.rows(node)[0, 1:] > 0
                self.table[state, ~self.possible[state]] = -1

    def _take_states(self, walk: int, states: Integers) -> None:
        """Take over the states along a walk but for its end, which tells little."""
        states = states.copy()
        if states[-1] < 0 or self.possible[states[-1]].any():
            states[max(1, len(states) - self.tail) :] = -1
        self._states[walk] = states

    def _count(self) -> None:
        """Count the walks that have taken each transition."""
        symbols = Words.of(self._words).next_columns() - 1
        states = np.concatenate(self._states)
        befores, afters = states, np.append(states[1:], -1)
        is_known = (symbols >= 0) & (befores >= 0) & (afters >= 0)
        befores, afters, taken = befores[is_known], afters[is_known], symbols[is_known]
        agrees = self.table[befores, taken] == afters
        self.counts[:] = 0
        np.add.at(self.counts, (befores[agrees], taken[agrees]), 1)

    def _explain(self, walk: int) -> Explanation:
        """Find the cheapest explanations of a walk."""
        classes = self._observations.nodes.classes[self._paths[walk]].tolist()
        costs = {class_: self._class_costs(class_) for class_ in set(classes)}
        costs_along = [costs[class_] for class_ in classes]
        return explain(self._words[walk], self.table, self.initial, self._prices(), costs_along)

    def _prices(self) -> Integers:
        """Return for each symbol and state what it costs that a transition leads elsewhere."""
        prices = _ELSEWHERE + _FOR_EACH_WALK * np.minimum(self.counts, _MOST_WALKS)
        return np.where(self.table < 0, _ANYWHERE, prices - self._is_changed).T.copy()

    def _class_costs(self, class_: int) -> Integers:
        """Return what it costs that each state has a class."""
        labels = self.labels()
        if class_ == UNKNOWN:
            return np.zeros(len(labels), dtype=np.int64)
        costs = np.where(self.seen >= 0, _OTHER_SEEN_CLASS, _OTHER_CLASS)
        if class_ not in self._class_of:
            costs[labels == UNKNOWN] = _FIRST_CLASS
        costs[labels == class_] = 0
        return costs

    # What changes

    def _change(self, wrong: list[int]) -> bool:
        """Change what explains walks; return whether anything was changed.

        Between two places where the state is certain, the changes of a walk are alternatives. One
        is made if nothing else explains all the places that it explains, first those that explain
        more than one.
        """
        is_changed = False
        for walk in wrong:
            if walk not in self._alternatives:
                self._ask_all(walk)
                known = self._explain(walk)
                self._alternatives[walk] = self._find_alternatives(walk, known)
                self._take_states(walk, known.states)
                self._see(walk, self._states[walk])
                is_changed |= self._change_classes(walk) > 0
        groups = [group for walk in wrong for group in self._alternatives[walk]]
        owners = [walk for walk in wrong for _ in self._alternatives[walk]]
        voters: dict[Change, list[int]] = {}
        for number, group in enumerate(groups):
            for change in group:
                voters.setdefault(change, []).append(number)
                self.suspects[change[:2]] = True
        done: set[int] = set()
        made: list[Change] = []
        self.open = []
        for change in sorted(voters, key=lambda change: (-len(voters[change]), change)):
            those = voters[change]
            if not done.isdisjoint(those):
                continue
            if made and len(those) == 1:
                break
            both = set.intersection(*(groups[i] for i in those))
            done.update(those)
            if len(both) > 1 and len({other[:2] for other in both}) == 1:
                word = self.part(sorted(other[2] for other in both))
                if not word:
                    both = {min(both)}
            if len(both) > 1:
                self.open.append(sorted(both))
            elif min(both)[:2] not in self._fresh:
                made.append(min(both))
        for before, symbol, after in made:
            self.table[before, symbol] = after
            self._is_changed[before, symbol] = True
            self._fresh.add((before, symbol))
            for number in voters[before, symbol, after]:
                self._alternatives.pop(owners[number], None)
        self._count()
        return is_changed or bool(made)

    def _find_alternatives(self, walk: int, known: Explanation) -> list[set[Change]]:
        """Return the changes that would explain a walk, alternatives in one set."""
        word, parts = self._words[walk], np.cumsum(known.states >= 0)
        found: dict[int, set[Change]] = {}
        for place, befores, afters in known.changes:
            if place < len(word) - self.tail:
                symbol = word[place]
                found.setdefault(int(parts[place]), set()).update(
                    (before, symbol, after)
                    for before in befores
                    for after in afters
                    if self.table[before, symbol] != after
                )
        return [*found.values()]

    def part(self, states: list[int]) -> list[int]:
        """Return a word after which the most of some states part; none if it finds no word."""
        words = self._random.integers(self.table.shape[1], size=(_TRIED, 2 * self.tail))
        ends = np.tile(np.array(states), (_TRIED, 1))
        labels = np.append(self.labels(), UNDEFINED).astype(np.uint64)
        table = np.vstack((self.table, np.full(self.table.shape[1], -1)))
        seen = np.zeros(ends.shape, dtype=np.uint64)
        for symbols in words.T:
            ends = table[ends, symbols[:, None]]
            seen = (seen + labels[ends] + np.uint64(1)) * _FACTOR  # a hash of what was seen
        counts = (np.diff(np.sort(seen, axis=1), axis=1) > 0).sum(axis=1)
        return words[counts.argmax()].tolist() if counts.any() else []

    def forget(self) -> int:
        """Take all changes back, and explain all walks together anew, as `settle` does."""
        size = len(self._first)
        self.table[:size] = np.where(self.possible[:size], self._first, -1)
        self._is_changed[:] = False
        self.counts[:] = 0
        self._states = [np.full(len(states), -1) for states in self._states]
        return self.settle()

    def _change_classes(self, walk: int) -> int:
        """Where a walk visits a state for certain that has another class, make a state of it.

        Return how often that was so. Classes that come first do not count.
        """
        states, word = self._states[walk], self._words[walk]
        classes = self._observations.nodes.classes[self._paths[walk]]
        is_wrong = (states >= 0) & (self.labels()[states] != classes) & (classes != UNKNOWN)
        count = 0
        for place in is_wrong.nonzero()[0].tolist():
            state, class_ = int(states[place]), int(classes[place])
            kind = self._kinds[state]
            if self._class_of[kind] == class_:
                continue
            is_new = class_ not in self._class_of
            if self._class_of[kind] == UNKNOWN and is_new:
                self._class_of[kind] = class_
                continue
            if is_new:
                self._class_of = np.append(self._class_of, class_)
            count += 1
            new_kind = int((self._class_of == class_).argmax())
            if self.seen[state] < 0 or self._class_at(self.seen[state]) == class_:
                self._kinds[state] = new_kind
            elif place and states[place - 1] >= 0:
                self.table[states[place - 1], word[place - 1]] = self._clone(state, new_kind)
        return count

    def _class_at(self, node: int) -> int:
        return int(self._observations.nodes.classes[node])

    def _clone(self, state: int, kind: int) -> int:
        """Add a state like another one, of another class."""
        self._kinds = np.append(self._kinds, kind)
        self.seen = np.append(self.seen, -1)
        for name in ("table", "rows", "possible", "counts", "suspects", "_is_changed"):
            array = getattr(self, name)
            setattr(self, name, np.vstack((array, array[state])))
        self.counts[-1] = 0
        return len(self) - 1

    def _learn_classes(self) -> None:
        """Look up the classes that the model has shown of what the reference says."""
        found = self._observations.classes_of(self.rows[self._examples])
        new = (self._class_of[: len(found)] == UNKNOWN) & (found >= 0)
        self._class_of[: len(found)][new] = found[new]
