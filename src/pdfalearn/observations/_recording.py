"""Write the answers in an observation tree into a durable store."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pdfalearn.observations._answers import Answers
from pdfalearn.observations._nodes import Nodes, NodeTable

if TYPE_CHECKING:
    from pdfalearn.stores.writer import Writer


class Recording:
    """Writes a tree's answers into a store, each once, in the writer's own numbering.

    Parameters
    ----------
    writer : Writer
        Where to write.
    nodes : NodeTable
        The words.
    answers : Answers
        The distributions.
    """

    def __init__(self, writer: Writer, nodes: NodeTable, answers: Answers) -> None:
        self._writer = writer
        self._nodes = nodes
        self._answers = answers
        self._written = _Numbering()
        self._written_rows = _Numbering()
        self._written.add(np.zeros(1, dtype=np.int64))

    def write(self, nodes: Nodes) -> None:
        """Write the answers of different nodes that were not written before."""
        new = self._with_ancestors(nodes)
        parents, symbols = self._nodes.parents[new], self._nodes.last_symbols[new]
        self._written.add(new)
        rows = self._nodes.rows[nodes].astype(np.int64)
        new_rows = rows[rows >= 0]
        new_rows = new_rows[self._written_rows.of(new_rows) < 0]
        new_rows = np.unique(new_rows) if len(new_rows) else new_rows
        self._written_rows.add(new_rows)
        self._writer.append(
            self._written.of(parents.astype(np.int64)),
            symbols,
            self._written.of(nodes),
            np.where(rows < 0, -1, self._written_rows.of(np.maximum(rows, 0))),
            self._answers.rows(new_rows),
        )

    def _with_ancestors(self, nodes: Nodes) -> Nodes:
        """Return the nodes and their ancestors that have no number yet, parents first."""
        new = nodes[self._written.of(nodes) < 0]
        above = self._missing_parents(new)
        while len(above):
            new = np.union1d(new, above)
            above = self._missing_parents(above)
        return np.sort(new)

    def _missing_parents(self, nodes: Nodes) -> Nodes:
        parents = self._nodes.parents[nodes].astype(np.int64)
        return parents[self._written.of(parents) < 0]


class _Numbering:
    """Numbers things 0, 1, … in the order in which they come."""

    def __init__(self) -> None:
        self._numbers: NDArray[np.int64] = np.full(1024, -1, dtype=np.int64)
        self._size = 0

    def of(self, things: Nodes) -> Nodes:
        """Return the numbers of things; -1 where one has none."""
        self._reserve(things)
        return self._numbers[things]

    def add(self, things: Nodes) -> None:
        """Number new things with the next numbers."""
        self._reserve(things)
        self._numbers[things] = np.arange(self._size, self._size + len(things))
        self._size += len(things)

    def _reserve(self, things: Nodes) -> None:
        most = int(things.max()) + 1 if len(things) else 0
        if most > len(self._numbers):
            larger = np.full(2 * most, -1, dtype=np.int64)
            larger[: len(self._numbers)] = self._numbers
            self._numbers = larger
