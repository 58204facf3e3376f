"""Distributions as they come: kept once each, and classified."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pdfalearn.arrays import RowNumbers, grown
from pdfalearn.equivalence import Equivalence, Exact, Relation, checked_keys
from pdfalearn.observations.sparse_answers import NO_CLASS, SparseAnswers
from pdfalearn.rows import Rows
from pdfalearn.typing import Flags, Floats, Integers

_WIDE = 2**12
"""Rows of this many numbers and more leave no room for as many again."""


class Answers:
    """Every different distribution that a model has given, with its class.

    They are kept in a table until the first sparse row comes, and sparse from then on.

    Parameters
    ----------
    equivalence : Equivalence or Tolerance
        When two distributions are in one class; with a similarity, those that are equal.
    width : int
        The number of symbols, and one for the terminal.
    """

    def __init__(self, equivalence: Relation, width: int) -> None:
        self.width = width
        self.size = 0
        """How many different distributions there are."""
        self.nbytes = 0
        """The bytes of memory that the distributions take, about."""
        self.class_count = 0
        """How many classes have been seen."""
        self.classes: Integers = np.empty(64, dtype=np.int64)
        """The class of each distribution, and room for more."""
        self.exclude_some = False
        """Whether some rows say with which symbols no word goes on."""
        self._relation = equivalence
        self._equivalence = equivalence if isinstance(equivalence, Equivalence) else Exact()
        self._numbers = RowNumbers()
        self._class_numbers = RowNumbers()
        self._rows = np.empty((64 if width < _WIDE else 0, width))
        self._impossible: Flags | None = None
        """Of every row, with which symbols no word goes on; None if no row says anything."""
        self._sparse: SparseAnswers | None = None

    def add(self, rows: Rows) -> Integers:
        """Return the number of each distribution; those that are new are kept and classified.

        Raises
        ------
        UndecidedError
            If a row does not list enough to be classified.
        """
        if self._sparse is not None or rows.is_sparse:
            return self._add_sparse(rows)
        table = rows.values if rows.impossible is None else rows.to_signed().values
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
        if self.exclude_some or not kept.min() > 0:
            self._keep_signs(kept, known)
            kept += 0.0
        self.classes = grown(self.classes, size)
        self.classes[known:size] = self._class_numbers.get_or_add(
            checked_keys(self._equivalence, kept)
        )
        self.size, self.class_count = size, self._class_numbers.size
        self.nbytes = 16 * size * self.width  # kept and hashed

    def _keep_signs(self, kept: Floats, known: int) -> None:
        """Note which symbols new rows mark as impossible."""
        signs = np.signbit(kept[:, 1:])
        if not self.exclude_some and not signs.any():
            return
        shape = len(self._rows), self.width - 1
        if self._impossible is None or len(self._impossible) < shape[0]:
            larger = np.zeros(shape, dtype=bool)
            if self._impossible is not None:
                larger[:known] = self._impossible[:known]
            self._impossible = larger
        self._impossible[known : known + len(kept)] = signs
        self.exclude_some = True

    def _add_sparse(self, rows: Rows) -> Integers:
        if self._sparse is None:
            sparse = SparseAnswers(self._relation, self.width)
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
        return self._rows[numbers] if self._sparse is None else self.rows(numbers).to_dense()

    def rows(self, numbers: NDArray[np.integer]) -> Rows:
        """Return distributions as they are kept."""
        if self._sparse is not None:
            return self._sparse.rows(numbers)
        impossible = None if self._impossible is None else self._impossible[numbers]
        return Rows.dense(self._rows[numbers], impossible=impossible)

    def excludes(self, numbers: Integers, symbols: NDArray[np.integer]) -> Flags:
        """Return for each row whether it says that no word goes on with a symbol."""
        if self._sparse is not None:
            return self._sparse.excludes(numbers, symbols)
        if self._impossible is None:
            return np.zeros(len(numbers), dtype=bool)
        return np.asarray(self._impossible[numbers, symbols])

    def possible_symbols(self, numbers: Integers) -> tuple[Integers, Integers] | None:
        """Return what may follow rows, as pairs of a place and a symbol; None if all may."""
        if self._sparse is not None:
            return self._sparse.possible_symbols(numbers)
        if self._impossible is None:
            return None
        places, symbols = (~self._impossible[numbers]).nonzero()
        return places, symbols

    def classes_of(self, table: Floats) -> NDArray[np.int32]:
        """Return the classes that distributions are in, below `UNKNOWN` where there is none yet."""
        if self._sparse is not None:
            return self._sparse.classes_of(table)
        classes = self._class_numbers.get(checked_keys(self._equivalence, table))
        return np.where(classes < 0, NO_CLASS, classes).astype(np.int32)
