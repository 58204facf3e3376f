"""Where a hypothesis and the observations differ: what all sampling oracles share."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from pdfalearn.equivalence.relations import Tolerance, different_rows
from pdfalearn.observations.tree import UNDEFINED, Nodes, ObservationTree
from pdfalearn.pdfa import PDFA
from pdfalearn.rows import Rows
from pdfalearn.words import Words, prefixes_of, visited_states

Flags = NDArray[np.bool_]
Numbers = NDArray[np.int64]

_MOST = 64
"""An oracle returns at most this many counterexamples at a time."""
_NUMBERS_AT_ONCE = 2**22
"""At most this many probabilities are compared at once."""

NO_WORDS = Words.of([])

Comparison = Callable[[Nodes, NDArray[np.integer]], Flags]
"""Decides for pairs of an observed word and a state whether they differ."""


def first_differences(words: Words, hypothesis: PDFA, observations: ObservationTree) -> Words:
    """Ask for every prefix of many words; return the shortest ones that are counterexamples.

    Each word gives at most one: its shortest prefix after which model and hypothesis differ. One of
    them is kept for every state of the hypothesis before the last symbol; the shortest come first.
    Where a budget bounds the questions, half of it at most is spent before answers are compared: a
    counterexample is of no use if nothing is left to ask what follows from it.
    """
    while len(words):
        _, end = next(words.parts(observations.affordable_at_once()))
        found = _first_differences(words.part(0, end), hypothesis, observations)
        if len(found):
            return found
        words = words.part(end, len(words))
    return NO_WORDS


def _first_differences(words: Words, hypothesis: PDFA, observations: ObservationTree) -> Words:
    path = observations.ask_path(words)
    states = visited_states(hypothesis.table, hypothesis.initial, words)
    places = differing(path, states, hypothesis, observations).nonzero()[0]
    begins = words.offsets[:-1] + np.arange(len(words))
    owners, firsts = np.unique(np.searchsorted(begins, places, side="right") - 1, return_index=True)
    places = places[firsts]
    lengths = places - begins[owners]
    before = np.where(lengths > 0, states[places - 1], -1)
    chosen = one_for_each(before, lengths)
    return prefixes_of(words, owners[chosen], lengths[chosen])


def differing(
    nodes: Nodes, states: NDArray[np.integer], hypothesis: PDFA, observations: ObservationTree
) -> Flags:
    """Return for pairs of an observed word and a state of the hypothesis whether they differ.

    Two that are undefined agree; one that is undefined differs from one that is not.
    """
    is_defined = observations.known_classes(nodes) >= 0
    differs: Flags = is_defined != (states >= 0)
    both = (is_defined & (states >= 0)).nonzero()[0]
    rows = observations.row_numbers(nodes[both]).astype(np.int64)
    pairs, back = np.unique(rows * len(hypothesis) + states[both], return_inverse=True)
    numbers, partners = np.divmod(pairs, len(hypothesis))
    differs[both] = _are_different(observations, numbers, hypothesis, partners)[back]
    return differs


def comparison(hypothesis: PDFA, observations: ObservationTree) -> Comparison:
    """Return a function that does what `differing` does; it is valid until more is asked.

    It is fast for many words, but has to look at every stored answer first.
    """
    if isinstance(observations.by, Tolerance):
        return partial(differing, hypothesis=hypothesis, observations=observations)
    of_states = np.append(observations.classes_of(hypothesis.probabilities), np.int32(UNDEFINED))
    classes = observations.known_classes()
    return lambda nodes, states: classes.take(nodes) != of_states.take(states)


def _are_different(
    observations: ObservationTree, numbers: Numbers, hypothesis: PDFA, states: Numbers
) -> Flags:
    """Compare answers with states pair by pair, in parts where rows are wide."""
    different = np.empty(len(numbers), dtype=bool)
    step = max(1, _NUMBERS_AT_ONCE // (len(hypothesis.alphabet) + 1))
    for begin in range(0, len(different), step):
        part = slice(begin, begin + step)
        rows = observations.numbered_rows(numbers[part])
        others = Rows.dense(hypothesis.probabilities[states[part]])
        different[part] = different_rows(observations.by, rows, others)
    return different


def one_for_each(states: NDArray[np.integer], lengths: Numbers) -> Numbers:
    """Choose a limited number of places, the shortest first: one of the shortest for every state.

    Each leaf of a classification tree is split once a round, so that more would not help.
    """
    order = np.argsort(lengths, kind="stable")
    _, firsts = np.unique(states[order], return_index=True)
    chosen: Numbers = order[np.sort(firsts)[:_MOST]]
    return chosen


def words_of(nodes: Nodes, before: NDArray[np.integer], observations: ObservationTree) -> Words:
    """Return the words of nodes, the shortest first: one for every state that comes before."""
    chosen = nodes[one_for_each(before, np.zeros(len(nodes), dtype=np.int64))]
    return observations.words(chosen)


def levels(parents: Nodes) -> list[Nodes]:
    """Return all nodes of a tree by the length of their words, the shortest first."""
    lengths = np.ones(len(parents), dtype=np.int32)
    lengths[0] = 0
    above = parents
    while above.any():
        # Twice as far up at every step: above[n] is lengths[n] symbols shorter than n, or empty.
        lengths += lengths.take(above)
        above = above.take(above)
    # Small integers are sorted by counting.
    order = np.argsort(lengths.astype(np.min_scalar_type(lengths.max())), kind="stable")
    return np.split(order, np.cumsum(np.bincount(lengths))[:-1])
