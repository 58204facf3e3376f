"""Suffixes, each kept once, and traces: the classes after every prefix of a suffix, numbered."""

from __future__ import annotations

from array import array
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]
Classes = NDArray[np.int32]

EMPTY = 0
"""The empty suffix."""


class Suffixes:
    """Words numbered 0, 1, …: 0 is the empty one, every other a symbol followed by an earlier one.

    Examples
    --------
    >>> suffixes = Suffixes()
    >>> number = suffixes.add_word([1, 0, 1])
    >>> suffixes.word(number), suffixes.lengths[number], suffixes.add_word([0, 1])
    ([1, 0, 1], 3, 2)
    """

    def __init__(self) -> None:
        self._numbers: dict[tuple[int, int], int] = {}
        self.firsts = [-1]
        """The first symbol of every suffix."""
        self.rests = [EMPTY]
        """What follows it."""
        self.lengths = [0]
        self._arrays = np.empty((3, 0), dtype=np.int64)
        self._in_arrays = 0

    def add(self, symbol: int, rest: int) -> int:
        """Return the number of a symbol followed by a suffix."""
        number = self._numbers.setdefault((symbol, rest), len(self.firsts))
        if number == len(self.firsts):
            self.firsts.append(symbol)
            self.rests.append(rest)
            self.lengths.append(self.lengths[rest] + 1)
        return number

    def find(self, symbol: int, rest: int) -> int | None:
        """Return the number of a symbol followed by a suffix if it has one."""
        return self._numbers.get((symbol, rest))

    def add_word(self, codes: Iterable[int]) -> int:
        """Return the number of a word."""
        number = EMPTY
        for symbol in reversed(list(codes)):
            number = self.add(symbol, number)
        return number

    def add_all(self, codes: list[int]) -> list[int]:
        """Return the numbers of all suffixes of a word, from the whole word to the empty one."""
        numbers = [EMPTY]
        for symbol in reversed(codes):
            numbers.append(self.add(symbol, numbers[-1]))
        return numbers[::-1]

    def word(self, number: int) -> list[int]:
        """Return the symbols of a suffix."""
        codes = []
        while number:
            codes.append(self.firsts[number])
            number = self.rests[number]
        return codes

    def arrays(self) -> tuple[Numbers, Numbers, Numbers]:
        """Return the first symbols, the rests and the lengths as arrays."""
        known, size = self._in_arrays, len(self.firsts)
        if size > known:
            if size > self._arrays.shape[1]:
                larger = np.empty((3, 2 * size), dtype=np.int64)
                larger[:, :known] = self._arrays[:, :known]
                self._arrays = larger
            for row, column in enumerate((self.firsts, self.rests, self.lengths)):
                self._arrays[row, known:size] = column[known:]
            self._in_arrays = size
        firsts, rests, lengths = self._arrays
        return firsts, rests, lengths


class Traces:
    """Numbers traces 0, 1, … as they are first seen.

    A trace of one class has the number of that class, so that suffixes of at most one symbol need
    no table. Only traces of the same length can be compared.
    """

    def __init__(self) -> None:
        self._numbers: dict[bytes, int] = {}
        self._in_order: list[bytes] = []

    def of_many(self, classes: Classes, offsets: Numbers) -> Numbers:
        """Return the numbers of traces that stand one after the other, of a class or more each."""
        numbers = classes[offsets[1:] - 1].astype(np.int64)
        longer = (np.diff(offsets) > 1).nonzero()[0]
        traces, size = classes.tobytes(), classes.itemsize
        begins, stops = (size * offsets[longer]).tolist(), (size * offsets[longer + 1]).tolist()
        known = self._numbers
        numbers[longer] = [
            known.setdefault(traces[begin:stop], len(known))
            for begin, stop in zip(begins, stops, strict=True)
        ]
        return numbers

    def of_one(self, classes: list[int]) -> int:
        """Return the number of one trace."""
        if len(classes) == 1:
            return classes[0]
        return self._numbers.setdefault(array("i", classes).tobytes(), len(self._numbers))

    @property
    def all(self) -> tuple[bytes, ...]:
        """The traces in the order of their numbers, each the bytes of its classes."""
        return tuple(self._numbers)

    def classes(self, number: int, length: int) -> tuple[int, ...]:
        """Return the classes of a trace by a suffix of some length."""
        if length < 2:
            return (number,)
        if len(self._in_order) < len(self._numbers):
            self._in_order = list(self._numbers)
        return tuple(array("i", self._in_order[number]))
