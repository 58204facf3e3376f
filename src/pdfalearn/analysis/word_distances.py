"""How far the words of two automata are apart: Hellinger, Bhattacharyya, L2, total variation."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, log1p, sqrt

import numpy as np
from numpy.typing import NDArray

from pdfalearn.chains import MOST_PAIRS, Flow, Pairs, sums_by
from pdfalearn.checks import checked_integer
from pdfalearn.equivalence import over_union
from pdfalearn.pdfa import PDFA, checked_pdfa
from pdfalearn.typing import Floats

_FAR = 1e-3
"""Sums of squares are subtracted from each other where more than this share of them is left."""


@dataclass(frozen=True)
class Distances:
    """How far the distributions over words of two automata are apart.

    Examples
    --------
    >>> from pdfalearn.datasets import figure_1
    >>> far = distances(figure_1(), figure_1(0.25))
    >>> round(far.total_variation_low, 3), round(far.total_variation_high, 3), far.pairs
    (0.138, 0.32, 2)
    """

    hellinger: float
    """√(½ Σ (√P(w) - √Q(w))²), from 0 to 1."""
    bhattacharyya: float
    """-ln Σ √(P(w)·Q(w)); infinite if no word is possible in both."""
    l2: float
    """√(Σ (P(w) - Q(w))²) over words that end."""
    total_variation_low: float
    total_variation_high: float
    """Bounds of the greatest difference of the probabilities of one set of words."""
    pairs: int
    """How many pairs of states words visit."""


def distances(a: PDFA, b: PDFA, *, most_pairs: int = MOST_PAIRS) -> Distances:
    """Compute how far two automata are apart, over all words at once.

    Parameters
    ----------
    a, b : PDFA
        The automata; a symbol that one of them does not know has probability 0 there. Their rows
        are divided by their sums.
    most_pairs : int
        More pairs of states are refused: two unrelated automata of n states reach up to n².

    Notes
    -----
    As both automata are deterministic, √(P(w)·Q(w)) is a product along the pairs of states that w
    visits. The squared Hellinger distance is the sum over pairs of the visits, weighed with these
    roots, times the squared distance of the two rows: no difference of nearly equal numbers, so
    that equal automata are at 0. Endless words count for it, and not for L2. With H for Hellinger,
    H² ≤ total variation ≤ H·√(2 - H²), and half of L2 is a lower bound too.

    Examples
    --------
    >>> from pdfalearn.datasets import figure_1
    >>> result = distances(figure_1(), figure_1(0.25))
    >>> round(result.hellinger, 6), round(result.l2, 6)
    (0.229586, 0.276026)
    >>> distances(figure_1(), figure_1()).hellinger
    0.0
    """
    a, b = over_union(checked_pdfa(a, "a"), checked_pdfa(b, "b"))
    most = checked_integer(most_pairs, "most_pairs", 1, 2**40)
    common = Pairs.common(a, b, most)
    squared = min(1.0, float(hellinger_flow(common).values(common.row_distances())[0]))
    ending = Pairs.ending(a, b, most)
    l2 = sqrt(max(0.0, _squared_l2(ending)))
    return Distances(
        hellinger=sqrt(squared),
        bhattacharyya=-log1p(-squared) + 0.0 if squared < 1 else inf,
        l2=l2,
        total_variation_low=max(squared, l2 / 2),
        total_variation_high=min(1.0, sqrt(squared * (2 - squared))),
        pairs=max(len(common), len(ending)),
    )


def hellinger_flow(pairs: Pairs) -> Flow:
    """Return the flow of √(p·q); what rows do not have in common is lost, and leaves."""
    left, right = pairs.edge_weights()
    ends, others = pairs.endings()
    leaving = np.sqrt(ends * others) + pairs.row_distances()
    return Flow(pairs.walk.sources, pairs.walk.successors, np.sqrt(left * right), leaving)


def _squared_l2(pairs: Pairs) -> float:
    """Return Σ (P - Q)², from E = Σ (P - Q)², F = Σ (P - Q)Q and C = Σ Q² of every pair on.

    With d = p - q of a transition, E = Σ p²E' + 2pdF' + d²C', F = Σ pqF' + dqC', C = Σ q²C', and
    what ends at once. Nothing large is subtracted where P and Q are close. Where they are not, that
    is Σ P² + Σ Q² - 2 Σ PQ, which keeps its digits in loops near one, too.
    """
    walk, size = pairs.walk, len(pairs)
    p, q = (np.where(w, v, 0.0) for v, w in zip(pairs.edge_weights(), _ways(pairs), strict=True))
    t, u = pairs.endings()
    d, e = p - q, t - u

    def summed(values: Floats) -> Floats:
        return sums_by(walk.sources, values, size)

    def solved(weights: Floats, leaving: Floats, gains: Floats) -> Floats:
        kept = weights > 0
        edges = walk.sources[kept], walk.successors[kept], weights[kept]
        flow = Flow(*edges, leaving)
        return flow.values(np.maximum(gains, 0.0)) - flow.values(np.maximum(-gains, 0.0))

    # What leaves is 1 - Σ weights, added up: the sums of whole rows are 1.
    lost, other_lost = 1.0 - t - summed(p), 1.0 - u - summed(q)
    lost, other_lost = np.maximum(lost, 0.0), np.maximum(other_lost, 0.0)
    leaving, both_leaving = t + lost + summed(p * (1 - p)), t + lost + summed(p * (1 - q))
    squares = solved(q * q, u + other_lost + summed(q * (1 - q)), u * u)
    whole = solved(p * p, leaving, t * t)[0] + squares[0]
    far = whole - 2 * solved(p * q, both_leaving, t * u)[0]
    if far > _FAR * whole:
        return float(far)
    after = squares[walk.successors]
    mixed = solved(p * q, both_leaving, e * u + summed(d * q * after))
    gains = e * e + summed(2 * p * d * mixed[walk.successors] + d * d * after)
    return float(solved(p * p, leaving, gains)[0])


def _ways(pairs: Pairs) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which transitions lead to where a word can end, in the two automata."""
    walk = pairs.walk
    return (
        pairs.first.ways[walk.lefts[walk.sources], walk.symbols],
        pairs.second.ways[walk.rights[walk.sources], walk.symbols],
    )
