"""All words up to a length, for small alphabets."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from pdfalearn.checks import checked_integer
from pdfalearn.errors import InputError
from pdfalearn.observations.tree import Nodes, ObservationTree
from pdfalearn.oracles.comparison import differing, words_of
from pdfalearn.oracles.protocol import NOTHING_KNOWN
from pdfalearn.pdfa import PDFA
from pdfalearn.results.certificates import Certificate
from pdfalearn.words import NO_WORDS, Words

_PART = 4096
"""Words are asked for and compared in parts of this size."""
_MOST_WORDS = 10_000_000


class AllWordsOracle:
    """Compares model and hypothesis after every word up to a length, the shortest first.

    Words that go on after an undefined one are undefined, and left out.

    Parameters
    ----------
    max_length : int
        The length of the longest words.

    Notes
    -----
    A query ends with the first part of 4,096 words of one length in which there are differences.

    Examples
    --------
    >>> from pdfalearn import Quantization, figure_3, learn
    >>> oracle = AllWordsOracle(max_length=4)
    >>> print(learn(figure_3(), by=Quantization(10), oracle=oracle).certificate)
    tested: model and automaton agree on all words of up to 4 symbols
    """

    def __init__(self, max_length: int) -> None:
        self._max_length = checked_integer(max_length, "max_length", 0)
        self.certificate = NOTHING_KNOWN
        """What it means that the last query found no counterexample."""

    def counterexamples(self, hypothesis: PDFA, observations: ObservationTree) -> Words:
        """Return the shortest words after which model and hypothesis differ."""
        self.certificate = NOTHING_KNOWN
        self._check_count(len(hypothesis.alphabet))
        count = 0
        nodes, states, before = np.array([0]), np.array([hypothesis.initial]), np.array([-1])
        for length in range(self._max_length + 1):
            count += len(nodes)
            found = _first_wrong(nodes, states, before, hypothesis, observations)
            if len(found):
                return found
            # Where one is undefined, so is the other: there was no difference.
            on = states >= 0
            if length < self._max_length:
                before = np.repeat(states[on], len(hypothesis.alphabet))
                on_nodes = np.repeat(nodes[on], len(hypothesis.alphabet))
                symbols = np.tile(np.arange(len(hypothesis.alphabet)), int(on.sum()))
                nodes = observations.step(on_nodes, symbols)
                states = hypothesis.transitions[states[on]].reshape(-1)
        self.certificate = Certificate(
            "tested",
            f"model and automaton agree on all words of up to {self._max_length} symbols",
            {"max_length": self._max_length, "words": count},
        )
        return NO_WORDS

    def _check_count(self, symbols: int) -> None:
        """Refuse lengths with too many words to ask."""
        digits = self._max_length * math.log10(symbols)
        if digits > 18:
            raise InputError(self._too_many(f"about 10^{digits:.0f}", symbols))
        count = sum(symbols**length for length in range(self._max_length + 1))
        if count > _MOST_WORDS:
            raise InputError(self._too_many(f"{count:,}", symbols))

    def _too_many(self, count: str, symbols: int) -> str:
        return (
            f"there are {count} words of up to {self._max_length} symbols over an alphabet of "
            f"{symbols}, and {_MOST_WORDS:,} at most can be compared; choose a smaller max_length"
        )


def _first_wrong(
    nodes: Nodes,
    states: NDArray[np.integer],
    before: NDArray[np.integer],
    hypothesis: PDFA,
    observations: ObservationTree,
) -> Words:
    """Return counterexamples of the first part of words of one length that has any."""
    for begin in range(0, len(nodes), _PART):
        part = slice(begin, begin + _PART)
        observations.ask(nodes[part])
        wrong = begin + differing(nodes[part], states[part], hypothesis, observations).nonzero()[0]
        if len(wrong):
            return words_of(nodes[wrong], before[wrong], observations)
    return NO_WORDS
