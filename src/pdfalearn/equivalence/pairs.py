"""Walk through the pairs of states that two automata reach together, breadth first."""

from __future__ import annotations

from abc import ABC, abstractmethod
from array import array
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from pdfalearn.alphabet import Alphabet
from pdfalearn.arrays import spelled
from pdfalearn.pdfa import PDFA, States
from pdfalearn.typing import Floats, Integers
from pdfalearn.words import Words

_FEW = 16
"""Below this many words, one after the other is faster than array passes."""
_FEW_PAIRS = 48
"""Below this many pairs too."""


def in_order_of(alphabet: Alphabet, pdfa: PDFA) -> tuple[States, Floats]:
    """Return an automaton's table and rows with the symbols in the order of an alphabet."""
    if pdfa.alphabet.symbols == alphabet.symbols:
        return pdfa.table, pdfa.probabilities
    columns = alphabet.positions_in(pdfa.alphabet)
    return pdfa.table.take(columns, axis=1), pdfa.probabilities.take([0, *columns + 1], axis=1)


def over_union(first: PDFA, second: PDFA) -> tuple[PDFA, PDFA]:
    """Return two automata over the symbols of both: the first one's, then the second's new ones.

    A symbol that an automaton does not know has probability 0 there, and leads nowhere.

    Examples
    --------
    >>> a = PDFA(alphabet="a", transitions=[[0]], probabilities=[[0.5, 0.5]])
    >>> b = PDFA(alphabet="ba", transitions=[[0, 0]], probabilities=[[0.5, 0.25, 0.25]])
    >>> [(one.transitions.tolist(), one.probabilities.tolist()) for one in over_union(a, b)]
    [([[0, -1]], [[0.5, 0.5, 0.0]]), ([[0, 0]], [[0.5, 0.25, 0.25]])]
    """
    if first.alphabet.symbols == second.alphabet.symbols:
        return first, second
    new = [symbol for symbol in second.alphabet if symbol not in first.alphabet]
    # What ends the words of one automaton may be a plain symbol of the other.
    terminal = second.terminal if first.terminal in new else first.terminal
    alphabet = Alphabet((*first.alphabet, *new), terminal)
    return _widen(first, alphabet), _widen(second, alphabet)


def _widen(pdfa: PDFA, alphabet: Alphabet) -> PDFA:
    columns = np.array([alphabet.index(symbol) for symbol in pdfa.alphabet])
    transitions = np.full((len(pdfa), len(alphabet)), -1)
    transitions[:, columns] = pdfa.transitions
    rows = np.zeros((len(pdfa), len(alphabet) + 1))
    rows[:, 0], rows[:, columns + 1] = pdfa.probabilities[:, 0], pdfa.probabilities[:, 1:]
    return PDFA(
        alphabet=alphabet, transitions=transitions, probabilities=rows, initial=pdfa.initial
    )


class Judge(ABC):
    """Decides which pairs of states differ, and which are worth following.

    A pair is a state of the first automaton and one of the second; -1 stands for undefined.
    """

    @abstractmethod
    def differ(self, lefts: States, rights: States) -> NDArray[np.bool_]:
        """Return for each pair whether its two distributions differ."""

    @abstractmethod
    def fresh(self, lefts: States, rights: States) -> NDArray[np.intp]:
        """Return the places of the pairs whose successors have to be looked at; none may differ."""

    @abstractmethod
    def sifted(self, lefts: list[int], rights: list[int]) -> tuple[list[int], list[int]]:
        """Return the places of the pairs that differ, and of the fresh ones among the others."""


class Walk:
    """A breadth-first walk from a pair of states through all pairs that words reach together.

    Pairs that differ are given out, level by level, and not followed further. The tables of the two
    automata have the symbols in the same order.
    """

    def __init__(self, first: States, second: States, judge: Judge) -> None:
        self._first = first
        self._second = second
        self._symbols = first.shape[1]
        self._judge = judge
        # Of every pair that was followed: place of its parent * symbols + symbol; its right state.
        self._origins = array("q")
        self._rights = array("q")

    def differences(self, left: int, right: int) -> Iterator[Integers]:
        """Yield the pairs that differ, as the codes of the words that led there."""
        code = -1  # of the first pair of a level
        few_lefts, few_rights = [left], [right]
        first, second = self._first.ravel().data, self._second.ravel().data
        width, symbols = self._symbols, range(self._symbols)
        while few_lefts:
            while 0 < len(few_lefts) < _FEW_PAIRS:
                different, followed = self._judge.sifted(few_lefts, few_rights)
                if different:
                    yield np.array(different) + code
                few_lefts = [few_lefts[place] for place in followed]
                few_rights = [few_rights[place] for place in followed]
                self._origins.extend([place + code for place in followed])
                self._rights.extend(few_rights)
                code = (len(self._origins) - len(followed)) * width
                few_lefts = [first[state * width + s] for state in few_lefts for s in symbols]
                few_rights = [second[state * width + s] for state in few_rights for s in symbols]
            lefts, rights = np.array(few_lefts, np.int32), np.array(few_rights, np.int32)
            while len(lefts) >= _FEW_PAIRS:
                differing = self._judge.differ(lefts, rights)
                if differing.any():
                    yield differing.nonzero()[0] + code
                    alike = (~differing).nonzero()[0]
                    places = alike[self._judge.fresh(lefts[alike], rights[alike])]
                else:
                    places = self._judge.fresh(lefts, rights)
                lefts, rights = lefts.take(places), rights.take(places)
                self._origins.frombytes((places + code).tobytes())
                self._rights.frombytes(rights.astype(np.int64).tobytes())
                code = (len(self._origins) - len(places)) * width
                lefts = self._first.take(lefts, axis=0).ravel()
                rights = self._second.take(rights, axis=0).ravel()
            few_lefts, few_rights = lefts.tolist(), rights.tolist()

    def rights_before(self, codes: Integers) -> Integers:
        """Return the right states one symbol before pairs were reached; -1 where there is none."""
        before = np.full(len(codes), -1, dtype=np.int64)
        longer = codes >= 0
        places = codes[longer] // self._symbols
        before[longer] = np.frombuffer(self._rights, dtype=np.int64)[places]
        return before

    def word(self, code: int) -> list[int]:
        """Return the word that led to a pair, as the codes of its symbols."""
        word = []
        while code >= 0:
            place, symbol = divmod(code, self._symbols)
            word.append(symbol)
            code = self._origins[place]
        return word[::-1]

    def words(self, codes: Integers) -> Words:
        """Return the words that led to many pairs."""
        if len(codes) < _FEW:
            return Words.of([self.word(code) for code in codes.tolist()])
        origins = np.frombuffer(self._origins, dtype=np.int64)
        places, last = np.divmod(codes, self._symbols)
        parents, symbols = np.divmod(origins, self._symbols)
        before, offsets = spelled(parents, symbols.astype(np.int32), places)
        return Words(np.insert(before, offsets[1:], last), offsets + np.arange(len(offsets)))
