"""The answers of one writer: a tree of words, and distributions by number."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pdfalearn.alphabet import shortened
from pdfalearn.checks import SUM_TOLERANCE
from pdfalearn.errors import InputError
from pdfalearn.row_checks import BadRowError, check_sparse
from pdfalearn.rows import Rows
from pdfalearn.words import offsets_of

_MOST_NODES = 2**31 - 1

_TOLERANCE = 2 * SUM_TOLERANCE
"""Whoever asks a model checks its rows more strictly, and may round them afterwards."""

Integers = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Segment:
    """What one writer has stored, or a part of it: words in its own numbering, and answers.

    Node 0 is the empty word. A part goes on where the one before has ended: its first node and its
    first row have the next numbers.

    Examples
    --------
    >>> segment = Segment.of([0, 1], [0, 1], [0, 2], [0, -1], [[0.5, 0.5, 0.0]], alphabet_size=2)
    >>> segment.word(2)
    [0, 1]
    """

    parents: Integers
    """Entry i is the parent of node i + 1, a smaller number."""
    symbols: Integers
    """Entry i is the code of the last symbol of node i + 1."""
    nodes: Integers
    """The nodes that have an answer."""
    numbers: Integers
    """For each of these the number of its row; -1 where the word is undefined."""
    rows: Rows
    """Distributions, terminal first."""

    @classmethod
    def of(
        cls,
        parents: ArrayLike,
        symbols: ArrayLike,
        nodes: ArrayLike,
        numbers: ArrayLike,
        rows: ArrayLike | Rows,
        *,
        alphabet_size: int,
        nodes_before: int = 1,
        rows_before: int = 0,
    ) -> Segment:
        """Check what may be given as any arrays; an `InputError` says what is wrong."""
        given = {"parents": parents, "symbols": symbols, "nodes": nodes, "numbers": numbers}
        integers = {name: _integers(array, name) for name, array in given.items()}
        if not isinstance(rows, Rows):
            table = np.asarray(rows, dtype=np.float64)
            table = table if table.size else table.reshape(0, alphabet_size + 1)
            rows = Rows(table.shape[-1] if table.ndim else 0, table)
        segment = cls(rows=rows, **integers)
        fault = segment.fault(alphabet_size, nodes_before, rows_before)
        if fault is not None:
            raise InputError(fault)
        return segment

    def word(self, node: int) -> list[int]:
        """Return the codes of a node's word."""
        parents, symbols = self.parents.data, self.symbols.data
        codes = []
        while node:
            codes.append(symbols[node - 1])
            node = parents[node - 1]
        return codes[::-1]

    def cut(self, nodes: slice, answers: slice, rows: slice) -> Segment:
        """Return a part: some of the nodes, of the answers and of the rows."""
        return Segment(
            self.parents[nodes],
            self.symbols[nodes],
            self.nodes[answers],
            self.numbers[answers],
            self.rows.take(np.arange(len(self.rows))[rows]),
        )

    def arrays(self) -> list[NDArray[np.generic]]:
        """Return the arrays that a store keeps.

        Of sparse rows, the values are followed by what is left and by the ceilings, and the lengths
        by the columns; of dense ones there are no lengths and columns.
        """
        rows = self.rows
        values, listed = rows.values.reshape(-1), np.empty(0, dtype=np.int32)
        if rows.offsets is not None and rows.columns is not None:
            values = np.concatenate((values, rows.rests, rows.ceilings))
            listed = np.concatenate((np.diff(rows.offsets).astype(np.int32), rows.columns))
        return [self.parents, self.symbols, self.nodes, self.numbers, values, listed]

    def fault(self, alphabet_size: int, nodes_before: int = 1, rows_before: int = 0) -> str | None:
        """Return what is wrong with this part of a segment; None if nothing is.

        Parameters
        ----------
        alphabet_size : int
            The number of symbols.
        nodes_before, rows_before : int
            How many nodes, the empty word among them, and rows there are before this part.
        """
        if len(self.parents) != len(self.symbols):
            return f"{len(self.parents)} parents, but {len(self.symbols)} symbols"
        if len(self.nodes) != len(self.numbers):
            return f"{len(self.nodes)} nodes with answers, but {len(self.numbers)} numbers of rows"
        if self.rows.width != alphabet_size + 1 or self.rows.values.ndim != 2 - self.rows.is_sparse:
            shape = self.rows.values.shape
            return f"the rows have shape {shape}, not (rows, {alphabet_size + 1})"
        total, rows = nodes_before + len(self.parents), rows_before + len(self.rows)
        if total > _MOST_NODES:
            return f"{total} nodes are more than {_MOST_NODES}"
        new = np.arange(nodes_before, total)
        return (
            _outside(self.parents, 0, new, "parent {} is not a node before its child")
            or _outside(self.symbols, 0, alphabet_size, f"symbol {{}} is not below {alphabet_size}")
            or _outside(self.nodes, 0, total, f"node {{}} is not one of the {total}")
            or _outside(self.numbers, -1, rows, f"number {{}} is not one of {rows} rows, nor -1")
            or _bad_row(self.rows, rows_before)
        )


def _integers(given: ArrayLike, name: str) -> Integers:
    array = np.asarray(given)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise InputError(f"{name} are not a list of integers, but {array.dtype} {array.shape}")
    if array.size and not (array.min() >= -1 and array.max() <= _MOST_NODES):
        raise InputError(f"{name} have an entry that is not from -1 to {_MOST_NODES}")
    return array.astype(np.int32, copy=False)


def _outside(array: Integers, low: int, high: int | NDArray[np.int64], message: str) -> str | None:
    bad = (array < low) | (array >= high)
    return message.format(array[bad.argmax()]) if bad.any() else None


def stored_rows(values: NDArray[np.float64], listed: NDArray[np.int32], alphabet_size: int) -> Rows:
    """Return rows as a store keeps them; a `ValueError` says what is wrong with them."""
    width = alphabet_size + 1
    if not len(listed):
        return Rows.dense(values.reshape(-1, width))
    count = len(values) - len(listed)
    if not 0 < count <= len(listed):
        raise ValueError("the sparse rows have too few lengths or columns")
    lengths, columns = listed[:count], listed[count:]
    rests, ceilings = values[len(columns) : len(columns) + count], values[len(columns) + count :]
    if lengths.min() < 0 or lengths.sum(dtype=np.int64) != len(columns):
        raise ValueError("the lengths of the sparse rows do not fit their columns")
    has_rest = bool((rests != 0).any())
    return Rows.sparse(
        width,
        offsets_of(lengths.astype(np.int64)),
        columns,
        values[: len(columns)],
        rest=rests if has_rest else None,
        ceiling=ceilings if has_rest else None,
    )


def _bad_row(rows: Rows, before: int) -> str | None:
    if not len(rows):
        return None
    if rows.is_sparse:
        try:
            check_sparse(rows)
        except BadRowError as error:
            return f"row {before + error.place}: {error}"
        return None
    return _bad_dense_row(rows.values, before)


def _bad_dense_row(rows: NDArray[np.float64], before: int) -> str | None:
    with np.errstate(over="ignore", invalid="ignore"):
        bad = ~(np.abs(rows.sum(axis=1) - 1) <= _TOLERANCE)
    if not rows.min() >= 0:
        bad |= ~(rows >= 0).all(axis=1)
    if not bad.any():
        return None
    place = int(bad.argmax())
    return f"row {before + place} is not a distribution: {shortened(rows[place].tolist())}"
