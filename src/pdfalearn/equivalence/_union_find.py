"""Union-find over arrays: many pairs are merged in one call."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Indices = NDArray[np.int64]

_FEW = 128
"""Below this many pairs, one after the other is faster than array passes."""


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

    def merge(self, lefts: Indices, rights: Indices) -> Indices:
        """Merge the classes of every pair; give the places of the pairs that were needed for it.

        The other pairs follow from these by transitivity, or were merged before.
        """
        if len(lefts) < _FEW:
            pairs = enumerate(zip(lefts.tolist(), rights.tolist(), strict=True))
            return np.array([i for i, (p, q) in pairs if self._merge_one(p, q)], dtype=np.int64)
        needed = np.zeros(len(lefts), dtype=bool)
        rest = np.arange(len(lefts))
        while len(rest):
            lefts, rights = self._roots(lefts), self._roots(rights)
            apart = np.flatnonzero(lefts != rights)
            rest, lefts, rights = rest[apart], lefts[apart], rights[apart]
            # Every larger root goes below the smallest it is paired with: no cycles, and at least
            # half of the roots are gone after two rounds.
            larger, smaller = np.maximum(lefts, rights), np.minimum(lefts, rights)
            self._claims[larger] = len(self._parents)
            np.minimum.at(self._claims, larger, smaller)
            best = (self._claims[larger] == smaller).nonzero()[0]
            self._claims[larger[best]] = best
            won = best[self._claims[larger[best]] == best]
            self._parents[larger[won]] = smaller[won]
            needed[rest[won]] = True
            left = np.ones(len(rest), dtype=bool)
            left[won] = False
            rest, lefts, rights = rest[left], lefts[left], rights[left]
        return np.flatnonzero(needed)

    def _roots(self, nodes: Indices) -> Indices:
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

    def _merge_one(self, left: int, right: int) -> bool:
        left, right = self._root(left), self._root(right)
        if left == right:
            return False
        self._parent[max(left, right)] = min(left, right)
        return True

    def _root(self, node: int) -> int:
        parent = self._parent
        while (above := parent[node]) != node:
            parent[node] = node = parent[above]
        return node
