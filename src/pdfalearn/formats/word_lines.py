"""Files of words, one a line, as ``pdfalearn sample`` prints them."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from pdfalearn.alphabet import Alphabet
from pdfalearn.errors import FileFormatError, InputError
from pdfalearn.files.named import checked_name, shown
from pdfalearn.text import are_characters, shortened, word_text
from pdfalearn.words import Words

_CUT = " (cut)"
"""The mark of a word that was cut."""
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
        parser = _Parser(alphabet)
        words = []
        for number, line in enumerate(self.lines, 1):
            try:
                words.append(parser.codes(line))
            except KeyError as error:
                symbol = shortened(str(error.args[0]), _LONGEST_SYMBOL)
                raise FileFormatError(
                    f"{self.name}, line {number}: symbol {symbol!r} is not in the alphabet"
                ) from error
        return Words.of(words)


class _Parser:
    """Reads words as they are written: side by side, or with blanks between symbols."""

    def __init__(self, alphabet: Alphabet) -> None:
        self._are_joined = are_characters(alphabet)
        self._codes: dict[str, int] = {}
        for code, symbol in enumerate(alphabet):
            text = word_text([symbol], joined=self._are_joined)
            other = self._codes.setdefault(text, code)
            if other != code:
                raise InputError(
                    f"the symbols {alphabet.symbols[other]!r} and {symbol!r} are both written "
                    f"{text}: a file of words cannot tell them apart"
                )
        sign_of_the_mark = " " if self._are_joined else _CUT.strip()
        self._has_marks = sign_of_the_mark not in self._codes

    def codes(self, line: str) -> list[int]:
        """Give the codes of a word's symbols; a KeyError has what is none."""
        if self._has_marks:
            line = line.removesuffix(_CUT)
        try:
            return [self._codes[text] for text in (line if self._are_joined else line.split())]
        except KeyError:
            return self._searched(line)

    def _searched(self, line: str) -> list[int]:
        """Give the codes where symbols may be written with escapes, or with blanks in quotes."""
        rest = self._symbol.sub("", line)
        if not self._are_joined:
            rest = rest.strip()
        if rest:
            raise KeyError(rest[0] if self._are_joined else rest.split()[0])
        return [self._codes[text] for text in self._symbol.findall(line)]

    @cached_property
    def _symbol(self) -> re.Pattern[str]:
        texts = "|".join(map(re.escape, sorted(self._codes, key=len, reverse=True)))
        return re.compile(texts if self._are_joined else rf"(?<!\S)(?:{texts})(?!\S)")
