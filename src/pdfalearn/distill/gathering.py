"""Draw words through an observation tree, and keep how many pass through every node."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from pdfalearn.distill.evidence import Evidence, Floats, Numbers, Table
from pdfalearn.observations.tree import UNDEFINED, Nodes, ObservationTree
from pdfalearn.rows import Rows
from pdfalearn.words import Words

_SPARSE = 0.25
"""Answers are kept sparse where at most this share of all probabilities is listed."""


class Positions:
    """The prefixes of words at which a model's answer counts.

    Parameters
    ----------
    nodes : array of int
        The node of every position, word after word.
    words : array of int
        The word that every position is of.
    """

    def __init__(self, nodes: Nodes, words: Numbers) -> None:
        self.nodes = nodes
        self.words = words

    @property
    def word_count(self) -> int:
        """How many words there are."""
        return int(self.words[-1]) + 1 if len(self.words) else 0

    @classmethod
    def joined(cls, parts: list[Positions]) -> Positions:
        """Return the positions of several parts, one after the other."""
        if not parts:
            return cls(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))
        begins = np.cumsum([0, *(part.word_count for part in parts)])
        words = [part.words + begin for part, begin in zip(parts, begins[:-1], strict=True)]
        return cls(np.concatenate([part.nodes for part in parts]), np.concatenate(words))


def positions_of(words: Words, observations: ObservationTree) -> Positions:
    """Return the positions of words that were asked; those of undefined prefixes do not count."""
    path = observations.path(words)
    numbers = np.repeat(np.arange(len(words)), words.lengths + 1)
    known = observations.row_numbers(path) >= 0
    known &= observations.known_classes(path) != UNDEFINED
    return Positions(path[known], numbers[known])


def evidence_of(observations: ObservationTree, weights: Floats) -> tuple[Evidence, Nodes]:
    """Return the evidence of the nodes that have a weight, and which node each of its nodes is."""
    nodes = weights.nonzero()[0]
    numbers = np.zeros(len(weights), dtype=np.int64)
    numbers[nodes] = np.arange(len(nodes))
    parents = numbers[observations.parents(nodes)]
    rows = observations.numbered_rows(observations.row_numbers(nodes).astype(np.int64))
    symbols = observations.last_symbols(nodes).astype(np.int64)
    evidence = Evidence(parents, symbols, weights[nodes], _table(rows))
    return evidence, nodes[evidence.order]


def _table(rows: Rows) -> Table:
    """Return distributions as a table, a sparse one where most of it is 0; each sums up to 1."""
    width = rows.width
    if rows.columns is None or rows.offsets is None:
        dense = rows.values
        return np.asarray(dense / dense.sum(axis=1, keepdims=True))
    shape = (len(rows), width)
    table = csr_array((rows.values.copy(), rows.columns, rows.offsets), shape=shape)
    table.data /= np.repeat(np.asarray(table.sum(axis=1)), np.diff(table.indptr))
    if len(table.data) > _SPARSE * len(rows) * width:
        return np.asarray(table.toarray())
    return table
