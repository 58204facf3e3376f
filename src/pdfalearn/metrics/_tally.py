"""Count pairs of distributions along words, a part of the words at a time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pdfalearn.arrays.numbering import IntMap
from pdfalearn.equivalence.relations import Equivalence, Tolerance
from pdfalearn.metrics.distributions import figures_of, rows_at_once
from pdfalearn.words import Words

Floats = NDArray[np.float64]
Numbers = NDArray[np.int32]

_PART = 2**15
"""At most this many prefixes are looked at together."""


class Rows:
    """Distributions by their numbers, of which -1 stands for undefined.

    Parameters
    ----------
    table : array of float, shape (count, symbols + 1)
        The distributions.
    codes : array of int, optional
        For each symbol its place in the table's order, if that is another one.
    """

    def __init__(self, table: Floats, codes: NDArray[np.int32] | None = None) -> None:
        self._table = table
        self._columns: NDArray[np.int32] | None = None
        if codes is not None and (codes != np.arange(len(codes))).any():
            self._columns = np.append(np.int32(0), codes + np.int32(1))

    def __len__(self) -> int:
        return len(self._table)

    @property
    def width(self) -> int:
        """The number of symbols, and one for the terminal."""
        return int(self._table.shape[1])

    def at(self, numbers: NDArray[np.integer]) -> Floats:
        """Return the distributions of numbers; NaN where undefined."""
        rows = self._table.take(numbers, axis=0)
        if self._columns is not None:
            rows = rows.take(self._columns, axis=1)
        rows[numbers < 0] = np.nan
        return rows

    def logs_at(self, numbers: Numbers, columns: NDArray[np.int32]) -> Floats:
        """Return the logarithm of one probability of each distribution; -inf where undefined."""
        if self._columns is not None:
            columns = self._columns[columns]
        values = self._table[numbers, columns]
        values[numbers < 0] = 0.0
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(values))


class Tally:
    """The different pairs of distributions, and how often each has come.

    Parameters
    ----------
    rows, other_rows : Rows
        The distributions of the two models.
    """

    def __init__(self, rows: Rows, other_rows: Rows) -> None:
        self._rows, self._other_rows = rows, other_rows
        self._numbers = IntMap()
        self._pairs: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self.over_prefixes: Floats = np.empty(0)
        """How often each pair came after a prefix."""
        self.over_words: Floats = np.empty(0)
        """How often each pair came after a whole word."""

    def add_all(self, words: Words, numbers: Numbers, others: Numbers) -> tuple[Floats, Floats]:
        """Count the pairs after all prefixes of words.

        Parameters
        ----------
        words : Words
            The words.
        numbers, others : array of int
            The number of the distribution after every prefix; each word's begin at
            ``offsets[i] + i``.

        Returns
        -------
        logs, other_logs : array of float, shape (len(words),)
            The logarithms of the probabilities of whole words.
        """
        logs, other_logs = np.empty(len(words)), np.empty(len(words))
        for begin, end in words.parts(_PART):
            part = words.part(begin, end)
            here = slice(int(words.offsets[begin]) + begin, int(words.offsets[end]) + end)
            self._add(part, numbers[here], others[here])
            columns = _columns(part)
            begins = part.offsets[:-1] + np.arange(len(part))
            for rows, found, sums in (
                (self._rows, numbers[here], logs),
                (self._other_rows, others[here], other_logs),
            ):
                sums[begin:end] = np.add.reduceat(rows.logs_at(found, columns), begins)
        return logs, other_logs

    def _add(self, words: Words, numbers: Numbers, others: Numbers) -> None:
        codes = (numbers.astype(np.int64) + 1) * (len(self._other_rows) + 1) + others + 1
        known = len(self._numbers)
        places = self._numbers.get_or_add(codes)
        size = len(self._numbers)
        pairs = np.empty(size, dtype=np.int64)
        pairs[:known] = self._pairs
        pairs[places] = codes
        self._pairs = pairs
        self.over_prefixes = _counted(self.over_prefixes, places, size)
        self.over_words = _counted(self.over_words, places[words.ends], size)

    def figures(self, by: Equivalence | Tolerance, k: int) -> Floats:
        """Measure every pair, as `figures_of` does."""
        figures = np.empty((len(self._pairs), 6))
        part = rows_at_once(self._rows.width)
        for begin in range(0, len(figures), part):
            lefts, rights = np.divmod(self._pairs[begin : begin + part], len(self._other_rows) + 1)
            rows, others = self._rows.at(lefts - 1), self._other_rows.at(rights - 1)
            figures[begin : begin + part] = figures_of(rows, others, by, k)
        return figures


def _counted(before: Floats, places: NDArray[np.int64], size: int) -> Floats:
    """Add to counts how often each place is there."""
    counts = np.bincount(places, minlength=size).astype(np.float64)
    counts[: len(before)] += before
    return counts


def _columns(words: Words) -> NDArray[np.int32]:
    """Return the column of what follows every prefix: a symbol's, or at the end the terminal's."""
    columns = np.zeros(len(words.symbols) + len(words), dtype=np.int32)
    is_symbol = np.ones(len(columns), dtype=bool)
    is_symbol[words.ends] = False
    columns[is_symbol] = words.symbols + 1
    return columns
