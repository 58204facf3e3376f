"""Markov chains whose probabilities are only known to lie in intervals.

Where ways may stay for ever, and where they may be led past a target, whatever the intervals allow:
sums that are 1 but for rounding count as 1, so that in doubt a way may stay, and bounds are wider.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from pdfalearn.chains.flows import Flow, sums_by
from pdfalearn.chains.ways import least_costs
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
        counts, groups = np.diff(self.begins), []
        # Counts within a factor of two share a table, so that at most half of it is missing.
        kinds = np.ceil(np.log2(np.maximum(counts, 1)))
        for kind in np.unique(kinds):
            places = (kinds == kind).nonzero()[0]
            columns = np.arange(counts[places].max())
            cells = self.begins[places][:, None] + columns
            cells[columns >= counts[places][:, None]] = -1
            groups.append((places, cells))
        return groups

    def best(self, values: Floats, *, greatest: bool) -> tuple[Floats, Floats]:
        """Choose the probabilities that make the expected value of the next target extreme.

        Returns what each place can expect, and the probability of each cell. Each cell first gets
        what it must have; the rest goes to the best targets until they have as much as they may.
        """
        sign = -1.0 if greatest else 1.0
        worth = np.append(sign * values[self.targets], np.inf)  # the last one for missing cells
        lows, slacks = np.append(self.lows, 0.0), np.append(self.highs - self.lows, 0.0)
        expectations, weights = np.empty(self.size), np.zeros(len(worth))
        for places, all_cells in self._groups:
            # From the best target to the worst, each takes what those before it have left.
            order = np.argsort(worth[all_cells], axis=1, kind="stable")
            cells = np.take_along_axis(all_cells, order, axis=1)
            slack = slacks[cells]
            free = 1 - lows[cells].sum(axis=1, keepdims=True)
            before = np.cumsum(slack, axis=1) - slack
            chosen = lows[cells] + np.clip(free - before, 0.0, slack)
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

    def restrict_to(self, kept: Flags, *, cut: bool = False) -> IntervalChain:
        """Return the chain within some places; what leads to others is cut, or leads to ``no``."""
        cells, count = kept[self.sources], int(kept.sum())
        if cut:
            cells &= np.append(kept, [True, True])[self.targets]
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
    Places that cannot stay within their strongly connected component are left out, and what is left
    falls into smaller components, until all places can stay.
    """
    active, inner = np.ones(chain.size, dtype=bool), chain.targets < chain.size
    targets = np.where(inner, chain.targets, 0)
    while True:
        cells = inner & active[chain.sources] & active[targets]
        edges = chain.sources[cells], targets[cells]
        graph = csr_array((np.ones(len(edges[0])), edges), shape=(chain.size, chain.size))
        labels = connected_components(graph, connection="strong")[1]
        most, forced = _sum_within(chain, cells & (labels[chain.sources] == labels[targets]))
        leaves = active & _must_leave(chain, most, forced)
        if not leaves.any():
            components = np.full(chain.size, -1)
            components[active] = np.unique(labels[active], return_inverse=True)[1]
            return components
        active &= ~leaves


def _sum_within(chain: IntervalChain, cells: Flags) -> tuple[Floats, Floats]:
    """Return the most that every place can put into these cells, and the least into others."""
    most = sums_by(chain.sources, np.where(cells, chain.highs, 0.0), chain.size)
    return most, sums_by(chain.sources, np.where(cells, 0.0, chain.lows), chain.size)


def _must_leave(chain: IntervalChain, most: Floats, forced: Floats) -> Flags:
    """Return whether no choice stays within cells; in doubt one does, which is on the safe side."""
    rounding = (chain.most_cells + 4) * 2.0**-50
    return (most < 1 - rounding) | (forced > rounding)


def collapse_components(
    chain: IntervalChain, components: Integers
) -> tuple[IntervalChain, Integers]:
    """Make one place of every end component, and return the chain and the number of each place.

    A way that may stay in a component may leave it when and where it is best: to every target
    outside that a place inside may lead to; or it never leaves, which counts as ``no``.
    """
    single = components < 0
    begin = int(single.sum())
    numbers = np.where(single, np.cumsum(single) - 1, begin + components)
    size = begin + int(components.max(initial=-1)) + 1
    sources, targets = numbers[chain.sources], np.append(numbers, [size, size + 1])[chain.targets]
    plain = single[chain.sources]
    exits = ~plain & (sources != targets)
    # Every exit may be taken with any probability, and so may ``no``: to stay for ever.
    never = np.arange(begin, size) * (size + 2) + size + 1
    ways = np.unique(np.concatenate((sources[exits] * (size + 2) + targets[exits], never)))
    cells = (
        np.concatenate((sources[plain], ways // (size + 2))),
        np.concatenate((targets[plain], ways % (size + 2))),
        np.concatenate((chain.lows[plain], np.zeros(len(ways)))),
        np.concatenate((chain.highs[plain], np.ones(len(ways)))),
    )
    rounding = chain.most_cells * 2.0**-51
    return IntervalChain.of_cells(size, *cells, rounding=rounding), numbers


def avoiding_places(chain: IntervalChain) -> Flags:
    """Return for every place whether a way from it can be led past ``yes`` for sure."""
    return _keep_inside(chain, np.ones(chain.size, dtype=bool), ends={chain.no})


def ending_places(chain: IntervalChain) -> tuple[Flags, Floats]:
    """Return whether a way from each place can be made to end for sure, and in how many steps.

    The steps are those of the shortest way, if choices are made such that it is possible.
    """
    kept, ends = np.ones(chain.size, dtype=bool), np.full(chain.size + 2, np.inf)
    ends[-2:] = 0.0
    while True:
        kept = _keep_inside(chain, kept, ends={chain.yes, chain.no})
        cells = kept[chain.sources] & np.append(kept, [True, True])[chain.targets]
        edges = chain.sources[cells], chain.targets[cells]
        steps = least_costs(*edges, np.ones(len(edges[0])), ends)[:-2]
        if np.isfinite(steps[kept]).all():
            return kept, steps
        kept = np.isfinite(steps)


def _keep_inside(chain: IntervalChain, kept: Flags, ends: set[int]) -> Flags:
    """Return the largest part of some places from which ways can be kept in it, or led to ends."""
    inside = np.append(kept, [chain.yes in ends, chain.no in ends])
    most, forced = _sum_within(chain, inside[chain.targets])
    by_target = np.argsort(chain.targets, kind="stable")
    begins = np.searchsorted(chain.targets, np.arange(chain.size + 1), sorter=by_target)
    kept = kept.copy()
    leaves = (kept & _must_leave(chain, most, forced)).nonzero()[0]
    while len(leaves):
        kept[leaves] = False
        # All cells into the places that leave: ranges of by_target, one after the other.
        counts = begins[leaves + 1] - begins[leaves]
        shifts = begins[leaves] - (np.cumsum(counts) - counts)
        into = by_target[np.arange(counts.sum()) + np.repeat(shifts, counts)]
        sources = chain.sources[into]
        np.subtract.at(most, sources, chain.highs[into])
        np.add.at(forced, sources, chain.lows[into])
        touched = np.unique(sources)
        out = _must_leave(chain, most[touched], forced[touched])
        leaves = touched[out & kept[touched]]
    return kept
