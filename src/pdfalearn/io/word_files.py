"""Files of words, one a line, so that the words of every alphabet can be read again."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TextIO

import numpy as np

from pdfalearn.alphabet import Alphabet, Symbol
from pdfalearn.arrays import IntMap
from pdfalearn.errors import FileFormatError, InputError
from pdfalearn.files import check_name, show_name
from pdfalearn.text import are_characters, escaped, shorten, symbol_text
from pdfalearn.typing import Bytes, Integers
from pdfalearn.words import Words

# Symbols of up to this many bytes fit into one integer.
_LONGEST = 8
_MASKS = np.array([2 ** (8 * count) - 1 for count in range(_LONGEST + 1)], dtype=np.uint64)
_NEW_LINE, _BLANK = 10, 32
# A map that is given this many keys at once looks up whole arrays.
_MANY_KEYS = 256


def _tokens(characters: Bytes) -> tuple[Integers, Integers]:
    """Return where what stands between blanks begins, and how long it is."""
    inside = (characters != _NEW_LINE) & (characters != _BLANK)
    edges = np.flatnonzero(np.diff(inside, prepend=False, append=False))
    return edges[::2], edges[1::2] - edges[::2]


def _pack(characters: Bytes, begins: Integers, lengths: Integers) -> Integers:
    """Put the bytes of every token, which are ASCII, into one integer, the first byte lowest."""
    padded = np.concatenate((characters, np.zeros(_LONGEST, dtype=np.uint8)))
    # Every eight bytes that follow each other, one integer for each place.
    windows = np.ndarray(len(characters), dtype="<u8", buffer=padded.data, strides=(1,))
    return np.asarray(windows[begins] & _MASKS[lengths]).view(np.int64)


# An error shows no more characters of a symbol.
_LONGEST_SYMBOL = 80

# After a blank, or else after a tab, this ends the line of a word that was cut.
_CUT = "(cut)"


class WordNotation:
    r"""Writes the words of one alphabet as lines, and reads them.

    Symbols stand side by side if each is one character, and have blanks between them otherwise.
    What cannot be seen is escaped; then a backslash is doubled. Where blanks are between symbols,
    those that have blanks or are empty are quoted; then those that begin with a quote are, too. The
    mark of a cut word comes after a blank, or after a tab if the symbols themselves can spell it.

    Examples
    --------
    >>> notation = WordNotation(Alphabet(["up", "a b", "\n"]))
    >>> print(notation.line(["up", "a b", "\n"], is_cut=True))
    up 'a b' \n (cut)
    """

    def __init__(self, alphabet: Alphabet) -> None:
        self._symbols = alphabet.symbols
        self._are_joined = are_characters(alphabet)
        self._texts = _texts(list(map(str, alphabet)), are_joined=self._are_joined)
        self._text_of = dict(zip(alphabet, self._texts, strict=True))
        parts = f" {_CUT}" if self._are_joined else [_CUT]
        self._mark = f"\t{_CUT}" if set(parts) <= set(self._texts) else f" {_CUT}"

    def line(self, word: Iterable[Symbol], *, is_cut: bool = False) -> str:
        """Write a word."""
        text = ("" if self._are_joined else " ").join([self._text_of[symbol] for symbol in word])
        return text + self._mark if is_cut else text

    def is_cut(self, line: str) -> bool:
        """Return whether a line has the mark of a word that was cut."""
        return line.endswith((self._mark, f"\t{_CUT}"))

    def codes(self, line: str) -> list[int]:
        """Read a word; a KeyError names what is not a symbol of the alphabet."""
        if self.is_cut(line):
            line = line[: -len(self._mark)]
        try:
            return [self._codes[text] for text in (line if self._are_joined else line.split())]
        except KeyError:  # some symbols may have escapes or quotes
            rest = self._pattern.sub("", line)
            unknown = rest if self._are_joined else rest.split()
            if unknown:
                raise KeyError(unknown[0]) from None
            return [self._forms[text] for text in self._pattern.findall(line)]

    def encode(self, lines: Sequence[str], name: str, first: int = 1) -> Words:
        """Turn lines of a file into words, or name the line and the symbol that is not one.

        With their ends they are read many at once, where that does not take a closer look.
        """
        words = self._encode_plain(lines)
        if words is not None:
            return words
        codes = []
        for number, line in enumerate(lines, first):
            try:
                codes.append(self.codes(line.removesuffix("\n")))
            except KeyError as error:
                symbol = shorten(str(error.args[0]), _LONGEST_SYMBOL)
                raise FileFormatError(
                    f"{name}, line {number}: symbol {symbol!r} is not in the alphabet"
                ) from error
        return Words.of(codes)

    def _encode_plain(self, lines: Sequence[str]) -> Words | None:
        """Return the words of lines, each with its end of line; None if it is not that simple."""
        text = "".join(lines)
        if self._map is None or not text.isascii() or text.count("\n") != len(lines):
            return None
        characters = np.frombuffer(text.encode(), dtype=np.uint8)
        if self._are_joined:
            begins = np.flatnonzero(characters != _NEW_LINE)
            codes = self._map.get(np.arange(256))[characters[begins]]
        else:
            begins, lengths = _tokens(characters)
            if lengths.max(initial=0) > _LONGEST:
                return None
            codes = self._map.get(_pack(characters, begins, lengths))
        if codes.min(initial=0) < 0:
            return None
        breaks = np.flatnonzero(characters == _NEW_LINE)
        offsets = np.append(0, np.searchsorted(begins, breaks))
        return Words(codes.astype(np.int32), offsets.astype(np.int64))

    @cached_property
    def _map(self) -> IntMap | None:
        """The codes of symbols by their bytes; None where there is one that is not plain."""
        for text in self._codes:
            is_cut = not self._are_joined and " " in text
            if not text.isascii() or not 0 < len(text) <= _LONGEST or is_cut:
                return None
        numbers = [int.from_bytes(text.encode(), "little") for text in self._codes]
        found = IntMap()
        found.get_or_add(np.resize(numbers, max(_MANY_KEYS, len(numbers))))
        return found

    @cached_property
    def _codes(self) -> dict[str, int]:
        codes: dict[str, int] = {}
        for code, text in enumerate(self._texts):
            other = codes.setdefault(text, code)
            if other != code:
                first, second = self._symbols[other], self._symbols[code]
                raise InputError(
                    f"the symbols {first!r} and {second!r} are both written {text}: a file of "
                    "words cannot tell them apart"
                )
        return codes

    @cached_property
    def _forms(self) -> dict[str, int]:
        """All forms of symbols: first the exact ones, then backslashes and quotes as they are."""
        plain = {str(symbol): code for code, symbol in enumerate(self._symbols)}
        loose = {
            text: code
            for text, code in plain.items()
            if text and text.isprintable() and " " not in text and text not in self._codes
        }
        # The longest first: of alternatives, a pattern takes the first one that fits.
        forms = (self._codes | loose).items()
        return dict(sorted(forms, key=lambda form: (form[0] in loose, -len(form[0]))))

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        """Any symbol; a looser form counts only where no exact one fits."""
        texts = "|".join(map(re.escape, self._forms))
        return re.compile(texts if self._are_joined else rf"(?<!\S)(?:{texts})(?!\S)")


def _texts(symbols: Sequence[str], *, are_joined: bool) -> list[str]:
    """Write each symbol of an alphabet; no sequence of texts is also another's."""
    if not all(symbol.isprintable() for symbol in symbols):
        symbols = [escaped(symbol.replace("\\", "\\\\")) for symbol in symbols]
    if are_joined:
        return list(symbols)
    quoted = [symbol_text(symbol) for symbol in symbols]
    if quoted == symbols:
        return quoted
    return [
        repr(symbol) if symbol.startswith(("'", '"')) else text
        for symbol, text in zip(symbols, quoted, strict=True)
    ]


@dataclass(frozen=True)
class WordLines:
    """The lines of a file of words; what they mean depends on the alphabet."""

    name: str
    lines: list[str]

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> WordLines:
        """Read all lines of a file."""
        with _open_text(path) as (stream, name):
            return cls(name, [line.removesuffix("\n") for line in stream])

    def __len__(self) -> int:
        return len(self.lines)

    def encoded(self, alphabet: Alphabet) -> Words:
        """Turn the lines into words of an alphabet, or name the line and the symbol that is not."""
        return WordNotation(alphabet).encode(self.lines, self.name)

    def cut_words(self, alphabet: Alphabet) -> int:
        """Count the words that are marked as cut."""
        return sum(map(WordNotation(alphabet).is_cut, self.lines))


def encode_lines(path: str | os.PathLike[str], alphabet: Alphabet, most: int) -> Iterator[Words]:
    """Read the words of a file in batches of at most this many words, keeping none."""
    notation, begin = WordNotation(alphabet), 1
    with _open_text(path) as (stream, name):
        while lines := list(islice(stream, most)):
            yield notation.encode(lines, name, begin)
            begin += len(lines)


@contextmanager
def _open_text(path: str | os.PathLike[str]) -> Iterator[tuple[TextIO, str]]:
    """Open a text in UTF-8, and return its name for errors, too."""
    name = show_name(check_name(path))
    with Path(path).open(encoding="utf-8-sig") as stream:
        try:
            yield stream, name
        except UnicodeDecodeError as error:
            raise FileFormatError(f"{name}: not a text in UTF-8 ({error})") from error
