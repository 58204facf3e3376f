"""The quotient of a PDFA by an equivalence, and weak minimality (§2.1 to §2.3).

A partition of states is refined until successors of equal states are equal, in two ways, one after
the other: rounds over whole arrays, which are fastest while classes multiply, and Hopcroft's
refinement by the smaller half, which is O(m·n·log n) whatever the automaton.
"""

from __future__ import annotations

from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from pdfalearn.arrays import numbered_rows
from pdfalearn.equivalence.relations import Equivalence, check_equivalence
from pdfalearn.pdfa import PDFA, States, check_pdfa
from pdfalearn.reachability import reachable_part, renumber_states
from pdfalearn.typing import Integers

# Rounds may look at this many rows for every state; then Hopcroft's refinement takes over.
_ROUNDS = 16


def refine_classes(transitions: NDArray[np.int32], classes: Integers) -> Integers:
    """Return the coarsest refinement of a partition, of classes 0, 1, …, that transitions respect.

    All transitions are defined.
    """
    classes = classes.copy()
    count = int(classes.max()) + 1
    rows_left = _ROUNDS * len(classes)
    while True:
        active = np.flatnonzero(np.bincount(classes, minlength=count)[classes] > 1)
        rows_left -= len(active)
        new = _round(transitions, classes, active, count)
        count += len(new)
        if not len(new):
            return classes
        if rows_left < 0:
            return _Hopcroft(transitions, classes, count).refine_classes(new.tolist())


def _round(
    transitions: NDArray[np.int32], classes: Integers, active: NDArray[np.intp], count: int
) -> Integers:
    """Split every class by the classes of its members' successors, in place.

    Returns the numbers of the new classes; of every class that split, the largest part keeps the
    old one.
    """
    own = classes[active]
    groups = numbered_rows(np.column_stack((own, classes[transitions[active]])))
    sizes = np.bincount(groups)
    parents = np.empty(len(sizes), dtype=np.int64)
    parents[groups] = own
    # The groups of each class, the largest first.
    by_parent = np.lexsort((-sizes, parents))
    first = np.ones(len(sizes), dtype=bool)
    first[1:] = parents[by_parent][1:] != parents[by_parent][:-1]
    numbers = parents.copy()
    split = by_parent[~first]
    numbers[split] = np.arange(count, count + len(split))
    classes[active] = numbers[groups]
    return numbers[split]


class _Hopcroft:
    """Hopcroft's refinement over the states whose class has more than one member.

    ``elements`` holds those states, each class a segment of it; the members to be split off are
    moved to the front of their segment. The larger part keeps the class's number, so that every
    state changes its class at most log n times.
    """

    def __init__(self, transitions: NDArray[np.int32], classes: Integers, count: int) -> None:
        states, symbols = transitions.shape
        order = np.argsort(classes, kind="stable")
        begins = np.searchsorted(classes[order], np.arange(count + 1))
        places = np.empty(states, dtype=np.int64)
        places[order] = np.arange(states)
        # Every edge that ends in a state, as symbol * states + source, sorted.
        active = np.flatnonzero(np.diff(begins)[classes] > 1)
        codes = active[:, None] + states * np.arange(symbols)
        targets = transitions[active].ravel()
        by_target = np.lexsort((codes.ravel(), targets))
        self.states = states
        self.classes: list[int] = classes.tolist()
        self.elements: list[int] = order.tolist()
        self.places: list[int] = places.tolist()
        self.begins: list[int] = begins[:-1].tolist()
        self.ends: list[int] = begins[1:].tolist()
        self.edges: list[int] = codes.ravel()[by_target].tolist()
        self.edges_begin: list[int] = np.searchsorted(
            targets[by_target], np.arange(states + 1)
        ).tolist()

    def refine_classes(self, pending: list[int]) -> Integers:
        """Split by every pending class until none is left."""
        while pending:
            for sources in self._edges_into(pending.pop()):
                for touched, marked in self._mark_members(sources).items():
                    self._split(touched, marked, pending)
        return np.array(self.classes, dtype=np.int64)

    def _edges_into(self, target: int) -> list[list[int]]:
        """Give, for each symbol, the states that it leads into the class."""
        edges, begin = self.edges, self.edges_begin
        members = self.elements[self.begins[target] : self.ends[target]]
        codes = [code for q in members for code in edges[begin[q] : begin[q + 1]]]
        if len(members) > 1:
            codes.sort()
        states = self.states
        by_symbol = groupby(codes, key=lambda code: code // states)
        return [[code % states for code in group] for _, group in by_symbol]

    def _mark_members(self, sources: list[int]) -> dict[int, int]:
        """Move the sources to the front of their classes; count them by class."""
        classes, elements, places, begins = self.classes, self.elements, self.places, self.begins
        marked: dict[int, int] = {}
        for state in sources:
            touched = classes[state]
            done = marked.get(touched, 0)
            # Swap the state with the first of its class that is not marked yet.
            front, here = begins[touched] + done, places[state]
            other = elements[front]
            elements[front], elements[here] = state, other
            places[state], places[other] = front, here
            marked[touched] = done + 1
        return marked

    def _split(self, touched: int, marked: int, pending: list[int]) -> None:
        """Split a class: the smaller of its marked and unmarked parts gets a new number."""
        begin, end = self.begins[touched], self.ends[touched]
        if marked == end - begin:
            return
        middle = begin + marked
        if marked <= end - middle:
            new_begin, new_end = begin, middle
            self.begins[touched] = middle
        else:
            new_begin, new_end = middle, end
            self.ends[touched] = middle
        number = len(self.begins)
        self.begins.append(new_begin)
        self.ends.append(new_end)
        for state in self.elements[new_begin:new_end]:
            self.classes[state] = number
        pending.append(number)


def state_classes(pdfa: PDFA, *, equivalence: Equivalence) -> NDArray[np.int64]:
    """Number the classes of all states, reached or not: equal numbers iff they are equivalent."""
    pdfa = check_pdfa(pdfa, "pdfa")
    classes = check_equivalence(equivalence).classes(pdfa.probabilities)
    transitions = pdfa.transitions
    undefined = transitions < 0
    if not undefined.any():
        return refine_classes(transitions, classes)
    # Undefined is one more class: here a state of its own, after the others.
    sink = len(pdfa)
    transitions = np.append(transitions, np.full((1, len(pdfa.alphabet)), sink), axis=0)
    transitions[:-1][undefined] = sink
    return refine_classes(transitions.astype(np.int32), np.append(classes, classes.max() + 1))[:-1]


def quotient(pdfa: PDFA, *, equivalence: Equivalence) -> PDFA:
    """Return the quotient of the reachable part of a PDFA: one state for each class.

    Parameters
    ----------
    pdfa : PDFA
        The automaton A.
    equivalence : Equivalence
        `Exact` for A/≡; `Quantization` for a member of A/≡_κ.

    Returns
    -------
    PDFA
        Numbered breadth first, so that equivalent automata over one alphabet have quotients with
        equal transitions. Every class has the distribution of its first state in that order.

    Examples
    --------
    >>> from pdfalearn import Exact, Quantization
    >>> rows = [[0.52, 0.48], [0.53, 0.47]]
    >>> pdfa = PDFA(alphabet="a", transitions=[[1], [0]], probabilities=rows)
    >>> len(quotient(pdfa, equivalence=Exact())), len(quotient(pdfa, equivalence=Quantization(10)))
    (2, 1)
    """
    part = reachable_part(pdfa)
    classes = state_classes(part, equivalence=equivalence)
    _, first, numbers = np.unique(classes, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(first), dtype=np.int32)
    rank[order] = np.arange(len(first))
    return renumber_states(part, first[order], rank[numbers])


def tell_states_apart(table: States, classes: Integers) -> tuple[list[list[int]], Integers]:
    """Return suffixes that tell all states apart that are not equivalent, and what each shows.

    The table and the classes of the states' distributions have a last row for where it is
    undefined, of class -1. Every rest of a suffix is one, too, and comes before it. The second
    table has for every state the classes after each suffix.

    Examples
    --------
    >>> from pdfalearn.datasets import chain
    >>> words, columns = tell_states_apart(chain(3).table, np.array([0, 0, 1, -1]))
    >>> words, columns.tolist()
    ([[], [0]], [[0, 0], [0, 1], [1, 1], [-1, -1]])
    """
    words: list[list[int]] = [[]]
    columns, groups = [classes], numbered_rows(classes[:, None])
    for place, word in enumerate(words):  # which grows on the way
        if groups.max() + 1 == len(table):
            break
        for symbol in range(table.shape[1]):
            column = columns[place][table[:, symbol]]
            finer = numbered_rows(np.column_stack((groups, column)))
            if finer.max() > groups.max():
                groups = finer
                columns.append(column)
                words.append([symbol, *word])
    return words, np.column_stack(columns)


def is_weakly_minimal(pdfa: PDFA, *, equivalence: Equivalence) -> bool:
    """Return whether no two reachable states are equivalent.

    Examples
    --------
    >>> from pdfalearn import Exact
    >>> pdfa = PDFA(alphabet="a", transitions=[[1], [0]], probabilities=[[0.5, 0.5]] * 2)
    >>> is_weakly_minimal(pdfa, equivalence=Exact())
    False
    """
    part = reachable_part(pdfa)
    return len(np.unique(state_classes(part, equivalence=equivalence))) == len(part)
