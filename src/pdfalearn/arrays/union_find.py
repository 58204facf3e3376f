"""Union-find over arrays: many pairs are merged in one call."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Nodes = NDArray[np.integer]

# Below this many pairs, one after the other is faster than array passes.
_FEW = 128


class UnionFind:
    """A partition of 0, 1, …, size - 1 that only gets coarser.

    Examples
    --------
    >>> partition = UnionFind(4)
    >>> partition.merge(np.array([0, 2, 1, 0]), np.array([1, 1, 0, 2]))
    array([0, 1])
    """

    def __init__(self, size: int) -> None:
        self._parents = np.arange(size, dtype=np.int64)
        self._claims = np.empty(size, dtype=np.int64)
        self._parent = self._parents.data

    def merge(self, lefts: Nodes, rights: Nodes) -> NDArray[np.intp]:
        """Merge the classes of pair after pair; return the places of those that were needed for it.

        The other pairs follow from earlier ones by transitivity.
        """
        if len(lefts) < _FEW:
            pairs = enumerate(zip(lefts.tolist(), rights.tolist(), strict=True))
            return np.array([i for i, (p, q) in pairs if self.merge_one(p, q)], dtype=np.intp)
        needed = np.zeros(len(lefts), dtype=bool)
        rest = np.arange(len(lefts))
        ends = np.stack((lefts, rights))
        while True:
            ends = self._roots(ends)
            apart = (ends[0] != ends[1]).nonzero()[0]
            if not len(apart):
                return needed.nonzero()[0]
            rest, ends = rest[apart], ends[:, apart]
            # Every root goes below the other one of the first pair that it is in (Borůvka). That
            # leaves no cycle but of two roots in the same pair, and at most half of the roots.
            self._claims[ends.T[::-1].ravel()] = rest[::-1].repeat(2)
            left_goes, right_goes = self._claims[ends] == rest
            right_goes &= ~left_goes
            self._parents[ends[0, left_goes]] = ends[1, left_goes]
            self._parents[ends[1, right_goes]] = ends[0, right_goes]
            needed[rest[left_goes | right_goes]] = True

    def merge_one(self, left: int, right: int) -> bool:
        """Merge the classes of a pair; return whether they were two."""
        left, right = self._root(left), self._root(right)
        if left == right:
            return False
        self._parent[left] = right
        return True

    def _roots(self, nodes: Nodes) -> Nodes:
        parents = self._parents
        roots = parents[nodes]
        while True:
            above = parents[roots]
            if np.array_equal(above, roots):
                break
            parents[nodes] = above
            roots = parents[above]
        parents[nodes] = roots
        return roots

    def _root(self, node: int) -> int:
        parent = self._parent
        while (above := parent[node]) != node:
            parent[node] = node = parent[above]
        return node
