"""Files of words, one a line, as ``pdfalearn sample`` prints them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from pdfalearn.alphabet import Alphabet
from pdfalearn.errors import FileFormatError
from pdfalearn.files.named import checked_name, shown
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
        name = shown(checked_name(path))
        try:
            with Path(path).open(encoding="utf-8-sig") as stream:
                return cls(name, [line.removesuffix("\n") for line in stream])
        except UnicodeDecodeError as error:
            raise FileFormatError(f"{name}: not a text in UTF-8 ({error})") from error

    def __len__(self) -> int:
        return len(self.lines)

    def encoded(self, alphabet: Alphabet) -> Words:
        """Turn the lines into words of an alphabet, or name the line and the symbol that is not."""
        notation = WordNotation(alphabet)
        words = []
        for number, line in enumerate(self.lines, 1):
            try:
                words.append(notation.codes(line))
            except KeyError as error:
                symbol = shortened(str(error.args[0]), _LONGEST_SYMBOL)
                raise FileFormatError(
                    f"{self.name}, line {number}: symbol {symbol!r} is not in the alphabet"
                ) from error
        return Words.of(words)

    def cut_words(self, alphabet: Alphabet) -> int:
        """Count the words that are marked as cut."""
        return sum(map(WordNotation(alphabet).is_cut, self.lines))
