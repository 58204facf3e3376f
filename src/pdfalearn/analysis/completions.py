"""The cheapest way to an end from every place of a graph; costs are -log of probabilities."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

_MOST_ROUNDS = 64
"""After this many passes over all edges, places are settled one after the other instead."""


def least_costs(sources: Indices, successors: Indices, steps: Floats, ends: Floats) -> Floats:
    """Return the least cost of a way to an end, from every place.

    Parameters
    ----------
    sources, successors : array of int
        The edges, in the order of their sources.
    steps : array of float
        The cost of every edge, none negative.
    ends : array of float
        The cost of ending in each place; infinite where no way ends.

    Returns
    -------
    array of float
        Infinite where no end is reached.

    Examples
    --------
    >>> edges = np.array([0, 1]), np.array([1, 1])
    >>> least_costs(*edges, np.array([2.0, 2.0]), np.array([5.0, 1.0]))
    array([3., 1.])
    """
    if not len(sources):
        return ends
    costs, begins = ends.copy(), np.flatnonzero(np.diff(sources, prepend=-1))
    moving = sources[begins]
    for _ in range(_MOST_ROUNDS):
        onwards = np.minimum.reduceat(steps + costs[successors], begins)
        better = onwards < costs[moving]
        if not better.any():
            return costs
        costs[moving[better]] = onwards[better]
    return _settled(sources, successors, steps, ends)


def _settled(sources: Indices, successors: Indices, steps: Floats, ends: Floats) -> Floats:
    """Search backwards from one more place, which follows all ends, by Dijkstra's algorithm."""
    size = len(ends)
    ending = np.flatnonzero(ends < np.inf)
    begins = np.append(successors, np.full(len(ending), size))
    order = np.argsort(begins, kind="stable")
    offsets = np.searchsorted(begins[order], np.arange(size + 2))
    costs = np.append(steps, ends[ending])[order]
    arrays = costs, np.append(sources, ending)[order], offsets
    # As three arrays: several edges between two places must not be added up.
    graph: csr_array[np.float64] = csr_array(arrays, shape=(size + 1, size + 1))
    return np.asarray(dijkstra(graph, indices=np.array(size))[:-1])


def minus_logs(weights: Floats) -> Floats:
    """Return -log of weights, infinite for 0."""
    with np.errstate(divide="ignore"):
        return np.asarray(-np.log(weights) + 0.0)
