"""The children of nodes where the alphabet is too large for an array of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pdfalearn.observations._int_map import IntMap

Nodes = NDArray[np.int64]
Symbols = NDArray[np.integer]

_NONE = -1
_SOME = -2


class SparseChildren:
    """Finds children by parent and symbol.

    A node whose children were all made at once has them one after the other, so that only the first
    is noted. Others are held by a map.

    Parameters
    ----------
    symbols : int
        The size of the alphabet.
    """

    def __init__(self, symbols: int) -> None:
        self._symbols = symbols
        self._singles = IntMap()
        self._single_nodes: Nodes = np.empty(0, dtype=np.int64)
        """The node of every key of the map."""
        self._firsts: NDArray[np.int32] = np.empty(0, dtype=np.int32)
        """The first child of nodes that have all; otherwise whether there are some, or none."""

    def are_childless(self, nodes: Nodes) -> bool:
        """Say whether none of the nodes has a child."""
        self._reach(nodes)
        return bool((self._firsts[nodes] == _NONE).all())

    def add_all(self, nodes: Nodes, first_children: Nodes) -> None:
        """Note nodes that have all their children, in a row from the first on."""
        self._reach(nodes)
        self._firsts[nodes] = first_children

    def get(self, nodes: Nodes, symbols: Symbols) -> Nodes:
        """Give the child of each node by a symbol; -1 where there is none."""
        self._reach(nodes)
        firsts = self._firsts[nodes]
        children = np.where(firsts >= 0, firsts + symbols, -1)
        some = (firsts == _SOME).nonzero()[0]
        if len(some):
            numbers = self._singles.get(nodes[some] * self._symbols + symbols[some])
            found = numbers >= 0
            children[some[found]] = self._single_nodes[numbers[found]]
        return children

    def add(self, nodes: Nodes, symbols: Symbols, size: int) -> tuple[Nodes, Nodes]:
        """Add missing children, the same one perhaps twice.

        Parameters
        ----------
        nodes, symbols : array of int
            The children's parents and last symbols.
        size : int
            The number of the first node that is new.

        Returns
        -------
        children, new : array of int
            The children, numbered from the first new node on, and the places where each is first.
        """
        known = len(self._singles)
        numbers = self._singles.get_or_add(nodes * self._symbols + symbols)
        more = len(self._singles) - known
        if len(self._singles) > len(self._single_nodes):
            larger = np.empty(2 * len(self._singles), dtype=np.int64)
            larger[:known] = self._single_nodes[:known]
            self._single_nodes = larger
        self._single_nodes[known : known + more] = np.arange(size, size + more)
        new = np.empty(more, dtype=np.int64)
        new[numbers[::-1] - known] = np.arange(len(numbers))[::-1]
        self._firsts[nodes] = _SOME
        return self._single_nodes[numbers], new

    def _reach(self, nodes: Nodes) -> None:
        """Make room for nodes."""
        size = int(nodes.max(initial=-1)) + 1
        if size > len(self._firsts):
            larger = np.full(2 * size, _NONE, dtype=np.int32)
            larger[: len(self._firsts)] = self._firsts
            self._firsts = larger
