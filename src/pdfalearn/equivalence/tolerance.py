"""When two distributions are similar (§2.1 of the paper)."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pdfalearn.checks import check_number
from pdfalearn.row_checks import check_decided
from pdfalearn.rows import Rows
from pdfalearn.typing import Flags, Floats, Integers


@dataclass(frozen=True)
class Tolerance:
    """Distributions are similar when no probability differs by more than t: the paper's ≈_t.

    This is not an `Equivalence`, as it is not transitive: there are no classes and no quotient.

    Where a distribution does not list all symbols, one that it does not list may have any
    probability up to the ceiling. Two distributions are compared if it makes no difference which.

    Parameters
    ----------
    tolerance : float
        The largest difference t, from 0 to 1.

    Examples
    --------
    >>> Tolerance(0.1).similar([0.1, 0.9], [0.2, 0.8])
    array(True)
    """

    tolerance: float
    limit: float = field(init=False, repr=False, compare=False)
    """The largest difference of two floats: |x - y| ≤ t + 2⁻⁴⁹ decides as decimals would."""

    def __post_init__(self) -> None:
        tolerance = check_number(self.tolerance, "tolerance", 0, 1)
        object.__setattr__(self, "tolerance", tolerance)
        object.__setattr__(self, "limit", tolerance + 2.0**-49)

    def similar(self, rows: ArrayLike, others: ArrayLike) -> NDArray[np.bool_]:
        """Return for each pair of rows whether they are within the tolerance in every column."""
        differences = np.abs(np.asarray(rows) - np.asarray(others))
        return np.asarray((differences <= self.limit).all(axis=-1))

    def different_sparse(self, rows: Rows, others: Rows) -> Flags:
        """Return for each pair of sparse rows whether a column is not within the tolerance."""
        ranges = [
            _compare_listed(rows, others),
            _compare_listed(others, rows),
            _compare_unlisted(rows, others),
        ]
        is_sure, may_be = np.zeros((2, len(rows)), dtype=bool)
        for places, least, most in ranges:
            is_sure[places[least > self.limit]] = True
            may_be[places[~(most <= self.limit)]] = True
        reason = f"for {self!r} that decides; let the model list more symbols"
        for part in (rows, others):
            check_decided(part, may_be & ~is_sure & part.is_open, reason)
        return is_sure


# Pairs of rows, and how far apart a probability of each can be: the least and the most.
_Ranges = tuple[Integers, Floats, Floats]


def _compare_listed(rows: Rows, others: Rows) -> _Ranges:
    """Compare every listed probability with that in the other row."""
    cells, other_cells = _cells(rows), _cells(others)
    places = cells // rows.width
    # Where the other row lists the column, too; else it is anywhere between 0 and the ceiling.
    found = np.searchsorted(other_cells, cells)
    found[found == len(other_cells)] = 0
    low = np.zeros(len(cells))
    high = _open_ceilings(others)[places]
    is_there = other_cells[found] == cells if len(other_cells) else np.zeros(len(cells), dtype=bool)
    low[is_there] = high[is_there] = others.values[found[is_there]]
    differences = np.abs([rows.values - low, rows.values - high])
    is_between = (low <= rows.values) & (rows.values <= high)
    least = np.where(is_between, 0.0, differences.min(axis=0))
    return places, least, differences.max(axis=0)


def _cells(rows: Rows) -> Integers:
    """Number the listed cells of a table that is not made."""
    cells = rows.row_numbers * rows.width
    return cells if rows.columns is None else cells + rows.columns


def _compare_unlisted(rows: Rows, others: Rows) -> _Ranges:
    """Compare symbols that neither row lists; all are alike."""
    most = np.maximum(_open_ceilings(rows), _open_ceilings(others))
    places = most.nonzero()[0]
    if len(places):
        cells = np.unique(np.concatenate((_cells(rows), _cells(others))))
        listed = np.bincount(cells // rows.width, minlength=len(rows))
        places = places[listed[places] < rows.width]
    return places, np.zeros(len(places)), most[places]


def _open_ceilings(rows: Rows) -> Floats:
    """Return the most that an unlisted symbol can have; 0 where nothing is open."""
    return np.where(rows.is_open, rows.ceilings, 0.0)
