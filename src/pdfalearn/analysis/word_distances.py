"""How far the words of two automata are apart."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, log1p, nan, sqrt

import numpy as np

from pdfalearn.arrays import reaching
from pdfalearn.chains import (
    MOST_PAIRS,
    Flow,
    Pairs,
    least_costs,
    minus_logs,
    sums_by,
)
from pdfalearn.checks import check_integer
from pdfalearn.equivalence import over_union
from pdfalearn.pdfa import PDFA, check_pdfa
from pdfalearn.results import TableValue
from pdfalearn.typing import Floats

# Sums of squares are subtracted from each other where more than this share of them is left.
_FAR = 1e-3
# A difference of sums keeps seven digits where it is more than this share of them.
_TOLD = 2e-8


@dataclass(frozen=True)
class Distances(TableValue):
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
    """√(Σ (P(w) - Q(w))²) over words that end; NaN where doubles cannot tell it."""
    total_variation_low: float
    total_variation_high: float
    """Bounds of the greatest difference of the probabilities of one set of words."""
    pairs: int
    """How many pairs of states words visit."""

    def tables(self) -> list[list[tuple[str, ...]]]:
        """Return one table of all distances."""
        bounds = f"{self.total_variation_low:.6g} to {self.total_variation_high:.6g}"
        return [
            [
                ("distance", ""),
                ("Hellinger distance", f"{self.hellinger:.6g}"),
                ("total variation", bounds),
                ("Bhattacharyya distance", f"{self.bhattacharyya:.6g}"),
                ("L2 distance", f"{self.l2:.6g}"),
            ]
        ]


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
    a, b = over_union(check_pdfa(a, "a"), check_pdfa(b, "b"))
    most = check_integer(most_pairs, "most_pairs", 1, 2**40)
    common, ending = Pairs.common(a, b, most), Pairs.ending(a, b, most)
    squared = min(1.0, squared_hellinger(common, common.row_distances()))
    l2 = _l2(ending)
    return Distances(
        hellinger=sqrt(squared),
        bhattacharyya=-log1p(-squared) + 0.0 if squared < 0.5 else _minus_log_common(common),
        l2=l2,
        total_variation_low=max(squared, l2 / 2),
        total_variation_high=min(1.0, sqrt(squared * (2 - squared))),
        pairs=max(len(common), len(ending)),
    )


def squared_hellinger(pairs: Pairs, row_distances: Floats) -> float:
    """Add up row distances by the flow of √(p·q): what rows do not have in common leaves."""
    return float(_common_flow(pairs, row_distances).values(row_distances)[0])


def _common_flow(pairs: Pairs, row_distances: Floats) -> Flow:
    left, right = pairs.edge_weights()
    leaving = _common_endings(pairs) + row_distances
    return Flow(pairs.sources, pairs.successors, np.sqrt(left) * np.sqrt(right), leaving)


def _common_endings(pairs: Pairs) -> Floats:
    ends, others = pairs.endings()
    return np.asarray(np.sqrt(ends) * np.sqrt(others))


def _minus_log_common(pairs: Pairs) -> float:
    """Return -ln Σ √(P(w)·Q(w)), endless words included, where that sum may be very small."""
    flow = _common_flow(pairs, pairs.row_distances())
    if flow.endless[0]:  # the same words for ever
        return 0.0
    kept = ~flow.endless
    into = kept[flow.sources] & ~kept[flow.successors]
    brought = sums_by(flow.sources[into], flow.weights[into], len(flow))
    gains, flow = (_common_endings(pairs) + brought)[kept], flow.restrict_to(kept)
    steps, ends = minus_logs(flow.weights), minus_logs(gains)
    costs = least_costs(flow.sources, flow.successors, steps, ends)
    useful = costs < inf
    if not useful[0]:
        return inf
    flow, costs = flow.restrict_to(useful), costs[useful]
    factors = flow.scaled_values(np.exp(costs - ends[useful]), costs)
    return float(costs[0] - np.log(factors[0]))


def _l2(pairs: Pairs) -> float:
    """Return √Σ (P - Q)², from E = Σ (P - Q)², F = Σ (P - Q)Q and C = Σ Q² of every pair on.

    With d = p - q of a transition, E = Σ p²E' + 2pdF' + d²C', F = Σ pqF' + dqC', C = Σ q²C', and
    what ends at once. Nothing large is subtracted where P and Q are close. Where they are not, that
    is Σ P² + Σ Q² - 2 Σ PQ, which keeps its digits in loops near one, too. Where neither keeps them
    the answer is NaN.
    """
    # Transitions that lead to where no word ends have weight 0.
    p, q = pairs.edge_weights()
    lefts, rights = pairs.lefts[pairs.sources], pairs.rights[pairs.sources]
    p_ends = pairs.first.ways[lefts, pairs.symbols]
    q_ends = pairs.second.ways[rights, pairs.symbols]
    not_p = pairs.first.others[lefts, pairs.symbols + 1]
    not_q = np.where(q_ends, pairs.second.others[rights, pairs.symbols + 1], 1.0)
    (d, e), (t, u) = pairs.gaps(), pairs.endings()
    p, q = np.where(p_ends, p, 0.0), np.where(q_ends, q, 0.0)
    d = np.where(p_ends & q_ends, d, p - q)

    def sum_edges(values: Floats) -> Floats:
        return sums_by(pairs.sources, values, len(pairs))

    def weigh_after(weights: Floats, values: Floats) -> Floats:
        """Return the weight of every transition times the value of where it leads, if it does."""
        return np.asarray(weights * np.where(weights != 0, values[pairs.successors], 0.0))

    def solve(weights: Floats, leaving: Floats, *gains: Floats) -> list[Floats]:
        kept = weights > 0
        flow = Flow(pairs.sources[kept], pairs.successors[kept], weights[kept], leaving)
        return [flow.values(each) for each in gains]

    # What leaves is 1 - Σ weights, added up.
    lost, other_lost = pairs.first.lost[pairs.lefts], pairs.second.lost[pairs.rights]
    ended, other_ended = t + lost, u + other_lost
    leaving, both_leaving = ended + sum_edges(p * not_p), ended + sum_edges(p * not_q)
    # Ends that no word of an automaton gets to are not its own; they may be far likelier than all
    # that are.
    start = np.arange(len(pairs)) == 0
    p_here, q_here = (
        reaching(pairs.successors[kept], pairs.sources[kept], start) for kept in (p > 0, q > 0)
    )
    t, u = np.where(p_here, t, 0.0), np.where(q_here, u, 0.0)
    e = np.where(p_here & q_here, e, t - u)
    # Squares of the chances to end may be too small to be written, and are not of their shares.
    scale = max(float(t.max()), float(u.max())) or 1.0
    t, u, e = t / scale, u / scale, e / scale
    [squares] = solve(q * q, other_ended + sum_edges(q * not_q), u * u)
    [first], [common] = solve(p * p, leaving, t * t), solve(p * q, both_leaving, t * u)
    whole = first[0] + squares[0]
    far = whole - 2 * common[0]
    if far > _FAR * whole:
        return scale * sqrt(far)
    if not (e.any() or d.any()):
        return 0.0
    # Gains and losses are added up apart: only sums of one sign keep their digits.
    change = e * u + sum_edges(weigh_after(d * q, squares))
    more, less = solve(p * q, both_leaving, np.maximum(change, 0.0), np.maximum(-change, 0.0))
    up, down = np.maximum(d, 0.0) * p, np.maximum(-d, 0.0) * p
    gains = e * e + sum_edges(
        2 * (weigh_after(up, more) + weigh_after(down, less)) + weigh_after(d * d, squares)
    )
    losses = sum_edges(2 * (weigh_after(up, less) + weigh_after(down, more)))
    plus, minus = (values[0] for values in solve(p * p, leaving, gains, losses))
    return scale * sqrt(plus - minus) if plus - minus > _TOLD * plus else nan
