"""From a parsed regular expression to a DFA over characters, in bounded time and memory."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

END = 0
"""The node where a word may end."""
JUMP = -1
"""Stands for the class of a node that reads nothing."""
_MOST_PARTS = 2**17
_MOST_CHARACTERS = 2**21
"""All classes together may list at most this many of the characters that occur in words."""
_MOST_STEPS = 2**21
"""Each takes less than a microsecond, and a few bytes."""

Nodes = tuple[int, ...]


class TooLargeError(ValueError):
    """An expression is too large; the message says why."""


class UnknownPartError(ValueError):
    """An expression has a part that no automaton is made of."""


class Network:
    """Nodes that read a character and go on, or read nothing and jump to other nodes.

    Parameters
    ----------
    expression : interegular.Pattern
        What was parsed. Its parts are told apart by their attributes, as their types are private.
    characters : iterable of str
        The characters that occur in words.
    """

    def __init__(self, expression: Any, characters: Iterable[str]) -> None:
        parts = _size(expression)
        if parts > _MOST_PARTS:
            raise TooLargeError(
                f"with all repetitions written out it has {parts:,} parts, and {_MOST_PARTS:,} "
                "are the most"
            )
        self.characters = frozenset(characters)
        self.class_of = [JUMP]
        """The class of characters that each node reads."""
        self.next_of: list[list[int]] = [[]]
        """The nodes that each one goes on to, or jumps to."""
        self._classes: dict[frozenset[str], int] = {}
        self._class_numbers: dict[tuple[object, ...], int] = {}
        self._room = _MOST_CHARACTERS
        self.begin = self._add(expression, END, _Flags())
        """Where words begin."""

    @property
    def classes(self) -> list[frozenset[str]]:
        """The different classes of characters, by their numbers."""
        return list(self._classes)

    def _add(self, part: Any, after: int, flags: _Flags) -> int:
        """Add the nodes of a part that a node follows; return the first of them."""
        if hasattr(part, "options"):
            flags = flags.change(part.added_flags, part.removed_flags)
            return self._node(JUMP, [self._add(option, after, flags) for option in part.options])
        if hasattr(part, "parts"):
            for inner in reversed(part.parts):
                after = self._add(inner, after, flags)
            return after
        if hasattr(part, "base"):
            return self._add_repeated(part, after, flags)
        if hasattr(part, "inner"):
            raise UnknownPartError("looking around")
        if part.lengths == (0, 0):
            return after
        return self._node(self._class(part, flags), [after])

    def _add_repeated(self, part: Any, after: int, flags: _Flags) -> int:
        """Add a part as often as it must come, and then as often as it may."""
        here = after
        if part.max is None:
            here = self._node(JUMP, [after])
            self.next_of[here].append(self._add(part.base, here, flags))
        else:
            for _ in range(part.max - part.min):
                here = self._node(JUMP, [self._add(part.base, here, flags), after])
        for _ in range(part.min):
            here = self._add(part.base, here, flags)
        return here

    def _node(self, class_: int, following: list[int]) -> int:
        self.class_of.append(class_)
        self.next_of.append(following)
        return len(self.class_of) - 1

    def _class(self, part: Any, flags: _Flags) -> int:
        """Return the number of the class of characters that a part reads."""
        key = (getattr(part, "chars", None), getattr(part, "negated", None), flags)
        if key not in self._class_numbers:
            read = self._characters(part, flags)
            self._room -= len(read)
            if self._room < 0:
                raise TooLargeError(f"its {len(self._class_numbers):,} classes are too large")
            self._class_numbers[key] = self._classes.setdefault(read, len(self._classes))
        return self._class_numbers[key]

    def _characters(self, part: Any, flags: _Flags) -> frozenset[str]:
        """Return the characters that a class, or a dot, stands for."""
        if not hasattr(part, "chars"):
            return self.characters if flags.dot_all else self.characters - {"\n"}
        named: frozenset[str] = part.chars
        if flags.ignore_case:
            named = frozenset(form for c in named for form in (c.lower(), c.upper()))
        return self.characters - named if part.negated else self.characters & named


def _size(part: Any) -> int:
    """Count the parts of an expression, those of a repetition as often as they are repeated."""
    if hasattr(part, "options"):
        return 1 + sum(map(_size, part.options))
    if hasattr(part, "parts"):
        return 1 + sum(map(_size, part.parts))
    if hasattr(part, "base"):
        times: int = part.min + 1 if part.max is None else part.max
        return 1 + times * _size(part.base)
    return 1


@dataclass(frozen=True)
class _Flags:
    ignore_case: bool = False
    dot_all: bool = False

    def change(self, added: Any, removed: Any) -> _Flags:
        """Return the flags inside a group that adds some and removes others."""
        from interegular.patterns import REFlags

        def now(before: bool, flag: Any) -> bool:
            return bool(before or added & flag) and not removed & flag

        return _Flags(now(self.ignore_case, REFlags.I), now(self.dot_all, REFlags.S))


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
        self._kind_of, self._kinds, self._kind_count = self._sort_characters()

    def tables(self) -> Tables:
        """Follow every kind of character from all sets that words lead to."""
        successors, nowhere = array("i"), array("i", [-1] * self._kind_count)
        self._number(frozenset([self._network.begin]))
        for nodes in self._sets:  # the list grows in front of the loop
            row = nowhere[:]
            for kind, following in self._find_successors(nodes).items():
                row[kind] = self._number(frozenset(following))
            successors += row
        states, kinds = len(self._sets), self._kind_count
        table = np.full((kinds, states + 1), -1, dtype=np.int32)
        table[:, :-1] = np.array(successors, dtype=np.int32).reshape(states, kinds).T
        accepting = np.array([nodes[:1] == (END,) for nodes in self._sets])
        return Tables(self._kind_of, table, accepting)

    def _find_successors(self, nodes: Nodes) -> dict[int, set[int]]:
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

    def _sort_characters(self) -> tuple[dict[str, int], list[list[int]], int]:
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
