"""An automaton that the model may be like: what it predicts, and walks that test it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pdfalearn.arrays import numbered_rows
from pdfalearn.equivalence import check_equivalence, checked_keys, quotient
from pdfalearn.errors import InputError
from pdfalearn.observations import UNDEFINED, UNKNOWN, ObservationTree
from pdfalearn.pdfa import PDFA, check_pdfa
from pdfalearn.typing import Codes, Flags

# A suffix that tells states apart has at most this many symbols.
_LONGEST = 16
# At most this many are tried for each class, and with large references fewer.
_TRIED, _MOST_STEPS = 1024, 2**17
# A state is the one that is expected if this many classes from it on are as expected.
_ENOUGH = 3
_FAR = 2**30
_FACTOR = np.uint64(0x9E3779B97F4A7C15)


class Reference:
    """The quotient of an automaton, over the symbols of the model.

    Symbols are matched by name. Those that it does not have lead nowhere.
    """

    def __init__(self, pdfa: PDFA, observations: ObservationTree) -> None:
        self._observations = observations
        by = check_equivalence(observations.equivalence)
        small = quotient(check_pdfa(pdfa, "reference"), equivalence=by)
        ours = observations.alphabet
        columns = np.array([place for place, s in enumerate(ours) if s in small.alphabet], int)
        if not len(columns):
            raise InputError(
                f"the reference has none of the model's symbols, such as {ours.symbols[0]!r}"
            )
        theirs = np.array([small.alphabet.index(ours.symbols[place]) for place in columns])
        self.table: Codes = np.full((len(small) + 1, len(ours)), -1, dtype=np.int32)
        """Its transitions, and a last row that is undefined."""
        self.table[:, columns] = small.table[:, theirs]
        self._rows = np.zeros((len(small), len(ours) + 1))
        self._rows[:, 0] = small.probabilities[:, 0]
        self._rows[:, columns + 1] = small.probabilities[:, theirs + 1]
        # The class of every state as the reference has it, and what follows words of each class.
        self._kinds = numbered_rows(checked_keys(by, self._rows))
        self._suffixes: list[list[int]] = [[]] * (int(self._kinds.max()) + 1)
        if observations.query_cost.prefix == 0:
            self._suffixes = [self._telling_suffix(kind) for kind in range(len(self._suffixes))]
        self.labels = self.groups = np.empty(0, dtype=np.int64)
        """The model's classes of every state and along its suffix; equal rows have equal groups."""
        self._seen = -1
        self._suffix_of: dict[int, list[int]] = {}
        # Classes that the model has shown instead of ones that it has never shown, by their kind.
        self._renamed: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self.table) - 1

    def _telling_suffix(self, kind: int) -> list[int]:
        """Choose a word along which the most states of a class part; one of many random words."""
        members = (self._kinds == kind).nonzero()[0]
        if len(members) == 1:
            return []
        tried = max(1, min(_TRIED, _MOST_STEPS // len(members)))
        words = np.random.default_rng(kind).integers(self.table.shape[1], size=(_LONGEST, tried))
        kinds, ends = np.append(self._kinds, -1).astype(np.uint64), np.tile(members, (tried, 1))
        seen, best, count = np.zeros(ends.shape, dtype=np.uint64), list[int](), 1
        for length, symbols in enumerate(words, 1):
            ends = self.table[ends, symbols[:, None]]
            seen = (seen + kinds[ends] + np.uint64(1)) * _FACTOR  # a hash of what was seen
            counts = (np.diff(np.sort(seen, axis=1), axis=1) > 0).sum(axis=1) + 1
            if counts.max() > count:
                count, best = int(counts.max()), words[:length, counts.argmax()].tolist()
        return best

    def refresh(self) -> None:
        """Look up the model's classes of what is predicted, if there are new ones."""
        count = self._observations.answers.class_count
        if count == self._seen:
            return
        self._seen = count
        classes = np.append(self._observations.classes_of(self._rows), UNDEFINED)
        for kind, class_ in self._renamed.items():
            changed = (classes[:-1] < UNKNOWN) & (self._kinds == kind)
            classes[:-1][changed] = class_
        longest = max(map(len, self._suffixes))
        self.labels = np.full((len(self), 1 + longest), UNDEFINED, dtype=np.int32)
        self.labels[:, 0] = classes[:-1]
        for kind, suffix in enumerate(self._suffixes):
            members = ends = (self._kinds == kind).nonzero()[0]
            for place, symbol in enumerate(suffix):
                ends = self.table[ends, symbol]
                self.labels[members, place + 1] = classes[ends]
            self._suffix_of[int(classes[members[0]])] = suffix
        self.groups = numbered_rows(self.labels)

    def class_instead(self, state: int, class_: int) -> int:
        """Return what the model has shown instead of a state's class; `UNKNOWN` the first time.

        The class is what it shows now.
        """
        kind = int(self._kinds[state])
        if kind not in self._renamed:
            self._renamed[kind], self._seen = class_, -1
            return UNKNOWN
        return self._renamed[kind]

    def suffix_after(self, class_: int) -> list[int]:
        """Return what follows words of a class of the model, so that it shows where they lead.

        There is none where the reference has only one state of the class, or none at all.
        """
        self.refresh()
        return self._suffix_of.get(class_, []) if class_ >= 0 else []

    def suffix(self, state: int) -> list[int]:
        """Return what follows words that should lead to a state."""
        return self._suffixes[self._kinds[state]]

    def match(self, label: list[int], expected: int, free: Flags) -> int:
        """Return the state that is most likely to have a label; -1 if none is likely.

        The label may be a beginning only. A class that the reference does not have is as good as
        one that it expects and that the model has never shown: then the row has changed.
        """
        given, labels = np.array(label), self.labels[:, : len(label)]
        is_new = ~np.isin(given, labels)
        agrees = (labels == given) | ((labels < UNKNOWN) & is_new)
        lengths = np.cumprod(agrees, axis=1).sum(axis=1)
        if expected >= 0 and lengths[expected] >= min(len(label), _ENOUGH):
            return expected
        same = (free & (labels == given).all(axis=1)).nonzero()[0]
        if len(same) == 1:
            return int(same[0])
        return expected if expected >= 0 and lengths[expected] else -1


class Walks:
    """Plans words that take transitions which have to be taken, the nearest first.

    Parameters
    ----------
    table : array of int
        Where transitions lead, -1 if nowhere or if that is not known, and a last row of -1.
    left : array of bool
        Which transitions have to be taken.
    fresh : array of bool
        The states in which a suffix has to be taken, once.
    suffix : callable
        Returns the suffix of a state.

    Examples
    --------
    >>> table = np.array([[1, 0], [1, 0], [-1, -1]])
    >>> walks = Walks(table, table >= 0, np.zeros(3, dtype=bool), lambda state: [])
    >>> walks.plan(10), walks.plan(10)
    ([0, 0, 1, 1], [])
    """

    def __init__(
        self, table: Codes, left: Flags, fresh: Flags, suffix: Callable[[int], list[int]]
    ) -> None:
        self._table, self.left, self.fresh, self._suffix = table, left, fresh, suffix

    def plan(self, length: int) -> list[int]:
        """Return a word of about a length, from state 0 on; an empty one if nothing is left."""
        self._here, self._word = 0, list[int]()
        while len(self._word) < length and self._here >= 0:
            here = self._here
            if self.fresh[here]:
                self.fresh[here] = False
                self._take(self._suffix(here))
            elif self.left[here].any():
                self._take([int(self.left[here].argmax())])
            elif way := self._way_on():
                self._take(way)
            else:
                break
        if self._word and self._here >= 0:
            self._take(self._suffix(self._here))
        return self._word

    def _take(self, symbols: list[int]) -> None:
        self._word += symbols
        for symbol in symbols:
            self.left[self._here, symbol] = False
            self._here = int(self._table[self._here, symbol])

    def _way_on(self) -> list[int]:
        """Return the shortest way to a state from which something is left to take."""
        far = np.where(self.left.any(axis=1) | self.fresh, 0, _FAR)
        far[-1] = _FAR
        while far[self._here] == _FAR:
            nearer = np.minimum(far, far[self._table].min(axis=1) + 1)
            nearer[-1] = _FAR
            nearer = np.minimum(nearer, _FAR)
            if (nearer == far).all():
                return []
            far = nearer
        way, here = list[int](), self._here
        while far[here]:
            way.append(int(far[self._table[here]].argmin()))
            here = int(self._table[here, way[-1]])
        return way
