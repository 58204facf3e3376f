"""The subset construction, in bounded time and memory: some expressions need 2ⁿ states."""

from __future__ import annotations

from array import array
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pdfalearn.models.constrained._network import END, JUMP, Network, TooLargeError

_MOST_STEPS = 2**21
"""Each takes less than a microsecond, and a few bytes."""

Nodes = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Tables:
    """The tables of a DFA over characters, many of which may be of the same kind."""

    kind_of: dict[str, int]
    """The kind of every character."""
    successors: NDArray[np.int32]
    """For each kind and state the next state; -1 where there is none, and once more at the end."""
    accepting: NDArray[np.bool_]
    """Whether a word may end in each state."""


class Subsets:
    """A DFA whose states are the sets of nodes that words lead to.

    Only nodes that read something count, and the end.

    Parameters
    ----------
    network : Network
        The nodes.
    """

    def __init__(self, network: Network) -> None:
        self._network = network
        self._steps = 0
        self._sets: list[Nodes] = []
        self._numbers: dict[Nodes, int] = {}
        self._after: dict[frozenset[int], int] = {}
        self._kind_of, self._kinds, self._kind_count = self._sorted_characters()

    def tables(self) -> Tables:
        """Follow every kind of character from all sets that words lead to."""
        successors, nowhere = array("i"), array("i", [-1] * self._kind_count)
        self._number(frozenset([self._network.begin]))
        for nodes in self._sets:  # the list grows in front of the loop
            row = nowhere[:]
            for kind, following in self._followed(nodes).items():
                row[kind] = self._number(frozenset(following))
            successors += row
        states, kinds = len(self._sets), self._kind_count
        table = np.full((kinds, states + 1), -1, dtype=np.int32)
        table[:, :-1] = np.array(successors, dtype=np.int32).reshape(states, kinds).T
        accepting = np.array([nodes[:1] == (END,) for nodes in self._sets])
        return Tables(self._kind_of, table, accepting)

    def _followed(self, nodes: Nodes) -> dict[int, set[int]]:
        """Return the nodes after each kind of character, before all jumps."""
        followed: dict[int, set[int]] = {}
        class_of, next_of = self._network.class_of, self._network.next_of
        for node in nodes:
            if node != END:
                kinds = self._kinds[class_of[node]]
                self._spend(len(kinds))
                for kind in kinds:
                    followed.setdefault(kind, set()).update(next_of[node])
        return followed

    def _number(self, nodes: frozenset[int]) -> int:
        """Return the number of the set of nodes that these jump to."""
        if nodes not in self._after:
            reading = self._reading(nodes)
            number = self._numbers.setdefault(reading, len(self._sets))
            if number == len(self._sets):
                self._spend(len(reading) + self._kind_count)
                self._sets.append(reading)
            self._after[nodes] = number
        return self._after[nodes]

    def _reading(self, nodes: frozenset[int]) -> Nodes:
        """Return the nodes that these jump to and that read something, or the end."""
        class_of, next_of = self._network.class_of, self._network.next_of
        seen, waiting = set(nodes), list(nodes)
        for node in waiting:  # the list grows in front of the loop
            if class_of[node] == JUMP:
                new = set(next_of[node]) - seen
                seen |= new
                waiting += new
        self._spend(len(waiting))
        return tuple(sorted(node for node in waiting if class_of[node] != JUMP or node == END))

    def _sorted_characters(self) -> tuple[dict[str, int], list[list[int]], int]:
        """Put characters that are in the same classes into one kind.

        Returns
        -------
        kind_of, kinds, count
            The kind of every character, the kinds of every class, and how many kinds there are.
        """
        classes_of: dict[str, list[int]] = {c: [] for c in sorted(self._network.characters)}
        for number, characters in enumerate(self._network.classes):
            for character in characters:
                classes_of[character].append(number)
        numbers: dict[tuple[int, ...], int] = {}
        kind_of = {
            character: numbers.setdefault(tuple(classes), len(numbers))
            for character, classes in classes_of.items()
        }
        kinds: list[list[int]] = [[] for _ in self._network.classes]
        for classes, kind in numbers.items():
            for number in classes:
                kinds[number].append(kind)
        return kind_of, kinds, len(numbers)

    def _spend(self, steps: int) -> None:
        self._steps += steps
        if self._steps > _MOST_STEPS:
            raise TooLargeError(f"its DFA has {len(self._sets):,} states and many more to come")
