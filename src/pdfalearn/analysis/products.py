"""The product of a PDFA with a language: pairs of states, and the probabilities between them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pdfalearn.chains import Flow, PairWalk, normalise_rows, walk_pairs
from pdfalearn.languages import DFA
from pdfalearn.pdfa import PDFA
from pdfalearn.typing import Flags, Floats

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
    def of(cls, pdfa: PDFA, dfa: DFA, *, followed: Flags | None = None) -> Product:
        """Walk through the pairs of states, along symbols of a positive probability or those given.

        Examples
        --------
        >>> from pdfalearn.datasets import figure_1
        >>> from pdfalearn.languages import language_dfa
        >>> pdfa = figure_1()
        >>> len(Product.of(pdfa, language_dfa(["a", "aa"], pdfa.alphabet)))
        3
        """
        if followed is None:
            followed = pdfa.probabilities[:, 1:] > 0
        ways = dfa.table >= 0
        walk = walk_pairs(
            pdfa,
            dfa,
            lambda states, places: followed[states] & ways[places],
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
    def accepting(self) -> Flags:
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

    def sum_lost(self, table: Floats) -> Floats:
        """Add up what rows give to symbols that lead out of the language for good, by pair."""
        lost, ways = np.zeros(len(self)), self.dfa.table >= 0
        if not ways[:-1].all():
            for begin in range(0, len(self), _PART):
                part = slice(begin, begin + _PART)
                rows = table[self.walk.lefts[part], 1:]
                lost[part] = np.where(ways[self.walk.rights[part]], 0.0, rows).sum(axis=1)
        return lost

    @cached_property
    def flow(self) -> Flow:
        """The flow between the pairs; words leave when they end, or are lost."""
        leaving = self.endings + self.sum_lost(self._rows)
        return Flow(self.walk.sources, self.walk.successors, self.weights, leaving)

    @cached_property
    def _rows(self) -> Floats:
        return normalise_rows(self.pdfa.probabilities)
