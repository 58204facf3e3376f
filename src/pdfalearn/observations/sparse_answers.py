"""Distributions that list only some of their columns, kept once each, and classified."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from pdfalearn.arrays import grown
from pdfalearn.equivalence import Equivalence, Relation
from pdfalearn.packed_rows import pack_rows, unpack_rows
from pdfalearn.rows import Rows
from pdfalearn.typing import Codes, Flags, Floats, Integers

# This many dense rows are made sparse at once.
_AT_ONCE = 64
# Stands where no answer is in the class of a distribution.
NO_CLASS = -3


class SparseAnswers:
    """Keeps every row as bytes; for the rest, see `Answers`."""

    def __init__(self, equivalence: Relation, width: int) -> None:
        self._equivalence = equivalence
        self._width = width
        self._number_of: dict[bytes, int] = {}
        self._rows: list[bytes] = []
        self._class_of: dict[bytes, int] = {}
        # The class of each distribution, and room for more.
        self.classes: Integers = np.empty(0, dtype=np.int64)
        # How many classes have been seen.
        self.class_count = 0
        # The bytes of memory that the rows take.
        self.nbytes = 0

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, rows: Rows) -> Integers:
        """Return the number of each distribution."""
        if not rows.is_sparse and rows.impossible is None:
            rows.impossible = np.zeros((len(rows), self._width - 1), dtype=bool)
        rows = rows.to_sparse()  # which lists all that is not impossible
        numbers = np.empty(len(rows), dtype=np.int64)
        new: list[int] = []
        given = pack_rows(rows)
        known = self._number_of
        for place, row in enumerate(given):
            number = known.get(row)
            if number is None:
                number = len(self._rows) + len(new)
                known[row] = number
                new.append(place)
            numbers[place] = number
        if new:
            self._keep(rows.take(np.array(new)), [given[place] for place in new])
        return numbers

    def excludes(self, numbers: Integers, symbols: NDArray[np.integer]) -> Flags:
        """Return for each row whether it says that no word goes on with a symbol."""
        if not len(numbers):
            return np.zeros(0, dtype=bool)
        different, places = np.unique(numbers, return_inverse=True)
        rows = self.rows(different)
        if rows.columns is None:
            raise TypeError("dense rows list everything")
        listed = rows.row_numbers * rows.width + rows.columns
        wanted = places * rows.width + symbols + 1
        found = np.searchsorted(listed, wanted)
        is_listed = listed[np.minimum(found, len(listed) - 1)] == wanted
        return np.asarray(~is_listed & (rows.rests[places] <= 0))

    def possible_symbols(self, numbers: Integers) -> tuple[Integers, Integers] | None:
        """Return what rows list, as pairs of a place and a symbol; None where they leave a rest."""
        rows = self.rows(numbers)
        if rows.columns is None or (rows.rest is not None and rows.rest.any()):
            return None
        are_symbols = rows.columns > 0
        return rows.row_numbers[are_symbols], rows.columns[are_symbols].astype(np.int64) - 1

    def _keep(self, rows: Rows, given: list[bytes]) -> None:
        try:
            classes = self._classify(rows)
        except ValueError:
            for row in given:
                del self._number_of[row]
            raise
        first = len(self._rows)
        self._rows += given
        self.nbytes += sum(map(len, given))
        self.classes = grown(self.classes, len(self._rows))
        self.classes[first : len(self._rows)] = classes
        self.class_count = max(self.class_count, max(classes) + 1)

    def _classify(self, rows: Rows) -> list[int]:
        if not isinstance(self._equivalence, Equivalence):
            return list(range(len(self._rows), len(self._rows) + len(rows)))
        class_of = self._class_of
        return [class_of.setdefault(key, len(class_of)) for key in _keys(self._equivalence, rows)]

    def classes_of(self, table: Floats) -> Codes:
        """Return the classes of distributions, -3 where no answer is in the class."""
        if not isinstance(self._equivalence, Equivalence):
            raise TypeError("a similarity has no classes")
        classes = [
            self._class_of.get(key, NO_CLASS)
            for begin in range(0, len(table), _AT_ONCE)
            for key in _keys(
                self._equivalence, Rows.dense(table[begin : begin + _AT_ONCE]).to_sparse()
            )
        ]
        return np.array(classes, dtype=np.int32)

    def rows(self, numbers: NDArray[np.integer]) -> Rows:
        """Return distributions as sparse rows."""
        return unpack_rows([self._rows[number] for number in numbers.tolist()], self._width)


def _keys(equivalence: Equivalence, rows: Rows) -> list[bytes]:
    """Return what an equivalence makes of sparse rows, as bytes."""
    offsets, columns, keys = equivalence.sparse_keys(rows)
    column_bytes, key_bytes = columns.astype(np.int32).tobytes(), keys.tobytes()
    size, ends = keys.itemsize, offsets.tolist()
    return [
        column_bytes[4 * begin : 4 * end] + b"|" + key_bytes[size * begin : size * end]
        for begin, end in pairwise(ends)
    ]
