"""Markov chains in Storm's DRN format, with probabilities or with intervals of them.

States are those of the PDFA, and one more, labelled ``end``, for words that have ended. Symbols
between the same two states are one transition. The reward ``steps`` counts symbols and the
terminal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pdfalearn.pdfa import PDFA, Floats

Labels = Mapping[str, NDArray[np.bool_]]

_HEAD = """\
@type: {kind}
@value_type: {values}
@parameters

@reward_models
steps
@nr_states
{states}
@nr_choices
{states}
@model
"""


class _Edges(NamedTuple):
    """The transitions of every state and its end, each successor once, in order."""

    begins: NDArray[np.int64]
    successors: NDArray[np.int64]
    values: list[Floats]


def write(pdfa: PDFA, stream: BinaryIO, labels: Labels | None = None) -> None:
    """Write a PDFA as a Markov chain; what has probability 0 is left out.

    Parameters
    ----------
    pdfa : PDFA
        The automaton.
    stream : BinaryIO
        Where to.
    labels : mapping of str to array of bool, optional
        More labels, and the states that have them.
    """
    _write(pdfa, [pdfa.probabilities], "double", lambda value: repr(value[0]), stream, labels)


def write_intervals(
    pdfa: PDFA, lows: Floats, highs: Floats, stream: BinaryIO, labels: Labels | None = None
) -> None:
    """Write the Markov chain with an interval for every probability; those of [0, 0] are left out.

    ``lows`` and ``highs`` are tables such as ``pdfa.probabilities``. Storm solves chains whose
    intervals all begin above 0.
    """
    _write(pdfa, [highs, lows], "double-interval", _interval, stream, labels)


def _interval(value: tuple[float, ...]) -> str:
    high, low = value
    return f"[{low!r}, {high!r}]"


def _write(
    pdfa: PDFA,
    tables: list[Floats],
    values: str,
    show: Callable[[tuple[float, ...]], str],
    stream: BinaryIO,
    labels: Labels | None,
) -> None:
    edges = _merged(pdfa, tables)
    head = _HEAD.format(kind="DTMC", values=values, states=len(pdfa) + 1)
    stream.write(head.encode())
    successors = edges.successors.tolist()
    cells = list(map(show, zip(*(table.tolist() for table in edges.values), strict=True)))
    names = _state_labels(pdfa, labels or {})
    one = show((1.0,) * len(tables))
    for state, (begin, end) in enumerate(pairwise(edges.begins.tolist())):
        moves = zip(successors[begin:end], cells[begin:end], strict=True)
        stream.write("".join(_lines(state, 1, names.get(state, ""), moves)).encode())
    stream.write("".join(_lines(len(pdfa), 0, " end", iter([(len(pdfa), one)]))).encode())


def _lines(state: int, reward: int, names: str, moves: Iterator[tuple[int, str]]) -> Iterator[str]:
    yield f"state {state} [{reward}]{names}\n\taction 0 [0]\n"
    for successor, value in moves:
        yield f"\t\t{successor} : {value}\n"


def _state_labels(pdfa: PDFA, labels: Labels) -> dict[int, str]:
    """Return the labels of the states that have some, each after a blank."""
    names = {pdfa.initial: " init"}
    for name, has_it in labels.items():
        for state in has_it.nonzero()[0].tolist():
            names[state] = f"{names.get(state, '')} {name}"
    return names


def _merged(pdfa: PDFA, tables: list[Floats]) -> _Edges:
    """Add up the values of symbols between the same two states where the first table has any."""
    size = len(pdfa) + 1
    targets = np.column_stack((np.full(len(pdfa), len(pdfa)), pdfa.transitions))
    states, columns = (tables[0] > 0).nonzero()
    cells, places = np.unique(states * size + targets[states, columns], return_inverse=True)
    values = [np.bincount(places, weights=table[states, columns]) for table in tables]
    begins = np.searchsorted(cells // size, np.arange(size))
    return _Edges(begins, cells % size, [np.minimum(value, 1.0) for value in values])
