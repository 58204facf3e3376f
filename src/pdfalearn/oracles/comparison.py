"""Where a hypothesis and the observations differ: known answers, all words up to a length."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from pdfalearn.checks import check_integer
from pdfalearn.equivalence import Tolerance, different_rows
from pdfalearn.errors import InputError
from pdfalearn.observations import UNDEFINED, UNKNOWN, Nodes, ObservationTree
from pdfalearn.oracles.protocol import NOTHING_KNOWN
from pdfalearn.pdfa import PDFA
from pdfalearn.results import Certificate
from pdfalearn.rows import Rows
from pdfalearn.typing import Codes, Flags, Integers
from pdfalearn.words import NO_WORDS, Words, prefixes_of, visited_states

# An oracle returns at most this many counterexamples at a time.
_MOST = 64
# At most this many probabilities are compared at once.
_NUMBERS_AT_ONCE = 2**22
# A query ends after the length of words at which it has found this many differences.
_ENOUGH = 32
# Words are asked for and compared in parts of this size.
_PART = 4096
_MOST_WORDS = 10_000_000

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
        part, words = words.split(observations.meter.half_left())
        path = observations.ask_path(part)
        owners, lengths, before = shortest_wrong_prefixes(part, path, hypothesis, observations)
        if len(owners):
            chosen = one_for_each(before, lengths)
            return prefixes_of(part, owners[chosen], lengths[chosen])
    return NO_WORDS


def shortest_wrong_prefixes(
    words: Words, path: Nodes, hypothesis: PDFA, observations: ObservationTree
) -> tuple[Integers, Integers, Codes]:
    """Return words with a difference on their paths, and how long the first such prefix is.

    With them comes the hypothesis's state before the last symbol of that prefix, -1 if it is empty.
    """
    states = visited_states(hypothesis.table, hypothesis.initial, words)
    places = differing(path, states, hypothesis, observations).nonzero()[0]
    owners, firsts = np.unique(np.searchsorted(words.ends, places), return_index=True)
    places = places[firsts]
    lengths = places - words.offsets[owners] - owners
    return owners, lengths, np.where(lengths > 0, states[places - 1], -1)


def differing(
    nodes: Nodes, states: NDArray[np.integer], hypothesis: PDFA, observations: ObservationTree
) -> Flags:
    """Return for pairs of an observed word and a state of the hypothesis whether they differ.

    Two that are undefined agree; one that is undefined differs from one that is not.
    """
    is_defined = observations.nodes.classes[nodes] >= 0
    differs: Flags = is_defined != (states >= 0)
    both = (is_defined & (states >= 0)).nonzero()[0]
    rows = observations.nodes.rows[nodes[both]].astype(np.int64)
    pairs, back = np.unique(rows * len(hypothesis) + states[both], return_inverse=True)
    numbers, partners = np.divmod(pairs, len(hypothesis))
    are_different = np.empty(len(pairs), dtype=bool)
    step = max(1, _NUMBERS_AT_ONCE // (len(hypothesis.alphabet) + 1))  # rows may be wide
    for begin in range(0, len(pairs), step):
        part = slice(begin, begin + step)
        rows_of_states = Rows.dense(hypothesis.probabilities[partners[part]])
        answers = observations.answers.rows(numbers[part])
        are_different[part] = different_rows(observations.equivalence, answers, rows_of_states)
    differs[both] = are_different[back]
    return differs


def make_comparison(hypothesis: PDFA, observations: ObservationTree) -> Comparison:
    """Return a function that does what `differing` does; it is valid until more is asked.

    It is fast for many words, but has to look at every stored answer first.
    """
    if isinstance(observations.equivalence, Tolerance):
        return partial(differing, hypothesis=hypothesis, observations=observations)
    of_states = np.append(observations.classes_of(hypothesis.probabilities), np.int32(UNDEFINED))
    classes = observations.nodes.classes
    return lambda nodes, states: classes.take(nodes) != of_states.take(states)


def one_for_each(states: NDArray[np.integer], lengths: Integers) -> Integers:
    """Choose a limited number of places, the shortest first: one of the shortest for every state.

    Each leaf of a classification tree is split once a round, so that more would not help.
    """
    order = np.argsort(lengths, kind="stable")
    _, firsts = np.unique(states[order], return_index=True)
    chosen: Integers = order[np.sort(firsts)[:_MOST]]
    return chosen


def words_of(nodes: Nodes, before: NDArray[np.integer], observations: ObservationTree) -> Words:
    """Return the words of nodes, the shortest first: one for every state that comes before."""
    chosen = nodes[one_for_each(before, np.zeros(len(nodes), dtype=np.int64))]
    return observations.nodes.words(chosen)


class KnownAnswersOracle:
    """Compares the hypothesis with every answer that the model has ever given, and asks nothing.

    Put it first in a `ChainOracle` whose other members ask: what sampling has paid for is then used
    until the hypothesis agrees with all of it.

    Examples
    --------
    >>> from pdfalearn import Quantization, learn
    >>> from pdfalearn.datasets import figure_3
    >>> from pdfalearn.oracles import ChainOracle, PACOracle
    >>> from pdfalearn.samplers import UniformWords
    >>> sampling = PACOracle(epsilon=0.1, delta=0.1, sampler=UniformWords(max_length=5))
    >>> oracle = ChainOracle(KnownAnswersOracle(), sampling)
    >>> len(learn(figure_3(), equivalence=Quantization(10), oracle=oracle).pdfa)
    4
    """

    certificate = NOTHING_KNOWN

    def counterexamples(self, hypothesis: PDFA, observations: ObservationTree) -> Words:
        """Return the shortest words after which a stored answer and the hypothesis differ."""
        self.certificate = NOTHING_KNOWN
        nodes, before = _contradictions(hypothesis, observations)
        if len(nodes):
            return words_of(nodes, before, observations)
        table = observations.nodes
        answers = int((table.classes[: table.size] != UNKNOWN).sum())
        self.certificate = Certificate(
            "tested", "agrees with all answers so far", {"answers": answers}
        )
        return NO_WORDS


def _contradictions(hypothesis: PDFA, observations: ObservationTree) -> tuple[Nodes, Codes]:
    """Walk down the tree, level by level, until there are enough differences.

    What comes after a difference is not looked at. With the words that differ, the shortest first,
    come the hypothesis's states before the last symbol of each.
    """
    table, size = observations.nodes, observations.nodes.size
    above = table.parents[:size].astype(np.int64)
    last, classes = table.last_symbols[:size], table.classes[:size]
    differ = make_comparison(hypothesis, observations)
    states = np.full(size, hypothesis.initial, dtype=np.int32)
    is_open = np.ones(size, dtype=bool)
    found = [np.empty(0, dtype=np.int64)]
    count = 0
    for level in table.levels():
        if level[0]:
            parents, symbols = above.take(level), last.take(level)
            states[level] = hypothesis.table[states.take(parents), symbols]
            is_open[level] = is_open.take(parents)
        is_known = classes.take(level) != UNKNOWN
        wrong = level[is_open.take(level) & is_known & differ(level, states.take(level))]
        is_open[wrong] = False
        found.append(wrong)
        count += len(wrong)
        if count >= _ENOUGH:
            break
    nodes = np.concatenate(found)
    return nodes, states[above[nodes]]


class AllWordsOracle:
    """Compares model and hypothesis after every word up to a length, the shortest first.

    Words that go on after an undefined one are undefined, and left out.

    Parameters
    ----------
    max_length : int
        The length of the longest words.

    Notes
    -----
    A query ends with the first part of 4,096 words of one length in which there are differences.

    Examples
    --------
    >>> from pdfalearn import Quantization, learn
    >>> from pdfalearn.datasets import figure_3
    >>> oracle = AllWordsOracle(max_length=4)
    >>> print(learn(figure_3(), equivalence=Quantization(10), oracle=oracle).certificate)
    tested: model and automaton agree on all words of up to 4 symbols
    """

    def __init__(self, max_length: int) -> None:
        self._max_length = check_integer(max_length, "max_length", 0)
        self.certificate = NOTHING_KNOWN
        """What it means that the last query found no counterexample."""

    def counterexamples(self, hypothesis: PDFA, observations: ObservationTree) -> Words:
        """Return the shortest words after which model and hypothesis differ."""
        self.certificate = NOTHING_KNOWN
        self._check_count(len(hypothesis.alphabet))
        count = 0
        nodes, states, before = np.array([0]), np.array([hypothesis.initial]), np.array([-1])
        for length in range(self._max_length + 1):
            count += len(nodes)
            found = _first_wrong(nodes, states, before, hypothesis, observations)
            if len(found):
                return found
            # Where one is undefined, so is the other: there was no difference.
            on = states >= 0
            if length < self._max_length:
                before = np.repeat(states[on], len(hypothesis.alphabet))
                on_nodes = np.repeat(nodes[on], len(hypothesis.alphabet))
                symbols = np.tile(np.arange(len(hypothesis.alphabet)), int(on.sum()))
                nodes = observations.nodes.step(on_nodes, symbols)
                states = hypothesis.transitions[states[on]].reshape(-1)
        self.certificate = Certificate(
            "tested",
            f"model and automaton agree on all words of up to {self._max_length} symbols",
            {"max_length": self._max_length, "words": count},
        )
        return NO_WORDS

    def _check_count(self, symbols: int) -> None:
        """Refuse lengths with too many words to ask."""
        digits = self._max_length * math.log10(symbols)
        shown = f"about 10^{digits:.0f}"
        if digits <= 18:
            count = sum(symbols**length for length in range(self._max_length + 1))
            if count <= _MOST_WORDS:
                return
            shown = f"{count:,}"
        raise InputError(
            f"there are {shown} words of up to {self._max_length} symbols over an alphabet of "
            f"{symbols}, and {_MOST_WORDS:,} at most can be compared; choose a smaller max_length"
        )


def _first_wrong(
    nodes: Nodes,
    states: NDArray[np.integer],
    before: NDArray[np.integer],
    hypothesis: PDFA,
    observations: ObservationTree,
) -> Words:
    """Return counterexamples of the first part of words of one length that has any."""
    for begin in range(0, len(nodes), _PART):
        part = slice(begin, begin + _PART)
        observations.ask(nodes[part])
        wrong = begin + differing(nodes[part], states[part], hypothesis, observations).nonzero()[0]
        if len(wrong):
            return words_of(nodes[wrong], before[wrong], observations)
    return NO_WORDS
