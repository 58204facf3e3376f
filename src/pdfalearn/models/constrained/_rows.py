"""What all wrappers do with rows, however these are stored."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from pdfalearn.row_checks import UndecidedError, check_decided
from pdfalearn.rows import Rows, SharedRows
from pdfalearn.typing import Flags, Floats, Integers

SPARSE_ABOVE = 64
"""Over more symbols than this, what is left of dense rows is listed."""
CELLS_AT_ONCE = 2**20
"""At most about this many probabilities are changed at once, to keep the extra memory small."""


class UnchangeableError(ValueError):
    """Some rows cannot be changed; ``bad`` marks them, and the message is about the first."""

    def __init__(self, message: str, bad: Flags) -> None:
        super().__init__(message)
        self.bad = bad


def refuse_undecided(rows: Rows, undecided: Flags, reason: str) -> None:
    """Refuse rows that leave open what has to be known; the error says why it has to."""
    try:
        check_decided(rows, undecided, reason)
    except UndecidedError as error:
        raise UnchangeableError(str(error), undecided) from error


def parts_of(count: int, width: int) -> Iterator[slice]:
    """Cut a table's rows into parts that are changed at once."""
    step = max(1, CELLS_AT_ONCE // width)
    return (slice(begin, begin + step) for begin in range(0, count, step))


def divide_dense(table: Floats) -> Flags:
    """Divide every row of a table by its sum, in place; return which rows have nothing to divide.

    Sums are added up from the left, so that columns of zeros do not change them: they are the same
    for dense rows and for sparse ones.
    """
    sums = np.cumsum(table, axis=1)[:, -1:]
    np.divide(table, sums, out=table, where=sums > 0)
    return np.asarray(sums[:, 0] <= 0)


def divide_sparse(rows: Rows) -> Flags:
    """Divide every sparse row by its sum, in place; return which rows have nothing to divide."""
    numbers = rows.row_numbers
    sums = np.bincount(numbers, rows.values, minlength=len(rows))
    of_values = sums[numbers]
    np.divide(rows.values, of_values, out=rows.values, where=of_values > 0)
    return np.asarray(sums <= 0)


def list_some(rows: Rows, values: Floats, listed: Flags) -> Rows:
    """Return rows that list some of the columns of sparse rows, with other values."""
    if rows.offsets is None or rows.columns is None:
        raise TypeError("dense rows do not list anything")
    offsets = np.append(0, np.cumsum(listed))[rows.offsets]
    return Rows(rows.width, values[listed], rows.columns[listed], offsets)


def spread_rows(rows: Rows, places: Integers, count: int) -> Rows:
    """Put rows at some places of a longer batch; the words at the others are undefined.

    Examples
    --------
    >>> spread = spread_rows(Rows.dense(np.array([[0.5, 0.5]])), np.array([1]), 2)
    >>> spread.undefined.tolist(), spread.to_dense()[1].tolist()
    ([True, False], [0.5, 0.5])
    """
    undefined = np.ones(count, dtype=bool)
    undefined[places] = False if rows.undefined is None else rows.undefined
    numbers = np.full(count, len(rows))
    numbers[places] = np.arange(len(rows))
    if isinstance(rows, SharedRows):  # any row of the table will do
        numbers = np.append(rows.numbers, 0)[numbers]
        return Rows.shared(
            rows.table, numbers, impossible=rows.impossible_after, undefined=undefined
        )
    filler = Rows.sparse(rows.width, [0, 1], [0], [1.0])
    if not rows.is_sparse:
        filler = Rows.dense(filler.to_dense())
    spread = Rows.joined([rows, filler]).take(numbers)
    spread.undefined = undefined
    return spread


class Block(NamedTuple):
    """A table of sparse rows of about the same length, filled up with zeros on the right."""

    places: Integers
    """The rows."""
    table: Floats
    """What they list, in the order of the columns."""
    inside: Flags
    """Which cells of the table are not filled up."""
    entries: Integers
    """Where the values of these cells stand among those of all rows."""


def blocks_of(rows: Rows) -> Iterator[Block]:
    """Put sparse rows into tables, the longest first, so that little has to be filled up."""
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
        table[inside] = rows.values[entries]
        yield Block(places, table, inside, entries)
