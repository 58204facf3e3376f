"""Distributions as they come, dense or sparse: kept once each, and classified."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from pdfalearn.arrays import RowNumbers, grown
from pdfalearn.equivalence import Equivalence, Exact, Relation, checked_keys
from pdfalearn.packed_rows import pack_rows, unpack_rows
from pdfalearn.rows import Rows
from pdfalearn.typing import Codes, Flags, Floats, Integers

# Rows of this many numbers and more leave no room for as many again.
_WIDE = 2**12
# This many dense rows are made sparse at once.
_AT_ONCE = 64
# Stands where no answer is in the class of a distribution.
_NO_CLASS = -3


class Answers:
    """Every different distribution that a model has given, with its class.

    They are kept in a table until the first sparse row comes, and sparse from then on. With a
    similarity, those that are equal are in one class.
    """

    def __init__(self, equivalence: Relation, width: int) -> None:
        self.width = width
        # How many different distributions there are.
        self.size = 0
        # The bytes of memory that the distributions take, about.
        self.nbytes = 0
        # How many classes have been seen.
        self.class_count = 0
        # The class of each distribution, and room for more.
        self.classes: Integers = np.empty(64, dtype=np.int64)
        # Whether some rows say with which symbols no word goes on.
        self.exclude_some = False
        self._relation = equivalence
        # What classifies: the relation itself, or where that is a similarity, equality.
        self.equivalence = equivalence if isinstance(equivalence, Equivalence) else Exact()
        self._numbers = RowNumbers()
        self._class_numbers = RowNumbers()
        # Where rows exclude some symbols, these have -0.0: no word goes on with them.
        self._rows = np.empty((64 if width < _WIDE else 0, width))
        self._sparse: _SparseAnswers | None = None

    def add(self, rows: Rows) -> Integers:
        """Return the number of each distribution; those that are new are kept and classified.

        Raises
        ------
        UndecidedError
            If a row does not list enough to be classified.
        """
        if self._sparse is not None or rows.is_sparse:
            return self._add_sparse(rows)
        table = rows.values
        if rows.impossible is not None and rows.impossible.any():
            table, self.exclude_some = rows.to_signed().values, True
        numbers = self._numbers.get_or_add(table)
        if self._numbers.size > self.size:
            self._keep(table, numbers)
        return numbers

    def _keep(self, rows: Floats, numbers: Integers) -> None:
        """Keep and classify rows that are new, given the numbers of all."""
        known, size = self.size, self._numbers.size
        if size > len(self._rows):
            capacity = 2 * size if self.width < _WIDE else size + size // 4
            larger = np.empty((capacity, self.width))
            larger[:known] = self._rows[:known]
            self._rows = larger
        if size - known < len(rows):
            new = (numbers >= known).nonzero()[0]
            rows, numbers = rows[new], numbers[new]
        self._rows[numbers] = rows
        kept = self._rows[known:size]
        if self.exclude_some:
            kept = kept + 0.0  # classes do not depend on signs
        self.classes = grown(self.classes, size)
        self.classes[known:size] = self._class_numbers.get_or_add(
            checked_keys(self.equivalence, kept)
        )
        self.size, self.class_count = size, self._class_numbers.size
        self.nbytes = 16 * size * self.width  # kept and hashed

    def _add_sparse(self, rows: Rows) -> Integers:
        if self._sparse is None:
            sparse = _SparseAnswers(self._relation, self.width)
            if self.size:
                sparse.add(self.rows(np.arange(self.size)))
            self._sparse, self.exclude_some = sparse, True
            self._rows = np.empty((0, self.width))
        sparse = self._sparse
        numbers = sparse.add(rows)
        self.size, self.nbytes = len(sparse), sparse.nbytes
        self.classes, self.class_count = sparse.classes, sparse.class_count
        return numbers

    def dense(self, numbers: NDArray[np.integer]) -> Floats:
        """Return distributions as a table."""
        if self._sparse is None and not self.exclude_some:
            return np.asarray(self._rows[numbers])
        return self.rows(numbers).to_dense()

    def rows(self, numbers: NDArray[np.integer]) -> Rows:
        """Return distributions as they are kept."""
        if self._sparse is not None:
            return self._sparse.rows(numbers)
        table = Rows.dense(self._rows[numbers])
        return table.from_signed() if self.exclude_some else table

    def excludes(self, numbers: Integers, symbols: NDArray[np.integer]) -> Flags:
        """Return for each row whether it says that no word goes on with a symbol."""
        if self._sparse is not None:
            return self._sparse.excludes(numbers, symbols)
        return np.asarray(np.signbit(self._rows[numbers, symbols + 1]))

    def impossible_symbols(self, numbers: Integers) -> Flags | None:
        """Return with which symbols no word goes on; None if there are none, or rows are sparse."""
        if self._sparse is not None or not self.exclude_some:
            return None
        return np.asarray(np.signbit(self._rows[numbers, 1:]))

    def possible_symbols(self, numbers: Integers) -> tuple[Integers, Integers] | None:
        """Return what may follow rows, as pairs of a place and a symbol; None if all may."""
        if self._sparse is not None:
            return self._sparse.possible_symbols(numbers)
        excluded = self.impossible_symbols(numbers)
        if excluded is None:
            return None
        places, symbols = (~excluded).nonzero()
        return places, symbols

    def classes_of(self, table: Floats) -> Codes:
        """Return the classes that distributions are in, below `UNKNOWN` where there is none yet."""
        if self._sparse is not None:
            return self._sparse.classes_of(table)
        classes = self._class_numbers.get(checked_keys(self.equivalence, table))
        return np.where(classes < 0, _NO_CLASS, classes).astype(np.int32)


class _SparseAnswers:
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
            self._class_of.get(key, _NO_CLASS)
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
