"""The exact equivalence oracle, for a target that is known."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pdfalearn.certificates import Certificate
from pdfalearn.equivalence._pairs import Indices, Joint, Walk
from pdfalearn.equivalence.differences import Merging
from pdfalearn.equivalence.relations import Equivalence, check_equivalence, checked_keys
from pdfalearn.observations._row_numbers import RowNumbers
from pdfalearn.observations.tree import ObservationTree
from pdfalearn.pdfa import PDFA
from pdfalearn.words import Words

_ENOUGH = 10
_SHARE = 32
"""The walk ends with the level on which it has found this many counterexamples."""


class ExactOracle:
    """Compares hypotheses with a known target by the algorithm of Hopcroft and Karp.

    One pass is near-linear in the number of states and gives many short counterexamples: on each
    level of the walk one for every state of the hypothesis from which one symbol leads to a
    difference. It ends with the level on which it has enough of them.

    Parameters
    ----------
    target : PDFA
        The automaton that hypotheses should be equivalent to.
    by : Equivalence
        When two distributions are the same.

    Examples
    --------
    >>> from pdfalearn import Quantization, figure_3
    >>> oracle = ExactOracle(figure_3(), by=Quantization(10))
    >>> len(oracle.counterexamples(figure_3()))
    0
    """

    certificate = Certificate("exact", "equivalent to the target")

    def __init__(self, target: PDFA, *, by: Equivalence) -> None:
        self._target = target
        self._by = check_equivalence(by)
        self._numbers = RowNumbers()
        self._target_classes = self._numbers.get_or_add(checked_keys(by, target.probabilities))
        self._joint = Joint.of(target, target)
        self._last_rows = np.empty((0, len(target.alphabet) + 1))
        self._last_classes = np.empty(0, dtype=np.int64)

    def counterexamples(
        self, hypothesis: PDFA, observations: ObservationTree | None = None
    ) -> Words:
        """Give words after which target and hypothesis differ; none if they are equivalent.

        Nothing is asked, so the observations are not needed.
        """
        classes = self._joint_classes(hypothesis)
        walk = Walk(self._joint.transitions[: len(classes)], Merging(classes))
        start = hypothesis.initial + self._joint.offset
        seen = np.zeros(len(classes) + 1, dtype=bool)
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

    def _joint_classes(self, hypothesis: PDFA) -> NDArray[np.int64]:
        """Put the hypothesis beside the target and number the classes of all states."""
        if len(hypothesis) > len(self._joint.transitions) - self._joint.offset:
            self._joint = Joint.of(self._target, hypothesis)
        self._joint.put_second(hypothesis, self._columns(hypothesis))
        place = slice(self._joint.offset, self._joint.offset + len(hypothesis))
        rows = self._joint.probabilities[place]
        # A hypothesis mostly begins with the states of the one before.
        known = min(len(rows), len(self._last_rows))
        if not np.array_equal(rows[:known], self._last_rows[:known]):
            known = 0
        new = self._numbers.get_or_add(checked_keys(self._by, rows[known:]))
        self._last_rows = rows.copy()
        self._last_classes = np.concatenate((self._last_classes[:known], new))
        return np.concatenate((self._target_classes, [-1], self._last_classes))


def _first_of_each(states: Indices, seen: NDArray[np.bool_]) -> Indices:
    """Give the place of the first of each state that was not seen yet, and note it as seen."""
    chosen = []
    for place, state in enumerate(states.tolist()):
        if not seen[state]:
            seen[state] = True
            chosen.append(place)
    return np.array(chosen, dtype=np.int64)
