"""Which words and prefixes make the distance of two automata."""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heappop, heappush
from math import sqrt
from typing import NamedTuple

import numpy as np

from pdfalearn.alphabet import Symbol
from pdfalearn.analysis.differing_pairs import PrefixDifference, prefix_differences
from pdfalearn.analysis.word_distances import squared_hellinger
from pdfalearn.chains import (
    MOST_PAIRS,
    Pairs,
    Side,
    least_costs,
    minus_logs,
)
from pdfalearn.checks import check_integer
from pdfalearn.equivalence import over_union
from pdfalearn.pdfa import PDFA, check_pdfa
from pdfalearn.results import TableValue
from pdfalearn.text import are_characters, short_word_text, symbol_text
from pdfalearn.typing import Floats, Integers
from pdfalearn.words import offsets_of

_MOST_STEPS = 50_000
_ROUNDS = 200


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
class Differences(TableValue):
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

    def tables(self) -> list[list[tuple[str, ...]]]:
        """Return a table of the words, and one of what may come next."""
        sequences = [one.word for one in self.words] + [one.prefix for one in self.prefixes]
        is_joined = are_characters(symbol for word in sequences for symbol in word)

        def line(name: str, one: WordDifference | PrefixDifference) -> tuple[str, ...]:
            return name, *(f"{v:.6g}" for v in (one.probability_a, one.probability_b, one.share))

        words = [line(short_word_text(one.word, joined=is_joined), one) for one in self.words]
        prefixes = [
            line(f"{symbol_text(one.symbol)} after {text}", one)
            for one in self.prefixes
            for text in [short_word_text(one.prefix, joined=is_joined)]
        ]
        return [
            [("probability of the word", "a", "b", "share"), *words],
            [("probability of the next symbol", "a", "b", "share"), *prefixes],
        ]


def differences(a: PDFA, b: PDFA, count: int = 10, *, most_pairs: int = MOST_PAIRS) -> Differences:
    """Find the words and the pairs of states that make the difference between two automata.

    Parameters
    ----------
    a, b : PDFA
        The automata; a symbol that one of them does not know has probability 0 there. Their rows
        are divided by their sums.
    count : int
        How many words and how many pairs of states at most. Fewer words are found if it takes more
        than 50,000 steps to be sure of the next one.
    most_pairs : int
        More pairs of states are refused.

    Notes
    -----
    The squared Hellinger distance is a sum over words, ½(√P(w) - √Q(w))², and another one over
    prefixes: √(P(u)·Q(u)) times the squared distance of the rows after u. The words say what is
    more or less likely in the end, and the prefixes where that comes from: all those that lead to
    the same pair of states are one difference.

    Examples
    --------
    >>> from pdfalearn.datasets import figure_1
    >>> result = differences(figure_1(), figure_1(0.25), 1)
    >>> result.words[0].word, result.words[0].probability_a, result.words[0].probability_b
    (('a',), 0.5, 0.75)
    >>> result.prefixes[0].prefix, result.prefixes[0].symbol, round(result.prefixes[0].share, 6)
    (('a',), 'a', 1.0)
    """
    a, b = over_union(check_pdfa(a, "a"), check_pdfa(b, "b"))
    count = check_integer(count, "count", 0)
    common = Pairs.common(a, b, check_integer(most_pairs, "most_pairs", 1, 2**40))
    row_distances = common.row_distances()
    squared = squared_hellinger(common, row_distances)
    if squared == 0:
        return Differences(0.0, (), ())
    words = _WordGaps(Pairs.ending(a, b, most_pairs)).largest(count)
    return Differences(
        squared,
        tuple(
            WordDifference(a.alphabet.decode(codes), (sqrt(p) - sqrt(q)) ** 2 / 2 / squared, p, q)
            for codes, p, q in words
        ),
        tuple(prefix_differences(a, common, row_distances, squared, count)),
    )


class _Node(NamedTuple):
    """A prefix, or a whole word; a heap takes the largest bound first, then what is shorter."""

    minus_bound: float
    length: int
    number: int  # of all nodes, in the order in which they were found
    parent: _Node | None  # what is one symbol shorter: words of 10,000 symbols share what they can
    symbol: int
    is_word: bool
    pair: int
    left: float
    right: float

    def codes(self) -> tuple[int, ...]:
        """Return the symbols."""
        codes, node = [], self
        while node.parent is not None:
            codes.append(node.symbol)
            node = node.parent
        return tuple(codes[::-1])


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
        waiting = [_Node(-1.0, 0, 0, None, -1, False, 0, 1.0, 1.0)]
        self._count = 1
        found: list[tuple[tuple[int, ...], float, float]] = []
        for _ in range(_MOST_STEPS):
            if not waiting or len(found) == count:
                break
            node = heappop(waiting)
            if node.is_word:
                found.append((node.codes(), node.left, node.right))
            else:
                self._expand(node, waiting)
        return found

    def _expand(self, node: _Node, waiting: list[_Node]) -> None:
        left = node.left * float(self._ends[node.pair])
        right = node.right * float(self._other_ends[node.pair])
        if left != right:
            gap = abs(sqrt(left) - sqrt(right))
            place = node.length, self._count, node.parent, node.symbol
            heappush(waiting, _Node(-gap, *place, True, node.pair, left, right))
            self._count += 1
        here = slice(*self._offsets[node.pair : node.pair + 2].tolist())
        successors = self._pairs.successors[here]
        lefts, rights = node.left * self._weights[here], node.right * self._other_weights[here]
        bounds = self._bounds(successors, np.sqrt(lefts), np.sqrt(rights))
        symbols = self._pairs.symbols[here]
        for at in np.flatnonzero(bounds > 0).tolist():
            place = node.length + 1, self._count, node, int(symbols[at])
            values = float(lefts[at]), float(rights[at])
            heappush(
                waiting, _Node(-float(bounds[at]), *place, False, int(successors[at]), *values)
            )
            self._count += 1

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
