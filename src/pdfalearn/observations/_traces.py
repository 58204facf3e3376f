"""Traces: the classes after every prefix of a suffix, numbered."""

from __future__ import annotations

from array import array

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]
Classes = NDArray[np.int32]


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
