"""Walk through the pairs of states that two automata reach together, breadth first."""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pdfalearn.pdfa import PDFA

Indices = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Joint:
    """Two automata side by side over the first one's alphabet.

    States of the second follow those of the first; one more state at the end stands for undefined
    and leads to itself.
    """

    transitions: NDArray[np.int64]
    probabilities: NDArray[np.float64]
    """One row a state; undefined has none."""
    offset: int
    """What to add to a state of the second automaton."""

    @classmethod
    def of(cls, first: PDFA, second: PDFA) -> Joint:
        """Put two automata side by side, with their symbols matched."""
        if first is second:
            parts, rows, offset = [first.transitions], first.probabilities, 0
        else:
            columns = first.alphabet.positions_in(second.alphabet)
            matched = np.concatenate(([0], columns + 1))
            parts = [first.transitions, second.transitions[:, columns]]
            rows = np.concatenate((first.probabilities, second.probabilities[:, matched]))
            offset = len(first)
        sink = len(rows)
        table = np.full((sink + 1, len(first.alphabet)), sink, dtype=np.int64)
        for begin, part in zip((0, offset), parts, strict=False):
            table[begin : begin + len(part)] = np.where(part < 0, sink, part + begin)
        return cls(table, rows, offset)

    @property
    def undefined(self) -> int:
        """The state that stands for undefined."""
        return len(self.transitions) - 1


class Judge(Protocol):
    """Decides which pairs differ, and which are worth following."""

    def differ(self, lefts: Indices, rights: Indices) -> NDArray[np.bool_]:
        """Say for each pair whether its two distributions differ."""
        ...

    def fresh(self, lefts: Indices, rights: Indices) -> Indices:
        """Give the places of the pairs whose successors have to be looked at."""
        ...


def difference(joint: Joint, judge: Judge, left: int, right: int) -> list[int] | None:
    """Give a word after which two states differ, as the codes of its symbols, or None."""
    symbols = joint.transitions.shape[1]
    origins = array("q")  # of every pair that was followed: place of its parent * symbols + symbol
    lefts, rights, codes = np.array([left]), np.array([right]), np.array([-1])
    while len(lefts):
        differing = judge.differ(lefts, rights)
        if differing.any():
            return _word(origins, int(codes[np.argmax(differing)]), symbols)
        followed = judge.fresh(lefts, rights)
        places = np.arange(len(origins), len(origins) + len(followed))
        origins.frombytes(codes[followed].tobytes())
        lefts = joint.transitions[lefts[followed]].ravel()
        rights = joint.transitions[rights[followed]].ravel()
        codes = (places[:, None] * symbols + np.arange(symbols)).ravel()
        apart = lefts != rights
        lefts, rights, codes = lefts[apart], rights[apart], codes[apart]
    return None


def _word(origins: array[int], code: int, symbols: int) -> list[int]:
    word = []
    while code >= 0:
        place, symbol = divmod(code, symbols)
        word.append(symbol)
        code = origins[place]
    return word[::-1]
