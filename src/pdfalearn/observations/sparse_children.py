"""The children of nodes where the alphabet is too large for an array of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pdfalearn.arrays import IntMap, grown
from pdfalearn.typing import Codes

Nodes = NDArray[np.int64]
Symbols = NDArray[np.integer]

_NONE = -1
_SOME = -2


class SparseChildren:
    """Finds children by parent and symbol.

    A node whose children were all made at once has them one after the other, so that only the first
    is noted. Others are in a map.
    """

    def __init__(self, symbols: int) -> None:
        self._symbols = symbols
        self._singles = IntMap()
        # The node of every key of the map.
        self._single_nodes: Nodes = np.empty(0, dtype=np.int64)
        # The first child of nodes that have all; otherwise whether there are some, or none.
        self._firsts: Codes = np.empty(0, dtype=np.int32)

    def are_childless(self, nodes: Nodes) -> bool:
        """Return whether none of the nodes has a child."""
        self._reach(nodes)
        return bool((self._firsts[nodes] == _NONE).all())

    def add_all(self, nodes: Nodes, first_children: Nodes) -> None:
        """Note nodes that have all their children, in a row from the first on."""
        self._reach(nodes)
        self._firsts[nodes] = first_children

    def get(self, nodes: Nodes, symbols: Symbols) -> Nodes:
        """Return the child of each node by a symbol; -1 where there is none."""
        self._reach(nodes)
        firsts = self._firsts[nodes]
        children = np.where(firsts >= 0, firsts + symbols, -1)
        some = (firsts == _SOME).nonzero()[0]
        if len(some):
            numbers = self._singles.get(nodes[some] * self._symbols + symbols[some])
            found = numbers >= 0
            children[some[found]] = self._single_nodes[numbers[found]]
        return children

    def get_one(self, node: int, symbol: int) -> int:
        """Return the child of one node by a symbol; -1 if there is none."""
        first = self._firsts.item(node) if node < len(self._firsts) else _NONE
        if first >= 0:
            return first + symbol
        number = self._singles.get_one(node * self._symbols + symbol) if first == _SOME else -1
        return -1 if number < 0 else int(self._single_nodes.item(number))

    def add_one(self, node: int, symbol: int, child: int) -> None:
        """Note a child that is new."""
        number = self._singles.get_or_add_one(node * self._symbols + symbol)
        self._single_nodes = grown(self._single_nodes, number + 1)
        self._single_nodes[number] = child
        self._firsts = grown(self._firsts, node + 1)
        self._firsts[node] = _SOME

    def add(self, nodes: Nodes, symbols: Symbols, size: int) -> tuple[Nodes, Nodes]:
        """Add missing children, the same one perhaps twice, numbered from ``size`` on.

        Return the children, and the places where each is first.
        """
        known = len(self._singles)
        numbers = self._singles.get_or_add(nodes * self._symbols + symbols)
        more = len(self._singles) - known
        self._single_nodes = grown(self._single_nodes, known + more)
        self._single_nodes[known : known + more] = np.arange(size, size + more)
        new = np.empty(more, dtype=np.int64)
        new[numbers[::-1] - known] = np.arange(len(numbers))[::-1]
        self._firsts[nodes] = _SOME
        return self._single_nodes[numbers], new

    def _reach(self, nodes: Nodes) -> None:
        """Make room for nodes."""
        self._firsts = grown(self._firsts, int(nodes.max(initial=-1)) + 1)
