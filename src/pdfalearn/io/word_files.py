"""Files of words, one a line, so that the words of every alphabet can be read again."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, repeat
from pathlib import Path
from typing import NamedTuple, TextIO

import numpy as np

from pdfalearn.alphabet import Alphabet, Symbol
from pdfalearn.errors import FileFormatError, InputError
from pdfalearn.files import check_name, show_name
from pdfalearn.text import are_characters, escaped, symbol_text
from pdfalearn.typing import Codes, Flags
from pdfalearn.words import Words, offsets_of

_NEW_LINE = 10


class WordBlock(NamedTuple):
    """Words of lines that follow each other in a file."""

    # What is not a symbol of the alphabet has the code -1.
    words: Words
    # Which words have the mark of a cut word.
    is_cut: Flags
    # What is not a symbol of the alphabet, in the order of the text.
    unknown: list[str]


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

    def __init__(self, alphabet: Alphabet, *, are_joined: bool | None = None) -> None:
        self._symbols = alphabet.symbols
        self._are_joined = are_characters(alphabet) if are_joined is None else are_joined
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
        words, _, unknown = self.read_block(line + "\n")
        if unknown:
            raise KeyError(unknown[0])
        return list(words[0])

    def read_block(self, text: str) -> WordBlock:
        """Read whole lines, each with its end; what is not a symbol has the code -1."""
        text, cut = self._remove_marks(text)
        words, unknown = self._read_plain(text) if self._is_plain else self._read_closely(text)
        if unknown and self._is_plain and len(self._forms) > len(self._codes):
            words, unknown = self._read_closely(text)  # it may be another form of a symbol
        is_cut = np.zeros(len(words), dtype=bool)
        is_cut[cut] = True
        return WordBlock(words, is_cut, unknown)

    def _remove_marks(self, text: str) -> tuple[str, list[int]]:
        """Remove the marks of cut words; also return the places of these words."""
        if _CUT not in text:
            return text, []
        # Whether a line has the mark depends on its end alone.
        lines = text.split("\n")[:-1]
        cut = [place for place, line in enumerate(lines) if self.is_cut(line)]
        for place in cut:
            lines[place] = lines[place][: -len(self._mark)]
        return "".join([line + "\n" for line in lines]), cut

    def _read_plain(self, text: str) -> tuple[Words, list[str]]:
        """Read lines where every symbol is written as a plain text."""
        if self._are_joined:
            points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")
            breaks = np.flatnonzero(points == _NEW_LINE)
            places, table = np.flatnonzero(points != _NEW_LINE), self._code_points
            codes = table[np.minimum(points[places], len(table) - 1)]
            unknown = [text[place] for place in places[codes < 0].tolist()]
            ends = breaks - np.arange(len(breaks))
            return Words(codes, np.append(0, ends).astype(np.int64)), unknown
        lines = [line.split() for line in text.split("\n")[:-1]]
        tokens = list(chain.from_iterable(lines))
        codes = np.fromiter(map(self._codes.get, tokens, repeat(-1)), np.int32, len(tokens))
        unknown = [tokens[place] for place in np.flatnonzero(codes < 0).tolist()]
        return Words(codes, offsets_of(list(map(len, lines)))), unknown

    def _read_closely(self, text: str) -> tuple[Words, list[str]]:
        """Read lines in which symbols may have escapes or quotes."""
        found, unknown = [], []
        for line in text.split("\n")[:-1]:
            texts = self._pattern.findall(line)
            codes = [self._forms.get(one, -1) for one in texts]
            found.append(codes)
            if -1 in codes:
                unknown += [one for one, code in zip(texts, codes, strict=True) if code < 0]
        return Words.of(found), unknown

    @cached_property
    def _is_plain(self) -> bool:
        """Whether each symbol is written as one character, or as a text without blanks."""
        if self._are_joined:
            return all(len(text) == 1 for text in self._codes)
        return all(text.split() == [text] for text in self._codes)

    @cached_property
    def _code_points(self) -> Codes:
        """The code of each character, -1 for what is not a symbol."""
        points = [ord(text) for text in self._codes]
        table = np.full(max(points) + 2, -1, dtype=np.int32)
        table[points] = list(self._codes.values())
        return table

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
            if text and text not in self._codes and (self._are_joined or text.split() == [text])
        }
        # The longest first: of alternatives, a pattern takes the first one that fits.
        forms = (self._codes | loose).items()
        return dict(sorted(forms, key=lambda form: (form[0] in loose, -len(form[0]))))

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        """Any symbol, or what is not one; a looser form counts only where no exact one fits."""
        texts = "|".join(map(re.escape, self._forms))
        if self._are_joined:
            return re.compile(f"{texts}|.", re.DOTALL)
        return re.compile(rf"(?<!\S)(?:{texts})(?!\S)|\S+")


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
    """The lines of a text, and its name for errors."""

    name: str
    lines: list[str]

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> WordLines:
        """Read all lines of a file."""
        with _open_text(path) as (stream, name):
            return cls(name, [line.removesuffix("\n") for line in stream])

    def __len__(self) -> int:
        return len(self.lines)


@contextmanager
def _open_text(path: str | os.PathLike[str]) -> Iterator[tuple[TextIO, str]]:
    """Open a text in UTF-8, and return its name for errors, too."""
    name = show_name(check_name(path))
    with Path(path).open(encoding="utf-8-sig") as stream:
        try:
            yield stream, name
        except UnicodeDecodeError as error:
            raise FileFormatError(f"{name}: not a text in UTF-8 ({error})") from error
