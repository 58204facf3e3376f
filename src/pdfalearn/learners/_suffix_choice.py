"""Which suffixes tell two states of one leaf apart."""

from __future__ import annotations

import math

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from pdfalearn.learners.classification_tree import ClassificationTree
from pdfalearn.observations.nodes import Suffixes

Numbers = NDArray[np.int64]

NONE = -1
"""Stands where there is no such suffix."""


def parting_suffixes(
    tree: ClassificationTree, table: Suffixes, lefts: Numbers, rights: Numbers
) -> Numbers:
    """Return for each pair of states a symbol and the suffix by which its successors part.

    Of several symbols, one with a shortest suffix is chosen; if no successors part, there is none.

    Parameters
    ----------
    tree : ClassificationTree
        The tree in which the successors have been sifted.
    table : Suffixes
        The suffixes.
    lefts, rights : array of int, shape (pairs, symbols)
        The nodes that the successors of the two states have reached.
    """
    places, symbols = (lefts != rights).nonzero()
    ends, others = lefts[places, symbols], rights[places, symbols]
    meetings = tree.meetings(ends, others)
    # Where one was not sifted as far as the other, they do not part.
    parted = (meetings != ends) & (meetings != others)
    places, symbols, rests = places[parted], symbols[parted], tree.suffixes[meetings[parted]]
    shortest = np.lexsort((table.arrays()[2][rests], places))
    places, firsts = np.unique(places[shortest], return_index=True)
    chosen = shortest[firsts]
    suffixes = np.full(len(lefts), NONE)
    suffixes[places] = [
        table.add(symbol, rest)
        for symbol, rest in zip(symbols[chosen].tolist(), rests[chosen].tolist(), strict=True)
    ]
    return suffixes


def lengthened(
    table: Suffixes,
    suffixes: Numbers,
    bits: int,
    classes: int,
    symbols: int,
    random: Generator,
) -> Numbers:
    """Lengthen short suffixes by random symbols, so that their traces tell more states apart.

    Parameters
    ----------
    table : Suffixes
        The suffixes.
    suffixes : array of int
        The numbers of those to lengthen.
    bits : int
        By their traces, suffixes could tell 2 to this many states apart.
    classes : int
        How many classes have been seen: the more, the more a symbol tells.
    symbols : int
        The size of the alphabet.
    random : Generator
        What draws the symbols.
    """
    length = round(bits / math.log2(max(2, classes)))
    tails = random.integers(symbols, size=(len(suffixes), length)).tolist()
    return np.array(
        [
            table.add_word([*table.word(suffix), *tail[table.lengths[suffix] :]])
            if table.lengths[suffix] < length
            else suffix
            for suffix, tail in zip(suffixes.tolist(), tails, strict=True)
        ],
        dtype=np.int64,
    )
