"""Where ways may stay for ever, and where they may be led past a target, whatever intervals allow.

Sums that are 1 but for rounding count as 1: in doubt a way may stay, which makes bounds wider.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from pdfalearn.analysis.flows import sums_by
from pdfalearn.analysis.interval_chains import IntervalChain

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Flags = NDArray[np.bool_]


def end_components(chain: IntervalChain) -> Indices:
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


def _inside(chain: IntervalChain, labels: Indices, active: Flags) -> Flags:
    """Mark the cells within one component of active places."""
    targets = np.minimum(chain.targets, chain.size - 1)
    same = (chain.targets < chain.size) & (labels[chain.sources] == labels[targets])
    return np.asarray(same & active[chain.sources] & active[targets])


def _strong_components(chain: IntervalChain, cells: Flags) -> Indices:
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


def collapsed(chain: IntervalChain, components: Indices) -> tuple[IntervalChain, Indices]:
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
        IntervalChain.merged(
            size,
            np.concatenate((sources[plain], ways // (size + 2))),
            np.concatenate((targets[plain], ways % (size + 2))),
            np.concatenate((chain.lows[plain], np.zeros(len(ways)))),
            np.concatenate((chain.highs[plain], np.ones(len(ways)))),
            rounding=chain.most_cells * 2.0**-51,
        ),
        numbers,
    )


def avoiding(chain: IntervalChain) -> Flags:
    """Return for every place whether a way from it can be led past ``yes`` for sure."""
    return _kept_inside(chain, np.ones(chain.size, dtype=bool), ends={chain.no})


def ending(chain: IntervalChain) -> tuple[Flags, Indices]:
    """Return whether a way from each place can be made to end for sure, and in how many steps.

    The steps are those of the shortest way, if choices are made such that it is possible.
    """
    kept = np.ones(chain.size, dtype=bool)
    while True:
        kept = _kept_inside(chain, kept, ends={chain.yes, chain.no})
        steps = _steps_to_end(chain, kept)
        if (steps[kept] >= 0).all():
            return kept, steps
        kept = steps >= 0


def _steps_to_end(chain: IntervalChain, kept: Flags) -> Indices:
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


def _kept_inside(chain: IntervalChain, kept: Flags, ends: set[int]) -> Flags:
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

    def cells_into(self, places: Indices) -> Indices:
        """Return the cells whose targets are among different places."""
        begins, counts = self._begins[places], np.diff(self._begins)[places]
        within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        return np.asarray(self._cells[np.repeat(begins, counts) + within])
