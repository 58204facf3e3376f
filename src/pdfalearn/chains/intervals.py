"""Markov chains whose probabilities are only known to lie in intervals.

Where ways may stay for ever, and where they may be led past a target, whatever the intervals allow:
sums that are 1 but for rounding count as 1, so that in doubt a way may stay, and bounds are wider.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from pdfalearn.chains.flows import Flow, sums_by
from pdfalearn.typing import Flags, Floats, Integers
from pdfalearn.words import offsets_of


@dataclass(frozen=True, eq=False)
class IntervalChain:
    """Places, and between them probabilities of which the least and the greatest are known.

    In every place, and each time anew, any probabilities within the intervals may be chosen that
    sum to 1. Behind the places are two targets where ways end: ``yes`` and ``no``. Cells stand in
    the order of their sources; no two are between the same places.
    """

    size: int
    sources: Integers
    targets: Integers
    lows: Floats
    highs: Floats

    @classmethod
    def of_cells(
        cls,
        size: int,
        sources: Integers,
        targets: Integers,
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
    def begins(self) -> Integers:
        """Where the cells of every place begin, and where the last ones end."""
        return offsets_of(np.bincount(self.sources, minlength=self.size))

    @cached_property
    def most_cells(self) -> int:
        """The greatest number of cells of a place."""
        return int(np.diff(self.begins).max())

    @cached_property
    def _groups(self) -> list[tuple[Integers, Integers]]:
        """Places of about as many cells, and their cells in rows; missing ones have number -1."""
        counts = np.diff(self.begins)
        kinds = np.ceil(np.log2(np.maximum(counts, 1))).astype(np.int64)
        return list(self._group_places(counts, kinds))

    def _group_places(
        self, counts: Integers, kinds: Integers
    ) -> Iterator[tuple[Integers, Integers]]:
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

    def restrict_to(self, kept: Flags) -> IntervalChain:
        """Return the chain within some places; what leads to others leads to ``no``."""
        return self._renumber_places(kept, kept[self.sources])

    def within(self, kept: Flags) -> IntervalChain:
        """Return the chain within some places; nothing leads to others any more."""
        targets = np.append(kept, [True, True])[self.targets]
        return self._renumber_places(kept, kept[self.sources] & targets)

    def _renumber_places(self, kept: Flags, cells: Flags) -> IntervalChain:
        count = int(kept.sum())
        numbers = np.append(np.where(kept, np.cumsum(kept) - 1, count + 1), [count, count + 1])
        return IntervalChain.of_cells(
            count,
            numbers[self.sources[cells]],
            numbers[self.targets[cells]],
            self.lows[cells],
            self.highs[cells],
            rounding=self.most_cells * 2.0**-51,
        )


def end_components(chain: IntervalChain) -> Integers:
    """Return the number of each place's maximal end component; -1 for places in none.

    Once in an end component, a way can be kept in it for ever, and led to each of its places.

    Notes
    -----
    Places that cannot stay within their strongly connected component are left out, and what is
    left falls into smaller components, until all places can stay.
    """
    labels = np.zeros(chain.size, dtype=np.int64)
    active = np.ones(chain.size, dtype=bool)
    while True:
        inside = _inside(chain, labels, active)
        labels = _strong_components(chain, inside)
        inside &= labels[chain.sources] == labels[np.minimum(chain.targets, chain.size - 1)]
        leaves = active & ~_can_stay(chain, inside)
        if not leaves.any():
            _, numbers = np.unique(labels[active], return_inverse=True)
            components = np.full(chain.size, -1)
            components[active] = numbers
            return components
        active &= ~leaves


def _inside(chain: IntervalChain, labels: Integers, active: Flags) -> Flags:
    """Mark the cells within one component of active places."""
    targets = np.minimum(chain.targets, chain.size - 1)
    same = (chain.targets < chain.size) & (labels[chain.sources] == labels[targets])
    return np.asarray(same & active[chain.sources] & active[targets])


def _strong_components(chain: IntervalChain, cells: Flags) -> Integers:
    edges = (chain.sources[cells], chain.targets[cells])
    graph = csr_array((np.ones(len(edges[0])), edges), shape=(chain.size, chain.size))
    return np.asarray(connected_components(graph, connection="strong")[1], dtype=np.int64)


def _can_stay(chain: IntervalChain, cells: Flags) -> Flags:
    """Return whether probabilities can be chosen such that all is in these cells."""
    most = sums_by(chain.sources, np.where(cells, chain.highs, 0.0), chain.size)
    forced = sums_by(chain.sources, np.where(cells, 0.0, chain.lows), chain.size)
    return (most >= 1 - _rounding(chain)) & (forced <= _rounding(chain))


def _rounding(chain: IntervalChain) -> float:
    return (chain.most_cells + 4) * 2.0**-50


def collapse_components(
    chain: IntervalChain, components: Integers
) -> tuple[IntervalChain, Integers]:
    """Make one place of every end component, and return the chain and the number of each place.

    A way that may stay in a component may leave it when and where it is best: to every target
    outside that a place inside may lead to; or it never leaves, which counts as ``no``.
    """
    single = components < 0
    numbers = np.where(single, np.cumsum(single) - 1, int(single.sum()) + components)
    size = int(single.sum() + components.max(initial=-1) + 1)
    all_numbers = np.append(numbers, [size, size + 1])
    sources, targets = numbers[chain.sources], all_numbers[chain.targets]
    plain = single[chain.sources]
    exits = ~plain & (sources != targets)
    joint = np.arange(int(single.sum()), size)
    ways = np.unique(
        np.concatenate(
            (sources[exits] * (size + 2) + targets[exits], joint * (size + 2) + size + 1)
        )
    )
    return (
        IntervalChain.of_cells(
            size,
            np.concatenate((sources[plain], ways // (size + 2))),
            np.concatenate((targets[plain], ways % (size + 2))),
            np.concatenate((chain.lows[plain], np.zeros(len(ways)))),
            np.concatenate((chain.highs[plain], np.ones(len(ways)))),
            rounding=chain.most_cells * 2.0**-51,
        ),
        numbers,
    )


def avoiding_places(chain: IntervalChain) -> Flags:
    """Return for every place whether a way from it can be led past ``yes`` for sure."""
    return _keep_inside(chain, np.ones(chain.size, dtype=bool), ends={chain.no})


def ending_places(chain: IntervalChain) -> tuple[Flags, Integers]:
    """Return whether a way from each place can be made to end for sure, and in how many steps.

    The steps are those of the shortest way, if choices are made such that it is possible.
    """
    kept = np.ones(chain.size, dtype=bool)
    while True:
        kept = _keep_inside(chain, kept, ends={chain.yes, chain.no})
        steps = _steps_to_end(chain, kept)
        if (steps[kept] >= 0).all():
            return kept, steps
        kept = steps >= 0


def _steps_to_end(chain: IntervalChain, kept: Flags) -> Integers:
    """Return the steps of a shortest way through kept places to an end; -1 where there is none."""
    all_kept = np.append(kept, [True, True])
    backwards = _Backwards(chain, kept[chain.sources] & all_kept[chain.targets])
    steps = np.full(chain.size + 2, -1)
    front, distance = np.array([chain.yes, chain.no]), 0
    while len(front):
        steps[front] = distance
        sources = np.unique(chain.sources[backwards.cells_into(front)])
        front, distance = sources[steps[sources] < 0], distance + 1
    return steps[:-2]


def _keep_inside(chain: IntervalChain, kept: Flags, ends: set[int]) -> Flags:
    """Return the largest part of some places from which ways can be kept in it, or led to ends."""
    inside = np.append(kept, [chain.yes in ends, chain.no in ends])
    cells = inside[chain.targets]
    most = sums_by(chain.sources, np.where(cells, chain.highs, 0.0), chain.size)
    forced = sums_by(chain.sources, np.where(cells, 0.0, chain.lows), chain.size)
    backwards = _Backwards(chain, cells)
    rounding = _rounding(chain)
    kept = kept.copy()
    leaves = (kept & ((most < 1 - rounding) | (forced > rounding))).nonzero()[0]
    while len(leaves):
        kept[leaves] = False
        into = backwards.cells_into(leaves)
        sources = chain.sources[into]
        np.subtract.at(most, sources, chain.highs[into])
        np.add.at(forced, sources, chain.lows[into])
        touched = np.unique(sources)
        out = (most[touched] < 1 - rounding) | (forced[touched] > rounding)
        leaves = touched[out & kept[touched]]
    return kept


class _Backwards:
    """Finds the cells that lead into places.

    Parameters
    ----------
    chain : IntervalChain
        The chain.
    cells : array of bool
        The cells to look among.
    """

    def __init__(self, chain: IntervalChain, cells: Flags) -> None:
        numbers = cells.nonzero()[0]
        self._cells = numbers[np.argsort(chain.targets[numbers], kind="stable")]
        places = np.arange(chain.size + 3)
        self._begins = np.searchsorted(chain.targets[self._cells], places)

    def cells_into(self, places: Integers) -> Integers:
        """Return the cells whose targets are among different places."""
        begins, counts = self._begins[places], np.diff(self._begins)[places]
        within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        return np.asarray(self._cells[np.repeat(begins, counts) + within])
