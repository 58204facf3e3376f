"""The exact equivalence oracle, for a target that is known."""

from __future__ import annotations

import numpy as np

from pdfalearn.arrays import RowNumbers
from pdfalearn.equivalence import (
    Judge,
    Merging,
    Relation,
    Tolerance,
    Visiting,
    Walk,
    check_relation,
    checked_keys,
    full_text,
    in_order_of,
)
from pdfalearn.observations import ObservationTree
from pdfalearn.pdfa import PDFA, check_pdfa
from pdfalearn.results import Certificate
from pdfalearn.typing import Floats, Integers
from pdfalearn.words import NO_WORDS, Words

_ENOUGH = 10
# The walk ends with the level on which it has found this many counterexamples.
_SHARE = 32
# Stands where there is no code of a word.
_NONE = -2


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
        self._target = target = check_pdfa(target, "target")
        self._equivalence = check_relation(equivalence)
        statement = f"equivalent to the target under {full_text(equivalence)}"
        if isinstance(equivalence, Tolerance):
            statement = f"within {equivalence.tolerance:g} of the target after every word"
        self.certificate = Certificate("exact", statement, {"equivalence": repr(equivalence)})
        # The classes of the states of target and hypothesis, -1 for undefined, and the rows of the
        # last hypothesis.
        self._numbers = RowNumbers()
        self._lefts = self._rights = np.array([-1])
        self._rows = target.probabilities[:0]

    def counterexamples(
        self, hypothesis: PDFA, observations: ObservationTree | None = None
    ) -> Words:
        """Return words after which target and hypothesis differ; none if they never do.

        Nothing is asked, so the observations are not needed.
        """
        table, rows = in_order_of(self._target.alphabet, hypothesis)
        walk = Walk(self._target.table, table, self._judge(rows))
        first_of = np.full(len(hypothesis) + 1, _NONE)
        found: list[Integers] = []
        count = 0
        for codes in walk.differences(self._target.initial, hypothesis.initial):
            found.append(_first_of_each(first_of, codes, walk.rights_before(codes)))
            count += len(found[-1])
            if count >= max(_ENOUGH, len(hypothesis) // _SHARE):
                break
        if not found:
            return NO_WORDS
        words = walk.words(np.concatenate(found))
        columns = self._target.alphabet.positions_in(hypothesis.alphabet)
        return Words(columns[words.symbols], words.offsets)

    def _judge(self, rows: Floats) -> Judge:
        """Return what decides for pairs of states whether they differ."""
        equivalence, target = self._equivalence, self._target.probabilities
        if isinstance(equivalence, Tolerance):
            return Visiting(target, rows, equivalence)
        if len(self._lefts) == 1:
            keys = checked_keys(equivalence, target)
            self._lefts = np.append(self._numbers.get_or_add(keys), -1)
        # A hypothesis mostly begins with the states of the one before.
        known = min(len(rows), len(self._rows))
        if not np.array_equal(rows[:known], self._rows[:known]):
            known = 0
        new = self._numbers.get_or_add(checked_keys(equivalence, rows[known:]))
        self._rows = rows
        self._rights = np.concatenate((self._rights[:known], new, [-1]))
        return Merging(self._lefts, self._rights)


def _first_of_each(first_of: Integers, codes: Integers, states: Integers) -> Integers:
    """Return the codes whose states have not come before, each once; -1 counts as a state."""
    new = (first_of[states] == _NONE).nonzero()[0]
    codes, states = codes[new], states[new]
    first_of[states[::-1]] = codes[::-1]
    return np.asarray(codes[first_of[states] == codes])
