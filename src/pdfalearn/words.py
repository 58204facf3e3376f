"""Many words at once, in two arrays; their runs through transition tables, and random walks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from pdfalearn.typing import Codes, Flags, Floats, Integers

# Below this many words at once, one word after the other is faster than array steps: a lock takes
# 1.5 times as long without this, and a chain that is learnt by classes 3.5 times.
_FEW = 64


@dataclass(frozen=True, eq=False)
class Words:
    """A batch of words as integers.

    Word ``i`` is ``symbols[offsets[i]:offsets[i + 1]]``; symbols are positions in an alphabet.

    Examples
    --------
    >>> batch = Words.of([(0, 1), (), (1,)])
    >>> len(batch), list(batch), batch.symbols.tolist()
    (3, [[0, 1], [], [1]], [0, 1, 1])
    """

    symbols: Codes
    offsets: Integers

    @classmethod
    def of(cls, words: Iterable[Sequence[int]]) -> Words:
        """Pack words that are already integers.

        Examples
        --------
        >>> Words.of([(0, 1), (), (1,)]).offsets.tolist()
        [0, 2, 2, 3]
        """
        batch = list(words)
        flat = [symbol for word in batch for symbol in word]
        return cls(np.array(flat, dtype=np.int32), offsets_of([len(word) for word in batch]))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, place: int) -> list[int]:
        here = range(len(self))[place]
        [word] = self.part(here, here + 1)
        return word

    def __iter__(self) -> Iterator[list[int]]:
        """Iterate over the words as lists of codes."""
        symbols, offsets = self.symbols.tolist(), self.offsets.tolist()
        return (symbols[begin:end] for begin, end in pairwise(offsets))

    def next_columns(self) -> Codes:
        """Return what follows every prefix: 1 + a symbol, or at the end of the word 0.

        Examples
        --------
        >>> Words.of([(0, 1), ()]).next_columns().tolist()
        [1, 2, 0, 0]
        """
        columns = np.zeros(len(self.symbols) + len(self), dtype=np.int32)
        is_symbol = np.ones(len(columns), dtype=bool)
        is_symbol[self.ends] = False
        columns[is_symbol] = self.symbols + 1
        return columns

    def take(self, places: NDArray[np.integer]) -> Words:
        """Return the words at some places."""
        return prefixes_of(self, places, self.lengths[places])

    def part(self, begin: int, end: int) -> Words:
        """Return the words from one place up to another."""
        offsets = self.offsets[begin : end + 1]
        return Words(self.symbols[offsets[0] : offsets[-1]], offsets - offsets[0])

    def parts(self, most: int) -> Iterator[tuple[int, int]]:
        """Cut the batch into parts of at most this many prefixes, and of at least one word.

        Yields
        ------
        begin, end : int
            The place of the first word of a part, and that behind its last one.

        Examples
        --------
        >>> list(Words.of([(0, 1), (), (1,), (0,) * 9, (1, 1)]).parts(5))
        [(0, 2), (2, 3), (3, 4), (4, 5)]
        """
        prefixes = self.offsets + np.arange(len(self.offsets))
        begin = 0
        while begin < len(self):
            end = int(np.searchsorted(prefixes, prefixes[begin] + most, side="right")) - 1
            end = max(end, begin + 1)
            yield begin, end
            begin = end

    def split(self, most: int) -> tuple[Words, Words]:
        """Return the first words, of at most this many prefixes but at least one, and the rest.

        Examples
        --------
        >>> first, rest = Words.of([(0, 1), (), (1,)]).split(4)
        >>> list(first), list(rest)
        ([[0, 1], []], [[1]])
        """
        if len(self.symbols) + len(self) <= most:
            return self, NO_WORDS
        _, end = next(self.parts(most))
        return self.part(0, end), self.part(end, len(self))

    @property
    def ends(self) -> Integers:
        """The place of each word's end where every word of k symbols has k + 1 entries.

        So arrays over all prefixes are laid out, as `visited_states` returns them.
        """
        return self.offsets[1:] + np.arange(len(self))

    @property
    def lengths(self) -> Integers:
        """The length of every word."""
        return np.diff(self.offsets)


def offsets_of(lengths: Sequence[int] | Integers) -> Integers:
    """Where each word begins in the flat array, and where the last one ends."""
    offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


NO_WORDS = Words(np.empty(0, dtype=np.int32), np.zeros(1, dtype=np.int64))


def prefixes_of(
    words: Words, places: NDArray[np.integer], lengths: Integers, *, begin: int = 0
) -> Words:
    """Return prefixes of the words at some places, with one length for each.

    With ``begin``, words count only from this position on.

    Examples
    --------
    >>> words = Words.of([(0, 1), (2, 3, 4)])
    >>> prefixes_of(words, np.array([1, 0, 1]), np.array([2, 1, 3])).symbols.tolist()
    [2, 3, 0, 2, 3, 4]
    """
    offsets = offsets_of(lengths)
    shifts = words.offsets[places] + begin - offsets[:-1]
    here = np.arange(offsets[-1]) + np.repeat(shifts, lengths)
    return Words(words.symbols[here], offsets)


def join_words(left: Words, right: Words) -> Words:
    """Join each word of one batch with that of another.

    Examples
    --------
    >>> join_words(Words.of([(0, 1), ()]), Words.of([(2,), (3, 4)])).symbols.tolist()
    [0, 1, 2, 3, 4]
    """
    offsets = left.offsets + right.offsets
    lengths = np.diff(offsets)
    is_left = np.arange(offsets[-1]) < np.repeat(offsets[:-1] + left.lengths, lengths)
    symbols = np.empty(len(is_left), dtype=np.int32)
    symbols[is_left] = left.symbols
    symbols[~is_left] = right.symbols
    return Words(symbols, offsets)


def visited_states(table: Codes, start: int | NDArray[np.integer], words: Words) -> Codes:
    """Return the states of the run of every word, from one state or from one state each.

    Word ``i`` of length k has k + 1 entries, the first of them at ``offsets[i] + i``. The table's
    last row is all -1, so that undefined leads to undefined.
    """
    width, successors = table.shape[1], table.reshape(-1).data
    visited = run_words(
        words,
        start,
        lambda states, symbols: table[states, symbols],
        lambda state, codes: [state := successors[state * width + symbol] for symbol in codes],
    )
    return visited.astype(np.int32)


def run_words(
    words: Words,
    start: int | NDArray[np.integer],
    step: Callable[[Integers, Codes], NDArray[np.integer]],
    walk: Callable[[int, list[int]], Sequence[int]],
) -> Integers:
    """Return where words lead, after each of their prefixes, in the layout of `visited_states`.

    Parameters
    ----------
    words : Words
        The words.
    start : int or array of int
        Where all of them begin, or each.
    step : callable
        Takes many places and a symbol for each one further.
    walk : callable
        Returns where one word leads from a place, after each of its symbols.
    """
    begins = words.offsets[:-1] + np.arange(len(words))
    visited = np.empty(len(words.symbols) + len(words), dtype=np.int64)
    visited[begins] = start
    rest: Iterable[int] = range(len(words))
    position = 0
    if len(words) >= _FEW:
        longest_first = np.argsort(-words.lengths, kind="stable")
        counts = np.bincount(words.lengths)
        running = len(words) - np.cumsum(counts)  # words with a symbol at each position
        while running[position] >= _FEW:
            active = longest_first[: running[position]]
            here = begins[active] + position
            symbols = words.symbols[words.offsets[active] + position]
            visited[here + 1] = step(visited[here], symbols)
            position += 1
        rest = longest_first[: running[position]].tolist()
    for word in rest:
        begin, end = words.offsets[word : word + 2].tolist()
        place = begin + word + position
        codes = words.symbols[begin + position : end].tolist()
        visited[place + 1 : place + 1 + len(codes)] = walk(visited.item(place), codes)
    return visited


def draw_words(
    table: Codes,
    probabilities: Floats,
    start: int | Codes,
    count: int,
    max_length: int,
    random: Generator,
) -> tuple[Words, Flags]:
    """Draw words symbol by symbol, all at once; return also which were cut at the length.

    They begin in one state, or each in its own.
    """
    cumulative = np.cumsum(probabilities, axis=1)
    active = np.arange(count)
    states = np.full(count, start, dtype=np.int32)
    steps: list[tuple[Integers, Codes]] = []
    for _ in range(max_length + 1):
        columns = draw_columns(cumulative, states, random)
        going = columns > 0
        active, states, symbols = active[going], states[going], columns[going] - 1
        if not len(active):
            break
        steps.append((active, symbols.astype(np.int32)))
        states = table[states, symbols]
    cut = np.zeros(count, dtype=bool)
    if len(steps) > max_length:
        cut[steps.pop()[0]] = True
    return collect_words(steps, count), cut


def draw_columns(cumulative: Floats, states: Codes, random: Generator) -> Integers:
    """Draw a column for each state: the first whose cumulative probability exceeds the draw."""
    draws = random.random(len(states)) * cumulative[states, -1]
    low = np.zeros(len(states), dtype=np.intp)
    high = np.full(len(states), cumulative.shape[1] - 1, dtype=np.intp)
    for _ in range(int(cumulative.shape[1] - 1).bit_length()):
        middle = (low + high) // 2
        below = cumulative[states, middle] <= draws
        low = np.where(below, np.minimum(middle + 1, high), low)
        high = np.where(below, high, middle)
    return low


def collect_words(steps: list[tuple[Integers, Codes]], count: int) -> Words:
    """Join the symbols of words: for every place, the words that go on there, and their symbols."""
    lengths = np.zeros(count, dtype=np.int64)
    for active, _ in steps:
        lengths[active] += 1
    offsets = offsets_of(lengths)
    symbols = np.empty(int(offsets[-1]), dtype=np.int32)
    for position, (active, drawn) in enumerate(steps):
        symbols[offsets[active] + position] = drawn
    return Words(symbols, offsets)
