"""Random walks from every state of the hypothesis."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pdfalearn.checks import checked_generator, checked_integer
from pdfalearn.observations.tree import ObservationTree
from pdfalearn.oracles.comparison import first_differences
from pdfalearn.oracles.protocol import NOTHING_KNOWN
from pdfalearn.pdfa import PDFA
from pdfalearn.reachability import reachable, shortest_words
from pdfalearn.results.certificates import Certificate
from pdfalearn.words import NO_WORDS, Words, join_words, prefixes_of, sampled_words

Floats = NDArray[np.float64]

_PART = 1024
"""Walks are asked for and compared in parts of this size."""


class StatePrefixOracle:
    """Walks at random from every state, and compares model and hypothesis all along the way.

    A walk is a shortest word that leads to the state in the hypothesis, and random symbols after
    it: all but the last keep to transitions that the hypothesis has, and the last is any symbol.
    States that hardly any sampled word would reach are tested as often as all others.

    Parameters
    ----------
    walks_per_state : int
        How many walks begin at each state; fresh ones at every query.
    walk_length : int
        The most symbols that a walk has after the state. It ends where there is no transition.
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
        self.certificate = NOTHING_KNOWN
        """What it means that the last query found no counterexample."""

    def counterexamples(self, hypothesis: PDFA, observations: ObservationTree) -> Words:
        """Return the shortest prefixes of walks after which model and hypothesis differ."""
        self.certificate = NOTHING_KNOWN
        part = reachable(hypothesis)
        access, rows = shortest_words(hypothesis, part), _ways_on(hypothesis)
        count = len(access) * self._walks
        for begin in range(0, count, _PART):
            places = np.arange(begin, min(begin + _PART, count)) // self._walks
            walks = self._walked(hypothesis, part.states[places], rows)
            words = join_words(prefixes_of(access, places, access.lengths[places]), walks)
            found = first_differences(words, hypothesis, observations)
            if len(found):
                return found
        self.certificate = Certificate(
            "tested",
            f"no difference on {self._walks} random walks of {self._length} symbols from each of "
            f"the {len(access)} states",
            {
                "walks_per_state": self._walks,
                "walk_length": self._length,
                "states": len(access),
            },
        )
        return NO_WORDS

    def _walked(self, hypothesis: PDFA, states: NDArray[np.int32], rows: Floats) -> Words:
        """Walk from states, and take one symbol more."""
        count, length = len(states), self._length - 1
        ways, _ = sampled_words(hypothesis.table, rows, states, count, length, self._random)
        last = self._random.integers(len(hypothesis.alphabet), size=count, dtype=np.int32)
        return join_words(ways, Words(last, np.arange(count + 1)))


def _ways_on(hypothesis: PDFA) -> Floats:
    """Return equal probabilities for the transitions of a state; stop only where there is none."""
    rows: Floats = np.zeros(hypothesis.probabilities.shape)
    rows[:, 1:] = hypothesis.transitions >= 0
    rows[:, 0] = rows.sum(axis=1) == 0
    rows /= rows.sum(axis=1, keepdims=True)
    return rows
