"""What the observations already contradict."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pdfalearn.observations.tree import UNKNOWN, Nodes, ObservationTree
from pdfalearn.oracles.comparison import NO_WORDS, comparison, levels, words_of
from pdfalearn.oracles.protocol import NOTHING_KNOWN
from pdfalearn.pdfa import PDFA
from pdfalearn.results.certificates import Certificate
from pdfalearn.words import Words

_ENOUGH = 32
"""A query ends after the length of words at which it has found this many differences."""


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
        """Return the shortest words after which a stored answer and the hypothesis differ."""
        self._passed = None
        nodes, before = _contradictions(hypothesis, observations)
        if len(nodes):
            return words_of(nodes, before, observations)
        table = observations.nodes
        self._passed = int((table.classes[: table.size] != UNKNOWN).sum())
        return NO_WORDS


def _contradictions(
    hypothesis: PDFA, observations: ObservationTree
) -> tuple[Nodes, NDArray[np.int32]]:
    """Walk down the tree, level by level, until there are enough differences.

    What comes after a difference is not looked at.

    Returns
    -------
    nodes, before : array of int
        The words that differ, the shortest first, and the hypothesis's states before the last
        symbol of each.
    """
    table, size = observations.nodes, observations.nodes.size
    above = table.parents[:size].astype(np.int64)
    last, classes = table.last_symbols[:size], table.classes[:size]
    differ = comparison(hypothesis, observations)
    states = np.full(size, hypothesis.initial, dtype=np.int32)
    is_open = np.ones(size, dtype=bool)
    found = [np.empty(0, dtype=np.int64)]
    count = 0
    for level in levels(above):
        if level[0]:
            parents, symbols = above.take(level), last.take(level)
            states[level] = hypothesis.table[states.take(parents), symbols]
            is_open[level] = is_open.take(parents)
        is_known = classes.take(level) != UNKNOWN
        wrong = level[is_open.take(level) & is_known & differ(level, states.take(level))]
        is_open[wrong] = False
        found.append(wrong)
        count += len(wrong)
        if count >= _ENOUGH:
            break
    nodes = np.concatenate(found)
    return nodes, states[above[nodes]]
