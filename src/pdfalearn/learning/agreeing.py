"""An automaton that agrees with every answer, where learning stopped before it could."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pdfalearn.equivalence import Equivalence
from pdfalearn.observations import UNDEFINED, UNKNOWN, Nodes, ObservationTree
from pdfalearn.oracles import make_comparison
from pdfalearn.pdfa import PDFA
from pdfalearn.typing import Codes, Flags, Integers

# This is skipped for trees of more words.
_MOST_WORDS = 2**21
# This is skipped for automata of more transitions.
_MOST_TRANSITIONS = 2**24


class Agreeing(NamedTuple):
    """An automaton of more states than the one before, and its unresolved transitions."""

    pdfa: PDFA
    # The nodes of the words that the new states stand for, which are its last ones.
    added: Nodes
    # As state * symbols + symbol.
    unresolved: Integers


class _Words(NamedTuple):
    """The words of an observation tree beside a hypothesis."""

    parents: Nodes
    # The hypothesis's state after each word; -1 where undefined.
    states: Codes
    is_undefined: Flags
    # Whether the hypothesis contradicts the answer, and every prefix can be a state.
    is_wrong: Flags


def unfold_hypothesis(
    hypothesis: PDFA, unresolved: Integers, observations: ObservationTree
) -> Agreeing | None:
    """Unfold a hypothesis along words that it contradicts, until it contradicts no answer.

    Every prefix of such a word becomes a state of its own, which goes on as the hypothesis's state
    does, but for what is known better. All other words stay as they were, so that one pass does it.
    The shortest come first, as long as there may be more states.

    Nothing is returned if nothing is contradicted, or if it would take too long; and for
    similarities, by which an automaton need not agree with every answer.
    """
    size = observations.nodes.size
    is_large = size > _MOST_WORDS or hypothesis.transitions.size > _MOST_TRANSITIONS
    if is_large or not isinstance(observations.equivalence, Equivalence):
        return None
    words = _run_words(hypothesis, observations)
    most = (observations.budget.max_states or 2**31) - len(hypothesis)
    nodes = _choose_words(words, observations.nodes.lengths, most)
    return _join_states(hypothesis, unresolved, observations, words, nodes) if len(nodes) else None


def _run_words(hypothesis: PDFA, observations: ObservationTree) -> _Words:
    """Run the hypothesis over all words, a length at a time."""
    table, size = observations.nodes, observations.nodes.size
    parents, symbols = table.parents[:size].astype(np.int64), table.last_symbols[:size]
    classes, has_row = table.classes[:size], table.rows[:size] >= 0
    states = np.full(size, hypothesis.initial, dtype=np.int32)
    # Whether every prefix of a word has an answer or a state, so that each can be a state.
    is_based = np.ones(size, dtype=bool)
    for level in table.levels()[1:]:
        above = parents[level]
        states[level] = hypothesis.table[states[above], symbols[level]]
        is_based[level] = is_based[above] & (has_row[level] | (states[level] >= 0))
    known = (classes != UNKNOWN).nonzero()[0]
    is_wrong = np.zeros(size, dtype=bool)
    is_wrong[known] = make_comparison(hypothesis, observations)(known, states[known])
    # What is undefined needs no state, but the distribution before it.
    is_undefined = classes == UNDEFINED
    is_wrong &= np.where(is_undefined, is_based[parents] & has_row[parents], is_based)
    return _Words(parents, states, is_undefined, is_wrong)


def _choose_words(words: _Words, lengths: Codes, most: int) -> Nodes:
    """Choose the words that become states: those that are wrong, and all their prefixes."""
    wrong = words.is_wrong.nonzero()[0]
    ends = np.unique(np.where(words.is_undefined[wrong], words.parents[wrong], wrong))
    is_taken, new = np.zeros(len(words.parents), dtype=bool), ends
    while len(new):
        is_taken[new] = True
        above = np.unique(words.parents[new])
        new = above[~is_taken[above]]
    if np.count_nonzero(is_taken) <= most:
        return is_taken.nonzero()[0]
    # Not all of them may become states: the shortest words come first, each with all its prefixes.
    taken: set[int] = set()
    for node in ends[np.argsort(lengths[ends], kind="stable")].tolist():
        path: list[int] = []
        while node not in taken and (not path or path[-1]):
            path.append(node)
            node = int(words.parents[node])
        if len(taken) + len(path) > most:
            break
        taken.update(path)
    return np.array(sorted(taken), dtype=np.int64)


def _join_states(
    hypothesis: PDFA,
    unresolved: Integers,
    observations: ObservationTree,
    words: _Words,
    nodes: Nodes,
) -> Agreeing:
    """Put words, which become states, before a hypothesis; the empty one is where words begin."""
    old, width = len(hypothesis), len(hypothesis.alphabet)
    number_of = np.full(len(words.parents), -1, dtype=np.int32)
    number_of[nodes] = np.arange(old, old + len(nodes))
    bases = words.states[nodes]
    table = np.concatenate((hypothesis.transitions, hypothesis.table[bases]))
    rows = np.concatenate((hypothesis.probabilities, hypothesis.probabilities[bases]))
    answered = (observations.nodes.rows[nodes] >= 0).nonzero()[0]
    rows[old + answered] = observations.rows(nodes[answered])
    is_guess = np.zeros((old + 1, width), dtype=bool)
    is_guess.reshape(-1)[unresolved] = True
    is_guess = np.concatenate((is_guess[:-1], is_guess[bases]))
    # Where the answer allows what the hypothesis does not, nothing is known of what follows.
    open_ = (table[old:] < 0) & (rows[old:, 1:] > 0)
    table[old:][open_] = hypothesis.initial
    is_guess[old:][open_] = True
    below = np.concatenate((nodes[1:], (words.is_wrong & words.is_undefined).nonzero()[0]))
    below = below[number_of[words.parents[below]] >= 0]
    places = number_of[words.parents[below]], observations.nodes.last_symbols[below]
    table[places], is_guess[places] = number_of[below], False
    pdfa = PDFA(alphabet=hypothesis.alphabet, transitions=table, probabilities=rows, initial=old)
    return Agreeing(pdfa, nodes, np.flatnonzero(is_guess))
