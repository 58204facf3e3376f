"""An automaton that the model may be like: what it predicts, and walks that test it."""

from __future__ import annotations

import numpy as np

from pdfalearn.arrays import numbered_rows
from pdfalearn.equivalence import checked_keys, quotient
from pdfalearn.errors import InputError
from pdfalearn.observations import UNDEFINED, UNKNOWN, ObservationTree
from pdfalearn.pdfa import PDFA, check_pdfa
from pdfalearn.typing import Codes, Flags, Integers

# The suffix that tells states apart has at most this many symbols.
_LONGEST = 16
# At most this many symbols are tried for each of its places.
_TRIED = 16
# A state is the one that is expected if so many classes from it on are as expected.
_ENOUGH = 3
_FAR = 2**30


class Reference:
    """The quotient of an automaton, over the symbols of the model.

    Symbols are matched by name. Those that it does not have lead nowhere.
    """

    def __init__(self, pdfa: PDFA, observations: ObservationTree) -> None:
        self._observations = observations
        small = quotient(check_pdfa(pdfa, "reference"), equivalence=observations.equivalence)
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
        self.suffix = self._telling_suffix() if observations.query_cost.prefix == 0 else []
        """What follows a word on walks, so that the classes along it tell where the word leads."""
        self.labels = self.groups = np.empty(0, dtype=np.int64)
        """The model's classes of every state along the suffix; equal rows have equal groups."""
        self._seen = -1

    def __len__(self) -> int:
        return len(self.table) - 1

    def _telling_suffix(self) -> list[int]:
        """Choose symbols, one after the other, along which the most states part."""
        keys = numbered_rows(checked_keys(self._observations.equivalence, self._rows))
        random, keys = np.random.default_rng(0), np.append(keys, -1)
        blocks, ends, word, useful = keys[:-1], np.arange(len(self)), list[int](), 0
        while blocks.max() + 1 < len(self) and len(word) < _LONGEST:
            best = (-1, -1)
            for symbol in random.permutation(self.table.shape[1])[:_TRIED].tolist():
                after = self.table[ends, symbol]
                finer = numbered_rows(np.column_stack((blocks, keys[after])))
                # Where two of a block come together, nothing tells them apart any more.
                apart = len(np.unique(finer * len(self.table) + after + 1))
                if (finer.max(), apart) > best:
                    best, chosen = (finer.max(), apart), (symbol, after, finer)
            symbol, ends, finer = chosen
            word.append(symbol)
            useful = len(word) if finer.max() > blocks.max() else useful
            blocks = finer
        return word[:useful]

    def refresh(self) -> None:
        """Look up the model's classes of what is predicted, if there are new ones."""
        count = self._observations.answers.class_count
        if count == self._seen:
            return
        self._seen = count
        classes = np.append(self._observations.classes_of(self._rows), UNDEFINED)
        ends, columns = np.arange(len(self)), [classes[:-1]]
        for symbol in self.suffix:
            ends = self.table[ends, symbol]
            columns.append(classes[ends])
        self.labels = np.column_stack(columns)
        self.groups = numbered_rows(self.labels)

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
        The states in which the suffix has to be taken, once.
    suffix : list of int
        The suffix.

    Examples
    --------
    >>> table = np.array([[1, 0], [1, 0], [-1, -1]])
    >>> walks = Walks(table, table >= 0, np.array([False, False, False]), [])
    >>> walks.plan(10), walks.plan(10)
    ([0, 0, 1, 1], [])
    """

    def __init__(self, table: Codes, left: Flags, fresh: Flags, suffix: list[int]) -> None:
        self._table, self._left, self._fresh, self._suffix = table, left, fresh, suffix

    def plan(self, length: int) -> list[int]:
        """Return a word of about a length, from state 0 on; an empty one if nothing is left."""
        self._here, self._word = 0, list[int]()
        while len(self._word) < length and self._here >= 0:
            here = self._here
            if self._fresh[here]:
                self._fresh[here] = False
                self._take(self._suffix)
            elif self._left[here].any():
                self._take([int(self._left[here].argmax())])
            elif way := self._way_on():
                self._take(way)
            else:
                break
        if self._word:
            self._take(self._suffix)
        return self._word

    def _take(self, symbols: list[int]) -> None:
        self._word += symbols
        for symbol in symbols:
            self._left[self._here, symbol] = False
            self._here = int(self._table[self._here, symbol])

    def _way_on(self) -> list[int]:
        """Return the shortest way to a state from which something is left to take."""
        far = np.where(self._left.any(axis=1) | self._fresh, 0, _FAR)
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

