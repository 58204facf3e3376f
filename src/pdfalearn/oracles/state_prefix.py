"""Random walks from every state of the hypothesis."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pdfalearn._checks import checked_generator, checked_integer
from pdfalearn.certificates import Certificate
from pdfalearn.observations.tree import ObservationTree
from pdfalearn.oracles._comparison import NO_WORDS, first_differences
from pdfalearn.oracles.protocol import NOTHING_KNOWN
from pdfalearn.pdfa import PDFA
from pdfalearn.reachability import shortest_words
from pdfalearn.words import Words, joined, prefixes_of

_PART = 1024
"""Walks are asked for and compared in parts of this size."""


class StatePrefixOracle:
    """Walks at random from every state, and compares model and hypothesis all along the way.

    A walk is a shortest word that leads to the state in the hypothesis, and uniform symbols after
    it. States that hardly any sampled word would reach are tested as often as all others.

    Parameters
    ----------
    walks_per_state : int
        How many walks begin at each state; fresh ones at every query.
    walk_length : int
        How many symbols a walk has after the state.
    seed : int
        Seed of all random choices.

    Notes
    -----
    A query ends with the first part of 1,024 walks in which there are differences.

    Examples
    --------
    >>> from pdfalearn import Quantization, figure_3, learn
    >>> oracle = StatePrefixOracle(walks_per_state=10, walk_length=3)
    >>> print(learn(figure_3(), by=Quantization(10), oracle=oracle).certificate)
    tested: no difference on 10 random walks of 3 symbols from each of the 4 states
    """

    def __init__(self, *, walks_per_state: int, walk_length: int, seed: int = 0) -> None:
        self._walks = checked_integer(walks_per_state, "walks_per_state", 1)
        self._length = checked_integer(walk_length, "walk_length", 1)
        self._random = checked_generator(seed)
        self._passed: int | None = None
        """How many states the last query has walked from, if it found no difference."""

    @property
    def certificate(self) -> Certificate:
        """What it means that the last query found no counterexample."""
        if self._passed is None:
            return NOTHING_KNOWN
        return Certificate(
            "tested",
            f"no difference on {self._walks} random walks of {self._length} symbols from each of "
            f"the {self._passed} states",
            {
                "walks_per_state": self._walks,
                "walk_length": self._length,
                "states": self._passed,
            },
        )

    def counterexamples(self, hypothesis: PDFA, observations: ObservationTree) -> Words:
        """Give the shortest prefixes of walks after which model and hypothesis differ."""
        self._passed = None
        access = shortest_words(hypothesis)
        for begin in range(0, len(access) * self._walks, _PART):
            walks = np.arange(begin, min(begin + _PART, len(access) * self._walks))
            words = self._walked(access, walks // self._walks, len(hypothesis.alphabet))
            found = first_differences(words, hypothesis, observations)
            if len(found):
                return found
        self._passed = len(access)
        return NO_WORDS

    def _walked(self, access: Words, states: NDArray[np.int64], symbols: int) -> Words:
        """Walk on from states."""
        begins = prefixes_of(access, states, access.lengths[states])
        steps = self._random.integers(symbols, size=len(states) * self._length, dtype=np.int32)
        return joined(begins, Words(steps, np.arange(len(states) + 1) * self._length))
