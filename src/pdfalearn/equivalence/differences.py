"""Tell automata and states apart: Hopcroft-Karp for equivalences, all pairs for similarity."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pdfalearn.alphabet import Symbol
from pdfalearn.equivalence._pairs import Indices, Joint, Judge, Walk
from pdfalearn.equivalence._union_find import UnionFind
from pdfalearn.equivalence.relations import Relation, Tolerance, check_equivalence
from pdfalearn.errors import InputError
from pdfalearn.pdfa import PDFA


def distinguish(
    first: PDFA,
    second: PDFA,
    *,
    by: Relation,
    states: tuple[int, int] | None = None,
) -> tuple[Symbol, ...] | None:
    """Find a short word after which two automata, or two states, differ.

    Parameters
    ----------
    first, second : PDFA
        Automata over the same symbols, in any order; the same one twice to compare its states.
        The terminals may have different names.
    by : Equivalence or Tolerance
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
    >>> distinguish(pdfa, pdfa, by=Exact(), states=(0, 1)) is None
    True
    """
    joint = Joint.of(first, second)
    if states is not None and not (isinstance(states, tuple) and len(states) == 2):
        raise InputError(f"states {states!r} is not a pair: a state of each automaton")
    left, right = (first.initial, second.initial) if states is None else states
    left, right = first.checked_state(left), second.checked_state(right) + joint.offset
    judge: Judge
    if isinstance(by, Tolerance):
        judge = Visiting(joint, by)
    else:
        classes = check_equivalence(by).classes(joint.probabilities)
        classes[joint.undefined] = -1
        judge = Merging(classes)
    walk = Walk(joint.transitions, judge)
    for _, _, codes in walk.differences(left, right):
        return first.alphabet.decode(walk.word(int(codes[0])))
    return None


class Merging:
    """Hopcroft-Karp: a pair is followed only if it merges two classes of states.

    Parameters
    ----------
    classes : array of int, shape (states,)
        The class of every state's distribution.
    """

    def __init__(self, classes: Indices) -> None:
        self._classes = classes
        self._partition = UnionFind(len(classes))

    def differ(self, lefts: Indices, rights: Indices) -> NDArray[np.bool_]:
        """Say for each pair whether its two classes differ."""
        return np.not_equal(self._classes[lefts], self._classes[rights])

    def fresh(self, lefts: Indices, rights: Indices) -> Indices:
        """Give the pairs that merge what was not merged before."""
        return self._partition.merge(lefts, rights)


class Visiting:
    """Similarity: every pair of states is followed once.

    Parameters
    ----------
    joint : Joint
        Two automata side by side.
    by : Tolerance
        When two distributions are similar.
    """

    def __init__(self, joint: Joint, by: Tolerance) -> None:
        self._rows = joint.probabilities
        self._undefined = joint.undefined
        self._by = by
        self._seen: set[int] = set()

    def differ(self, lefts: Indices, rights: Indices) -> NDArray[np.bool_]:
        """Say for each pair whether its two distributions are not similar."""
        one_undefined = (lefts == self._undefined) ^ (rights == self._undefined)
        similar = self._by.similar(self._rows[lefts], self._rows[rights])
        return np.asarray(one_undefined | ~similar)

    def fresh(self, lefts: Indices, rights: Indices) -> Indices:
        """Give the pairs that were not seen before."""
        pairs = (lefts * len(self._rows) + rights).tolist()
        followed = []
        for place, pair in enumerate(pairs):
            if pair not in self._seen:
                self._seen.add(pair)
                followed.append(place)
        return np.array(followed, dtype=np.int64)
