"""Draw words through an observation tree, and keep how many pass through every node."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from pdfalearn.alphabet import shortened
from pdfalearn.distilling.evidence import Evidence, Floats, Numbers, Table
from pdfalearn.errors import ModelError
from pdfalearn.observations.tree import Nodes, ObservationTree
from pdfalearn.rows import Rows
from pdfalearn.words import Words

_SPARSE = 0.25
"""Answers are kept sparse where at most this share of all probabilities is listed."""


class Positions(NamedTuple):
    """The prefixes of words at which a model's answer counts."""

    nodes: Nodes
    """The node of every position, word after word."""
    words: Numbers
    """The word that every position is of."""
    word_count: int

    @classmethod
    def joined(cls, parts: list[Positions]) -> Positions:
        """Return the positions of several parts, one after the other."""
        if not parts:
            return cls(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), 0)
        begins = np.cumsum([0, *(part.word_count for part in parts)])
        words = [part.words + begin for part, begin in zip(parts, begins[:-1], strict=True)]
        nodes = np.concatenate([part.nodes for part in parts])
        return cls(nodes, np.concatenate(words), int(begins[-1]))


def positions_of(
    words: Words, observations: ObservationTree, cut_length: int | None = None
) -> Positions:
    """Return the positions of words that were asked; undefined prefixes do not count.

    Words of ``cut_length`` did not end there: how they would have gone on does not count.
    """
    path = observations.path(words)
    numbers = np.repeat(np.arange(len(words)), words.lengths + 1)
    counts = observations.nodes.rows[path] >= 0
    if cut_length is not None:
        counts[words.ends[words.lengths == cut_length]] = False
    return Positions(path[counts], numbers[counts], len(words))


def evidence_of(
    observations: ObservationTree, weights: Floats, *, only_listed: bool = False
) -> tuple[Evidence, Nodes]:
    """Return the evidence of the nodes that have a weight, and these nodes in its order.

    Parameters
    ----------
    observations : ObservationTree
        The answers.
    weights : array of float
        The weight of every node.
    only_listed : bool
        Whether symbols that no sparse answer lists are left out.
    """
    nodes = weights.nonzero()[0]
    numbers = np.zeros(len(weights), dtype=np.int64)
    numbers[nodes] = np.arange(len(nodes))
    parents = numbers[observations.nodes.parents[nodes]]
    rows = observations.answers.rows(observations.nodes.rows[nodes].astype(np.int64))
    if rows.rest is not None and rows.rest.any():
        word = shortened(observations.word(int(nodes[(rows.rest > 0).argmax()])))
        raise ModelError(
            f"the model's answer to the word {word} does not list all that may follow, so it "
            "cannot be distilled; wrap the model in TopK"
        )
    symbols = observations.nodes.last_symbols[nodes].astype(np.int64)
    table, codes = _table(rows), None
    if only_listed and isinstance(table, csr_array):
        table, symbols, codes = _narrowed(table, symbols)
    evidence = Evidence(parents, symbols, weights[nodes], table, codes)
    return evidence, nodes[evidence.order]


def _narrowed(table: csr_array[np.float64], symbols: Numbers) -> tuple[Table, Numbers, Numbers]:
    """Keep the columns of symbols that are listed or taken; return which these are."""
    codes = np.union1d(table.indices[table.indices > 0] - 1, symbols[1:])
    columns = np.concatenate(([0], codes + 1))
    listed = csr_array(
        (table.data, np.searchsorted(columns, table.indices), table.indptr),
        shape=(table.shape[0], len(columns)),
    )
    numbers = np.searchsorted(codes, symbols)
    numbers[0] = 0
    if len(listed.data) > _SPARSE * listed.shape[0] * listed.shape[1]:
        return np.asarray(listed.toarray()), numbers, codes
    return listed, numbers, codes


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


def first_words(positions: Positions, most: int) -> Positions:
    """Return the positions of the first words that together have about this many nodes."""
    firsts = np.sort(np.unique(positions.nodes, return_index=True)[1])
    if len(firsts) <= most:
        return positions
    word = int(positions.words[firsts[most]])
    end = int(np.searchsorted(positions.words, word))
    return Positions(positions.nodes[:end], positions.words[:end], word)
