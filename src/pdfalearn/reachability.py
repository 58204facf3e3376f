"""The part of a PDFA that words can reach, and PDFA made of parts of others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pdfalearn.pdfa import PDFA, States, check_pdfa
from pdfalearn.words import Words, collect_words, offsets_of


@dataclass(frozen=True, eq=False)
class Reachable:
    """The states that some word reaches from the initial state, in breadth-first order.

    Successors come in the order of the alphabet, so that the states are in shortlex order of their
    least access words. ``parents[i]`` is the place in ``states`` from which ``states[i]`` was
    first reached; the first one has no parent and says 0.
    """

    states: NDArray[np.int32]
    parents: NDArray[np.int64]

    @property
    def depth(self) -> int:
        """The length of the longest of the shortest words that reach a state."""
        level_end, depth = 1, 0
        while level_end < len(self.states):
            # Parents never decrease along the order: the next level ends where they pass this one.
            level_end = int(np.searchsorted(self.parents, level_end))
            depth += 1
        return depth

    def numbers(self, states: int) -> NDArray[np.int32]:
        """Return the place of every state in this order; 0 for states that are not in it."""
        numbers = np.zeros(states, dtype=np.int32)
        numbers[self.states] = np.arange(len(self.states), dtype=np.int32)
        return numbers


def reachable(pdfa: PDFA) -> Reachable:
    """Find the reachable states of a PDFA, breadth first.

    Examples
    --------
    >>> pdfa = PDFA(
    ...     alphabet="a", transitions=[[2], [0], [2]], probabilities=[[0.5, 0.5]] * 3
    ... )
    >>> reachable(pdfa).states, reachable(pdfa).depth
    (array([0, 2], dtype=int32), 1)
    """
    pdfa = check_pdfa(pdfa, "pdfa")
    return reachable_in(pdfa.transitions, pdfa.initial)


def reachable_in(transitions: NDArray[np.int32], initial: int) -> Reachable:
    """Find the reachable states of a transition table, breadth first."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order

    states = len(transitions)
    defined = transitions >= 0
    begins = np.zeros(states + 1, dtype=np.int32)
    np.cumsum(defined.sum(axis=1), out=begins[1:])
    successors = transitions[defined]
    graph = csr_array((np.ones(len(successors)), successors, begins), shape=(states, states))
    order, predecessors = breadth_first_order(graph, initial)
    places = np.zeros(states, dtype=np.int64)
    places[order] = np.arange(len(order))
    predecessors[initial] = initial
    return Reachable(order.astype(np.int32), places[predecessors[order]])


def possible_part(pdfa: PDFA, initial: int | None = None) -> PDFA:
    """Return what words of positive probability reach from a state, without what is impossible.

    Examples
    --------
    >>> rows = [[0.5, 0.5, 0], [1.0, 0, 0]]
    >>> possible_part(PDFA(alphabet="ab", transitions=[[0, 1], [1, 1]], probabilities=rows))
    PDFA(1 state, alphabet=('a', 'b'), initial=0)
    """
    rows, first = pdfa.probabilities, pdfa.initial if initial is None else initial
    table = np.where(rows[:, 1:] > 0, pdfa.transitions, -1)
    cut = PDFA(alphabet=pdfa.alphabet, transitions=table, probabilities=rows, initial=first)
    return reachable_part(cut)


def shortest_words(pdfa: PDFA, part: Reachable) -> Words:
    """Return for every reachable state, breadth first, the least of the shortest words to it.

    Examples
    --------
    >>> pdfa = PDFA(
    ...     alphabet="ab", transitions=[[0, 1], [2, 2], [2, 2]], probabilities=[[0.5, 0.5, 0]] * 3
    ... )
    >>> pdfa.alphabet.decode_words(shortest_words(pdfa, reachable(pdfa)))
    [(), ('b',), ('b', 'a')]
    """
    count = len(part.states)
    successors = pdfa.transitions[part.states[part.parents]]
    last_symbols = (successors == part.states[:, None]).argmax(axis=1).astype(np.int32)
    steps = []
    active = here = np.arange(1, count)
    while len(active):
        steps.append((count - 1 - active, last_symbols[here]))
        here = part.parents[here]
        active, here = active[here > 0], here[here > 0]
    # All of it is backwards: the symbols of each word, and the words.
    backwards = collect_words(steps, count)
    return Words(backwards.symbols[::-1].copy(), offsets_of(backwards.lengths[::-1]))


def reachable_part(pdfa: PDFA) -> PDFA:
    """Keep the reachable states only, numbered breadth first: the initial state is 0.

    Examples
    --------
    >>> pdfa = PDFA(
    ...     alphabet="a", transitions=[[2], [0], [2]], probabilities=[[0.5, 0.5]] * 3
    ... )
    >>> reachable_part(pdfa).transitions.tolist()
    [[1], [1]]
    """
    part = reachable(pdfa)
    return renumber_states(pdfa, part.states, part.numbers(len(pdfa)))


def renumber_states(pdfa: PDFA, kept: NDArray[np.integer], classes: Sequence[int] | States) -> PDFA:
    """Keep one state of each class, in the order of ``kept``, and lead all transitions there.

    ``classes[q]`` is the new number of state q (arbitrary where q is not reachable from the kept
    states).
    """
    numbers = np.append(np.asarray(classes, dtype=np.int32), np.int32(-1))
    return PDFA(
        alphabet=pdfa.alphabet,
        transitions=numbers[pdfa.transitions[kept]],
        probabilities=pdfa.probabilities[kept],
        initial=int(numbers[pdfa.initial]),
    )
