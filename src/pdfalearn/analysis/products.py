"""The product of a PDFA with a language: pairs of states, and the probabilities between them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pdfalearn.chains import MOST_PAIRS, Flow, PairWalk, normalise_rows, walk_pairs
from pdfalearn.languages import DFA
from pdfalearn.pdfa import PDFA
from pdfalearn.typing import Floats

_PART = 2**14
"""Rows are added up in parts of this many pairs."""


@dataclass(frozen=True, eq=False)
class Product:
    """The pairs of a PDFA's and a DFA's states that words reach and that can still be accepted.

    Pair 0 is the initial one, and others follow breadth first. Transitions stand in the order of
    their sources. Where the DFA has no transition the word is lost, and there is no pair.
    """

    pdfa: PDFA
    dfa: DFA
    """The language over the PDFA's alphabet, as `language_dfa` returns it."""
    walk: PairWalk
    """``lefts`` are states of the PDFA, ``rights`` those of the DFA."""

    @classmethod
    def of(
        cls,
        pdfa: PDFA,
        dfa: DFA,
        *,
        followed: NDArray[np.bool_] | None = None,
        most: int = MOST_PAIRS,
    ) -> Product:
        """Walk through the pairs of states.

        Parameters
        ----------
        pdfa : PDFA
            The automaton.
        dfa : DFA
            A language over the same symbols in the same order.
        followed : array of bool, shape (states, symbols), optional
            The PDFA's transitions to follow, all of them defined; if not given, those with a
            positive probability.
        most : int
            More pairs are refused.

        Examples
        --------
        >>> from pdfalearn.datasets import figure_1
        >>> from pdfalearn.languages.kinds import language_dfa
        >>> pdfa = figure_1()
        >>> len(Product.of(pdfa, language_dfa(["a", "aa"], pdfa.alphabet)))
        3
        """
        if followed is None:
            followed = pdfa.probabilities[:, 1:] > 0
        ways = dfa.table >= 0
        walk = walk_pairs(
            (pdfa.table, pdfa.initial),
            (dfa.table, dfa.initial),
            lambda states, places: followed[states] & ways[places],
            most=most,
            remedy="ask about a language of fewer states",
        )
        return cls(pdfa, dfa, walk)

    def __len__(self) -> int:
        return len(self.walk.lefts)

    @cached_property
    def weights(self) -> Floats:
        """The probability of every transition; the PDFA's rows are divided by their sums."""
        return np.asarray(self._rows[self.walk.lefts[self.walk.sources], self.walk.symbols + 1])

    @cached_property
    def accepting(self) -> NDArray[np.bool_]:
        """Whether a word that ends in a pair is in the language."""
        return np.asarray(self.dfa.accepting[self.walk.rights])

    @cached_property
    def endings(self) -> Floats:
        """The probability that a word ends in a pair at once, in the language or not."""
        return np.asarray(self._rows[self.walk.lefts, 0])

    @cached_property
    def successes(self) -> Floats:
        """The probability that a word ends in a pair at once and is in the language."""
        return np.where(self.accepting, self.endings, 0.0)

    @cached_property
    def losses(self) -> Floats:
        """The probability that a word ends in a pair outside of the language, or is lost there."""
        lost = np.where(self.accepting, 0.0, self.endings)
        ways = self.dfa.table >= 0
        if not ways[:-1].all():
            rows = self._rows[:, 1:]
            for begin in range(0, len(self), _PART):
                part = slice(begin, begin + _PART)
                here = rows[self.walk.lefts[part]]
                lost[part] += np.where(ways[self.walk.rights[part]], 0.0, here).sum(axis=1)
        return lost

    @cached_property
    def flow(self) -> Flow:
        """The flow between the pairs; words leave when they end, or are lost."""
        leaving = self.successes + self.losses
        return Flow(self.walk.sources, self.walk.successors, self.weights, leaving)

    @cached_property
    def _rows(self) -> Floats:
        return normalise_rows(self.pdfa.probabilities)
