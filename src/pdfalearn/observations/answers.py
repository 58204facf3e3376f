"""Distributions as they come: kept once each, and classified."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pdfalearn.arrays.row_numbers import RowNumbers
from pdfalearn.equivalence.relations import Equivalence, Exact, Relation, checked_keys
from pdfalearn.observations.sparse_answers import NO_CLASS, SparseAnswers
from pdfalearn.rows import Flags, Rows

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]


class Answers:
    """Every different distribution that a model has given, with its class.

    They are kept dense until the first sparse row comes, and sparse from then on.

    Parameters
    ----------
    by : Equivalence or Tolerance
        When two distributions are in one class; with a similarity, those that are equal.
    width : int
        The number of symbols, and one for the terminal.
    """

    def __init__(self, by: Relation, width: int) -> None:
        self.width = width
        self._by = by
        self._kept: DenseAnswers | SparseAnswers
        self._kept = DenseAnswers(by if isinstance(by, Equivalence) else Exact(), width)

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def nbytes(self) -> int:
        """The bytes of memory that the distributions take, about."""
        return self._kept.nbytes

    @property
    def is_sparse(self) -> bool:
        """Whether rows list only some of their columns."""
        return isinstance(self._kept, SparseAnswers)

    @property
    def exclude_some(self) -> bool:
        """Whether some rows say with which symbols no word goes on."""
        return isinstance(self._kept, SparseAnswers) or self._kept.impossible is not None

    def excludes(self, numbers: Numbers, symbols: NDArray[np.integer]) -> Flags:
        """Return for each row whether it says that no word goes on with a symbol."""
        if isinstance(self._kept, SparseAnswers):
            return self._kept.excludes(numbers, symbols)
        if self._kept.impossible is None:
            return np.zeros(len(numbers), dtype=bool)
        return np.asarray(self._kept.impossible[numbers, symbols])

    def possible_symbols(self, numbers: Numbers) -> tuple[Numbers, Numbers] | None:
        """Return what may follow rows, as pairs of a place and a symbol; None if all may."""
        if isinstance(self._kept, SparseAnswers):
            return self._kept.possible_symbols(numbers)
        if self._kept.impossible is None:
            return None
        places, symbols = (~self._kept.impossible[numbers]).nonzero()
        return places, symbols

    @property
    def classes(self) -> Numbers:
        """The class of each of the different distributions."""
        return self._kept.classes

    @property
    def class_count(self) -> int:
        """How many classes have been seen."""
        return self._kept.class_count

    def add(self, rows: Rows) -> Numbers:
        """Return the number of each distribution; those that are new are kept and classified.

        Raises
        ------
        UndecidedError
            If a row does not list enough to be classified.
        """
        if rows.is_sparse and isinstance(self._kept, DenseAnswers):
            known = self._kept.rows(np.arange(len(self)))
            self._kept = SparseAnswers(self._by, self.width)
            if len(known):
                self._kept.add(known)
        return self._kept.add(rows)

    def dense(self, numbers: Numbers) -> Floats:
        """Return distributions as a table."""
        return self._kept.dense(numbers)

    def rows(self, numbers: Numbers) -> Rows:
        """Return distributions as they are kept."""
        return self._kept.rows(numbers)

    def classes_of(self, table: Floats) -> NDArray[np.int32]:
        """Return the classes of distributions, -3 where no answer is in the class."""
        if isinstance(self._kept, SparseAnswers):
            return self._kept.classes_of(table)
        count = self.class_count
        rows = np.concatenate((self.dense(self.examples()), table))
        labels = self._kept.by.classes(rows)
        classes = np.full(len(labels), NO_CLASS, dtype=np.int32)
        classes[labels[:count]] = np.arange(count)
        return classes[labels[count:]]

    def examples(self) -> Numbers:
        """Return the number of a distribution of every class."""
        examples = np.zeros(self.class_count, dtype=np.int64)
        examples[self.classes[::-1]] = np.arange(len(self))[::-1]
        return examples


class DenseAnswers:
    """Keeps dense rows in a table."""

    def __init__(self, by: Equivalence, width: int) -> None:
        self.by = by
        self._numbers = RowNumbers()
        self._class_numbers = RowNumbers()
        self._rows = np.empty((64 if width < 2**12 else 0, width))
        self._classes = np.empty(64, dtype=np.int64)
        self._size = 0
        self.impossible: Flags | None = None
        """Of every row, with which symbols no word goes on; None if no row says anything."""

    def __len__(self) -> int:
        return self._size

    @property
    def nbytes(self) -> int:
        """The bytes of memory that the rows take, kept and hashed."""
        return 2 * self._size * self._rows.itemsize * self._rows.shape[1]

    @property
    def classes(self) -> Numbers:
        """The class of each distribution."""
        return self._classes[: self._size]

    @property
    def class_count(self) -> int:
        """How many classes have been seen."""
        return len(self._class_numbers)

    def dense(self, numbers: Numbers) -> Floats:
        """Return distributions as a table."""
        return self._rows[numbers]

    def rows(self, numbers: Numbers) -> Rows:
        """Return distributions, and what they say to be impossible."""
        impossible = None if self.impossible is None else self.impossible[numbers]
        return Rows.dense(self._rows[numbers], impossible=impossible)

    def add(self, rows: Rows) -> Numbers:
        """Return the number of each distribution."""
        table = rows.to_signed().values
        numbers = self._numbers.get_or_add(table)
        if len(self._numbers) > self._size:
            self._keep(table, numbers)
        return numbers

    def _keep(self, rows: Floats, numbers: Numbers) -> None:
        known, size = self._size, len(self._numbers)
        self._reserve(size)
        if size - known < len(rows):
            new = (numbers >= known).nonzero()[0]
            rows, numbers = rows[new], numbers[new]
        self._rows[numbers] = rows
        kept = self._rows[known:size]
        if self.impossible is not None or not kept.min() > 0:
            self._keep_signs(kept, known)
            kept += 0.0
        self._classes[known:size] = self._class_numbers.get_or_add(checked_keys(self.by, kept))
        self._size = size

    def _keep_signs(self, kept: Floats, known: int) -> None:
        """Note which symbols new rows mark as impossible."""
        signs = np.signbit(kept[:, 1:])
        if self.impossible is None and not signs.any():
            return
        shape = len(self._rows), kept.shape[1] - 1
        if self.impossible is None or len(self.impossible) < shape[0]:
            larger = np.zeros(shape, dtype=bool)
            if self.impossible is not None:
                larger[:known] = self.impossible[:known]
            self.impossible = larger
        self.impossible[known : known + len(kept)] = signs

    def _reserve(self, size: int) -> None:
        known = self._size
        if size > len(self._rows):
            # Large rows leave no room for as many again.
            capacity = 2 * size if self._rows.shape[1] < 2**12 else size + size // 4
            larger = np.empty((capacity, self._rows.shape[1]))
            larger[:known] = self._rows[:known]
            self._rows = larger
        if size > len(self._classes):
            self._classes = np.concatenate((self._classes[:known], np.empty(2 * size, np.int64)))
