"""How words are written on lines, so that the words of every alphabet can be read again."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cached_property

from pdfalearn.alphabet import Alphabet, Symbol
from pdfalearn.errors import InputError
from pdfalearn.formats._plain_lines import PlainLines
from pdfalearn.text import are_characters, escaped, symbol_text
from pdfalearn.words import Words

_CUT = "(cut)"
"""After a blank, or else after a tab, this ends the line of a word that was cut."""


class WordNotation:
    r"""Writes the words of one alphabet as lines, and reads them.

    Symbols stand side by side if each is one character, and have blanks between them otherwise.
    What cannot be seen is escaped; then a backslash is doubled. Where blanks are between symbols,
    those that have blanks or are empty are quoted; then those that begin with a quote are, too. The
    mark of a cut word comes after a blank, or after a tab if the symbols themselves can spell it.

    Parameters
    ----------
    alphabet : Alphabet
        The symbols.

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
        except KeyError:
            return self._searched(line)

    def words(self, lines: Sequence[str]) -> Words | None:
        """Read many lines, with their ends, at once; None where that takes a closer look."""
        return self._plain.words(lines)

    @cached_property
    def _plain(self) -> PlainLines:
        self._codes  # noqa: B018  refuses symbols that are written alike
        return PlainLines(self._texts, are_joined=self._are_joined)

    def _searched(self, line: str) -> list[int]:
        """Read a word in which some symbols have escapes or quotes."""
        rest = self._pattern.sub("", line)
        if not self._are_joined:
            rest = rest.strip()
        if rest:
            raise KeyError(rest[0] if self._are_joined else rest.split()[0])
        return [self._forms[text] for text in self._pattern.findall(line)]

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
        return _longest_first(self._codes) | _longest_first(loose)

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


def _longest_first(codes: dict[str, int]) -> dict[str, int]:
    return dict(sorted(codes.items(), key=lambda pair: -len(pair[0])))
