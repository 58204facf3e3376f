"""What labels the arcs of a classification tree: a class, or the classes along a suffix."""

from __future__ import annotations

from array import array

import numpy as np
from numpy.typing import NDArray

from pdfalearn.observations._leading import Ways
from pdfalearn.observations._nodes import UNKNOWN
from pdfalearn.observations.tree import ObservationTree
from pdfalearn.words import offsets_of

Numbers = NDArray[np.int64]


_FEW = 48
"""Below this many words, one after the other is faster than array passes."""


class ArcLabels:
    """Numbers the labels of arcs.

    Where the answers to prefixes come free, the label of a word by a suffix is its trace: the
    classes after every prefix of the suffix but the empty one. One suffix then tells many states
    apart, as if the tree had an inner node for each of the prefixes. Elsewhere it is the class
    after the whole suffix, as it is everywhere by suffixes of no or one symbol.

    Only labels by suffixes of the same length can be compared.

    Parameters
    ----------
    observations : ObservationTree
        Whom to ask.
    traces : bool
        Whether traces are wanted at all.
    """

    def __init__(self, observations: ObservationTree, *, traces: bool) -> None:
        self.are_traces = traces and observations.model.prefixes_free
        self._observations = observations
        self._traces: dict[bytes, int] = {}
        self._in_order: list[bytes] = []

    def after(self, nodes: Numbers, suffixes: Numbers) -> Numbers:
        """Give the label of every node's word by a suffix, asking for what is not known."""
        observations, table = self._observations, self._observations.nodes
        if not self.are_traces or not suffixes.any():
            return observations.classes(nodes, suffixes)
        if len(nodes) < _FEW:
            return np.array(self.after_few(nodes.tolist(), suffixes.tolist()), dtype=np.int64)
        lengths = observations.suffixes.arrays()[2][suffixes]
        offsets = offsets_of(np.maximum(lengths, 1))
        path = np.repeat(nodes, np.diff(offsets))
        ends = nodes.copy()
        for step, (places, here) in enumerate(
            table.steps_down(nodes, suffixes, observations.suffixes)
        ):
            path[offsets[places] + step] = ends[places] = here
        observations.ask(ends, Ways(path, offsets))
        observations.ask(path)
        labels = table.classes[ends].astype(np.int64)
        longer = (lengths > 1).nonzero()[0]
        traces, size = table.classes[path].tobytes(), table.classes.itemsize
        begins, stops = (size * offsets[longer]).tolist(), (size * offsets[longer + 1]).tolist()
        labels[longer] = [
            self._number(traces[begin:stop]) for begin, stop in zip(begins, stops, strict=True)
        ]
        return labels

    def _number(self, trace: bytes) -> int:
        return self._traces.setdefault(trace, len(self._traces))

    def after_few(self, nodes: list[int], suffixes: list[int]) -> list[int]:
        """Give what `after` gives, for few words: less to set up, more for each."""
        observations, table = self._observations, self._observations.nodes
        if not self.are_traces:
            return observations.classes_of_few(nodes, suffixes)
        ways = [
            table.way_down(node, suffix, observations.suffixes)
            for node, suffix in zip(nodes, suffixes, strict=True)
        ]
        ends = [way[-1] if way else node for node, way in zip(nodes, ways, strict=True)]
        labels = observations.classes_at(ends)
        for place, way in enumerate(ways):
            if len(way) > 1:
                class_at = table.class_at
                classes = [class_at[node] for node in way]
                if UNKNOWN in classes:
                    classes = observations.classes_at(way)
                labels[place] = self._number(array("i", classes).tobytes())
        return labels

    def known(self, node: int, suffix: int) -> int | None:
        """Give the label of a node's word by a suffix, or None if it is not known."""
        observations = self._observations
        if not self.are_traces:
            return observations.known_class(node, suffix)
        classes = observations.nodes.known_classes(node, suffix, observations.suffixes)
        if classes is None:
            return None
        return classes[-1] if len(classes) < 2 else self._number(array("i", classes).tobytes())

    @property
    def traces(self) -> tuple[bytes, ...]:
        """The traces in the order of their numbers, each the bytes of its classes as int32."""
        return tuple(self._traces)

    def classes(self, labels: Numbers, length: int) -> list[tuple[int, ...]]:
        """Give the classes that labels by a suffix of some length stand for."""
        if not self.are_traces or length < 2:
            return [(label,) for label in labels.tolist()]
        if len(self._in_order) < len(self._traces):
            self._in_order = list(self._traces)
        return [tuple(array("i", self._in_order[label])) for label in labels.tolist()]
