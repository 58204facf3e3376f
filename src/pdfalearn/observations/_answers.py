"""Distributions as they come: checked, kept once each, and classified."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pdfalearn.arrays.row_numbers import RowNumbers
from pdfalearn.equivalence.relations import Equivalence, Exact, Relation, checked_keys
from pdfalearn.observations._sparse_answers import NO_CLASS, SparseAnswers
from pdfalearn.row_checks import check_distributions
from pdfalearn.rows import Rows

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
    def is_sparse(self) -> bool:
        """Whether rows list only some of their columns."""
        return isinstance(self._kept, SparseAnswers)

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
        BadRowError, UndecidedError
            If a row is not a distribution, or does not list enough to be classified.
        """
        if rows.is_sparse and isinstance(self._kept, DenseAnswers):
            known = Rows.dense(self._kept.dense(np.arange(len(self)))).to_sparse()
            self._kept = SparseAnswers(self._by, self.width)
            if len(known):
                self._kept.add(known)
        return self._kept.add(rows)

    def dense(self, numbers: Numbers) -> Floats:
        """Return distributions as a table."""
        return self._kept.dense(numbers)

    def rows(self, numbers: Numbers) -> Rows:
        """Return distributions as they are kept."""
        if isinstance(self._kept, SparseAnswers):
            return self._kept.rows(numbers)
        return Rows(self.width, self._kept.dense(numbers))

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

    def __len__(self) -> int:
        return self._size

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

    def add(self, rows: Rows) -> Numbers:
        """Return the number of each distribution."""
        table = rows.values
        numbers = self._numbers.get_or_add(table)
        if len(self._numbers) > self._size:
            self._keep(table, numbers)
        return numbers

    def _keep(self, rows: Floats, numbers: Numbers) -> None:
        known, size = self._size, len(self._numbers)
        if size - known < len(rows):
            new = (numbers >= known).nonzero()[0]
            rows, numbers = rows[new], numbers[new]
            check_distributions(rows, new)
        else:
            check_distributions(rows)
        self._reserve(size)
        self._rows[numbers] = rows
        kept = self._rows[known:size]
        np.maximum(kept, 0.0, out=kept)
        self._classes[known:size] = self._class_numbers.get_or_add(checked_keys(self.by, kept))
        self._size = size

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
