"""Sparse rows as small tables of what they list."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from pdfalearn.models.constrained._rows import CELLS_AT_ONCE, not_negative
from pdfalearn.rows import Flags, Floats, Numbers, Rows


class Block(NamedTuple):
    """A table of rows of about the same length, filled up with zeros on the right."""

    places: Numbers
    """The rows."""
    table: Floats
    """What they list, in the order of the columns."""
    inside: Flags
    """Which cells of the table are not filled up."""
    entries: Numbers
    """Where the values of these cells stand among those of all rows."""


def blocks_of(rows: Rows) -> Iterator[Block]:
    """Put rows into tables, the longest first, so that little has to be filled up."""
    if rows.offsets is None:
        raise TypeError("dense rows are a table already")
    lengths = np.diff(rows.offsets)
    order = np.argsort(-lengths, kind="stable")
    while len(order):
        width = max(1, int(lengths[order[0]]))
        places, order = np.split(order, [max(1, CELLS_AT_ONCE // width)])
        inside = np.arange(width) < lengths[places, None]
        entries = (rows.offsets[places, None] + np.arange(width))[inside]
        table = np.zeros(inside.shape)
        table[inside] = not_negative(rows.values[entries])
        yield Block(places, table, inside, entries)
