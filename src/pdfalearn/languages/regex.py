"""From a regular expression to a DFA over the symbols of an alphabet, in bounded time and memory.

`interegular` parses expressions. Its own automata are not used: they are built piece by piece
without any bound, and searching its list of states takes time quadratic in their number, 30 times
as long for 8,000 states.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pdfalearn.alphabet import Alphabet
from pdfalearn.checks import check_tables_fit
from pdfalearn.errors import InputError
from pdfalearn.extras import check_installed
from pdfalearn.languages.dfa import DFA
from pdfalearn.text import shorten

# What has to be told apart where interegular reads something else than Python does.
_PARTS = re.compile(
    r"""\\.                                                 # an escape
    | (?P<comment> \(\?\#[^)]*\) )
    | (?P<braces> \{\} )                                    # stand for themselves
    | (?P<possessive> (?:[*+?]|\{\d*,?\d*\})\+ )
    | (?P<atomic> \(\?> )
    | \[\^? (?P<bracket> \])? (?:\\.|[^\]\\])* \]          # a class, perhaps of a bracket""",
    re.DOTALL | re.VERBOSE,
)

# The node where a word may end.
_END = 0
# Stands for the class of a node that reads nothing.
_JUMP = -1
_MOST_PARTS = 2**17
# All classes together may list at most this many of the characters that occur in words.
_MOST_CHARACTERS = 2**21
# Each takes less than a microsecond, and a few bytes.
_MOST_STEPS = 2**21


def regex_dfa(pattern: str, alphabet: Alphabet) -> DFA:
    r"""Return a DFA of the words whose symbols, written one after the other, match as a whole.

    Parameters
    ----------
    pattern : str
        A regular expression as Python's module ``re`` reads it, without ``^``, ``$``, references
        and lookaround; ``\d``, ``\w`` and ``\s`` mean ASCII.
    alphabet : Alphabet
        Strings of any length.
    """
    for symbol in alphabet:
        if not isinstance(symbol, str):
            raise InputError(
                f"symbol {symbol!r} is not text, and a regular expression is about symbols that "
                "are strings; give a DFA instead"
            )
    texts = [str(symbol) for symbol in alphabet]
    tables = _tables(pattern, {character for text in texts for character in text})
    states = len(tables.accepting)
    check_tables_fit(
        np.dtype(np.int32).itemsize * states * len(alphabet),
        f"the {states:,} states of {shorten(repr(pattern), 200)} and {len(alphabet):,} symbols",
        "use a simpler regular expression or fewer symbols",
    )
    transitions = np.empty((states, len(texts)), dtype=np.int32)
    for column, text in enumerate(texts):
        # Run the symbol's text from all states at once.
        reached = np.arange(states, dtype=np.int32)
        for character in text:
            reached = tables.successors[tables.kind_of[character]][reached]
        transitions[:, column] = reached
    return DFA(alphabet=alphabet, transitions=transitions, accepting=tables.accepting)


def named_characters(pattern: str) -> frozenset[str]:
    r"""Return the characters that an expression names, in either case, and the newline.

    It does not tell any two others apart.

    Examples
    --------
    >>> sorted(named_characters("[^é-ë]|(?i:q)"))
    ['\n', 'Q', 'q', 'É', 'Ê', 'Ë', 'é', 'ê', 'ë']
    """
    found, waiting = {"\n"}, [_parse(pattern)]
    for part in waiting:  # the list grows in front of the loop
        found.update(getattr(part, "chars", ()))
        waiting += [part.base] if hasattr(part, "base") else _inner_parts(part)
    forms = (form for c in found for form in (c, c.lower(), c.upper()))
    return frozenset(form for form in forms if len(form) == 1)


def _tables(pattern: str, characters: set[str]) -> _Tables:
    """Make the tables of a DFA over characters; refuse an expression that is too large for it."""
    expression = _parse(pattern)
    from interegular import Unsupported

    try:
        return _Subsets(_Network(expression, characters)).tables()
    except Unsupported as error:
        raise _unsupported(pattern, error) from error
    except RecursionError as error:
        raise InputError(_complaint(pattern, "nested too deeply", None)) from error
    except _TooLargeError as error:
        raise InputError(
            f"the regular expression {shorten(repr(pattern), 200)} is too large: "
            f"{error}; use smaller repetitions, or a DFA of your own"
        ) from error


def _parse(pattern: str) -> Any:
    """Return the parts of an expression; refuse one that is not regular, or does not parse."""
    try:  # first by Python, whose errors say best where an expression is wrong
        re.compile(pattern)
    except re.error as error:
        raise InputError(_complaint(pattern, error.msg, error.pos)) from error
    except (OverflowError, RecursionError) as error:
        raise InputError(_complaint(pattern, str(error), None)) from error
    check_installed("interegular", "regular expressions")
    from interegular import InvalidSyntax, Unsupported, parse_pattern

    try:
        return parse_pattern(_PARTS.sub(_plainer, pattern))
    except Unsupported as error:
        raise _unsupported(pattern, error) from error
    except InvalidSyntax as error:
        place = getattr(error.__context__, "index", None)
        raise InputError(_complaint(pattern, str(error) or "unknown syntax", place)) from error
    except RecursionError as error:
        raise InputError(_complaint(pattern, "nested too deeply", None)) from error


def _unsupported(pattern: str, error: Exception) -> InputError:
    return InputError(
        f"the regular expression {pattern!r} uses what is not supported: {error}; "
        "it has to match whole words, without ^ and $, references or looking around"
    )


def _plainer(part: re.Match[str]) -> str:
    """Write a part so that interegular reads it as Python does."""
    if part["comment"]:
        return ""
    if part["braces"]:
        return r"\{\}"
    if part["possessive"]:
        raise InputError(f"possessive repetition is not supported: {part[0]} in {part.string!r}")
    if part["atomic"]:
        raise InputError(f"atomic groups are not supported: {part[0]} in {part.string!r}")
    if part[0][0] == "[" and len({"D", "S", "W"} & set(re.findall(r"\\(.)", part[0]))) > 1:
        raise InputError(
            f"classes with two complements are not supported: {part[0]} in {part.string!r}; "
            r"write alternatives, such as (\D|\W)"
        )
    return part[0].replace("]", r"\]", 1) if part["bracket"] else part[0]


def _complaint(pattern: str, reason: str, position: int | None) -> str:
    where = "" if position is None else f" at position {position}"
    return f"the regular expression {pattern!r} does not parse: {reason}{where}"


class _TooLargeError(ValueError):
    """An expression is too large; the message says why."""


class _Network:
    """Nodes that read a character and go on, or read nothing and jump to other nodes.

    The parts of what interegular has parsed are told apart by their attributes, as their types are
    private.
    """

    def __init__(self, expression: Any, characters: Iterable[str]) -> None:
        parts = _size(expression)
        if parts > _MOST_PARTS:
            raise _TooLargeError(
                f"with all repetitions written out it has {parts:,} parts, and {_MOST_PARTS:,} "
                "are the most"
            )
        self.characters = frozenset(characters)
        self.class_of = [_JUMP]
        """The class of characters that each node reads."""
        self.next_of: list[list[int]] = [[]]
        """The nodes that each one goes on to, or jumps to."""
        self.classes: dict[frozenset[str], int] = {}
        """The different classes of characters, and their numbers."""
        self._class_numbers: dict[tuple[object, ...], int] = {}
        self._listed = 0
        self.begin = self._add(expression, _END, type(expression.added_flags)(0))
        """Where words begin."""

    def _add(self, part: Any, after: int, flags: Any) -> int:
        """Add the nodes of a part that a node follows; return the first of them."""
        if hasattr(part, "options"):
            flags = (flags | part.added_flags) & ~part.removed_flags
            return self._node(_JUMP, [self._add(option, after, flags) for option in part.options])
        if hasattr(part, "parts"):
            for inner in reversed(part.parts):
                after = self._add(inner, after, flags)
            return after
        if hasattr(part, "base"):
            return self._add_repeated(part, after, flags)
        if hasattr(part, "inner"):
            from interegular import Unsupported

            raise Unsupported("looking around")
        if part.lengths == (0, 0):
            return after
        return self._node(self._class(part, flags), [after])

    def _add_repeated(self, part: Any, after: int, flags: Any) -> int:
        """Add a part as often as it must come, and then as often as it may."""
        here = after
        if part.max is None:
            here = self._node(_JUMP, [after])
            self.next_of[here].append(self._add(part.base, here, flags))
        else:
            for _ in range(part.max - part.min):
                here = self._node(_JUMP, [self._add(part.base, here, flags), after])
        for _ in range(part.min):
            here = self._add(part.base, here, flags)
        return here

    def _node(self, class_: int, following: list[int]) -> int:
        self.class_of.append(class_)
        self.next_of.append(following)
        return len(self.class_of) - 1

    def _class(self, part: Any, flags: Any) -> int:
        """Return the number of the class of characters that a part, a set or a dot, reads."""
        key = (getattr(part, "chars", None), getattr(part, "negated", None), flags)
        if key not in self._class_numbers:
            flag = type(flags)
            named = getattr(part, "chars", frozenset("" if flags & flag.SINGLE_LINE else "\n"))
            if flags & flag.CASE_INSENSITIVE:
                named = frozenset(form for c in named for form in (c.lower(), c.upper()))
            is_negated = getattr(part, "negated", True)  # a dot is all but what it does not read
            read = self.characters - named if is_negated else self.characters & named
            self._listed += len(read)
            if self._listed > _MOST_CHARACTERS:
                raise _TooLargeError(f"its {len(self._class_numbers):,} classes are too large")
            self._class_numbers[key] = self.classes.setdefault(read, len(self.classes))
        return self._class_numbers[key]


def _size(part: Any) -> int:
    """Count the parts of an expression, those of a repetition as often as they are repeated."""
    if hasattr(part, "base"):
        times: int = part.min + 1 if part.max is None else part.max
        return 1 + times * _size(part.base)
    return 1 + sum(map(_size, _inner_parts(part)))


def _inner_parts(part: Any) -> Any:
    return getattr(part, "options", getattr(part, "parts", ()))


class _Tables(NamedTuple):
    """The tables of a DFA over characters, many of which may be of the same kind."""

    kind_of: dict[str, int]
    """The kind of every character."""
    successors: NDArray[np.int32]
    """For each kind and state the next state; -1 where there is none, and once more at the end."""
    accepting: NDArray[np.bool_]
    """Whether a word may end in each state."""


class _Subsets:
    """A DFA whose states are the sets of nodes that words lead to.

    Only nodes that read something count, and the end.
    """

    def __init__(self, network: _Network) -> None:
        self._network = network
        self._steps = 0
        self._sets: list[tuple[int, ...]] = []
        self._numbers: dict[tuple[int, ...], int] = {}
        self._after: dict[frozenset[int], int] = {}
        # Characters that are in the same classes are of one kind: the columns of the table.
        classes_of: dict[str, list[int]] = {c: [] for c in sorted(network.characters)}
        for characters, number in network.classes.items():
            for character in characters:
                classes_of[character].append(number)
        kinds: dict[tuple[int, ...], int] = {}
        self._kind_of = {
            character: kinds.setdefault(tuple(classes), len(kinds))
            for character, classes in classes_of.items()
        }
        self._kind_count = len(kinds)
        self._kinds: list[list[int]] = [[] for _ in network.classes]
        for classes, kind in kinds.items():
            for number in classes:
                self._kinds[number].append(kind)

    def tables(self) -> _Tables:
        """Follow every kind of character from all sets that words lead to."""
        successors, nowhere = array("i"), array("i", [-1] * self._kind_count)
        class_of, next_of = self._network.class_of, self._network.next_of
        self._number(frozenset([self._network.begin]))
        for nodes in self._sets:  # the list grows in front of the loop
            followed: dict[int, set[int]] = {}
            for node in nodes:
                if node != _END:
                    kinds = self._kinds[class_of[node]]
                    self._spend(len(kinds))
                    for kind in kinds:
                        followed.setdefault(kind, set()).update(next_of[node])
            row = nowhere[:]
            for kind, following in followed.items():
                row[kind] = self._number(frozenset(following))
            successors += row
        shape = len(self._sets), self._kind_count
        table = np.full((shape[1], shape[0] + 1), -1, dtype=np.int32)
        table[:, :-1] = np.array(successors, dtype=np.int32).reshape(shape).T
        accepting = np.array([nodes[:1] == (_END,) for nodes in self._sets])
        return _Tables(self._kind_of, table, accepting)

    def _number(self, nodes: frozenset[int]) -> int:
        """Return the number of the set of nodes that these jump to, or are."""
        if nodes not in self._after:
            class_of, next_of = self._network.class_of, self._network.next_of
            seen, waiting = set(nodes), list(nodes)
            for node in waiting:  # the list grows in front of the loop
                if class_of[node] == _JUMP:
                    new = set(next_of[node]) - seen
                    seen |= new
                    waiting += new
            self._spend(len(waiting))
            # The end has the least number of all nodes: it stands first.
            reading = tuple(sorted(n for n in waiting if class_of[n] != _JUMP or n == _END))
            number = self._numbers.setdefault(reading, len(self._sets))
            if number == len(self._sets):
                self._spend(len(reading) + self._kind_count)
                self._sets.append(reading)
            self._after[nodes] = number
        return self._after[nodes]

    def _spend(self, steps: int) -> None:
        self._steps += steps
        if self._steps > _MOST_STEPS:
            raise _TooLargeError(f"its DFA has {len(self._sets):,} states and many more to come")
