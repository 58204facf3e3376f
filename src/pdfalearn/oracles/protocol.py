"""What an equivalence oracle has to offer."""

from __future__ import annotations

from typing import Protocol

from pdfalearn.certificates import Certificate
from pdfalearn.observations.tree import ObservationTree
from pdfalearn.pdfa import PDFA
from pdfalearn.words import Words

NOTHING_KNOWN = Certificate("tested", "nothing is known: no query has passed")
"""What oracles certify whose last query found counterexamples, was broken off, or is to come."""


class EquivalenceOracle(Protocol):
    """Tries to break a hypothesis.

    That no counterexample is found does not mean that there is none, unless the oracle's
    certificate says so.
    """

    @property
    def certificate(self) -> Certificate:
        """What it means that the last query found no counterexample."""
        ...

    def counterexamples(self, hypothesis: PDFA, observations: ObservationTree) -> Words:
        """Return words after which model and hypothesis differ, the best first, or no words.

        Parameters
        ----------
        hypothesis : PDFA
            The automaton to break, over the model's alphabet.
        observations : ObservationTree
            What the model has answered; whoever has to ask it asks here.

        Returns
        -------
        Words
            The codes of the symbols are positions in the hypothesis's alphabet.
        """
        ...
