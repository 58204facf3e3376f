"""Ask for many words in batches of a bounded size."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

from pdfalearn.observations.suffixes import EMPTY
from pdfalearn.observations.tree import ObservationTree

MOST_CELLS = 2**21
"""A batch has so many symbols and probabilities at most, if all words were as long as the longest.

Whoever gets whole words may put them side by side into an array.
"""


def ask_in_parts(
    observations: ObservationTree, nodes: NDArray[np.int64], lengths: NDArray[np.integer]
) -> None:
    """Ask for those words that are not known yet, the shortest first.

    Parameters
    ----------
    observations : ObservationTree
        Who asks.
    nodes : array of int
        The words.
    lengths : array of int
        The length of each; without them batches could not be kept small.
    """
    is_whole = not observations.model.prefixes_free
    in_order = np.argsort(lengths, kind="stable")
    costs = lengths[in_order].astype(np.int64) * is_whole + (len(observations.model.alphabet) + 1)
    for begin, end in _parts(costs):
        part = nodes[in_order[begin:end]]
        observations.classes(part, np.full(len(part), EMPTY))


def _parts(costs: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Cut words, of costs that never decrease, into parts of so many cells, or of one word."""
    begin = 0
    while begin < len(costs):
        ends = range(begin + 1, len(costs) + 1)
        cells = partial(_cells, costs, begin)
        end = begin + max(1, bisect_right(ends, MOST_CELLS, key=cells))
        yield begin, end
        begin = end


def _cells(costs: NDArray[np.int64], begin: int, end: int) -> int:
    """Count the cells of a part as if all its words were as long as the last one."""
    return (end - begin) * int(costs[end - 1])
