"""What an equivalence oracle has to offer."""

from __future__ import annotations

from typing import Protocol

from pdfalearn.observations.tree import ObservationTree
from pdfalearn.pdfa import PDFA
from pdfalearn.results.certificates import Certificate
from pdfalearn.words import Words

NOTHING_KNOWN = Certificate("tested", "nothing is known: no query has passed")
"""What oracles certify whose last query found counterexamples, was broken off, or is to come."""


class EquivalenceOracle(Protocol):
    """Tries to break a hypothesis.

    That no counterexample is found does not mean that there is none, unless the oracle's
    certificate says so.

    Examples
    --------
    >>> import numpy as np
    >>> from pdfalearn import Quantization, Words, figure_3, learn
    >>> class TheseWords:
    ...     certificate = Certificate("tested", "agrees on the words of a list")
    ...
    ...     def __init__(self, words):
    ...         self.words = words
    ...
    ...     def counterexamples(self, hypothesis, observations):
    ...         codes = [hypothesis.alphabet.encode(word) for word in self.words]
    ...         nodes = np.array([observations.node(one) for one in codes])
    ...         rows = np.array([hypothesis.next_distribution(word) for word in self.words])
    ...         wrong = observations.asked_classes(nodes) != observations.classes_of(rows)
    ...         return Words.of([codes[place] for place in wrong.nonzero()[0]][:1])
    >>> oracle = TheseWords(["0", "1", "01", "011"])
    >>> len(learn(figure_3(), by=Quantization(10), oracle=oracle).pdfa)
    4
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
            What the model has answered. An oracle that has to ask the model asks here.

        Returns
        -------
        Words
            The codes of the symbols are positions in the hypothesis's alphabet.
        """
        ...
