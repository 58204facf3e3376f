"""What labels the arcs of a classification tree: a class, or the classes along a suffix."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from pdfalearn.models.protocol import QueryCost
from pdfalearn.observations.tree import ObservationTree

Numbers = NDArray[np.int64]

_BITS = ((0.75, 0), (1.5, 3), (5.0, 4), (8.0, 6), (20.0, 8), (math.inf, 11))
"""If a word costs less than this many symbols, suffixes are to tell 2 to this many states apart.

Measured on random targets: longer suffixes take fewer words and more symbols."""


class ArcLabels:
    """Numbers the labels of arcs.

    The label of a word by a suffix is its trace, the classes after every prefix of the suffix but
    the empty one, or only the class after the whole suffix. With traces one suffix tells many
    states apart, as if the tree had an inner node for each of the prefixes.

    Only labels by suffixes of the same length can be compared.

    Parameters
    ----------
    observations : ObservationTree
        The observation tree to ask.
    traces : bool, optional
        Whether labels are traces; if not given, the model's cost decides.
    """

    def __init__(self, observations: ObservationTree, *, traces: bool | None = None) -> None:
        self._observations = observations
        self.are_traces = traces_pay(observations.query_cost) if traces is None else traces

    def after(self, nodes: Numbers, suffixes: Numbers) -> Numbers:
        """Return the label of every node's word by a suffix, asking for what is not known."""
        if self.are_traces:
            return self._observations.traces(nodes, suffixes)
        return self._observations.classes(nodes, suffixes)

    def known(self, node: int, suffix: int) -> int | None:
        """Return the label of a node's word by a suffix, or None if it is not known."""
        if self.are_traces:
            return self._observations.known_trace(node, suffix)
        return self._observations.known_class(node, suffix)

    def classes(self, labels: Numbers, length: int) -> list[tuple[int, ...]]:
        """Return the classes that labels by a suffix of some length stand for."""
        if not self.are_traces:
            return [(label,) for label in labels.tolist()]
        return [self._observations.trace_classes(label, length) for label in labels.tolist()]


def traces_pay(cost: QueryCost) -> bool:
    """Return whether looking at the distributions on the way costs nothing, or saves words."""
    return cost.prefix == 0 or told_bits(cost) > 0


def told_bits(cost: QueryCost) -> int:
    """Return how many states suffixes should tell apart, as a power of 2; 0 if they stay short.

    Examples
    --------
    >>> [told_bits(QueryCost(word=word, symbol=1)) for word in (0, 6)], told_bits(QueryCost(word=1))
    ([0, 6], 11)
    """
    on_the_way = cost.symbol + cost.prefix  # a word's own distribution is not on its way
    ratio = (cost.word - cost.prefix) / on_the_way if on_the_way else math.inf
    return next(bits for least, bits in _BITS if ratio < least or least == math.inf)
