"""Thompson's automaton of a parsed regular expression."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

END = 0
"""The node where a word may end."""
JUMP = -1
"""Stands for the class of a node that reads nothing."""

_MOST_PARTS = 2**17
_MOST_CHARACTERS = 2**21
"""All classes together may list at most this many of the characters that occur in words."""


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
            flags = flags.changed(part.added_flags, part.removed_flags)
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

    def changed(self, added: Any, removed: Any) -> _Flags:
        """Return the flags inside a group that adds some and removes others."""
        from interegular.patterns import REFlags

        def now(before: bool, flag: Any) -> bool:
            return bool(before or added & flag) and not removed & flag

        return _Flags(now(self.ignore_case, REFlags.I), now(self.dot_all, REFlags.S))
