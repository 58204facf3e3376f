"""Symbols of recorded words turned into the integers of an alphabet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain, repeat
from typing import NamedTuple

import numpy as np

from pdfalearn.alphabet import Alphabet, Symbol, Word
from pdfalearn.errors import FileFormatError, InputError
from pdfalearn.io import WordNotation
from pdfalearn.text import shorten
from pdfalearn.typing import Codes, Flags
from pdfalearn.words import Words, offsets_of

# An error shows no more characters of a symbol.
_LONGEST_SYMBOL = 80
# At most this many different unknown events are counted one by one; all count in the total.
_MOST_COUNTED = 10_000
# A corpus whose symbols are the one terminal gets the next.
_TERMINALS = ("$", "<end>", "<$end$>")


class RecordedWords(NamedTuple):
    """Words that were read together."""

    words: Words
    # Which words were cut, so that they have not ended.
    is_cut: Flags


@dataclass
class Others:
    """The events of recorded words that an alphabet does not have."""

    total: int = 0
    counts: Counter[Symbol] = field(default_factory=Counter)

    def add(self, events: Iterable[Symbol]) -> None:
        """Count events."""
        counts = Counter(events)
        self.join(Others(counts.total(), counts))

    def join(self, others: Others) -> None:
        """Add what another count has."""
        self.total += others.total
        for event, count in others.counts.items():
            if event in self.counts or len(self.counts) < _MOST_COUNTED:
                self.counts[event] += count


class Coder:
    """Encodes words over an alphabet.

    Parameters
    ----------
    alphabet : Alphabet
        The symbols.
    are_joined : bool
        Whether symbols stand side by side in a text, or have blanks between them.
    others : Others, optional
        What counts unknown events, whose code is then the size of the alphabet. Without it, they
        are refused.
    """

    def __init__(
        self, alphabet: Alphabet, *, are_joined: bool, others: Others | None = None
    ) -> None:
        self.notation = WordNotation(alphabet, are_joined=are_joined)
        self._others, self._unknown_code = others, len(alphabet)
        self._codes: dict[Symbol, int] = {symbol: code for code, symbol in enumerate(alphabet)}
        # A file's "3" is also an automaton's 3, and the other way round.
        for code, symbol in enumerate(alphabet):
            self._codes.setdefault(str(symbol), code)

    def encode_lines(self, text: str, name: str, number: int) -> RecordedWords:
        """Encode a block of lines, the first of which has this number in its file."""
        words, is_cut, unknown = self.notation.read_block(text)
        lines = range(number, number + len(words)) if unknown else ()
        return RecordedWords(self._settle(words, unknown, name, lines, "line"), is_cut)

    def encode_listed(
        self, words: Sequence[Word], name: str, numbers: Sequence[int], unit: str
    ) -> RecordedWords:
        """Encode words that are lists of symbols; errors name the unit that has the number."""
        offsets = offsets_of([len(word) for word in words])
        flat = list(chain.from_iterable(words))
        codes = self.encode_names(flat)
        unknown = [flat[place] for place in np.flatnonzero(codes < 0).tolist()]
        encoded = self._settle(Words(codes, offsets), unknown, name, numbers, unit)
        return RecordedWords(encoded, np.zeros(len(words), dtype=bool))

    def encode_coded(
        self, words: Words, names: Sequence[Symbol], name: str, first: int
    ) -> RecordedWords:
        """Encode words over names that have numbers already."""
        table = self.encode_names(names)
        codes = table[words.symbols]
        unknown = [names[place] for place in words.symbols[codes < 0].tolist()]
        numbers = range(first, first + len(words))
        encoded = self._settle(Words(codes, words.offsets), unknown, name, numbers, "case")
        return RecordedWords(encoded, np.zeros(len(words), dtype=bool))

    def encode_names(self, names: Sequence[Symbol]) -> Codes:
        """Return the code of each symbol, and -1 for what is unknown."""
        try:
            codes = np.fromiter(map(self._codes.get, names, repeat(-1)), np.int32, len(names))
        except TypeError as error:
            raise InputError(f"a symbol of the corpus is not hashable ({error})") from error
        for place in np.flatnonzero(codes < 0).tolist():
            codes[place] = self._codes.get(str(names[place]), -1)
        return codes

    def _settle(
        self,
        words: Words,
        unknown: Sequence[Symbol],
        name: str,
        numbers: Sequence[int],
        unit: str,
    ) -> Words:
        """Refuse unknown symbols, or count them and give them a code of their own."""
        if not unknown:
            return words
        if self._others is None:
            first = int((words.symbols < 0).argmax())
            place = int(np.searchsorted(words.offsets, first, side="right")) - 1
            symbol = shorten(repr(unknown[0]), _LONGEST_SYMBOL)
            raise FileFormatError(
                f"{name}, {unit} {numbers[place]}: symbol {symbol} is not in the alphabet"
            )
        self._others.add(unknown)
        codes = np.where(words.symbols < 0, np.int32(self._unknown_code), words.symbols)
        return Words(codes, words.offsets)


def sort_symbols(symbols: Iterable[Symbol]) -> list[Symbol]:
    """Sort symbols of any kinds: numbers by value, also those that are texts, then the rest.

    Examples
    --------
    >>> sort_symbols({"10", "9"}), sort_symbols({"b", 3, "a"})
    (['9', '10'], [3, 'a', 'b'])
    """
    found = list(symbols)
    if all(isinstance(one, str) and one.isascii() and one.isdigit() for one in found):
        return sorted(found, key=lambda one: (int(str(one)), str(one)))
    return sorted(
        found,
        key=lambda one: (
            type(one).__name__,
            one if isinstance(one, str | int | float) else str(one),
        ),
    )


def alphabet_of(symbols: Iterable[Symbol]) -> Alphabet:
    """Make the alphabet of a corpus; its terminal is the first of some that is not a symbol."""
    ordered = sort_symbols(symbols)
    terminal = next(one for one in _TERMINALS if one not in ordered)
    return Alphabet(ordered, terminal)
