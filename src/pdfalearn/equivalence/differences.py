"""Tell automata and states apart: Hopcroft-Karp for equivalences, all pairs for similarity."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pdfalearn.alphabet import Symbol
from pdfalearn.arrays import UnionFind
from pdfalearn.equivalence.pairs import Judge, Walk, over_union
from pdfalearn.equivalence.relations import Relation, Tolerance, check_equivalence
from pdfalearn.errors import InputError
from pdfalearn.pdfa import PDFA, States, checked_pdfa
from pdfalearn.typing import Floats, Integers

_UNMET = -2
"""The partner of a left state that has none yet; -1 is undefined."""


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
    first, second = over_union(checked_pdfa(first, "first"), checked_pdfa(second, "second"))
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


class Merging(Judge):
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
        """Return the pairs that merge two states for the first time."""
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

    def sifted(self, lefts: list[int], rights: list[int]) -> tuple[list[int], list[int]]:
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


class Visiting(Judge):
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
        """Return the pairs that were not seen before."""
        followed = []
        for place, pair in enumerate(zip(lefts.tolist(), rights.tolist(), strict=True)):
            if pair not in self._seen:
                self._seen.add(pair)
                followed.append(place)
        return np.array(followed, dtype=np.intp)

    def sifted(self, lefts: list[int], rights: list[int]) -> tuple[list[int], list[int]]:
        """Return the pairs that are not similar, and the others that were not seen before."""
        pairs = np.array((lefts, rights), dtype=np.int32)
        differing = self.differ(*pairs)
        alike = (~differing).nonzero()[0]
        fresh = alike[self.fresh(*pairs[:, alike])]
        return differing.nonzero()[0].tolist(), fresh.tolist()
