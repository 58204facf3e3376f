"""An automaton that a model is guessed to be, and what walks through the model change in it."""

from __future__ import annotations

import math
from collections import Counter
from typing import NamedTuple

import numpy as np

from pdfalearn.arrays import numbered_rows
from pdfalearn.equivalence import check_equivalence, checked_keys, quotient
from pdfalearn.errors import InputError
from pdfalearn.observations import UNDEFINED, UNKNOWN, ObservationTree
from pdfalearn.pdfa import PDFA, check_pdfa
from pdfalearn.typing import Codes, Flags, Floats, Integers
from pdfalearn.words import Words, visited_states

# Where distributions on the way cost something, one of this many is asked for.
_EVERY = 4
# A state is believed when this many symbols more than tell states apart are as guessed.
_MORE, _LONGEST_TAIL = 2, 32
# A wrong transition is searched in this many tails before a walk is wrong; a change is compared
# over this many tails behind.
_BEFORE, _BEHIND = 2, 3
# Of the changes that explain a walk equally well, at most this many are tried.
_MOST_TRIED = 24

# One of several changes is made where this many walks do not tell them apart.
_TIED = 4
# A guess is of no use after more changes than this, and one in this many symbols of the walks. A
# walk that nothing explains counts as several changes.
_CHANGES, _APART, _UNEXPLAINED = 6, 10, 4
# To compare changes, at most this many states along walks are computed for each transition.
_TRIED = 2**14

# A state, a symbol, and the state that this leads to now; for the symbol -1 the state's class.
Change = tuple[int, int, int]


class Wrong(NamedTuple):
    """A walk that is not as guessed, and changes that explain why."""

    changes: list[Change]
    # Those of them that explain so much that they may be believed.
    explained: list[Change]
    # The transitions of the walk before it is wrong.
    suspects: list[tuple[int, int]]


class Runs(NamedTuple):
    """The states along walks, as guessed."""

    words: Words
    # Where every walk begins in the arrays below, which have a place for each prefix.
    borders: Integers
    classes: Integers
    states: Integers
    # For how many places each walk is as guessed.
    agreed: Integers

    def is_agreed(self, less: Integers | int = 0) -> Flags:
        """Return for each prefix whether its walk is as guessed so far, and some places on."""
        lengths = np.diff(self.borders)
        places = np.arange(len(self.states)) - np.repeat(self.borders[:-1], lengths)
        flags: Flags = places < np.repeat(self.agreed - less, lengths)
        return flags


class Guess:
    """An automaton that a model is guessed to be, over the symbols of the model.

    The guess agrees with a walk up to the first place where the class is another one. A transition
    is changed where this makes all walks together agree for longer than any other change does; so
    changes come to an end. What other changes would do as well is left open for more walks.
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
        # The last row of every array stands for undefined; indices of -1 lead there.
        self.table: Codes = np.full((size + 1, symbols), -1, dtype=np.int32)
        """Where transitions are guessed to lead; -1 where they are undefined or not known."""
        self.table[:-1, columns] = small.table[:size, theirs]
        self._rows: Floats = np.zeros((size + 1, symbols + 1))
        self._rows[:-1, 0] = small.probabilities[:, 0]
        self._rows[:-1, columns + 1] = small.probabilities[:, theirs + 1]
        self._rows[:, 0] += 1 - self._rows.sum(axis=1)  # for symbols the model does not have
        # States that the reference has in one class are of one kind. When the class of one of them
        # is seen, it is guessed for all.
        self._kinds = np.append(numbered_rows(checked_keys(by, self._rows[:-1])), -1)
        self._labels = np.append(np.full(size, UNKNOWN), UNDEFINED)
        self.seen: Integers = np.full(size + 1, -1)
        """The node of a word that leads to each state; -1 if no walk has."""
        self.possible: Flags = self.table >= 0
        """Which symbols lead somewhere, as is guessed or as their probabilities say."""
        self.counts: Integers = np.zeros((size + 1, symbols), dtype=np.int64)
        """How many walks have tested each transition."""
        self._first = self.table.copy()
        self._forced: tuple[int, int] | None = None
        self.changes = 0
        """How often the guess has changed."""
        self._unexplained = 0  # how many walks no change explains
        self._tried = 0  # how many states along walks were computed to compare changes
        self._words: list[list[int]] = []
        self._paths: list[Integers] = []

    def __len__(self) -> int:
        return len(self.table) - 1

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

    def is_hopeless(self) -> bool:
        """Return whether the guess has changed too often, or explaining walks takes too long."""
        changes = self.changes + _UNEXPLAINED * self._unexplained
        is_other = changes > _CHANGES + sum(map(len, self._words)) / _APART
        return is_other or self._tried > _TRIED * self.table.size

    def add(self, word: list[int]) -> None:
        """Ask for a walk, which ends where it is undefined.

        Where distributions on the way cost something, those of new states and some more are asked.
        """
        words, observations = Words.of([word]), self._observations
        path = observations.path(words)
        if observations.query_cost.prefix == 0:
            observations.ask_path(words)
        else:
            states = visited_states(self.table, 0, words)
            is_asked = np.arange(len(path)) % _EVERY == 0
            observations.ask(path[is_asked | (self.seen[states] < 0)])
        is_undefined = observations.nodes.classes[path] == UNDEFINED
        length = int(is_undefined.argmax()) if is_undefined.any() else len(word)
        self._words.append(word[:length])
        self._paths.append(path[: length + 1])

    def make_pdfa(self) -> PDFA:
        """Return the automaton, with the distributions that were seen where some were."""
        rows, seen = self._rows[:-1].copy(), self.seen[:-1]
        rows[seen >= 0] = self._observations.rows(seen[seen >= 0])
        table = np.where(rows[:, 1:] > 0, np.maximum(self.table[:-1], 0), self.table[:-1])
        return PDFA(alphabet=self._observations.alphabet, transitions=table, probabilities=rows)

    def settle(self, *, is_forced: bool) -> list[Wrong]:
        """Change the guess until changes explain no more; return the walks that stay wrong.

        Where it is forced, one change is made that explains little, or not all walks, or is one of
        several. It is not changed again until another one is forced.
        """
        # What the model has shown meanwhile of what the reference says.
        unknown = (self._labels == UNKNOWN).nonzero()[0]
        found = self._observations.classes_of(self._rows[unknown])
        self._labels[unknown[found >= 0]] = found[found >= 0]
        self._forced = None if is_forced else self._forced
        while True:
            runs = self._run(np.arange(self.walks))
            self._learn_states(runs)
            before, open_ = self.changes, []
            for walk in (runs.agreed < np.diff(runs.borders)).nonzero()[0].tolist():
                if (wrong := self._explain(walk)) is not None:
                    wrong = self._improve(wrong, is_forced=is_forced)
                if wrong is not None:
                    open_.append(wrong)
                is_forced &= self._forced is None
            self._unexplained = sum(not one.explained for one in open_)
            is_stuck = self.changes == before and not self._break_tie(open_)
            if is_stuck or self.is_hopeless():
                return open_

    # How walks are as guessed

    def _run(self, walks: Integers) -> Runs:
        """Run walks through the guess."""
        words = Words.of([self._words[walk] for walk in walks])
        path = np.concatenate([self._paths[walk] for walk in walks])
        classes = self._observations.nodes.classes[path].astype(np.int64)
        borders, nothing = words.offsets + np.arange(len(walks) + 1), np.empty(0, dtype=np.int64)
        return self._run_again(Runs(words, borders, classes, nothing, nothing))

    def _run_again(self, runs: Runs) -> Runs:
        """Run walks through the guess as it is now."""
        states = visited_states(self.table, 0, runs.words).astype(np.int64)
        is_wrong = ~self._agrees(self._labels[states], runs.classes)
        wrong = np.append(is_wrong.nonzero()[0], len(states))
        firsts = np.minimum(wrong[np.searchsorted(wrong, runs.borders[:-1])], runs.borders[1:])
        return runs._replace(states=states, agreed=firsts - runs.borders[:-1])

    def _agrees(self, labels: Integers, classes: Integers | int) -> Flags:
        """Return whether guesses may be right: the same classes, or new ones if none is guessed."""
        is_new = ~np.isin(classes, self._labels)
        agrees: Flags = (labels == classes) | (classes == UNKNOWN) | ((labels == UNKNOWN) & is_new)
        return agrees

    def _learn_states(self, runs: Runs) -> None:
        """Note what the walks show as far as they agree: classes, distributions, what is tested."""
        states, classes, is_sure = runs.states, runs.classes, runs.is_agreed()
        for place in (is_sure & (self._labels[states] == UNKNOWN) & (classes >= 0)).nonzero()[0]:
            state, class_ = states[place], classes[place]
            if self._labels[state] == UNKNOWN and class_ not in self._labels:
                same = (self._kinds == self._kinds[state]) & (self._labels == UNKNOWN)
                self._labels[same] = class_
        is_seen = (is_sure & (states >= 0) & (classes >= 0)).nonzero()[0]
        found, firsts = np.unique(states[is_seen], return_index=True)
        self.seen[:] = -1
        self.seen[found] = np.concatenate(self._paths)[is_seen[firsts]]
        self.possible = self.table >= 0
        self.possible[found] |= self._observations.rows(self.seen[found])[:, 1:] > 0
        # The last symbols of a walk tell little, but where nothing can follow.
        ends = states[runs.borders[1:] - 1]
        is_whole = (runs.agreed == np.diff(runs.borders)) & ~self.possible[ends].any(axis=1)
        symbols = runs.words.next_columns() - 1
        taken = runs.is_agreed(np.where(is_whole, 1, self.tail + 1)) & (symbols >= 0)
        self.counts[:] = 0
        np.add.at(self.counts, (states[taken], symbols[taken]), 1)

    # How walks that are not are explained

    def _explain(self, walk: int) -> Wrong | None:
        """Find the changes of one transition that explain most of a walk; None if it is right."""
        word, path = self._words[walk], self._paths[walk]
        nodes = self._observations.nodes
        if (nodes.classes[path] == UNKNOWN).any():
            self._observations.ask(path)
        classes = nodes.classes[path].astype(np.int64)
        run = visited_states(self.table, 0, Words.of([word])).astype(np.int64)
        wrong = (~self._agrees(self._labels[run], classes)).nonzero()[0]
        if not len(wrong):
            return None
        place = int(wrong[0])
        begin = max(0, place - _BEFORE * self.tail)
        end = min(len(word), place + _BEHIND * self.tail)
        suspects = [(int(run[i]), word[i]) for i in range(begin, place)]
        if classes[place] >= 0 and classes[place] not in self._labels:
            self._add_class(walk, place, run, int(classes[place]))
            return None
        # For every state, how far the rest of the walk is as guessed if it is there.
        reach = np.full(len(self.table), end + 1)
        found = list[tuple[int, int, Change]]()
        for here in range(end, begin, -1):
            if here < end:
                reach = reach[self.table[:, word[here]]]
            if here == place and run[here] >= 0 and classes[here] >= 0:
                state = int(run[here])
                found.append((-int(reach[state]), -here, (state, -1, int(classes[here]))))
            agrees = self._agrees(self._labels, int(classes[here]))
            reach = np.where(agrees, reach, here)
            if here <= place:
                ends = (reach > place).nonzero()[0]
                ends = ends[np.argsort(-reach[ends], kind="stable")][:_MOST_TRIED].tolist()
                state, symbol = suspects[here - 1 - begin]
                for after in ends if (state, symbol) != self._forced else ():
                    change = (state, symbol, after if after < len(self) else -1)
                    found.append((-int(reach[after]), -here, change))
        found.sort(key=lambda one: (not self._restores(one[2]), *one))
        del found[_MOST_TRIED:]
        least = min(place + self.tail, end + 1)
        explained = [change for most, _, change in found if -most >= least]
        return Wrong([change for *_, change in found], explained, suspects)

    def _improve(self, wrong: Wrong, *, is_forced: bool) -> Wrong | None:
        """Make the change that lets all walks agree for longest; return what stays open."""
        if not wrong.changes or not (wrong.explained or is_forced):
            return wrong
        runs = self._run(np.arange(self.walks))
        is_concerned = np.isin(runs.states, [state for state, *_ in wrong.changes])
        places = (is_concerned & runs.is_agreed(-1)).nonzero()[0]
        some = self._run(np.unique(np.searchsorted(runs.borders, places, side="right") - 1))
        gains = list[int]()
        for change in wrong.changes:
            self._tried += len(some.states)
            back = self._put(change)
            gains.append(int(self._run_again(some).agreed.sum() - some.agreed.sum()))
            self._put(back)
        best = max(gains)
        chosen = [c for c, gain in zip(wrong.changes, gains, strict=True) if gain == best]
        if is_forced and (best <= 0 or not wrong.explained):
            chosen = [c for c in wrong.changes if self._restores(c)][:1] or chosen[:1]
        is_clear = best > 0 and len(chosen) == 1 and chosen[0] in wrong.explained
        if not is_clear and (not is_forced or len(chosen) > 1):
            return wrong._replace(changes=chosen if best > 0 else [])
        self._put(chosen[0])
        self.changes += 1
        if not is_clear:
            self._forced = chosen[0][:2]
        return None

    def _break_tie(self, wrong: list[Wrong]) -> bool:
        """Make one of the changes that more walks did not tell apart; return whether any was."""
        ties = Counter(tuple(one.changes) for one in wrong if one.changes and one.explained)
        for (first, *_), count in ties.most_common(1):
            if count >= _TIED:
                self._put(first)
                self.changes += 1
                self._forced = first[:2]
                return True
        return False

    def _restores(self, change: Change) -> bool:
        """Return whether a change restores what the reference says."""
        state, symbol, after = change
        return symbol >= 0 and bool(self._first[state, symbol] == after)

    def _put(self, change: Change) -> Change:
        """Make a change; return the one that takes it back."""
        state, symbol, now = change
        values = self._labels if symbol < 0 else self.table[:, symbol]
        before, values[state] = int(values[state]), now
        return state, symbol, before

    def _add_class(self, walk: int, place: int, run: Integers, class_: int) -> None:
        """Where a class is new, give it to a state not seen so far, or to a new one like it."""
        state = int(run[place])
        self.changes += 1
        if state >= 0 and self.seen[state] < 0:
            self._labels[state], self.seen[state] = class_, self._paths[walk][place]
            return
        new = len(self)
        for name in ("table", "_first", "_rows", "possible", "counts", "_kinds", "_labels", "seen"):
            array = getattr(self, name)
            setattr(self, name, np.insert(array, new, array[state], axis=0))
        self._labels[new], self.seen[new], self.counts[new] = class_, -1, 0
        if place:
            self.table[run[place - 1], self._words[walk][place - 1]] = new
