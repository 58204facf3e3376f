"""Readers of recorded words: what is in a file of each format."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple, Protocol

from pdfalearn.alphabet import Symbol, Word
from pdfalearn.corpora.sources import BadInput, Source
from pdfalearn.corpora.symbol_codes import Coder, RecordedWords
from pdfalearn.errors import FileFormatError, InputError
from pdfalearn.words import Words

# Readers that make lists of words return at most about this many at once.
MOST_WORDS = 2**14
# A blank between two symbols of a line.
_WITHIN = re.compile(r"\S[^\S\n]+\S")
CUT_MARKS = (" (cut)", "\t(cut)")


class Part(Protocol):
    """Words that were read together, before they have an alphabet."""

    def __len__(self) -> int:
        """Return how many words there are."""

    def find_symbols(self, *, are_joined: bool) -> set[Symbol]:
        """Return the symbols of the words."""

    def encode(self, coder: Coder) -> RecordedWords:
        """Encode the words."""


@dataclass(frozen=True)
class LinesPart:
    """A block of lines, each of which is a word."""

    name: str
    number: int
    text: str

    def __len__(self) -> int:
        return self.text.count("\n")

    def has_blanks(self) -> bool:
        """Return whether there is a blank within a line."""
        text = self._unmarked()
        if text.isascii() and " " not in text and "\t" not in text:  # which is found much faster
            return False
        return _WITHIN.search(text) is not None

    def find_symbols(self, *, are_joined: bool) -> set[Symbol]:
        """Return the characters, or what stands between blanks."""
        text = self._unmarked()
        return set[Symbol](text) - {"\n"} if are_joined else set[Symbol](text.split())

    def encode(self, coder: Coder) -> RecordedWords:
        """Encode the words."""
        return coder.encode_lines(self.text, self.name, self.number)

    def _unmarked(self) -> str:
        text = self.text
        for mark in CUT_MARKS:
            text = text.replace(f"{mark}\n", "\n")
        return text


@dataclass(frozen=True)
class ListedPart:
    """Words that are sequences of symbols; errors name the unit with the number of each."""

    name: str
    unit: str
    numbers: Sequence[int]
    words: Sequence[Word]
    # Symbols that the file announces, whether or not they are in a word.
    symbols: frozenset[Symbol] = frozenset()

    def __len__(self) -> int:
        return len(self.words)

    def find_symbols(self, *, are_joined: bool) -> set[Symbol]:
        """Return the symbols of the words."""
        del are_joined
        try:
            return set(self.symbols).union(*self.words)
        except TypeError as error:
            raise InputError(f"a symbol of {self.name} is not hashable ({error})") from error

    def encode(self, coder: Coder) -> RecordedWords:
        """Encode the words."""
        return coder.encode_listed(self.words, self.name, self.numbers, self.unit)


@dataclass(frozen=True)
class CodedPart:
    """Words over names that were numbered while they were read."""

    name: str
    names: Sequence[Symbol]
    words: Words
    # The number of the first word, for errors.
    first: int

    def __len__(self) -> int:
        return len(self.words)

    def decode(self) -> list[tuple[Symbol, ...]]:
        """Return the words as tuples of names."""
        names = self.names
        return [tuple([names[code] for code in word]) for word in self.words]

    def find_symbols(self, *, are_joined: bool) -> set[Symbol]:
        """Return the names."""
        del are_joined
        return set(self.names)

    def encode(self, coder: Coder) -> RecordedWords:
        """Encode the words."""
        return coder.encode_coded(self.words, self.names, self.name, self.first)


class Columns(NamedTuple):
    """Where the events of a log are: names of columns, or of attributes."""

    case: str = "case:concept:name"
    event: str = "concept:name"
    time: str | None = "time:timestamp"


Reader = Callable[[Source, BadInput, Columns], Iterator[Part]]


def read_lines(source: Source, bad: BadInput, columns: Columns) -> Iterator[LinesPart]:
    """Read a word a line; what its symbols are is decided by the alphabet."""
    del columns
    for number, text in source.blocks(bad):
        yield LinesPart(source.title, number, text)


def read_pautomac(source: Source, bad: BadInput, columns: Columns) -> Iterator[Part]:
    """Read how many words and symbols there are, then a length and the symbols a line."""
    del columns
    expected, found, symbols = -1, 0, frozenset[str]()
    for number, text in source.blocks(bad):
        lines = text.split("\n")[:-1]
        if expected < 0:
            expected, symbols = _read_header(lines.pop(0), bad)
            number += 1
        numbers, words = [], []
        for place, line in enumerate(lines):
            length, *word = line.split() or [""]
            if not length:
                continue
            found += 1
            if length != str(len(word)):
                bad.report(
                    number + place,
                    f"the length {length!r} is followed by {len(word)} symbols",
                )
            elif not symbols.issuperset(word):
                wrong = next(one for one in word if one not in symbols)
                bad.report(
                    number + place,
                    f"{wrong!r} is not one of the {len(symbols)} symbols that the first line "
                    "announces, which are numbers from 0 on",
                )
            else:
                numbers.append(number + place)
                words.append(word)
        yield ListedPart(source.title, "line", numbers, words, symbols)
    if 0 <= expected != found:
        message = f"its first line announces {expected:,} words, and there are {found:,}"
        bad.report(1, message)


def _read_header(line: str, bad: BadInput) -> tuple[int, frozenset[str]]:
    try:
        words, symbols = map(int, line.split())
    except ValueError as error:
        raise FileFormatError(
            f"{bad.source.title}, line 1: a file of PAutomaC or SPiCe begins with the number of "
            "words and that of symbols; for other files, give format= (--format)"
        ) from error
    return words, frozenset(map(str, range(symbols)))


def read_json_lines(source: Source, bad: BadInput, columns: Columns) -> Iterator[Part]:
    """Read a list a line, or an object with one list."""
    for first, text in source.blocks(bad):
        stripped = enumerate(map(str.strip, text.split("\n")), first)
        lines = {number: line for number, line in stripped if line}
        words = _parse_together(list(lines.values()), columns.event)
        if words is None:
            words, known = [], {}
            for number, line in lines.items():
                try:
                    words.append(_check_word(_find_list(json.loads(line), columns.event)))
                    known[number] = line
                except (ValueError, RecursionError) as error:
                    bad.report(number, str(error))
            lines = known
        yield ListedPart(source.title, "line", list(lines), words)


def _parse_together(lines: list[str], field: str) -> list[list[Symbol]] | None:
    """Parse many lines at once, five times as fast; None where they need a closer look.

    Lines that are wrong in themselves could only be right together if one goes on in the next. As
    all of them begin and end with brackets, that makes a list within a list: not a symbol.
    """
    if not all(line[0] in "[{" and line[-1] in "]}" for line in lines):
        return None
    try:
        words = [_find_list(one, field) for one in json.loads(f"[{','.join(lines)}]")]
    except (ValueError, RecursionError):
        return None
    kinds = set(map(type, chain.from_iterable(words)))
    return words if len(words) == len(lines) and kinds <= {str, int} else None


def _check_word(word: list[Symbol]) -> list[Symbol]:
    if wrong := [one for one in word if type(one) is not str and type(one) is not int]:
        raise ValueError(f"the symbol {wrong[0]!r} is neither a text nor an integer")
    return word


def _find_list(value: object, field: str) -> list[Symbol]:
    """Return the list that a line is, or has; a ValueError says what is wrong."""
    if isinstance(value, dict):
        lists = {key: one for key, one in value.items() if isinstance(one, list)}
        if field not in lists and len(lists) != 1:
            raise ValueError(
                f"an object with {len(lists)} lists, where one is needed"
                + (", or event= (--event) says which" if lists else "")
            )
        value = lists[field] if field in lists else next(iter(lists.values()))
    if not isinstance(value, list):
        raise ValueError("neither a list of symbols nor an object that has one")
    return value
