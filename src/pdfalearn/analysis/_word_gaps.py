"""Search for the words whose probabilities in two automata differ most."""

from __future__ import annotations

from heapq import heappop, heappush
from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pdfalearn.chains.walks import Pairs, Side
from pdfalearn.chains.ways import least_costs, minus_logs
from pdfalearn.words import offsets_of

Floats = NDArray[np.float64]

_MOST_STEPS = 50_000
_ROUNDS = 200


class _Node(NamedTuple):
    """A prefix, or a whole word; the order of a heap takes the largest bound first."""

    minus_bound: float
    codes: tuple[int, ...]
    is_word: bool
    pair: int
    left: float
    right: float


class WordGaps:
    """A best-first search for |√P(w) - √Q(w)|.

    With a and b for the roots of a prefix's probabilities, α and β for the roots of the likeliest
    completions', and Δ for the largest gap of completions, no completion has a larger gap than
    max(aα, bβ), |a - b|α + bΔ and |a - b|β + aΔ.

    Parameters
    ----------
    pairs : Pairs
        The pairs that words reach which can still end.
    """

    def __init__(self, pairs: Pairs) -> None:
        self._pairs = pairs
        walk = pairs.walk
        self._alphas = _best_roots(pairs.first)[walk.lefts]
        self._betas = _best_roots(pairs.second)[walk.rights]
        self._weights, self._other_weights = pairs.edge_weights()
        self._ends, self._other_ends = pairs.endings()
        self._offsets = offsets_of(np.bincount(walk.sources, minlength=len(pairs)))
        self._gaps = self._largest_gaps()

    def largest(self, count: int) -> list[tuple[tuple[int, ...], float, float]]:
        """Return words and their two probabilities, the largest gap first."""
        waiting = [_Node(-1.0, (), False, 0, 1.0, 1.0)]
        found: list[tuple[tuple[int, ...], float, float]] = []
        for _ in range(_MOST_STEPS):
            if not waiting or len(found) == count:
                break
            node = heappop(waiting)
            if node.is_word:
                found.append((node.codes, node.left, node.right))
            else:
                self._expand(node, waiting)
        return found

    def _expand(self, node: _Node, waiting: list[_Node]) -> None:
        left = node.left * float(self._ends[node.pair])
        right = node.right * float(self._other_ends[node.pair])
        if left != right:
            gap = abs(sqrt(left) - sqrt(right))
            heappush(waiting, _Node(-gap, node.codes, True, node.pair, left, right))
        here = slice(*self._offsets[node.pair : node.pair + 2].tolist())
        successors = self._pairs.walk.successors[here]
        lefts, rights = node.left * self._weights[here], node.right * self._other_weights[here]
        bounds = self._bounds(successors, np.sqrt(lefts), np.sqrt(rights))
        symbols = self._pairs.walk.symbols[here]
        for at in np.flatnonzero(bounds > 0).tolist():
            codes = (*node.codes, int(symbols[at]))
            values = float(lefts[at]), float(rights[at])
            heappush(waiting, _Node(-float(bounds[at]), codes, False, int(successors[at]), *values))

    def _bounds(self, pairs: NDArray[np.int64], lefts: Floats, rights: Floats) -> Floats:
        alphas, betas, gaps = self._alphas[pairs], self._betas[pairs], self._gaps[pairs]
        apart = np.abs(lefts - rights)
        bounds = np.minimum(apart * alphas + rights * gaps, apart * betas + lefts * gaps)
        return np.asarray(np.minimum(bounds, np.maximum(lefts * alphas, rights * betas)))

    def _largest_gaps(self) -> Floats:
        """Bound the largest gap of completions from every pair on; from above, so always sound."""
        walk = self._pairs.walk
        gaps = np.maximum(self._alphas, self._betas)
        at_once = np.abs(np.sqrt(self._ends) - np.sqrt(self._other_ends))
        roots = np.sqrt(self._weights), np.sqrt(self._other_weights)
        begins = np.flatnonzero(np.diff(walk.sources, prepend=-1))
        for _ in range(_ROUNDS if len(begins) else 0):
            self._gaps = gaps
            ways = self._bounds(walk.successors, *roots)
            new = at_once.copy()
            moving = walk.sources[begins]
            new[moving] = np.maximum(new[moving], np.maximum.reduceat(ways, begins))
            new = np.minimum(new, gaps)
            if (gaps - new <= 1e-3 * gaps).all():
                break
            gaps = new
        return gaps


def _best_roots(side: Side) -> Floats:
    """Return the root of the likeliest completion's probability, from every state."""
    sources, symbols = side.ways.nonzero()
    steps = minus_logs(side.rows[sources, symbols + 1])
    successors = side.table[sources, symbols].astype(np.int64)
    costs = least_costs(sources, successors, steps, minus_logs(side.rows[:, 0]))
    return np.exp(-costs / 2) * (1 + 2.0**-40)
