"""From which nodes of a graph others can be reached."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def reaching(
    sources: NDArray[np.integer], successors: NDArray[np.integer], targets: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Return which nodes reach one of the targets, which they may be themselves.

    Parameters
    ----------
    sources, successors : array of int
        The nodes where each edge begins and ends.
    targets : array of bool, one entry a node
        The nodes to reach.

    Examples
    --------
    >>> reaching(np.array([0, 2]), np.array([1, 0]), np.array([False, True, False, False]))
    array([ True,  True,  True, False])
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order

    size = len(targets)
    # Backwards from one more node, which leads to all targets.
    ends = targets.nonzero()[0]
    begins = np.concatenate((successors, np.full(len(ends), size)))
    ends = np.concatenate((sources, ends))
    ones = np.ones(len(begins), dtype=np.int8)
    graph = csr_array((ones, (begins, ends)), shape=(size + 1, size + 1))
    reached = np.zeros(size + 1, dtype=bool)
    reached[breadth_first_order(graph, size, return_predecessors=False)] = True
    return reached[:-1]
