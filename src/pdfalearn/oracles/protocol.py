"""What an equivalence oracle has to offer."""

from __future__ import annotations

from typing import Protocol

from pdfalearn.alphabet import Alphabet
from pdfalearn.pdfa import PDFA
from pdfalearn.words import Words


class EquivalenceOracle(Protocol):
    """Tries to break a hypothesis.

    That no counterexample is found does not mean that there is none, unless the oracle's
    certificate says so.
    """

    @property
    def alphabet(self) -> Alphabet:
        """The symbols of the words that it gives."""
        ...

    @property
    def certificate(self) -> str:
        """What it means when no counterexample is found."""
        ...

    def counterexamples(self, hypothesis: PDFA) -> Words:
        """Give words after which target and hypothesis differ, the best first; none if none found.

        The codes of the symbols are positions in this oracle's alphabet.
        """
        ...
