"""Keep an observation tree and a durable store of answers in step."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pdfalearn.errors import StoreError
from pdfalearn.observations._nodes import UNDEFINED_ROW, Nodes, NodeTable
from pdfalearn.observations.answers import Answers, BadRowError

if TYPE_CHECKING:
    from pdfalearn.stores.segments import Segment
    from pdfalearn.stores.store import AnswerStore
    from pdfalearn.stores.writer import Writer


def load(store: AnswerStore, key: str, nodes: NodeTable, answers: Answers) -> Nodes:
    """Put all stored answers into a tree, where they wait to be asked for.

    They have rows, and no classes yet: a run that goes on from a store then learns the same from
    the same questions as one that was never interrupted.

    Returns
    -------
    array of int
        The nodes that have got a row.
    """
    loaded = [_load_segment(segment, nodes, answers) for segment in store.segments(key)]
    found = np.concatenate(loaded) if loaded else np.empty(0, dtype=np.int64)
    return np.unique(found)


def _load_segment(segment: Segment, table: NodeTable, answers: Answers) -> Nodes:
    try:
        numbers = answers.add(segment.rows, len(segment.rows))
    except BadRowError as error:
        raise StoreError(f"a stored answer is no distribution: {error}") from error
    nodes = _placed(segment, table)[segment.nodes]
    places = np.append(numbers, UNDEFINED_ROW)[segment.numbers]
    before = table.rows[nodes]
    again = (before != -1) & (before != places)
    if again.any():
        _check_same_classes(before[again], places[again], answers)
        nodes, places = nodes[~again], places[~again]
    table.rows[nodes] = places
    return np.extract(places >= 0, nodes)


def _placed(segment: Segment, table: NodeTable) -> Nodes:
    """Give the node of each of a segment's words, the empty word's first."""
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


def _check_same_classes(before: Nodes, places: Nodes, answers: Answers) -> None:
    classes = np.append(answers.classes, [UNDEFINED_ROW] * 2)
    if (classes[before] != classes[places]).any():
        raise StoreError(
            "the store holds two answers to one word that are in different classes: the model has "
            "changed under its name, or is restless; use another model_id or store, another kappa, "
            "or Rounded(by, decimals=6)"
        )


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
        new_rows = np.unique(new_rows[self._written_rows.of(new_rows) < 0])
        self._written_rows.add(new_rows)
        self._writer.append(
            self._written.of(parents.astype(np.int64)),
            symbols,
            self._written.of(nodes),
            np.where(rows < 0, -1, self._written_rows.of(np.maximum(rows, 0))),
            self._answers.rows[new_rows],
        )

    def _with_ancestors(self, nodes: Nodes) -> Nodes:
        """Give the nodes and their ancestors that have no number yet, parents first."""
        found: list[Nodes] = [nodes[:0]]
        here = nodes[self._written.of(nodes) < 0]
        while len(here):
            found.append(here)
            here = self._nodes.parents[here].astype(np.int64)
            here = np.unique(here[self._written.of(here) < 0])
        return np.unique(np.concatenate(found))


class _Numbering:
    """Numbers things 0, 1, … in the order in which they come."""

    def __init__(self) -> None:
        self._numbers: NDArray[np.int64] = np.full(1024, -1, dtype=np.int64)
        self._size = 0

    def of(self, things: Nodes) -> Nodes:
        """Give the numbers of things; -1 where one has none."""
        self._reserve(things)
        return self._numbers[things]

    def add(self, things: Nodes) -> None:
        """Give new things the next numbers."""
        self._reserve(things)
        self._numbers[things] = np.arange(self._size, self._size + len(things))
        self._size += len(things)

    def _reserve(self, things: Nodes) -> None:
        most = int(things.max()) + 1 if len(things) else 0
        if most > len(self._numbers):
            larger = np.full(2 * most, -1, dtype=np.int64)
            larger[: len(self._numbers)] = self._numbers
            self._numbers = larger
