"""Distributions as they come: checked, kept once each, and classified."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pdfalearn.alphabet import shortened
from pdfalearn.arrays.row_numbers import RowNumbers
from pdfalearn.checks import SUM_TOLERANCE
from pdfalearn.equivalence.relations import Equivalence, checked_keys

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]

_ROUNDING = 1e-12
"""A probability may be this far below 0, as rounding leaves it; it then counts as 0."""


class BadRowError(ValueError):
    """An answer is no distribution; ``place`` is where it stands in the batch."""

    def __init__(self, message: str, place: int = 0) -> None:
        super().__init__(message)
        self.place = place


class Answers:
    """Every different distribution that a model has given, with its class.

    Parameters
    ----------
    by : Equivalence
        When two distributions are the same.
    width : int
        The number of symbols, and one for the terminal.
    """

    def __init__(self, by: Equivalence, width: int) -> None:
        self._by = by
        self._width = width
        self._numbers = RowNumbers()
        self._class_numbers = RowNumbers()
        self._rows = np.empty((64, width))
        self._classes = np.empty(64, dtype=np.int64)
        self._size = 0
        self._keys: list[tuple[float, ...]] = []

    def __len__(self) -> int:
        return self._size

    @property
    def rows(self) -> Floats:
        """The different distributions, in the order of their numbers."""
        return self._rows[: len(self)]

    @property
    def classes(self) -> Numbers:
        """The class of each of the different distributions."""
        return self._classes[: len(self)]

    @property
    def class_count(self) -> int:
        """How many classes have been seen."""
        return len(self._class_numbers)

    @property
    def keys(self) -> list[tuple[float, ...]]:
        """What the equivalence makes of the distributions of each class."""
        if len(self._keys) < self.class_count:
            _, firsts = np.unique(self.classes, return_index=True)
            self._keys = [tuple(key) for key in checked_keys(self._by, self.rows[firsts]).tolist()]
        return self._keys

    def add(self, given: ArrayLike, count: int) -> Numbers:
        """Give the number of each distribution; those that are new are kept and classified."""
        rows = self._checked_shape(given, count)
        numbers = self._numbers.get_or_add(rows)
        if len(self._numbers) > self._size:
            self._keep(rows, numbers)
        return numbers

    def _keep(self, rows: Floats, numbers: Numbers) -> None:
        known, size = self._size, len(self._numbers)
        if size > len(self._rows):
            self._rows = np.concatenate((self._rows[:known], np.empty((2 * size, self._width))))
            self._classes = np.concatenate((self._classes[:known], np.empty(2 * size, np.int64)))
        if size - known < len(rows):
            new = (numbers >= known).nonzero()[0]
            rows, numbers = rows[new], numbers[new]
            _check_values(rows, new)
        else:
            _check_values(rows)
        self._rows[numbers] = rows
        kept = self._rows[known:size]
        np.maximum(kept, 0.0, out=kept)
        self._classes[known:size] = self._class_numbers.get_or_add(checked_keys(self._by, kept))
        self._size = size

    def _checked_shape(self, given: ArrayLike, count: int) -> Floats:
        try:
            rows = np.asarray(given)
        except (TypeError, ValueError) as error:
            raise BadRowError(f"it is no array of numbers ({error})") from error
        if rows.size and rows.dtype.kind not in "iuf":
            raise BadRowError(f"it is no array of numbers, but of {rows.dtype}")
        rows = rows.astype(np.float64, copy=False)
        if rows.shape != (count, self._width):
            raise BadRowError(
                f"the array for {count} words has shape {rows.shape}, not {(count, self._width)}: "
                "a row for each word, in it the terminal first, then every symbol"
            )
        return rows


def _check_values(rows: Floats, places: Numbers | None = None) -> None:
    """Refuse rows that are no distributions; they stand at places of their batch, or are all."""
    sums = rows.dot(np.ones(rows.shape[1]))  # faster than a sum of few columns
    errors = np.abs(sums - 1)
    if rows.min() >= -_ROUNDING and errors.max() <= SUM_TOLERANCE:
        return
    is_negative: NDArray[np.bool_] = np.any(~(rows >= -_ROUNDING), axis=1)
    if is_negative.any():
        place = int(is_negative.argmax())
        wrong = "has NaN or negative values"
    else:
        place = int(np.argmax(~(errors <= SUM_TOLERANCE)))
        hint = "" if sums[place] else ": what may follow has probability 0, or what a guide allows"
        wrong = f"sums to {sums[place]:.9g}, not to 1{hint}"
    message = f"{shortened(rows[place].tolist())} {wrong}"
    raise BadRowError(message, place if places is None else int(places[place]))
