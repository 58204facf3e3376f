"""Answers from a store, beside the observation tree until they are asked for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pdfalearn.arrays.spelling import spelled
from pdfalearn.equivalence.relations import Tolerance, different_rows
from pdfalearn.errors import StoreError
from pdfalearn.observations._nodes import Nodes, NodeTable
from pdfalearn.rows import Rows
from pdfalearn.words import Words

if TYPE_CHECKING:
    from pdfalearn.stores.segments import Segment

_NO_ROW = -1
_UNDEFINED_ROW = -2
_NOT_SOUGHT = -2
_NOT_STORED = -1
SAME = 1e-3
"""Two answers to one word that differ by more than this are not those of one model."""


class Found(NamedTuple):
    """What is stored about some words."""

    answered: Nodes
    rows: Rows
    undefined: Nodes


class StoredAnswers:
    """The words of a store in a tree of their own, so that they do not change the run's numbering.

    A run that goes on from a store then learns the same from the same questions as one that was
    never interrupted.

    Parameters
    ----------
    segments : iterable of Segment
        What was stored.
    nodes : NodeTable
        The words of the run.
    """

    def __init__(self, segments: Iterable[Segment], nodes: NodeTable) -> None:
        self._nodes = nodes
        self._words = NodeTable(nodes.symbols)
        self._rows = Rows.dense(np.empty((0, nodes.symbols + 1)))
        self._places = np.full(1024, _NOT_SOUGHT, dtype=np.int64)
        """Where each node of the run is in the tree of the store."""
        self._places[0] = 0
        for segment in segments:
            self._load(segment)

    def _load(self, segment: Segment) -> None:
        table = self._words
        nodes = _placed(segment, table)[segment.nodes]
        numbers = segment.numbers.astype(np.int64)
        rows = np.where(numbers < 0, _UNDEFINED_ROW, numbers + len(self._rows))
        self._rows = Rows.joined([self._rows, segment.rows])
        before = table.rows[nodes]
        again = before != _NO_ROW
        self._check_same(nodes[again], before[again], rows[again])
        table.rows[nodes[~again]] = rows[~again]

    def _check_same(self, nodes: Nodes, before: Nodes, rows: Nodes) -> None:
        both = (before >= 0) & (rows >= 0)
        differ = (before >= 0) != (rows >= 0)
        lefts = self._rows.take(before[both].astype(np.int64))
        differ[both] = different_rows(Tolerance(SAME), lefts, self._rows.take(rows[both]))
        if differ.any():
            word = self._words.word(int(nodes[differ.argmax()]))
            raise StoreError(
                f"the store holds two different answers to the word with the codes {word}: the "
                "model has changed under its name; use another model_id or another store"
            )

    def __len__(self) -> int:
        return self._words.size - 1 + len(self._rows)

    def sample(self, count: int, seed: int) -> tuple[Words, Rows]:
        """Return some of the words that have a distribution, and their distributions."""
        answered = (self._words.rows[: self._words.size] >= 0).nonzero()[0]
        random = np.random.default_rng(seed)
        sample = np.sort(random.choice(answered, min(count, len(answered)), replace=False))
        words = Words(*spelled(self._words.parents, self._words.last_symbols, sample))
        return words, self._rows.take(self._words.rows[sample])

    def find(self, nodes: Nodes) -> Found:
        """Return what is stored about nodes of the run."""
        places = self._found_places(nodes)
        stored = places >= 0
        nodes, rows = nodes[stored], self._words.rows[places[stored]]
        answered = rows >= 0
        return Found(
            nodes[answered], self._rows.take(rows[answered]), nodes[rows == _UNDEFINED_ROW]
        )

    def _found_places(self, nodes: Nodes) -> Nodes:
        """Look up the nodes, after those of their ancestors that were never looked up."""
        if self._nodes.size > len(self._places):
            larger = np.full(2 * self._nodes.size, _NOT_SOUGHT, dtype=np.int64)
            larger[: len(self._places)] = self._places
            self._places = larger
        levels: list[Nodes] = []
        here = nodes
        while len(here := np.unique(here[self._places[here] == _NOT_SOUGHT])):
            levels.append(here)
            here = self._nodes.parents[here].astype(np.int64)
        for level in reversed(levels):
            parents = self._places[self._nodes.parents[level]]
            places = np.full(len(level), _NOT_STORED, dtype=np.int64)
            going = parents >= 0
            symbols = self._nodes.last_symbols[level[going]]
            places[going] = self._words.known_children(parents[going], symbols)
            self._places[level] = places
        return self._places[nodes]


def _placed(segment: Segment, table: NodeTable) -> Nodes:
    """Return the node of each of a segment's words, the empty word's first."""
    parents, symbols = segment.parents, segment.symbols
    nodes = np.zeros(len(parents) + 1, dtype=np.int64)
    is_placed = np.zeros(len(nodes), dtype=bool)
    is_placed[0] = True
    rest = np.arange(len(parents))
    while len(rest):
        ready = is_placed[parents[rest]]
        now = rest[ready]
        nodes[now + 1] = table.step(nodes[parents[now]], symbols[now])
        is_placed[now + 1] = True
        rest = rest[~ready]
    return nodes
