"""The words that a model is asked for at once: a forest, as plain arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pdfalearn.arrays import spelled
from pdfalearn.errors import InputError
from pdfalearn.typing import Codes, Flags, Integers
from pdfalearn.words import Words

FEW = 48
"""Below this many words, one after the other is faster than array passes: learning a chain or a
lock, whose batches have a word or two with a long way to it, is 8 to 10 times as fast; all else
takes the same time either way. This is the one border between few and many when asking."""


class Lineage(NamedTuple):
    """Where the words of a run come from: of each its parent and its last symbol.

    Word 0 is the empty one, and a word's number is larger than its parent's.
    """

    parents: NDArray[np.integer]
    """The place of every word's parent; what stands at place 0 does not matter."""
    symbols: Codes
    """The last symbol of every word."""
    ids: Integers | None = None
    """The ids of the words at these places, ascending, if ids are not the places themselves."""

    def places(self, ids: Integers) -> Integers:
        """Return the places of words."""
        return ids if self.ids is None else np.searchsorted(self.ids, ids)

    def parents_of(self, ids: Integers) -> Integers:
        """Return the parents of words that are not empty."""
        above = self.parents[self.places(ids)].astype(np.int64)
        return above if self.ids is None else self.ids[above]

    def spell(self, ids: Integers) -> Words:
        """Return the symbols of words."""
        return Words(*spelled(self.parents, self.symbols, self.places(ids)))

    def above(self, ids: Integers) -> Lineage:
        """Return the lineage of some words, and no more of it than they need."""
        here = self.places(ids[ids > 0])
        needed = np.zeros(int(here.max(initial=0)) + 1, dtype=bool)  # parents stand before
        needed[0] = True
        while len(here):
            needed[here] = True
            here = self.parents[here].astype(np.int64)
            here = here[~needed[here]]
        places = needed.nonzero()[0]
        parents = np.searchsorted(places, self.parents[places])
        numbers = places if self.ids is None else self.ids[places]
        return Lineage(parents, self.symbols[places], numbers)


class Batch:
    """Words of one run that a model is asked for, and words on the way to them.

    Every word of a run has a number, its id: 0 is the empty word's, and a word's is larger than its
    parent's. Ids may come again, in a later batch or after an error; a word's parent may have been
    in an earlier batch, or in none that this model has seen. So a model that keeps something by id
    keeps it as a cache only: `reaching` adds the words that it needs once more.

    Parameters
    ----------
    ids : array of int64
        The words' numbers, ascending.
    parents : array of int64
        The number of each word without its last symbol; -1 for the empty word.
    symbols : array of int32
        Their last symbols, as positions in the alphabet; what stands at the empty word's place does
        not matter.
    wanted : array of bool
        Which of them need a row; the others lie on the way.
    lineage : Lineage
        Where all words of the run come from.
    is_narrow : bool
        Whether few words are wanted by themselves and the others lead there, one below the other:
        a loop over the words then beats passes over the levels.

    Examples
    --------
    >>> batch = Batch.of([(0, 1), (0,), (1, 1)])
    >>> batch.ids.tolist(), batch.parents.tolist(), batch.symbols.tolist(), batch.wanted.tolist()
    ([1, 2, 3, 4], [0, 0, 1, 2], [0, 1, 1, 1], [True, False, True, True])
    >>> list(batch.words)
    [[0], [0, 1], [1, 1]]
    """

    def __init__(
        self,
        ids: Integers,
        parents: Integers,
        symbols: Codes,
        wanted: Flags,
        lineage: Lineage,
        *,
        is_narrow: bool = False,
    ) -> None:
        self.is_narrow = is_narrow
        self.are_possible = False
        """Whether the rows before all of the words are known, and allow them."""
        self.ids = ids
        self.parents = parents
        self.symbols = symbols
        self.wanted = wanted
        self.lineage = lineage
        self.count = int(np.count_nonzero(wanted))
        """How many words are wanted."""
        self.wanted_ids = ids if self.count == len(ids) else ids[wanted]
        """The numbers of the wanted words."""

    @classmethod
    def of(cls, words: Words | Iterable[Sequence[int]]) -> Batch:
        """Make a batch of words that are all wanted, once each, and of what lies on the way.

        The rows that answer it are in the order of its ``words``.
        """
        return number_words(words)[0]

    @classmethod
    def of_ids(
        cls, ids: Integers, wanted: Flags, lineage: Lineage, *, is_narrow: bool = False
    ) -> Batch:
        """Make a batch of words that a lineage has; ids have to ascend."""
        places = lineage.places(ids)
        parents = lineage.parents[places].astype(np.int64)
        if lineage.ids is not None:
            parents = lineage.ids[parents]
        if len(ids) and not ids[0]:
            parents[0] = -1
        return cls(ids, parents, lineage.symbols[places], wanted, lineage, is_narrow=is_narrow)

    def __repr__(self) -> str:
        return f"Batch({self.count} words)"

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle no more of the lineage than the words need."""
        lineage = self.lineage.above(self.ids)
        return Batch, (self.ids, self.parents, self.symbols, self.wanted, lineage)

    @cached_property
    def words(self) -> Words:
        """The wanted words, whole."""
        return self.lineage.spell(self.wanted_ids)

    def word(self, row: int) -> list[int]:
        """Return the symbols of the wanted word that a row belongs to."""
        return self.spell(int(self.wanted_ids[row]))

    def spell(self, word: int) -> list[int]:
        """Return the symbols of a word of the run, given by its id."""
        return list(map(int, self.lineage.spell(np.array([word])).symbols))

    def path(self, place: int) -> tuple[list[int], list[int]]:
        """Return the ids and the last symbols of a word's prefixes, the empty one left out.

        Examples
        --------
        >>> Batch.of([(0, 1)]).path(1)
        ([1, 2], [0, 1])
        """
        ids = []
        here = self.ids[place : place + 1]
        while here[0] > 0:
            ids.append(int(here[0]))
            here = self.lineage.parents_of(here)
        return ids[::-1], self.spell(int(self.ids[place]))

    @cached_property
    def parent_places(self) -> Integers:
        """The place of each word's parent in this batch; -1 where it is not in it."""
        places = np.searchsorted(self.ids, self.parents)
        found = self.ids[np.minimum(places, len(self.ids) - 1)] == self.parents
        return np.where(found, places, -1)

    def levels(self) -> list[NDArray[np.int64]]:
        """Return the places in groups: a word's parent is in an earlier group, or not in the batch.

        Examples
        --------
        >>> [places.tolist() for places in Batch.of([(0, 1), (1, 1, 0)]).levels()]
        [[0, 1], [2, 3], [4]]
        """
        above = self.parent_places
        if len(above) == 0 or above.max() < 0:
            return [np.arange(len(above))]
        # Depths by jumping twice as far each time; at -1, the last place, nothing is above.
        depths = np.append(above >= 0, 0).astype(np.int64)
        above = np.append(above, -1)
        while above.max() >= 0:
            depths += depths[above]
            above = above[above]
        order = np.argsort(depths[:-1], kind="stable")
        ends = np.cumsum(np.bincount(depths[:-1]))
        return np.split(order, ends[:-1])

    def select(self, rows: NDArray[np.integer]) -> Batch:
        """Return the part of the batch for some of its wanted words, given by their rows."""
        needed = np.zeros(len(self.ids) + 1, dtype=bool)  # the last stands for what is not in it
        wanted = np.zeros(len(self.ids), dtype=bool)
        here = self.wanted.nonzero()[0][rows]
        wanted[here] = True
        above = self.parent_places
        while len(here):
            needed[here] = True
            here = above[here]
            here = here[(here >= 0) & ~needed[here]]
        kept = needed[:-1]
        parts = self.ids[kept], self.parents[kept], self.symbols[kept], wanted[kept]
        return Batch(*parts, self.lineage)

    def reaching(self, is_known: Callable[[Integers], Flags]) -> Batch:
        """Return the batch with all words that lead to its words from words that are known.

        Parameters
        ----------
        is_known : callable
            Takes ids and returns which of these words the model still knows. Those that it does not
            know are added, up to the empty word, and are not wanted.

        Examples
        --------
        >>> batch = Batch.of([(0, 1, 0)]).select(np.array([0]))
        >>> part = Batch.of_ids(batch.ids[2:], batch.wanted[2:], batch.lineage)
        >>> part.ids.tolist(), part.reaching(lambda ids: ids == 1).ids.tolist()
        ([3], [2, 3])
        """
        parents = self.parents
        if is_known(parents[1:] if len(parents) and parents[0] < 0 else parents).all():
            return self
        bases = np.unique(parents[self.parent_places < 0])
        bases = bases[bases >= 0]
        bases = bases[~is_known(bases)]
        if not len(bases):
            return self
        new = self._climb(bases, is_known)
        ids = np.concatenate((new, self.ids))
        wanted = np.concatenate((np.zeros(len(new), dtype=bool), self.wanted))
        order = np.argsort(ids, kind="stable")
        is_narrow = self.is_narrow or len(bases) < FEW
        return Batch.of_ids(ids[order], wanted[order], self.lineage, is_narrow=is_narrow)

    def _climb(self, bases: Integers, is_known: Callable[[Integers], Flags]) -> Integers:
        """Return words and those above them that are neither known nor in the batch."""
        numbers, parent = self.lineage.ids, self.lineage.parents.data
        places = self.lineage.places(bases).tolist()
        # What lies above a word of the batch is above one of the bases, too.
        stops = set(self.lineage.places(self.ids).tolist())
        found = set(places)
        # First all that is above, to ask once what is known of it; then no further than that.
        for is_last in (False, True):
            for place in places:
                while place and (place := parent[place]) not in found and place not in stops:
                    found.add(place)
            ordered = np.array(sorted(found), dtype=np.int64)
            above = ordered if numbers is None else numbers[ordered]
            if not is_last:
                stops.update(ordered[is_known(above)].tolist())
                found = set(places)
        return above


def number_words(words: Words | Iterable[Sequence[int]]) -> tuple[Batch, Integers]:
    """Make a batch of words, and say which of its rows is each word's.

    Examples
    --------
    >>> number_words([(1,), (), (1,)])[1]
    array([1, 0, 1])
    """
    given = words if isinstance(words, Words) else Words.of(words)
    if given.symbols.min(initial=0) < 0:
        raise InputError(
            f"the symbol {given.symbols.min()} is negative; words are lists of positions in the "
            "alphabet, from 0 on"
        )
    width = int(given.symbols.max(initial=0)) + 1
    ids = np.zeros(len(given), dtype=np.int64)
    parents, symbols, size = [np.zeros(1, np.int64)], [np.zeros(1, np.int32)], 1
    active = given.lengths.nonzero()[0]
    position = 0
    while len(active):
        keys = ids[active] * width + given.symbols[given.offsets[active] + position]
        new, numbers = np.unique(keys, return_inverse=True)
        parents.append(new // width)
        symbols.append((new % width).astype(np.int32))
        ids[active] = size + numbers
        size += len(new)
        position += 1
        active = active[given.lengths[active] > position]
    wanted = np.zeros(size, dtype=bool)
    wanted[ids] = True
    rows = np.cumsum(wanted)[ids] - 1
    lineage = Lineage(np.concatenate(parents), np.concatenate(symbols))
    first = 0 if wanted[0] else 1  # the empty word is on the way to everything, and costs nothing
    numbered, is_narrow = np.arange(first, size), len(given) < FEW
    return Batch.of_ids(numbered, wanted[first:], lineage, is_narrow=is_narrow), rows
