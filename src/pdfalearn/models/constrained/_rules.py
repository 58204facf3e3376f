"""Which symbols of distributions are kept, by their probabilities."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from pdfalearn.rows import Flags, Floats

_ROUNDING = 1e-12
"""A mass may fall short of p by this much, as adding up leaves it."""


class Rule(ABC):
    """Keeps symbols of distributions.

    Distributions are given as a table of what they list, in the order of the columns, and the mass
    of what they do not list, one number a row.
    """

    @abstractmethod
    def kept(self, table: Floats, rests: Floats) -> Flags:
        """Return what is kept; what has probability 0 is not in any case.

        That holds as long as everything that is kept is more probable than what is not listed.
        """

    @abstractmethod
    def are_enough(self, table: Floats, kept: Flags, rests: Floats) -> Flags:
        """Return for which rows nothing that is not listed has to be kept as well.

        Not for those in which rounding decides: dense rows might be rounded differently.
        """

    @property
    @abstractmethod
    def remedy(self) -> str:
        """What rows that list too little leave open, and what to do about it."""


@dataclass(frozen=True)
class MostProbable(Rule):
    """The k most probable symbols; of equal ones the first."""

    k: int

    def kept(self, table: Floats, rests: Floats) -> Flags:
        """Return which are the k most probable."""
        width = table.shape[1]
        if self.k >= width:
            return table > 0
        least = np.partition(table, width - self.k, axis=1)[:, width - self.k, None]
        above, equal = table > least, table == least
        room = self.k - above.sum(axis=1, keepdims=True)
        equal &= np.cumsum(equal, axis=1, dtype=np.int32) <= room
        return np.asarray((above | equal) & (table > 0))

    def are_enough(self, table: Floats, kept: Flags, rests: Floats) -> Flags:
        """Return where k are kept."""
        return np.asarray(np.count_nonzero(kept, axis=1) == self.k)

    @property
    def remedy(self) -> str:
        """What rows that list too little leave open, and what to do about it."""
        return (
            f"one of them may be among the {self.k} most probable; let the model list more "
            "symbols, or take a smaller k"
        )


@dataclass(frozen=True)
class FewestOfMass(Rule):
    """The fewest symbols with a mass of p, from the most probable one down."""

    p: float
    symbols: int
    """The size of the alphabet."""

    def kept(self, table: Floats, rests: Floats) -> Flags:
        """Return which are the fewest."""
        order = np.argsort(-table, axis=1, kind="stable")
        ordered = np.take_along_axis(table, order, axis=1)
        masses = np.cumsum(ordered, axis=1)
        enough = self.p * (masses[:, -1] + rests) - _ROUNDING
        is_needed = ordered > 0
        if self.p < 1:
            is_needed[:, 1:] &= masses[:, :-1] < enough[:, None]
        kept = np.empty_like(is_needed)
        np.put_along_axis(kept, order, is_needed, axis=1)
        return kept

    def are_enough(self, table: Floats, kept: Flags, rests: Floats) -> Flags:
        """Return where what is kept clearly has the mass, and without the last one has not."""
        if self.p == 1:
            return np.zeros(len(table), dtype=bool)
        # So much at most does it matter in which order all probabilities are added up.
        rounding = 2.0**-51 * (self.symbols + 4)
        masses = np.where(kept, table, 0.0).sum(axis=1)
        excess = masses - (self.p * (table.sum(axis=1) + rests) - _ROUNDING)
        least = np.where(kept, table, np.inf).min(axis=1)
        is_alone = np.count_nonzero(kept, axis=1) == 1
        return np.asarray((excess > rounding) & (is_alone | (excess - least < -rounding)))

    @property
    def remedy(self) -> str:
        """What rows that list too little leave open, and what to do about it."""
        return (
            f"one of them may be among those with a mass of {self.p}; let the model list more "
            "symbols, or take a smaller p"
        )
