"""Walk through the pairs of states that two automata reach together, breadth first."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pdfalearn.pdfa import PDFA
from pdfalearn.words import Words, offsets_of

Indices = NDArray[np.int64]

_FEW = 16
"""Below this many words, one after the other is faster than array passes."""


@dataclass(frozen=True, eq=False)
class Joint:
    """Two automata side by side over the first one's alphabet.

    The states of the first come first, then a state that stands for undefined and leads to itself,
    then the states of the second.
    """

    transitions: Indices
    probabilities: NDArray[np.float64]
    """One row a state; that of undefined is arbitrary."""
    undefined: int

    @classmethod
    def of(cls, first: PDFA, second: PDFA) -> Joint:
        """Put two automata side by side, with their symbols matched."""
        sink, width = len(first), len(first.alphabet)
        table = np.full((sink + 1 + len(second), width), sink, dtype=np.int64)
        rows = np.zeros((len(table), width + 1))
        joint = cls(table, rows, sink)
        joint.transitions[:sink] = np.where(first.transitions < 0, sink, first.transitions)
        joint.probabilities[:sink] = first.probabilities
        joint.put_second(second, first.alphabet.positions_in(second.alphabet))
        return joint

    @property
    def offset(self) -> int:
        """What to add to a state of the second automaton."""
        return self.undefined + 1

    def put_second(self, second: PDFA, columns: NDArray[np.int32]) -> None:
        """Write the second automaton; ``columns`` are its columns in the order of the first's."""
        transitions = second.transitions[:, columns]
        place = slice(self.offset, self.offset + len(second))
        self.transitions[place] = np.where(
            transitions < 0, self.undefined, transitions + self.offset
        )
        self.probabilities[place, 0] = second.probabilities[:, 0]
        self.probabilities[place, 1:] = second.probabilities[:, columns + 1]


class Judge(Protocol):
    """Decides which pairs differ, and which are worth following."""

    def differ(self, lefts: Indices, rights: Indices) -> NDArray[np.bool_]:
        """Say for each pair whether its two distributions differ."""
        ...

    def fresh(self, lefts: Indices, rights: Indices) -> Indices:
        """Give the places of the pairs whose successors have to be looked at."""
        ...


class Walk:
    """A breadth-first walk from a pair of states through all pairs that words reach together.

    Pairs that differ are given out, level by level, and not followed further.
    """

    def __init__(self, transitions: Indices, judge: Judge) -> None:
        self._transitions = transitions
        self._judge = judge
        # Of every pair that was followed: place of its parent * symbols + symbol; its right state.
        self._origins = array("q")
        self._rights = array("q")

    def differences(self, left: int, right: int) -> Iterator[tuple[Indices, Indices, Indices]]:
        """Give the pairs that differ: lefts, rights, and codes of the words that led there."""
        symbols = self._transitions.shape[1]
        lefts, rights, codes = np.array([left]), np.array([right]), np.array([-1])
        while len(lefts):
            differing = self._judge.differ(lefts, rights)
            if differing.any():
                yield lefts[differing], rights[differing], codes[differing]
                alike = ~differing
                lefts, rights, codes = lefts[alike], rights[alike], codes[alike]
            followed = self._judge.fresh(lefts, rights)
            begin = len(self._origins)
            self._origins.frombytes(codes[followed].tobytes())
            self._rights.frombytes(rights[followed].tobytes())
            lefts = self._transitions[lefts[followed]].ravel()
            rights = self._transitions[rights[followed]].ravel()
            codes = np.arange(begin * symbols, len(self._origins) * symbols)
            apart = lefts != rights
            lefts, rights, codes = lefts[apart], rights[apart], codes[apart]

    def rights_before(self, codes: Indices) -> Indices:
        """Give the right states one symbol before pairs were reached; -1 where there is none."""
        before = np.full(len(codes), -1, dtype=np.int64)
        longer = codes >= 0
        places = codes[longer] // self._transitions.shape[1]
        before[longer] = np.frombuffer(self._rights, dtype=np.int64)[places]
        return before

    def word(self, code: int) -> list[int]:
        """Give the word that led to a pair, as the codes of its symbols."""
        symbols = self._transitions.shape[1]
        word = []
        while code >= 0:
            place, symbol = divmod(code, symbols)
            word.append(symbol)
            code = self._origins[place]
        return word[::-1]

    def words(self, codes: Indices) -> Words:
        """Give the words that led to many pairs."""
        if len(codes) < _FEW:
            return Words.of([self.word(code) for code in codes.tolist()])
        origins = np.frombuffer(self._origins, dtype=np.int64)
        lengths = np.zeros(len(codes), dtype=np.int64)
        last_first: list[tuple[Indices, Indices]] = []
        active, here = np.arange(len(codes)), codes
        while len(active := active[here >= 0]):
            places, symbols = np.divmod(here[here >= 0], self._transitions.shape[1])
            last_first.append((active, symbols))
            lengths[active] += 1
            here = origins[places]
        offsets = offsets_of(lengths)
        flat = np.empty(offsets[-1], dtype=np.int32)
        for distance, (active, symbols) in enumerate(last_first, 1):
            flat[offsets[active + 1] - distance] = symbols
        return Words(flat, offsets)
