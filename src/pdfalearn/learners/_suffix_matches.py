"""Where the longest suffixes of words lead, among those that an automaton knows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pdfalearn.alphabet import WordTree

Numbers = NDArray[np.int64]

_LONGEST = 256
"""Longer suffixes are not tried."""


def suffix_matches(
    table: NDArray[np.integer], access_words: WordTree, transitions: Numbers
) -> Numbers:
    """Return the state after the longest proper suffix of each transition's word that has one.

    Suffixes are run from state 0 on, all of one length at once, the shortest first. They have one
    symbol at least.

    Parameters
    ----------
    table : array of int, shape (states + 1, symbols)
        The automaton; -1 where nothing is known or a word is undefined, and in the last row.
    access_words : WordTree
        A word for every state.
    transitions : array of int
        Transitions as state * symbols + symbol. Their word is the state's, and the symbol.

    Returns
    -------
    array of int
        -1 where no suffix leads to a state.

    Examples
    --------
    >>> words = WordTree(np.array([0, 0]), np.array([0, 0]), np.array([0, 1]))  # (), a
    >>> suffix_matches(np.array([[1, 0], [-1, -1], [-1, -1]]), words, np.array([1, 2, 3]))
    array([-1,  1,  0])
    """
    befores, symbols = np.divmod(transitions, table.shape[1])
    nodes = access_words.ends[befores]
    lengths = _lengths(access_words.parents)[nodes]
    found = np.full(len(transitions), -1, dtype=np.int64)
    active = np.arange(len(transitions))
    after = np.zeros(len(access_words.parents), dtype=table.dtype)
    """The state after the last ``length`` symbols of every word."""
    for length in range(_LONGEST):
        active = active[lengths[active] > length]
        if not len(active) or (after < 0).all():
            break
        ends = table[after[nodes[active]], symbols[active]]
        found[active[ends >= 0]] = ends[ends >= 0]
        after = table[after[access_words.parents], access_words.symbols]
        after[0] = -1
    return found


def _lengths(parents: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the lengths of a tree's words."""
    lengths = np.ones(len(parents), dtype=np.int32)
    lengths[0] = 0
    above = parents
    while above.any():
        # Twice as far up at every step.
        lengths += lengths[above]
        above = above[above]
    return lengths
