"""Answers in a store, found and added by the nodes of an observation tree."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pdfalearn.arrays.spelling import spelled
from pdfalearn.observations._answers import Answers
from pdfalearn.observations._nodes import Nodes, NodeTable
from pdfalearn.rows import Rows
from pdfalearn.stores import ModelAnswers
from pdfalearn.words import Words


class Found(NamedTuple):
    """What is stored about some words."""

    answered: Nodes
    rows: Rows
    undefined: Nodes


class StoredAnswers:
    """The answers of a run's model in a store.

    Parameters
    ----------
    answers : ModelAnswers
        The answers in the store.
    nodes : NodeTable
        The words of the run.
    """

    def __init__(self, answers: ModelAnswers, nodes: NodeTable) -> None:
        self._answers = answers
        self._nodes = nodes

    def find(self, nodes: Nodes) -> Found:
        """Return what is stored about nodes of the run."""
        places, rows = self._answers.find(self._spell(nodes))
        if rows.undefined is None:
            return Found(nodes[places], rows, nodes[:0])
        defined = (~rows.undefined).nonzero()[0]
        undefined, rows = nodes[places[rows.undefined]], rows.take(defined)
        rows.undefined = None
        return Found(nodes[places[defined]], rows, undefined)

    def write(self, nodes: Nodes, answers: Answers) -> None:
        """Write the answers of different nodes."""
        numbers = self._nodes.rows[nodes].astype(np.int64)
        undefined = numbers < 0
        rows = Rows.dense(np.broadcast_to(np.zeros(1), (len(nodes), self._nodes.symbols + 1)))
        if not undefined.all():
            rows = answers.rows(np.where(undefined, numbers.max(), numbers))
        rows.undefined = undefined if undefined.any() else None
        self._answers.add(self._spell(nodes), rows)

    def _spell(self, nodes: Nodes) -> Words:
        return Words(*spelled(self._nodes.parents, self._nodes.last_symbols, nodes))
