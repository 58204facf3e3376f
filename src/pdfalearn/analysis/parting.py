"""Where two automata part: the words and the prefixes that make most of their distance."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from pdfalearn.alphabet import Symbol
from pdfalearn.analysis._word_gaps import WordGaps
from pdfalearn.analysis.distances import hellinger_flow
from pdfalearn.chains.walks import MOST_PAIRS, Pairs
from pdfalearn.chains.ways import WordGraph, heaviest_words
from pdfalearn.checks import checked_integer
from pdfalearn.pdfa import PDFA

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class WordDifference:
    """A word whose probabilities differ.

    Examples
    --------
    >>> from pdfalearn import figure_1
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
    >>> from pdfalearn import figure_1
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
    >>> from pdfalearn import figure_1
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
        Automata over the same symbols, in any order. Their rows are divided by their sums.
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
    >>> from pdfalearn import figure_1
    >>> result = differences(figure_1(), figure_1(0.25), 1)
    >>> result.words[0].word, result.words[0].probability_a, result.words[0].probability_b
    (('a',), 0.5, 0.75)
    >>> result.prefixes[0].prefix, result.prefixes[0].symbol, round(result.prefixes[0].share, 6)
    (('a',), 'a', 0.646447)
    """
    count = checked_integer(count, "count", 0)
    common = Pairs.common(a, b, checked_integer(most_pairs, "most_pairs", 1, 2**40))
    distances = common.row_distances()
    squared = float(hellinger_flow(common).values(distances)[0])
    if squared == 0:
        return Differences(0.0, (), ())
    words = WordGaps(Pairs.ending(a, b, most_pairs)).largest(count)
    return Differences(
        squared,
        tuple(
            WordDifference(a.alphabet.decode(codes), (sqrt(p) - sqrt(q)) ** 2 / 2 / squared, p, q)
            for codes, p, q in words
        ),
        tuple(islice(_prefixes(a, common, distances, squared), count)),
    )


def _prefixes(
    a: PDFA, pairs: Pairs, distances: Floats, squared: float
) -> Iterator[PrefixDifference]:
    """Search for prefixes: their weights are products, as those of words are."""
    walk = pairs.walk
    left, right = pairs.edge_weights()
    weights = np.sqrt(left * right)
    graph = WordGraph(walk.sources, walk.symbols, walk.successors, weights, distances)
    columns = (a.terminal, *a.alphabet.symbols)
    for way in heaviest_words(graph):
        rows = _rows_after(pairs, way.codes)
        column = int(np.abs(np.sqrt(rows[0]) - np.sqrt(rows[1])).argmax())
        prefix, share = a.alphabet.decode(way.codes), way.weight / squared
        yield PrefixDifference(
            prefix, share, columns[column], float(rows[0][column]), float(rows[1][column])
        )


def _rows_after(pairs: Pairs, codes: list[int]) -> tuple[Floats, ...]:
    rows = []
    for side in (pairs.first, pairs.second):
        state = side.initial
        for code in codes:
            state = int(side.table[state, code])
        rows.append(side.rows[state])
    return tuple(rows)
