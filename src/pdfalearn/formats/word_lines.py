"""Files of words, one a line, as ``pdfalearn sample`` prints them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from pdfalearn.alphabet import Alphabet
from pdfalearn.errors import FileFormatError
from pdfalearn.files.named import check_name, show_name
from pdfalearn.formats.word_notation import WordNotation
from pdfalearn.text import shortened
from pdfalearn.words import Words

_LONGEST_SYMBOL = 80
"""An error shows no more characters of a symbol."""


@dataclass(frozen=True)
class WordLines:
    """The lines of a file of words; what they mean depends on the alphabet."""

    name: str
    lines: list[str]

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> WordLines:
        """Read all lines of a file."""
        name = show_name(check_name(path))
        try:
            with Path(path).open(encoding="utf-8-sig") as stream:
                return cls(name, [line.removesuffix("\n") for line in stream])
        except UnicodeDecodeError as error:
            raise FileFormatError(f"{name}: not a text in UTF-8 ({error})") from error

    def __len__(self) -> int:
        return len(self.lines)

    def encoded(self, alphabet: Alphabet) -> Words:
        """Turn the lines into words of an alphabet, or name the line and the symbol that is not."""
        return _encoded(self.lines, WordNotation(alphabet), self.name, 1)

    def cut_words(self, alphabet: Alphabet) -> int:
        """Count the words that are marked as cut."""
        return sum(map(WordNotation(alphabet).is_cut, self.lines))


def encoded_lines(path: str | os.PathLike[str], alphabet: Alphabet, most: int) -> Iterator[Words]:
    """Read the words of a file in batches of at most this many words, keeping none.

    Raises
    ------
    FileFormatError
        If the file is not a text, or names the line and the symbol that is not in the alphabet.
    """
    name = show_name(check_name(path))
    notation, begin = WordNotation(alphabet), 1
    with Path(path).open(encoding="utf-8-sig") as stream:
        try:
            while lines := list(islice(stream, most)):
                words = notation.words(lines)
                if words is None:
                    plain = [line.removesuffix("\n") for line in lines]
                    words = _encoded(plain, notation, name, begin)
                yield words
                begin += len(lines)
        except UnicodeDecodeError as error:
            raise FileFormatError(f"{name}: not a text in UTF-8 ({error})") from error


def _encoded(lines: list[str], notation: WordNotation, name: str, first: int) -> Words:
    """Turn lines into words; the first of them has this number in its file."""
    words = []
    for number, line in enumerate(lines, first):
        try:
            words.append(notation.codes(line))
        except KeyError as error:
            symbol = shortened(str(error.args[0]), _LONGEST_SYMBOL)
            raise FileFormatError(
                f"{name}, line {number}: symbol {symbol!r} is not in the alphabet"
            ) from error
    return Words.of(words)
