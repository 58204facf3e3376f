"""Equivalences by which symbols are likely: their set, their order, the support; and your own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pdfalearn.checks import check_integer, check_number
from pdfalearn.equivalence.relations import Equivalence, check_equivalence, checked_keys
from pdfalearn.equivalence.sparse import SparseKeys, without_zeros
from pdfalearn.errors import InputError
from pdfalearn.row_checks import check_decided
from pdfalearn.rows import Rows
from pdfalearn.typing import Floats
from pdfalearn.words import offsets_of

_REMEDY = "let the model list more symbols, or take"


@dataclass(frozen=True)
class Ranking(Equivalence):
    """Distributions are the same when their k likeliest symbols are, in the same order.

    The terminal is a symbol like the others, and symbols of probability 0 have no rank. Of equal
    probabilities the terminal comes first, then the symbols in the order of the alphabet; put it
    into `Rounded` where rounding would decide between them. What a distribution does not list has
    to be less likely than the k symbols.

    Parameters
    ----------
    k : int
        How many symbols, at least 1.

    Examples
    --------
    >>> rows = np.array([[0.1, 0.6, 0.3], [0.2, 0.5, 0.3], [0.1, 0.3, 0.6]])
    >>> len(set(Ranking(2).classes(rows).tolist()))
    2
    """

    k: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", check_integer(self.k, "k", 1))

    def keys(self, rows: Floats) -> NDArray[np.generic]:
        """Return the columns of the likeliest symbols, the likeliest first; -1 for none."""
        order = np.argsort(-rows, axis=1, kind="stable")[:, : self.k]
        is_possible = np.take_along_axis(rows, order, axis=1) > 0
        return np.where(is_possible, order, -1).astype(np.int32)

    def sparse_keys(self, rows: Rows) -> SparseKeys:
        """Return the columns of the likeliest symbols, and their ranks from 1 on."""
        rows = rows.to_sparse()
        (columns, offsets), numbers = rows.listing, rows.row_numbers
        # Row by row, the likeliest first; of equal ones the first column.
        order = np.lexsort((-rows.values, numbers))
        ranks = np.empty(len(order), dtype=np.int32)
        ranks[order] = np.arange(1, len(order) + 1) - offsets[numbers]
        kept = (ranks <= self.k) & (rows.values > 0)
        counts = np.bincount(numbers[kept], minlength=len(rows))
        least = np.ones(len(rows))
        np.minimum.at(least, numbers[kept], rows.values[kept])
        # What is not listed may be among them, unless k listed ones are above the ceiling.
        undecided = rows.is_open & ~((counts == self.k) & (least > rows.ceilings))
        reason = (
            f"{self!r} looks at what may be among the {self.k} likeliest; {_REMEDY} a smaller k"
        )
        check_decided(rows, undecided, reason)
        return SparseKeys(offsets_of(counts), columns[kept], ranks[kept])


@dataclass(frozen=True)
class TopKSet(Ranking):
    """Distributions are the same when their k likeliest symbols are, in whatever order.

    Ties, symbols of probability 0 and what is not listed are treated as by `Ranking`.

    Parameters
    ----------
    k : int
        How many symbols, at least 1.

    Examples
    --------
    >>> rows = np.array([[0.1, 0.6, 0.3], [0.2, 0.3, 0.5], [0.5, 0.3, 0.2]])
    >>> len(set(TopKSet(2).classes(rows).tolist()))
    2
    """

    def keys(self, rows: Floats) -> NDArray[np.generic]:
        """Return the columns of the likeliest symbols, ascending."""
        return np.sort(super().keys(rows), axis=1)

    def sparse_keys(self, rows: Rows) -> SparseKeys:
        """Return the columns of the likeliest symbols."""
        found = super().sparse_keys(rows)
        return found._replace(keys=np.ones(len(found.keys), dtype=np.uint8))


@dataclass(frozen=True)
class Support(Equivalence):
    """Distributions are the same when the same symbols are above a threshold, the terminal too.

    What is not listed has to be below it: the ceiling is not above the threshold, or nothing is
    left.

    Parameters
    ----------
    threshold : float
        From 0 to 1; with 0 what counts is which symbols are possible. It is decided as on paper:
        0.1 + 0.2 is not above 0.3.

    Examples
    --------
    >>> rows = np.array([[0.5, 0.5, 0.0], [0.9, 0.1, 0.0], [0.9, 0.099, 0.001]])
    >>> [len(set(by.classes(rows).tolist())) for by in (Support(), Support(0.01), Support(0.2))]
    [2, 1, 2]
    """

    threshold: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "threshold", check_number(self.threshold, "threshold", 0, 1))

    def above(self, values: ArrayLike) -> NDArray[np.bool_]:
        """Return of each probability whether it is above the threshold.

        Examples
        --------
        >>> Support(0.3).above([0.1 + 0.2, 0.31])
        array([False,  True])
        """
        # A little above the threshold, so that what is equal on paper is not above it.
        return np.asarray(np.asarray(values) > self.threshold * (1 + 2.0**-50))

    def keys(self, rows: Floats) -> NDArray[np.generic]:
        """Return a bit for each symbol, eight in a byte."""
        return np.packbits(self.above(rows), axis=1)

    def sparse_keys(self, rows: Rows) -> SparseKeys:
        """Return the columns of the symbols above the threshold."""
        reason = f"{self!r} tells whether one is above it; {_REMEDY} a larger threshold"
        check_decided(rows, rows.is_open & self.above(rows.ceilings), reason)
        return without_zeros(rows, self.above(rows.values).astype(np.uint8))


@dataclass(frozen=True)
class ZeroApart(Equivalence):
    """Distributions are the same when another equivalence says so, and the support is the same.

    ``ZeroApart(Quantization(10))`` is quantization with an interval of its own for 0. What is not
    listed must not have any probability.

    Parameters
    ----------
    equivalence : Equivalence
        The other equivalence.

    Examples
    --------
    >>> from pdfalearn import Quantization
    >>> rows = np.array([[0.96, 0.04, 0.0], [0.96, 0.03, 0.01]])
    >>> Quantization(10).classes(rows).tolist()
    [0, 0]
    >>> len(set(ZeroApart(Quantization(10)).classes(rows).tolist()))
    2
    """

    equivalence: Equivalence

    def __post_init__(self) -> None:
        check_equivalence(self.equivalence)

    def keys(self, rows: Floats) -> NDArray[np.generic]:
        """Return the bytes of the other's keys, and a bit for each symbol."""
        keys = np.ascontiguousarray(checked_keys(self.equivalence, rows))
        return np.hstack([keys.view(np.uint8), Support().keys(rows)])

    def sparse_keys(self, rows: Rows) -> SparseKeys:
        """Return the other's keys, and before them what is possible, as columns below 0."""
        possible, other = Support().sparse_keys(rows), self.equivalence.sparse_keys(rows)
        # Both lists of a row stand side by side, what is possible first.
        counts, others = np.diff(possible.offsets), np.diff(other.offsets)
        numbers = np.tile(np.arange(len(rows)), 2)
        order = np.argsort(np.repeat(numbers, np.append(counts, others)), kind="stable")
        columns = np.concatenate((possible.columns - np.int32(rows.width), other.columns))
        keys = np.concatenate((np.ones(len(possible.keys), other.keys.dtype), other.keys))
        return SparseKeys(offsets_of(counts + others), columns[order], keys[order])


@dataclass(frozen=True)
class KeyFunction(Equivalence):
    """Distributions are the same when a function of yours returns the same key for both.

    Distributions have to list all that has any probability.

    Parameters
    ----------
    function : callable
        Takes many distributions, an array of shape (count, symbols + 1) with the terminal first,
        and returns an array of numbers: one for each distribution, or a row of them. What it
        returns for one must not depend on the others.

    Examples
    --------
    >>> by = KeyFunction(lambda rows: rows.argmax(axis=1))  # the likeliest symbol is the same
    >>> by.classes(np.array([[0.2, 0.8], [0.3, 0.7], [0.9, 0.1]])).tolist()
    [1, 1, 0]
    """

    function: Callable[[Floats], ArrayLike]

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise InputError(f"{self.function!r} is not a function of an array of distributions")

    def __repr__(self) -> str:
        return f"KeyFunction({getattr(self.function, '__qualname__', self.function)})"

    def keys(self, rows: Floats) -> NDArray[np.generic]:
        """Return what the function returns, a row for each distribution."""
        keys = self._ask(rows)
        if len(rows) > 1 and keys.shape[:1] == (len(rows),):
            # One row alone shows whether its key depends on the others.
            alone = self._ask(rows[-1:])
            if (keys.dtype, keys[-1:].tobytes()) != (alone.dtype, alone.tobytes()):
                raise InputError(
                    f"{self.function!r} returns {keys[-1].tolist()} for a distribution among others"
                    f" and {alone[0].tolist()} for the same one alone; a key must not depend on "
                    "other distributions"
                )
        return keys

    def _ask(self, rows: Floats) -> NDArray[np.generic]:
        keys = np.asarray(self.function(rows.copy()))
        keys = keys[:, None] if keys.ndim == 1 else keys
        return keys + 0.0 if keys.dtype.kind == "f" else keys  # -0.0 is 0.0
