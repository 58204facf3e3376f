"""How near the observed probabilities are to boundaries between intervals."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pdfalearn.equivalence.relations import Quantization, Relation, Rounded
from pdfalearn.errors import InputError
from pdfalearn.frozen import ArrayValue

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

MOST_DISTANCES = 2**16
"""At most this many of the smallest different distances are kept."""
LARGEST = 1.0
"""No probability is farther from a boundary."""
POWERS_OF_TEN = tuple(float(f"1e-{exponent}") for exponent in range(15, -1, -1))
"""How many probabilities are that near is known whatever else is kept."""


@dataclass(frozen=True, eq=False, repr=False)
class BoundaryDistances(ArrayValue):
    """How many probabilities are within which distance of a boundary."""

    distances: Floats
    """Different distances, the smallest first."""
    counts: Counts
    """How many probabilities are within each of them."""
    complete_to: float
    """Up to here every distance that occurs is kept; beyond, there are powers of ten only."""

    @classmethod
    def of(cls, by: Relation, tables: Iterable[Floats]) -> BoundaryDistances | None:
        """Look at the probabilities of many distributions, a part of them at a time.

        Parameters
        ----------
        by : Equivalence or Tolerance
            When distributions are the same. Only a quantization has boundaries; for others None is
            returned.
        tables : iterable of array of float
            The distributions, in tables that are not large.

        Examples
        --------
        >>> rows = np.array([[0.25, 0.75], [0.125, 0.875]])
        >>> BoundaryDistances.of(Quantization(2), [rows]).counts.tolist()
        [2, 4]
        """
        quantization = _quantization_in(by)
        if quantization is None:
            return None
        distances, counts = np.empty(0), np.empty(0, dtype=np.int64)
        within = np.zeros(len(POWERS_OF_TEN), dtype=np.int64)
        complete_to = LARGEST
        for table in tables:
            part = quantization.boundary_distances(table).ravel()
            within += [np.count_nonzero(part <= power) for power in POWERS_OF_TEN]
            distances, counts = _merged(distances, counts, part[part <= complete_to])
            if len(distances) > MOST_DISTANCES:
                distances, counts = distances[:MOST_DISTANCES], counts[:MOST_DISTANCES]
                complete_to = float(distances[-1])
        beyond = np.array(POWERS_OF_TEN) > complete_to
        return cls(
            np.concatenate((distances, np.array(POWERS_OF_TEN)[beyond])),
            np.concatenate((np.cumsum(counts), within[beyond])),
            complete_to,
        )

    def within(self, distance: float) -> int:
        """Count the probabilities within a distance of a boundary.

        Raises
        ------
        InputError
            If not all distances up to this one are kept, and it is not a power of ten.
        """
        place = int(np.searchsorted(self.distances, distance, side="right"))
        nearest = float(self.distances[place - 1]) if place else -1.0
        if distance > self.complete_to and nearest != distance:
            raise InputError(
                f"distance {distance!r} is too large: of too many probabilities only the nearest "
                f"are kept, up to {self.complete_to!r}; beyond, ask for a power of ten"
            )
        return int(self.counts[place - 1]) if place else 0


def _quantization_in(by: Relation) -> Quantization | None:
    """Return the quantization inside a relation, or None if there is none."""
    while isinstance(by, Rounded):
        by = by.by
    return by if isinstance(by, Quantization) else None


def _merged(distances: Floats, counts: Counts, more: Floats) -> tuple[Floats, Counts]:
    """Add distances to those that are counted already."""
    if not len(more):
        return distances, counts
    new, times = np.unique(more, return_counts=True)
    if not len(distances):
        return new, times
    merged, places = np.unique(np.concatenate((distances, new)), return_inverse=True)
    summed = np.zeros(len(merged), dtype=np.int64)
    summed[places[: len(distances)]] = counts
    summed[places[len(distances) :]] += times
    return merged, summed
