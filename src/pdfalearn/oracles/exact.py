"""The exact equivalence oracle, for a target that is known."""

from __future__ import annotations

import numpy as np

from pdfalearn.arrays import RowNumbers
from pdfalearn.equivalence import (
    Equivalence,
    Judge,
    Merging,
    Relation,
    Tolerance,
    Visiting,
    Walk,
    check_relation,
    checked_keys,
    in_order_of,
)
from pdfalearn.observations import ObservationTree
from pdfalearn.pdfa import PDFA, checked_pdfa
from pdfalearn.results import Certificate
from pdfalearn.typing import Floats, Integers
from pdfalearn.words import Words

_ENOUGH = 10
_SHARE = 32
"""The walk ends with the level on which it has found this many counterexamples."""
_NONE = -2
"""Stands where there is no code of a word."""


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
    equivalence : Equivalence or Tolerance
        When two distributions are the same, or similar.

    Examples
    --------
    >>> from pdfalearn import Quantization
    >>> from pdfalearn.datasets import figure_3
    >>> oracle = ExactOracle(figure_3(), equivalence=Quantization(10))
    >>> len(oracle.counterexamples(figure_3()))
    0
    """

    def __init__(self, target: PDFA, *, equivalence: Relation) -> None:
        self._target = target = checked_pdfa(target, "target")
        equivalence = check_relation(equivalence)
        rows = target.probabilities
        self._judges = (
            _Similarity(equivalence, rows)
            if isinstance(equivalence, Tolerance)
            else _Classes(equivalence, rows)
        )
        self.certificate = Certificate(
            "exact", self._judges.statement, {"equivalence": repr(equivalence)}
        )

    def counterexamples(
        self, hypothesis: PDFA, observations: ObservationTree | None = None
    ) -> Words:
        """Return words after which target and hypothesis differ; none if they never do.

        Nothing is asked, so the observations are not needed.
        """
        table, rows = in_order_of(self._target.alphabet, hypothesis)
        walk = Walk(self._target.table, table, self._judges.judge(rows))
        states = _FirstOfEach(len(hypothesis))
        found: list[Integers] = []
        count = 0
        for codes in walk.differences(self._target.initial, hypothesis.initial):
            found.append(states.chosen(codes, walk.rights_before(codes)))
            count += len(found[-1])
            if count >= max(_ENOUGH, len(hypothesis) // _SHARE):
                break
        if not found:
            return Words.of([])
        words = walk.words(np.concatenate(found))
        columns = self._target.alphabet.positions_in(hypothesis.alphabet)
        return Words(columns[words.symbols], words.offsets)


class _Similarity:
    """Judges pairs of states by a similarity."""

    def __init__(self, equivalence: Tolerance, target: Floats) -> None:
        self._equivalence = equivalence
        self._target = target
        self.statement = f"within {equivalence.tolerance:g} of the target after every word"

    def judge(self, rows: Floats) -> Judge:
        return Visiting(self._target, rows, self._equivalence)


class _Classes:
    """Judges pairs of states by an equivalence; keeps the classes of the states."""

    statement = "equivalent to the target"

    def __init__(self, equivalence: Equivalence, target: Floats) -> None:
        self._equivalence = equivalence
        self._numbers = RowNumbers()
        self._lefts = np.append(self._numbered(target), -1)
        self._rows = target[:0]
        self._rights = np.array([-1])

    def judge(self, rows: Floats) -> Judge:
        # A hypothesis mostly begins with the states of the one before.
        known = min(len(rows), len(self._rows))
        if not np.array_equal(rows[:known], self._rows[:known]):
            known = 0
        new = self._numbered(rows[known:])
        self._rows = rows
        self._rights = np.concatenate((self._rights[:known], new, [-1]))
        return Merging(self._lefts, self._rights)

    def _numbered(self, rows: Floats) -> Integers:
        return self._numbers.get_or_add(checked_keys(self._equivalence, rows))


class _FirstOfEach:
    """Chooses the first code that comes with each state; -1 counts as a state."""

    def __init__(self, states: int) -> None:
        self._first = np.full(states + 1, _NONE)

    def chosen(self, codes: Integers, states: Integers) -> Integers:
        """Return the codes whose states have not come before, each once."""
        new = (self._first[states] == _NONE).nonzero()[0]
        codes, states = codes[new], states[new]
        self._first[states[::-1]] = codes[::-1]
        return np.asarray(codes[self._first[states] == codes])
