"""Markov chains whose probabilities are only known to lie in intervals."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pdfalearn.analysis.boxes import Boxes
from pdfalearn.analysis.flows import Flow, sums_by
from pdfalearn.analysis.products import Product
from pdfalearn.words import offsets_of

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Flags = NDArray[np.bool_]

_PART = 2**14
"""Rows are added up in parts of this many pairs."""


@dataclass(frozen=True, eq=False)
class IntervalChain:
    """Places, and between them probabilities of which the least and the greatest are known.

    In every place, and each time anew, any probabilities within the intervals may be chosen that
    sum to 1. Behind the places are two targets where ways end: ``yes`` and ``no``. Cells stand in
    the order of their sources; no two are between the same places.
    """

    size: int
    sources: Indices
    targets: Indices
    lows: Floats
    highs: Floats

    @classmethod
    def of(cls, product: Product, boxes: Boxes) -> IntervalChain:
        """Return the chain of a product: words of the language end in ``yes``, others in ``no``.

        Parameters
        ----------
        product : Product
            Pairs of states, along all symbols that may have a probability.
        boxes : Boxes
            Those of the PDFA.
        """
        walk, size = product.walk, len(product)
        places = np.arange(size)
        lefts = walk.lefts[walk.sources]
        lows, highs = (
            np.concatenate(
                (table[lefts, walk.symbols + 1], table[walk.lefts, 0], _lost(product, table))
            )
            for table in (boxes.lows, boxes.highs)
        )
        ends_in = np.where(product.accepting, size, size + 1)
        sources = np.concatenate((walk.sources, places, places))
        targets = np.concatenate((walk.successors, ends_in, np.full(size, size + 1)))
        rounding = boxes.lows.shape[1] * 2.0**-51
        return cls.merged(size, sources, targets, lows, highs, rounding)

    @classmethod
    def merged(
        cls,
        size: int,
        sources: Indices,
        targets: Indices,
        lows: Floats,
        highs: Floats,
        rounding: float = 0.0,
    ) -> IntervalChain:
        """Make a chain of cells in any order, those between the same places added up.

        ``rounding`` is the share by which a sum may be off; intervals are made wider by it.
        """
        kept = highs > 0
        keys, places = np.unique(sources[kept] * (size + 2) + targets[kept], return_inverse=True)
        low, high = (sums_by(places, values[kept], len(keys)) for values in (lows, highs))
        low, high = low * (1 - rounding), np.minimum(high * (1 + rounding), 1.0)
        return cls(size, keys // (size + 2), keys % (size + 2), low, high)

    @property
    def yes(self) -> int:
        """The target that counts."""
        return self.size

    @property
    def no(self) -> int:
        """The other target."""
        return self.size + 1

    @cached_property
    def begins(self) -> Indices:
        """Where the cells of every place begin, and where the last ones end."""
        return offsets_of(np.bincount(self.sources, minlength=self.size))

    @cached_property
    def most_cells(self) -> int:
        """The greatest number of cells of a place."""
        return int(np.diff(self.begins).max())

    @cached_property
    def _groups(self) -> list[tuple[Indices, Indices]]:
        """Places of about as many cells, and their cells in rows; missing ones have number -1."""
        counts = np.diff(self.begins)
        kinds = np.ceil(np.log2(np.maximum(counts, 1))).astype(np.int64)
        return list(self._grouped(counts, kinds))

    def _grouped(self, counts: Indices, kinds: Indices) -> Iterator[tuple[Indices, Indices]]:
        for kind in np.unique(kinds):
            places = (kinds == kind).nonzero()[0]
            columns = np.arange(counts[places].max())
            cells = self.begins[places][:, None] + columns
            cells[columns >= counts[places][:, None]] = -1
            yield places, cells

    def best(self, values: Floats, *, greatest: bool) -> tuple[Floats, Floats]:
        """Choose the probabilities that make the expected value of the next target extreme.

        Parameters
        ----------
        values : array of float, shape (size + 2,)
            What every target is worth.
        greatest : bool
            Whether the greatest expectation is wanted, or the least.

        Returns
        -------
        expectations, weights : arrays of float
            What each place can expect, and the probability of each cell.

        Notes
        -----
        Each cell first gets what it must have. The rest goes to the best targets until they have
        as much as they may.
        """
        sign = -1.0 if greatest else 1.0
        worth = np.append(sign * values[self.targets], np.inf)  # the last one for missing cells
        lows, slacks = np.append(self.lows, 0.0), np.append(self.highs - self.lows, 0.0)
        expectations, weights = np.empty(self.size), np.zeros(len(worth))
        for places, all_cells in self._groups:
            order = np.argsort(worth[all_cells], axis=1, kind="stable")
            cells = np.take_along_axis(all_cells, order, axis=1)
            slack = slacks[cells]
            room = 1 - lows[cells].sum(axis=1, keepdims=True)
            before = np.cumsum(slack, axis=1) - slack
            chosen = lows[cells] + np.clip(room - before, 0.0, slack)
            weights[cells] = chosen
            worths = np.where(cells < 0, 0.0, worth[cells])
            expectations[places] = sign * (chosen * worths).sum(axis=1)
        return expectations, weights[:-1]

    def error(self, values: Floats) -> float:
        """Return how far rounding can take an expectation in `best` from what it should be.

        With D cells and u = 2⁻⁵³, what is left to fill before a cell is off by 4·D·u at most. That
        moves the filling by three times as much in all, as cells that begin that near to its end
        have no more slack together. Products, their sum and a difference of two such values add
        about D·u; 32·D·u is twice of it all.
        """
        return self.most_cells * 2.0**-48 * float(np.abs(values).max())

    def flow(self, weights: Floats) -> Flow:
        """Return the chain with probabilities that were chosen."""
        inner = (self.targets < self.size) & (weights > 0)
        outer = self.targets >= self.size
        leaving = sums_by(self.sources[outer], weights[outer], self.size)
        edges = self.sources[inner], self.targets[inner], weights[inner]
        return Flow(*edges, leaving=leaving)

    def restricted(self, kept: Flags) -> IntervalChain:
        """Return the chain within some places; what leads to others leads to ``no``."""
        return self._renumbered(kept, kept[self.sources])

    def within(self, kept: Flags) -> IntervalChain:
        """Return the chain within some places; nothing leads to others any more."""
        targets = np.append(kept, [True, True])[self.targets]
        return self._renumbered(kept, kept[self.sources] & targets)

    def _renumbered(self, kept: Flags, cells: Flags) -> IntervalChain:
        count = int(kept.sum())
        numbers = np.append(np.where(kept, np.cumsum(kept) - 1, count + 1), [count, count + 1])
        return IntervalChain.merged(
            count,
            numbers[self.sources[cells]],
            numbers[self.targets[cells]],
            self.lows[cells],
            self.highs[cells],
            rounding=self.most_cells * 2.0**-51,
        )


def _lost(product: Product, table: Floats) -> Floats:
    """Add up what goes with symbols that lead out of the language for good, for every pair."""
    lost, walk = np.zeros(len(product)), product.walk
    ways = product.dfa.table >= 0
    if not ways[:-1].all():
        for begin in range(0, len(product), _PART):
            part = slice(begin, begin + _PART)
            here = table[walk.lefts[part], 1:]
            lost[part] = np.where(ways[walk.rights[part]], 0.0, here).sum(axis=1)
    return lost
