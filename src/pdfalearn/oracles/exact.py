"""The exact equivalence oracle, for a target that is known."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pdfalearn.certificates import Certificate
from pdfalearn.equivalence._pairs import Indices, Joint, Judge, Walk
from pdfalearn.equivalence.differences import Merging, Visiting
from pdfalearn.equivalence.relations import (
    Equivalence,
    Relation,
    Tolerance,
    check_relation,
    checked_keys,
)
from pdfalearn.observations._row_numbers import RowNumbers
from pdfalearn.observations.tree import ObservationTree
from pdfalearn.pdfa import PDFA
from pdfalearn.words import Words

_ENOUGH = 10
_SHARE = 32
"""The walk ends with the level on which it has found this many counterexamples."""


class ExactOracle:
    """Compares hypotheses with a known target by walking through both at once.

    One pass gives many short counterexamples: on each level of the walk one for every state of the
    hypothesis from which one symbol leads to a difference. It ends with the level on which it has
    enough of them. For an equivalence this is the algorithm of Hopcroft and Karp, near-linear in
    the number of states; for a similarity every pair of states that a word reaches is looked at.

    Parameters
    ----------
    target : PDFA
        The automaton that hypotheses should be equivalent to.
    by : Equivalence or Tolerance
        When two distributions are the same, or similar.

    Examples
    --------
    >>> from pdfalearn import Quantization, figure_3
    >>> oracle = ExactOracle(figure_3(), by=Quantization(10))
    >>> len(oracle.counterexamples(figure_3()))
    0
    """

    def __init__(self, target: PDFA, *, by: Relation) -> None:
        self._target = target
        by = check_relation(by)
        self._joint = Joint.of(target, target)
        self._judges = _Similarity(by) if isinstance(by, Tolerance) else _Classes(by, target)
        self.certificate = Certificate("exact", self._judges.statement)

    def counterexamples(
        self, hypothesis: PDFA, observations: ObservationTree | None = None
    ) -> Words:
        """Give words after which target and hypothesis differ; none if they never do.

        Nothing is asked, so the observations are not needed.
        """
        self._put(hypothesis)
        states = self._joint.offset + len(hypothesis)
        walk = Walk(self._joint.transitions[:states], self._judges.judge(self._joint, states))
        start = hypothesis.initial + self._joint.offset
        seen = np.zeros(states + 1, dtype=bool)
        found: list[Indices] = []
        count = 0
        for _, _, codes in walk.differences(self._target.initial, start):
            chosen = _first_of_each(walk.rights_before(codes), seen)
            found.append(codes[chosen])
            count += len(chosen)
            if count >= max(_ENOUGH, len(hypothesis) // _SHARE):
                break
        if not found:
            return Words.of([])
        words = walk.words(np.concatenate(found))
        return Words(self._columns(hypothesis)[words.symbols], words.offsets)

    def _columns(self, hypothesis: PDFA) -> NDArray[np.int32]:
        """Where the target's symbols stand in the hypothesis's alphabet."""
        return self._target.alphabet.positions_in(hypothesis.alphabet)

    def _put(self, hypothesis: PDFA) -> None:
        """Put the hypothesis beside the target."""
        if len(hypothesis) > len(self._joint.transitions) - self._joint.offset:
            self._joint = Joint.of(self._target, hypothesis)
        self._joint.put_second(hypothesis, self._columns(hypothesis))


class _Similarity:
    """Judges pairs of states by a similarity."""

    def __init__(self, by: Tolerance) -> None:
        self._by = by
        self.statement = f"within {by.tolerance:g} of the target after every word"

    def judge(self, joint: Joint, states: int) -> Judge:
        return Visiting(joint, self._by)


class _Classes:
    """Judges pairs of states by an equivalence; keeps the classes of the states."""

    statement = "equivalent to the target"

    def __init__(self, by: Equivalence, target: PDFA) -> None:
        self._by = by
        self._numbers = RowNumbers()
        self._first = self._numbers.get_or_add(checked_keys(by, target.probabilities))
        self._rows = np.empty((0, len(target.alphabet) + 1))
        self._second = np.empty(0, dtype=np.int64)

    def judge(self, joint: Joint, states: int) -> Judge:
        rows = joint.probabilities[joint.offset : states]
        # A hypothesis mostly begins with the states of the one before.
        known = min(len(rows), len(self._rows))
        if not np.array_equal(rows[:known], self._rows[:known]):
            known = 0
        new = self._numbers.get_or_add(checked_keys(self._by, rows[known:]))
        self._rows = rows.copy()
        self._second = np.concatenate((self._second[:known], new))
        return Merging(np.concatenate((self._first, [-1], self._second)))


def _first_of_each(states: Indices, seen: NDArray[np.bool_]) -> Indices:
    """Give the place of the first of each state that was not seen yet, and note it as seen."""
    chosen = []
    for place, state in enumerate(states.tolist()):
        if not seen[state]:
            seen[state] = True
            chosen.append(place)
    return np.array(chosen, dtype=np.int64)
