"""What the observations already contradict."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pdfalearn.certificates import Certificate
from pdfalearn.observations._nodes import UNKNOWN
from pdfalearn.observations.tree import Nodes, ObservationTree
from pdfalearn.oracles._comparison import NO_WORDS, differing, words_of
from pdfalearn.oracles.protocol import NOTHING_KNOWN
from pdfalearn.pdfa import PDFA
from pdfalearn.words import Words


class StoredAnswersOracle:
    """Compares the hypothesis with every answer that the model has ever given, and asks nothing.

    Put it first in a `ChainOracle` whose other members ask: what sampling has paid for is then used
    until the hypothesis agrees with all of it.

    Examples
    --------
    >>> from pdfalearn import ChainOracle, PACOracle, Quantization, UniformWords, figure_3, learn
    >>> sampling = PACOracle(epsilon=0.1, delta=0.1, sampler=UniformWords(max_length=5))
    >>> oracle = ChainOracle(StoredAnswersOracle(), sampling)
    >>> len(learn(figure_3(), by=Quantization(10), oracle=oracle).pdfa)
    4
    """

    def __init__(self) -> None:
        self._passed: int | None = None
        """How many answers the last query has compared, if it found no difference."""

    @property
    def certificate(self) -> Certificate:
        """What it means that the last query found no counterexample."""
        if self._passed is None:
            return NOTHING_KNOWN
        return Certificate(
            "tested",
            "agrees with all stored answers",
            {"answers": self._passed},
        )

    def counterexamples(self, hypothesis: PDFA, observations: ObservationTree) -> Words:
        """Give the shortest words after which a stored answer and the hypothesis differ."""
        self._passed = None
        table, size = observations.nodes, observations.nodes.size
        is_known = table.classes[:size] != UNKNOWN
        states = np.full(size, hypothesis.initial, dtype=np.int32)
        for level in _levels(table.parents[:size]):
            before = states[table.parents[level]]
            if level[0]:
                states[level] = hypothesis.table[before, table.last_symbols[level]]
            known = is_known[level].nonzero()[0]
            nodes = level[known]
            wrong = differing(nodes, states[nodes], hypothesis, observations).nonzero()[0]
            if len(wrong):
                return words_of(nodes[wrong], before[known[wrong]], observations)
        self._passed = int(is_known.sum())
        return NO_WORDS


def _levels(parents: NDArray[np.int32]) -> list[Nodes]:
    """Give all nodes by the length of their words."""
    lengths = np.ones(len(parents), dtype=np.int32)
    lengths[0] = 0
    above = parents
    while above.any():
        # Twice as far up at every step: above[n] is lengths[n] symbols shorter than n, or empty.
        lengths = lengths + lengths[above]
        above = above[above]
    order = np.argsort(lengths, kind="stable")
    return np.split(order, np.cumsum(np.bincount(lengths))[:-1])
