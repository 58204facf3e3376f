"""How far the words of two automata are apart, and which words and prefixes make the distance."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import islice
from math import inf, log1p, sqrt
from typing import NamedTuple

import numpy as np

from pdfalearn.alphabet import Symbol
from pdfalearn.chains import (
    MOST_PAIRS,
    Flow,
    Pairs,
    Side,
    WordGraph,
    heaviest_words,
    least_costs,
    minus_logs,
    sums_by,
)
from pdfalearn.checks import check_integer
from pdfalearn.equivalence import over_union
from pdfalearn.pdfa import PDFA, check_pdfa
from pdfalearn.typing import Floats, Integers
from pdfalearn.words import offsets_of

# Sums of squares are subtracted from each other where more than this share of them is left.
_FAR = 1e-3
_MOST_STEPS = 50_000
_ROUNDS = 200


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
    a, b = over_union(check_pdfa(a, "a"), check_pdfa(b, "b"))
    most = check_integer(most_pairs, "most_pairs", 1, 2**40)
    common, ending = Pairs.common(a, b, most), Pairs.ending(a, b, most)
    squared = min(1.0, _squared_hellinger(common, common.row_distances()))
    l2 = _l2(ending)
    return Distances(
        hellinger=sqrt(squared),
        bhattacharyya=-log1p(-squared) + 0.0 if squared < 0.5 else _minus_log_common(common),
        l2=l2,
        total_variation_low=max(squared, l2 / 2),
        total_variation_high=min(1.0, sqrt(squared * (2 - squared))),
        pairs=max(len(common), len(ending)),
    )


def _squared_hellinger(pairs: Pairs, row_distances: Floats) -> float:
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
    is Σ P² + Σ Q² - 2 Σ PQ, which keeps its digits in loops near one, too.
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

    def solve(weights: Floats, leaving: Floats, gains: Floats) -> Floats:
        kept = weights > 0
        flow = Flow(pairs.sources[kept], pairs.successors[kept], weights[kept], leaving)
        return flow.values(np.maximum(gains, 0.0)) - flow.values(np.maximum(-gains, 0.0))

    # What leaves is 1 - Σ weights, added up.
    lost, other_lost = pairs.first.lost[pairs.lefts], pairs.second.lost[pairs.rights]
    ended, other_ended = t + lost, u + other_lost
    leaving, both_leaving = ended + sum_edges(p * not_p), ended + sum_edges(p * not_q)
    # Squares of the chances to end may be too small to be written, and are not of their shares.
    scale = max(float(t.max()), float(u.max())) or 1.0
    t, u, e = t / scale, u / scale, e / scale
    squares = solve(q * q, other_ended + sum_edges(q * not_q), u * u)
    whole = solve(p * p, leaving, t * t)[0] + squares[0]
    far = whole - 2 * solve(p * q, both_leaving, t * u)[0]
    if far > _FAR * whole:
        return scale * sqrt(far)
    after = squares[pairs.successors]
    mixed = solve(p * q, both_leaving, e * u + sum_edges(d * q * after))
    gains = e * e + sum_edges(2 * p * d * mixed[pairs.successors] + d * d * after)
    return scale * sqrt(max(0.0, float(solve(p * p, leaving, gains)[0])))


@dataclass(frozen=True)
class WordDifference:
    """A word whose probabilities differ.

    Examples
    --------
    >>> from pdfalearn.datasets import figure_1
    >>> (found,) = differences(figure_1(), figure_1(0.25), 1).words
    >>> found.word, found.probability_a, found.probability_b
    (('a',), 0.5, 0.75)
    """

    word: tuple[Symbol, ...]
    share: float
    """The part of the squared Hellinger distance that is this word's own."""
    probability_a: float
    probability_b: float


@dataclass(frozen=True)
class PrefixDifference:
    """A beginning of words after which the two rows differ.

    Examples
    --------
    >>> from pdfalearn.datasets import figure_1
    >>> (found,) = differences(figure_1(), figure_1(0.25), 1).prefixes
    >>> found.prefix, found.symbol, found.probability_a, found.probability_b
    (('a',), 'a', 0.5, 0.25)
    """

    prefix: tuple[Symbol, ...]
    share: float
    """The part of the squared Hellinger distance that arises here; over all prefixes they are 1."""
    symbol: Symbol
    """What differs most as the next symbol; it may be the terminal."""
    probability_a: float
    probability_b: float
    """How likely this symbol is next."""


@dataclass(frozen=True)
class Differences:
    """Where two automata part.

    Examples
    --------
    >>> from pdfalearn.datasets import figure_1
    >>> found = differences(figure_1(), figure_1(0.25), 2)
    >>> round(found.squared_hellinger, 6), [one.word for one in found.words]
    (0.05271, [('a',), ('a', 'a', 'a', 'a')])
    """

    squared_hellinger: float
    words: tuple[WordDifference, ...]
    """The largest share first."""
    prefixes: tuple[PrefixDifference, ...]
    """The largest share first."""


def differences(a: PDFA, b: PDFA, count: int = 10, *, most_pairs: int = MOST_PAIRS) -> Differences:
    """Find the words and the prefixes that make the difference between two automata.

    Parameters
    ----------
    a, b : PDFA
        The automata; a symbol that one of them does not know has probability 0 there. Their rows
        are divided by their sums.
    count : int
        How many words and how many prefixes at most. Fewer words are found if it takes more than
        50,000 steps to be sure of the next one.
    most_pairs : int
        More pairs of states are refused.

    Notes
    -----
    The squared Hellinger distance is a sum over words, ½(√P(w) - √Q(w))², and another one over
    prefixes: √(P(u)·Q(u)) times the squared distance of the rows after u. The words say what is
    more or less likely in the end, and the prefixes where that comes from.

    Examples
    --------
    >>> from pdfalearn.datasets import figure_1
    >>> result = differences(figure_1(), figure_1(0.25), 1)
    >>> result.words[0].word, result.words[0].probability_a, result.words[0].probability_b
    (('a',), 0.5, 0.75)
    >>> result.prefixes[0].prefix, result.prefixes[0].symbol, round(result.prefixes[0].share, 6)
    (('a',), 'a', 0.646447)
    """
    a, b = over_union(check_pdfa(a, "a"), check_pdfa(b, "b"))
    count = check_integer(count, "count", 0)
    common = Pairs.common(a, b, check_integer(most_pairs, "most_pairs", 1, 2**40))
    row_distances = common.row_distances()
    squared = _squared_hellinger(common, row_distances)
    if squared == 0:
        return Differences(0.0, (), ())
    words = _WordGaps(Pairs.ending(a, b, most_pairs)).largest(count)
    return Differences(
        squared,
        tuple(
            WordDifference(a.alphabet.decode(codes), (sqrt(p) - sqrt(q)) ** 2 / 2 / squared, p, q)
            for codes, p, q in words
        ),
        tuple(islice(_prefixes(a, common, row_distances, squared), count)),
    )


def _prefixes(
    a: PDFA, pairs: Pairs, row_distances: Floats, squared: float
) -> Iterator[PrefixDifference]:
    """Search for prefixes: their weights are products, as those of words are."""
    left, right = pairs.edge_weights()
    edges = pairs.sources, pairs.symbols, pairs.successors
    columns = (a.terminal, *a.alphabet.symbols)
    for way in heaviest_words(WordGraph(*edges, np.sqrt(left * right), row_distances)):
        row = pairs.first.rows[pairs.lefts[way.place]]
        other = pairs.second.rows[pairs.rights[way.place]]
        column = int(np.abs(np.sqrt(row) - np.sqrt(other)).argmax())
        prefix, probabilities = a.alphabet.decode(way.codes), (row[column], other[column])
        yield PrefixDifference(
            prefix, way.weight / squared, columns[column], *map(float, probabilities)
        )


class _Node(NamedTuple):
    """A prefix, or a whole word; the order of a heap takes the largest bound first."""

    minus_bound: float
    codes: tuple[int, ...]
    is_word: bool
    pair: int
    left: float
    right: float


class _WordGaps:
    """A best-first search for |√P(w) - √Q(w)|.

    With a and b for the roots of a prefix's probabilities, α and β for the roots of the likeliest
    completions', and Δ for the largest gap of completions, no completion has a larger gap than
    max(aα, bβ), |a - b|α + bΔ and |a - b|β + aΔ.
    """

    def __init__(self, pairs: Pairs) -> None:
        self._pairs = pairs
        self._alphas = _best_roots(pairs.first)[pairs.lefts]
        self._betas = _best_roots(pairs.second)[pairs.rights]
        self._weights, self._other_weights = pairs.edge_weights()
        self._ends, self._other_ends = pairs.endings()
        self._offsets = offsets_of(np.bincount(pairs.sources, minlength=len(pairs)))
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
        successors = self._pairs.successors[here]
        lefts, rights = node.left * self._weights[here], node.right * self._other_weights[here]
        bounds = self._bounds(successors, np.sqrt(lefts), np.sqrt(rights))
        symbols = self._pairs.symbols[here]
        for at in np.flatnonzero(bounds > 0).tolist():
            codes = (*node.codes, int(symbols[at]))
            values = float(lefts[at]), float(rights[at])
            heappush(waiting, _Node(-float(bounds[at]), codes, False, int(successors[at]), *values))

    def _bounds(self, pairs: Integers, lefts: Floats, rights: Floats) -> Floats:
        alphas, betas, gaps = self._alphas[pairs], self._betas[pairs], self._gaps[pairs]
        apart = np.abs(lefts - rights)
        bounds = np.minimum(apart * alphas + rights * gaps, apart * betas + lefts * gaps)
        return np.asarray(np.minimum(bounds, np.maximum(lefts * alphas, rights * betas)))

    def _largest_gaps(self) -> Floats:
        """Bound the largest gap of completions from every pair on; from above, so always sound."""
        pairs = self._pairs
        gaps = np.maximum(self._alphas, self._betas)
        at_once = np.abs(np.sqrt(self._ends) - np.sqrt(self._other_ends))
        roots = np.sqrt(self._weights), np.sqrt(self._other_weights)
        begins = np.flatnonzero(np.diff(pairs.sources, prepend=-1))
        # Each round lowers the bounds by those of the successors; it may stop anywhere.
        for _ in range(_ROUNDS if len(begins) else 0):
            self._gaps = gaps
            ways = self._bounds(pairs.successors, *roots)
            new = at_once.copy()
            moving = pairs.sources[begins]
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
    successors = side.pdfa.table[sources, symbols].astype(np.int64)
    costs = least_costs(sources, successors, steps, minus_logs(side.rows[:, 0]))
    return np.exp(-costs / 2) * (1 + 2.0**-40)  # a little more, so that it stays a bound
