"""What is lost by merging a blue node into red ones: likelihood, states and parameters."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import xlogy

from pdfalearn.passive.red_blue import Merging, Subtree
from pdfalearn.typing import Flags, Floats, Integers


class Losses(NamedTuple):
    """What merging a blue node into each of some reds loses, with all that follows from it."""

    # How much the log-likelihood of the words falls, in nats.
    likelihood: Floats
    # How many states are saved.
    states: Integers
    # How many shares that are not 0 are saved.
    parameters: Integers

    def plus(
        self,
        reds: Integers,
        likelihood: Floats,
        *,
        states: Integers | None = None,
        parameters: Integers | None = None,
    ) -> Losses:
        """Add what some of the reds lose; one may be named several times."""
        count = len(self.states)
        saved, shares = self.states, self.parameters
        if states is not None:
            saved = saved + np.bincount(reds, states, count).astype(np.int64)
        if parameters is not None:
            shares = shares + np.bincount(reds, parameters, count).astype(np.int64)
        return Losses(self.likelihood + np.bincount(reds, likelihood, count), saved, shares)


class _Sums(NamedTuple):
    """Amounts that were added up by their cells."""

    cells: Integers
    sums: Floats
    # How many amounts each cell has.
    parts: Integers
    # The places of the amounts, cell by cell.
    order: Integers
    # Where each cell begins in this order.
    starts: Integers


class _Below(NamedTuple):
    """The nodes of a subtree, with all that merging them needs."""

    ups: Integers
    symbols: Integers
    passes: Floats
    ends: Floats
    # The log-likelihood of what follows each node: Σ c·ln c − n·ln n over its counts c.
    entropies: Floats
    # Where the children of each node begin, and behind them the number of nodes.
    begins: Integers
    is_compared: Flags


def measure_losses(merging: Merging, reds: Integers, tree: Subtree, least: float = 0.0) -> Losses:
    """Measure what merging the first node of a subtree into each of some reds would lose.

    Nodes that fewer words pass than ``least`` are left out, as if merging them lost nothing.
    """
    below = _describe(merging, tree, least)
    states = merging.walk(reds, tree)
    zero = np.zeros(len(reds), dtype=np.int64)
    losses = Losses(np.zeros(len(reds)), zero, zero)
    return _leave_automaton(_stay_inside(losses, merging, states, below, least), states, below)


def bound_losses(merging: Merging, reds: Integers, blue: int) -> Floats:
    """Return how much likelihood is lost at least: what merging the rows of two nodes loses."""
    rows, row = merging.counts[reds], merging.counts[[blue]]
    return _score_rows(rows) + _score_rows(row) - _score_rows(rows + row)


def _score_rows(rows: Floats) -> Floats:
    """Return the log-likelihood of the counts of each row."""
    return np.asarray(_n_log_n(rows).sum(axis=1) - _n_log_n(rows.sum(axis=1)))


def _describe(merging: Merging, tree: Subtree, least: float) -> _Below:
    passes, ends = merging.passes[tree.nodes], merging.counts[tree.nodes, 0]
    terms = np.bincount(tree.ups[1:], _n_log_n(passes)[1:], len(passes))
    return _Below(
        tree.ups,
        merging.symbols[tree.nodes],
        passes,
        ends,
        terms + _n_log_n(ends) - _n_log_n(passes),
        np.searchsorted(tree.ups[1:], np.arange(len(passes) + 1)) + 1,
        passes >= least,
    )


def _stay_inside(
    losses: Losses, merging: Merging, states: Integers, below: _Below, least: float
) -> Losses:
    """Add what is lost where nodes merge into nodes that the automaton has."""
    nodes, width = merging.counts.shape
    is_merged = (states >= 0) & below.is_compared[: len(states), None]
    if least:
        is_merged &= merging.passes[states] >= least
    places, reds = np.nonzero(is_merged)
    losses = losses.plus(reds, below.entropies[places], states=np.ones_like(reds))
    # A cell is a count of a row of one red's automaton. What the merged nodes add to it: their
    # ends, and the passes of their children.
    ending = np.flatnonzero(below.ends[places])
    reds, places = reds[ending], places[ending]
    moved, onto = np.nonzero(is_merged[below.ups[1 : len(states)]])
    moved += 1
    cells = np.concatenate(
        (
            (reds * nodes + states[places, reds]) * width,
            (onto * nodes + states[below.ups[moved], onto]) * width + below.symbols[moved] + 1,
        )
    )
    added = _add_up(cells, np.concatenate((below.ends[places], below.passes[moved])))
    before = merging.counts.reshape(-1)[added.cells % (nodes * width)]
    losses = losses.plus(
        added.cells // (nodes * width),
        -_rise(before, added.sums),
        parameters=added.parts - (before == 0),
    )
    rows = _add_up(added.cells // width, added.sums)
    return losses.plus(rows.cells // nodes, _rise(merging.passes[rows.cells % nodes], rows.sums))


def _leave_automaton(losses: Losses, states: Integers, below: _Below) -> Losses:
    """Add what is lost where several nodes leave the automaton at one place, and merge there."""
    known = slice(1, len(states))
    leaving = (states[known] < 0) & (states[below.ups[known]] >= 0)
    leaving &= below.is_compared[known, None]
    places, reds = np.nonzero(leaving)
    places += 1
    span, width = int(states.max()) + 1, int(below.symbols.max()) + 1
    cells = (reds * span + states[below.ups[places], reds]) * width + below.symbols[places]
    while len(places):
        added = _add_up(cells, below.passes[places])
        shared = added.parts > 1
        owners = reds[added.order[added.starts[shared]]]
        totals = added.sums[shared]
        losses = losses.plus(owners, _n_log_n(totals), states=added.parts[shared] - 1)
        # From here on, only what shares its cell. Cells are numbered, and so stay small.
        kept = added.order[np.repeat(shared, added.parts)]
        classes = np.repeat(np.arange(len(totals)), added.parts[shared])
        reds, places = reds[kept], places[kept]
        losses = losses.plus(reds, below.entropies[places])
        ending = below.ends[places] > 0
        losses = _merge_counts(losses, reds[ending], classes[ending], below.ends[places[ending]])
        sizes = below.begins[places + 1] - below.begins[places]
        places = np.repeat(below.begins[places] - np.cumsum(sizes) + sizes, sizes)
        places = places + np.arange(len(places))
        reds, cells = np.repeat(reds, sizes), np.repeat(classes, sizes) * width
        cells += below.symbols[places]
        losses = _merge_counts(losses, reds, cells, below.passes[places])
        compared = below.is_compared[places]
        reds, places, cells = reds[compared], places[compared], cells[compared]
    return losses


def _merge_counts(losses: Losses, reds: Integers, cells: Integers, amounts: Floats) -> Losses:
    """Take away the likelihood of merged counts; a cell of k of them saves k − 1 parameters."""
    added = _add_up(cells, amounts)
    owners = reds[added.order[added.starts]]
    return losses.plus(owners, -_n_log_n(added.sums), parameters=added.parts - 1)


def _n_log_n(counts: Floats) -> Floats:
    return np.asarray(xlogy(counts, counts), dtype=np.float64)


def _rise(before: Floats, sums: Floats) -> Floats:
    """Return how much n·ln n rises when sums are added."""
    after = before + sums
    return _n_log_n(after) - _n_log_n(before)


def _add_up(cells: Integers, amounts: Floats) -> _Sums:
    """Add up the amounts of equal cells."""
    order = np.argsort(cells)
    cells = cells[order]
    begins = np.ones(len(cells), dtype=bool)
    begins[1:] = cells[1:] != cells[:-1]
    starts = np.flatnonzero(begins)
    sums = np.add.reduceat(amounts[order], starts) if len(starts) else amounts
    parts = np.empty_like(starts)
    parts[:-1] = starts[1:] - starts[:-1]
    parts[-1:] = len(cells) - starts[-1:]
    return _Sums(cells[starts], sums, parts, order, starts)
