"""Where two automata part: pairs of states whose rows differ, and the likeliest way to each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from pdfalearn.alphabet import Symbol
from pdfalearn.arrays import reaching
from pdfalearn.chains import Flow, Pairs, least_costs, minus_logs
from pdfalearn.pdfa import PDFA
from pdfalearn.typing import Floats
from pdfalearn.words import offsets_of

# Each symbol of a way costs this much more, so that of two ways as likely the shorter is taken.
_STEP = 1e-9


@dataclass(frozen=True)
class PrefixDifference:
    """Beginnings of words after which the two rows differ: all that lead to one pair of states.

    Examples
    --------
    >>> from pdfalearn.analysis import differences
    >>> from pdfalearn.datasets import figure_1
    >>> (found,) = differences(figure_1(), figure_1(0.25), 1).prefixes
    >>> found.prefix, found.states, found.symbol, found.probability_a, found.probability_b
    (('a',), (1, 1), 'a', 0.5, 0.25)
    """

    prefix: tuple[Symbol, ...]
    """The likeliest of them, by √(P(u)·Q(u))."""
    states: tuple[int, int]
    """The states that they lead to, of the first and of the second automaton."""
    share: float
    """The part of the squared Hellinger distance that arises here; over all pairs they are 1."""
    symbol: Symbol
    """What differs most as the next symbol; it may be the terminal."""
    probability_a: float
    probability_b: float
    """How likely this symbol is next."""


def prefix_differences(
    a: PDFA, pairs: Pairs, row_distances: Floats, squared: float, count: int
) -> Iterator[PrefixDifference]:
    """Return pairs of states by how often words of √(P·Q) visit them, times their distance.

    ``row_distances`` are the squared Hellinger distances of the rows of each pair; ``squared`` is
    that of the automata.
    """
    left, right = pairs.edge_weights()
    ends, others = pairs.endings()
    leaving = np.sqrt(ends * others) + row_distances
    # From elsewhere no difference is reached, and words may never leave.
    useful = reaching(pairs.sources, pairs.successors, row_distances > 0)
    flow = Flow(pairs.sources, pairs.successors, np.sqrt(left * right), leaving)
    flow = flow.restrict_to(useful)
    shares = np.zeros(len(pairs))
    shares[useful] = flow.visits(flow.start) * row_distances[useful] / squared
    columns = (a.terminal, *a.alphabet.symbols)
    ways = _Ways(pairs, minus_logs(np.sqrt(left * right)))
    for pair in np.argsort(-shares, kind="stable")[:count].tolist():
        if not shares[pair]:
            return
        states = int(pairs.lefts[pair]), int(pairs.rights[pair])
        row, other = pairs.first.rows[states[0]], pairs.second.rows[states[1]]
        column = int(np.abs(np.sqrt(row) - np.sqrt(other)).argmax())
        prefix, probabilities = a.alphabet.decode(ways.to(pair)), (row[column], other[column])
        yield PrefixDifference(
            prefix, states, float(shares[pair]), columns[column], *map(float, probabilities)
        )


class _Ways:
    """The cheapest ways from the initial pair to each other one."""

    def __init__(self, pairs: Pairs, steps: Floats) -> None:
        # By their successors, all edges turned round; a little more for each step, so that a way
        # back never turns in circles.
        self._order = np.argsort(pairs.successors, kind="stable")
        self._sources = pairs.sources[self._order]
        self._symbols = pairs.symbols[self._order]
        self._steps = steps[self._order] + _STEP
        ends = np.full(len(pairs), np.inf)
        ends[0] = 0.0
        targets = pairs.successors[self._order]
        self._costs = least_costs(targets, self._sources, self._steps, ends)
        self._offsets = offsets_of(np.bincount(targets, minlength=len(pairs)))

    def to(self, pair: int) -> list[int]:
        """Return the word of the cheapest way to a pair."""
        codes = []
        while pair:
            here = slice(*self._offsets[pair : pair + 2].tolist())
            best = here.start + int((self._costs[self._sources[here]] + self._steps[here]).argmin())
            codes.append(int(self._symbols[best]))
            pair = int(self._sources[best])
        return codes[::-1]
