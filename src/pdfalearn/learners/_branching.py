"""Traces as arcs of the paper's tree: an inner node wherever the traces of a suffix differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

Trace = tuple[int, ...]


class Arc(NamedTuple):
    """An arc of the tree that stands for the arcs of one node.

    An inner node is numbered as it comes and has the length of its prefix, a child its place.
    """

    parent: int
    """The inner node that it leaves; -1 for the arc to the topmost."""
    class_: int
    """Its label; without meaning on the arc to the topmost."""
    inner: int | None
    """The inner node that it leads to, if it leads to one."""
    length: int
    """How long the prefix of the suffix is that this inner node has."""
    child: int
    """The child that it leads to otherwise."""


def branches(traces: Sequence[Trace]) -> Iterator[Arc]:
    """Yield the arcs of a tree that tells different traces apart, those near the top first.

    Examples
    --------
    >>> for arc in branches([(0, 1, 1), (0, 1, 2), (0, 2, 2)]):
    ...     print(arc.parent, arc.class_, arc.inner, arc.length, arc.child)
    -1 -1 0 2 0
    0 1 1 3 0
    0 2 None 0 2
    1 1 None 0 0
    1 2 None 0 1
    """
    groups = [(-1, -1, list(range(len(traces))), 0)]
    inner = 0
    for parent, class_, children, length in groups:  # the list grows in front of the loop
        if len(children) == 1 and parent >= 0:
            yield Arc(parent, class_, None, 0, children[0])
            continue
        first = traces[children[0]]
        while length < len(first) - 1 and all(traces[i][length] == first[length] for i in children):
            length += 1
        yield Arc(parent, class_, inner, length + 1, children[0])
        parts: dict[int, list[int]] = {}
        for child in children:
            parts.setdefault(traces[child][length], []).append(child)
        groups += ((inner, next_, part, length + 1) for next_, part in parts.items())
        inner += 1
