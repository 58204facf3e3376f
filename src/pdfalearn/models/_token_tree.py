"""The words of a conversation as a tree of tokens."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pdfalearn.arrays.growing import grown
from pdfalearn.models.protocol import Handles
from pdfalearn.words import Words

Nodes = NDArray[np.int64]


class TokenTree:
    """Tokens, each with the token before it; a word is the number of its last token's node.

    Node 0 is the token before all words. A node takes 28 bytes, and all are forgotten together.

    Parameters
    ----------
    root : int
        The token of node 0.
    """

    def __init__(self, root: int) -> None:
        self.parents: Nodes = np.full(64, -1, dtype=np.int64)
        """Of every node the one before; -1 before the root."""
        self.tokens: NDArray[np.int32] = np.full(64, root, dtype=np.int32)
        """The token of every node."""
        self.depths: NDArray[np.int32] = np.zeros(64, dtype=np.int32)
        """The number of tokens behind the root."""
        self.rows: Nodes = np.full(64, -1, dtype=np.int64)
        """Where a node's keys and values are kept; -1 if they are not."""
        self._scratch: NDArray[np.int32] = np.full(64, -1, dtype=np.int32)
        self.size = 1
        """The number of nodes."""

    def add(self, bases: Handles, words: Words) -> Nodes:
        """Add words of tokens behind nodes; return the nodes of all their tokens."""
        count = len(words.symbols)
        new = np.arange(self.size, self.size + count)
        self.size += count
        for name in ("parents", "tokens", "depths", "rows", "_scratch"):
            setattr(self, name, grown(getattr(self, name), self.size))
        parents = new - 1
        begun = words.lengths > 0
        parents[words.offsets[:-1][begun]] = bases[begun]
        self.parents[new], self.tokens[new] = parents, words.symbols
        within = np.arange(count) - np.repeat(words.offsets[:-1], words.lengths)
        self.depths[new] = np.repeat(self.depths[bases], words.lengths) + within + 1
        return new

    def closure(self, nodes: Nodes) -> Nodes:
        """Return nodes and all that stand before them, once each and in ascending order."""
        marks, steps = self._scratch, []
        while len(nodes):
            nodes = nodes[marks[nodes] < 0]
            marks[nodes] = 1
            steps.append(nodes)
            nodes = self.parents[nodes]
            nodes = nodes[nodes >= 0]
        found = np.unique(np.concatenate(steps)) if steps else nodes
        marks[found] = -1
        return found

    def ancestry(self, nodes: Nodes, columns: Nodes) -> NDArray[np.bool_]:
        """Return a table that marks in a row for each node itself and all that stand before it.

        ``columns`` are the nodes that the columns of the table stand for: a closure of the nodes.
        """
        places = self._scratch
        places[columns] = np.arange(len(columns))
        table = np.zeros((len(nodes), len(columns)), dtype=bool)
        active = np.arange(len(nodes))
        while len(active):
            table[active, places[nodes]] = True
            nodes = self.parents[nodes]
            onwards = nodes >= 0
            active, nodes = active[onwards], nodes[onwards]
        places[columns] = -1
        return table

    def new_tokens(self, nodes: Nodes) -> Nodes:
        """Return how many nodes without rows each node needs that no earlier one needs.

        A node needs itself in any case.
        """
        active, here = np.arange(len(nodes)), nodes
        needing, needed = [active], [here]
        while len(active):
            here = self.parents[here]
            onwards = here >= 0
            onwards[onwards] = self.rows[here[onwards]] < 0
            active, here = active[onwards], here[onwards]
            needing.append(active)
            needed.append(here)
        owners, found = np.concatenate(needing), np.concatenate(needed)
        order = np.lexsort((owners, found))
        first = np.unique(found[order], return_index=True)[1]
        return np.bincount(owners[order[first]], minlength=len(nodes))
