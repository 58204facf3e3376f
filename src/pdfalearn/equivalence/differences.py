"""Tell automata and states apart, by walks through the pairs of states that words reach."""

from __future__ import annotations

from array import array
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from pdfalearn.alphabet import Alphabet, Symbol
from pdfalearn.arrays import UnionFind, spelled
from pdfalearn.equivalence.relations import Relation, Tolerance, check_equivalence
from pdfalearn.errors import InputError
from pdfalearn.pdfa import PDFA, States, check_pdfa
from pdfalearn.typing import Floats, Integers
from pdfalearn.words import Words

# Below this many words, one after the other is faster than array passes.
_FEW = 16
# Below this many pairs too.
_FEW_PAIRS = 48


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
        # A level is a list or a pair of arrays, by its size: chains have levels of few pairs, for
        # which lists are several times as fast.
        while few_lefts:
            while 0 < len(few_lefts) < _FEW_PAIRS:
                different, followed = self._judge.sift_pairs(few_lefts, few_rights)
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


# The partner of a left state that has none yet; -1 is undefined.
_UNMET = -2


def distinguish(
    first: PDFA,
    second: PDFA,
    *,
    equivalence: Relation,
    states: tuple[int, int] | None = None,
) -> tuple[Symbol, ...] | None:
    """Find a short word after which two automata, or two states, differ.

    Parameters
    ----------
    first, second : PDFA
        The automata; the same one twice to compare its states. A symbol that one of them does not
        know is undefined there. The terminals may have different names.
    equivalence : Equivalence or Tolerance
        When two distributions are the same, or similar.
    states : pair of int, optional
        A state of each to start from; the initial states if not given.

    Returns
    -------
    tuple of symbols, or None
        A word after which one is defined and the other is not, or both are and their distributions
        differ. None if there is no such word.

    Notes
    -----
    For an equivalence this is the algorithm of Hopcroft and Karp (1971) with union-find, breadth
    first, near-linear in the number of states. Merging is not sound for a relation that is not
    transitive: for a tolerance every reachable pair of states is looked at once.

    Examples
    --------
    >>> from pdfalearn import Exact
    >>> pdfa = PDFA(alphabet="ab", transitions=[[0, 1], [1, 1]], probabilities=[[0, 0.5, 0.5]] * 2)
    >>> distinguish(pdfa, pdfa, equivalence=Exact(), states=(0, 1)) is None
    True
    """
    first, second = over_union(check_pdfa(first, "first"), check_pdfa(second, "second"))
    if states is not None and not (isinstance(states, tuple) and len(states) == 2):
        raise InputError(f"states {states!r} is not a pair: a state of each automaton")
    left, right = (first.initial, second.initial) if states is None else states
    left, right = first.checked_state(left), second.checked_state(right)
    judge: Judge
    if isinstance(equivalence, Tolerance):
        judge = Visiting(first.probabilities, second.probabilities, equivalence)
    else:
        classes = check_equivalence(equivalence).classes(
            np.concatenate((first.probabilities, second.probabilities))
        )
        lefts, rights = np.split(classes, [len(first)])
        judge = Merging(np.append(lefts, -1), np.append(rights, -1))
    walk = Walk(first.table, second.table, judge)
    for codes in walk.differences(left, right):
        return first.alphabet.decode(walk.word(int(codes[0])))
    return None


class Merging:
    """Hopcroft-Karp: a pair is followed only if it merges two classes of states.

    Given are the classes of the states' distributions, and a last one of -1, for undefined. A left
    state that was not met before is in no class yet: the first right state that it is met with
    becomes its partner. Only where it is met with another one, classes of right states merge.
    """

    def __init__(self, lefts: Integers, rights: Integers) -> None:
        self._lefts = lefts
        self._rights = rights
        self._partners = np.full(len(lefts), _UNMET, dtype=np.int32)
        self._partners[-1] = -1
        self._places = np.empty(len(lefts), dtype=np.int64)
        self._partition = UnionFind(len(rights) - 1)

    def differ(self, lefts: States, rights: States) -> NDArray[np.bool_]:
        """Return for each pair whether its two classes differ."""
        return np.not_equal(self._lefts.take(lefts), self._rights.take(rights))

    def fresh(self, lefts: States, rights: States) -> NDArray[np.intp]:
        """Return the places of pairs, none of which differ, that merge two states."""
        partners = self._partners.take(lefts)
        new = (partners != rights).nonzero()[0]
        lefts, rights = lefts.take(new), rights.take(new)
        # Of several pairs with one left state the first counts: it is written last.
        self._places[lefts[::-1]] = new[::-1]
        merges = (self._places.take(lefts) == new) & (partners.take(new) == _UNMET)
        first = merges.nonzero()[0]
        self._partners[lefts.take(first)] = rights.take(first)
        partners = self._partners.take(lefts)
        others = (partners != rights).nonzero()[0]
        if len(others):
            merges[others[self._partition.merge(partners[others], rights[others])]] = True
            first = merges.nonzero()[0]
        return np.asarray(new.take(first))

    def sift_pairs(self, lefts: list[int], rights: list[int]) -> tuple[list[int], list[int]]:
        """Return the pairs whose classes differ, and those that merge for the first time."""
        left_classes, right_classes = self._lefts.data, self._rights.data
        partners = self._partners.data
        differing, fresh = [], []
        for place, (left, right) in enumerate(zip(lefts, rights, strict=True)):
            partner = partners[left]
            if partner == right:
                continue
            if left_classes[left] != right_classes[right]:
                differing.append(place)
            elif partner == _UNMET:
                partners[left] = right
                fresh.append(place)
            elif self._partition.merge_one(partner, right):
                fresh.append(place)
        return differing, fresh


class Visiting:
    """Similarity of the states' distributions: every pair of states is followed once."""

    def __init__(self, lefts: Floats, rights: Floats, equivalence: Tolerance) -> None:
        self._lefts = lefts
        self._rights = rights
        self._equivalence = equivalence
        self._seen = {(-1, -1)}

    def differ(self, lefts: States, rights: States) -> NDArray[np.bool_]:
        """Return for each pair whether its two distributions are not similar."""
        similar = self._equivalence.similar(self._lefts[lefts], self._rights[rights])
        return np.where((lefts < 0) | (rights < 0), lefts != rights, ~similar)

    def fresh(self, lefts: States, rights: States) -> NDArray[np.intp]:
        """Return the places of the pairs that were not seen before."""
        followed = []
        for place, pair in enumerate(zip(lefts.tolist(), rights.tolist(), strict=True)):
            if pair not in self._seen:
                self._seen.add(pair)
                followed.append(place)
        return np.array(followed, dtype=np.intp)

    def sift_pairs(self, lefts: list[int], rights: list[int]) -> tuple[list[int], list[int]]:
        """Return the pairs that are not similar, and the others that were not seen before."""
        pairs = np.array((lefts, rights), dtype=np.int32)
        differing = self.differ(*pairs)
        alike = (~differing).nonzero()[0]
        fresh = alike[self.fresh(*pairs[:, alike])]
        return differing.nonzero()[0].tolist(), fresh.tolist()


Judge = Merging | Visiting
"""Decides which pairs of states, -1 for undefined, differ, and which are worth following."""
