"""Symbols and the integers that stand for them; words that share their prefixes."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from math import isnan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pdfalearn.errors import InputError
from pdfalearn.frozen import ArrayValue, Frozen
from pdfalearn.text import is_iterable
from pdfalearn.typing import Codes
from pdfalearn.words import Words, offsets_of

Symbol = Hashable
Word = Sequence[Hashable]


class Alphabet(Frozen):
    """The symbols Σ in a fixed order, and the terminal $ that ends every word.

    Parameters
    ----------
    symbols : iterable of hashable
        The symbols, all different. Strings are the common case.
    terminal : hashable
        The terminal symbol; not one of the symbols.

    Examples
    --------
    >>> alphabet = Alphabet("ab")
    >>> alphabet.encode("abba").tolist()
    [0, 1, 1, 0]
    >>> alphabet.decode([1, 0])
    ('b', 'a')
    """

    symbols: tuple[Symbol, ...]
    terminal: Symbol
    _index: dict[Symbol, int]
    _one_character: bool

    def __init__(self, symbols: Iterable[Symbol], terminal: Symbol = "$") -> None:
        try:
            given = tuple(s.item() if isinstance(s, np.generic) else s for s in symbols)
        except TypeError as error:
            raise InputError(f"an alphabet is a sequence of symbols, not {symbols!r}") from error
        self.__dict__.update(
            symbols=given,
            terminal=terminal,
            _index=_index_symbols(given, terminal),
            _one_character=all(isinstance(s, str) and len(s) == 1 for s in given),
        )

    def __len__(self) -> int:
        return len(self.symbols)

    def __iter__(self) -> Iterator[Symbol]:
        return iter(self.symbols)

    def __contains__(self, symbol: object) -> bool:
        return isinstance(symbol, Hashable) and symbol in self._index

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Alphabet):
            return NotImplemented
        return self.symbols == other.symbols and self.terminal == other.terminal

    def __hash__(self) -> int:
        return hash((self.symbols, self.terminal))

    def __repr__(self) -> str:
        return f"Alphabet({shorten(self.symbols)}, terminal={self.terminal!r})"

    def index(self, symbol: Symbol) -> int:
        """Return the integer that stands for a symbol."""
        try:
            return self._index[symbol]
        except (KeyError, TypeError) as error:
            raise InputError(self._unknown(symbol)) from error

    def encode(self, word: Word) -> Codes:
        """Turn a word into the integers of its symbols."""
        return self.encode_words([word]).symbols

    def encode_words(self, words: Iterable[Word]) -> Words:
        """Turn many words into one flat array of integers and its offsets."""
        batch = self.list_words(words)
        try:
            lengths = [len(word) for word in batch]
            codes = map(self._index.__getitem__, chain.from_iterable(batch))
            return Words(np.fromiter(codes, np.int32, sum(lengths)), offsets_of(lengths))
        except (KeyError, TypeError) as error:
            raise InputError(self._culprit(batch)) from error

    def list_words(self, words: Iterable[Word]) -> list[Word]:
        """Refuse what is not a list of words."""
        self.check_batch(words)
        batch = list(words)
        for word in batch:
            if not isinstance(word, Sequence) and not (
                isinstance(word, np.ndarray) and word.ndim == 1
            ):
                raise InputError(f"a word is a sequence of symbols, not {word!r}")
            if isinstance(word, str) and not self._one_character:
                raise InputError(
                    f"the word {shorten(word)} is a plain string, but not every symbol of the "
                    f"alphabet {shorten(self.symbols)} is one character: give a list of symbols"
                )
        return batch

    def check_batch(self, words: object) -> None:
        """Refuse what cannot be many words, without looking at them."""
        if isinstance(words, str) or not is_iterable(words):
            raise InputError(f"a batch is a list of words, not {words!r}")

    def decode(self, codes: Iterable[int]) -> tuple[Symbol, ...]:
        """Turn integers back into the word that they stand for."""
        return tuple(map(self.symbols.__getitem__, codes))

    def decode_words(self, words: Words) -> list[tuple[Symbol, ...]]:
        """Turn a batch of integers back into words."""
        symbols = tuple(map(self.symbols.__getitem__, words.symbols.tolist()))
        return [symbols[begin:end] for begin, end in pairwise(words.offsets.tolist())]

    def positions_in(self, other: Alphabet) -> Codes:
        """Return every symbol's position in another alphabet of the same symbols."""
        if self.symbols == other.symbols:
            return np.arange(len(self), dtype=np.int32)
        lonely = [s for s in self.symbols if s not in other]
        lonely += [s for s in other.symbols if s not in self]
        if lonely:
            raise InputError(
                f"the alphabets differ: symbol {lonely[0]!r} is in only one of "
                f"{shorten(self.symbols)} and {shorten(other.symbols)}"
            )
        return np.array([other._index[symbol] for symbol in self.symbols], dtype=np.int32)

    def _unknown(self, symbol: object) -> str:
        return f"symbol {symbol!r} is not in the alphabet {shorten(self.symbols)}"

    def _culprit(self, batch: Sequence[Word]) -> str:
        for word in batch:
            for position, symbol in enumerate(word):
                if symbol not in self:
                    return f"{self._unknown(symbol)} (position {position} of {shorten(word)})"
        return "a word is a sequence of symbols of the alphabet"


def _index_symbols(symbols: tuple[Symbol, ...], terminal: Symbol) -> dict[Symbol, int]:
    if not symbols:
        raise InputError("the alphabet is empty; it needs at least one symbol")
    if any(one is None or (isinstance(one, float) and isnan(one)) for one in symbols):
        raise InputError(
            "None and NaN cannot be symbols: they stand for what is unknown; use a string"
        )
    index: dict[Symbol, int] = {}
    for position, symbol in enumerate((*symbols, terminal)):
        try:
            earlier = index.setdefault(symbol, position)
        except TypeError as error:
            raise InputError(
                f"symbol {symbol!r} of the alphabet is not hashable; use a string or a tuple"
            ) from error
        if earlier < position == len(symbols):
            raise InputError(
                f"the terminal {symbol!r} is also in the alphabet; give another terminal"
            )
        if earlier < position:
            raise InputError(
                f"symbol {symbol!r} occurs twice in the alphabet, "
                f"at positions {earlier} and {position}"
            )
    del index[terminal]
    return index


def shorten(word: Word) -> str:
    """Write a word, or the beginning of a long one and its length."""
    if len(word) <= 12:
        return repr(word)
    return f"{word[:10]!r}… ({len(word)} in all)"


@dataclass(frozen=True, eq=False, repr=False)
class WordTree(ArrayValue):
    """Words as nodes of a tree of prefixes.

    Node 0 is the empty word. Every other is an earlier node's word with a symbol after it.

    Parameters
    ----------
    parents, symbols : array of int, one entry a node
        The earlier node, and the symbol's position in an alphabet; both 0 for node 0.
    ends : array of int
        The node of each of the words.

    Examples
    --------
    >>> tree = WordTree(np.array([0, 0, 1]), np.array([0, 1, 0]), np.array([2, 0]))
    >>> tree.decoded(Alphabet("ab"))
    [('b', 'a'), ()]
    """

    parents: Codes
    symbols: Codes
    ends: Codes

    @classmethod
    def above(
        cls, parents: NDArray[Any], symbols: NDArray[Any], nodes: NDArray[np.integer]
    ) -> WordTree:
        """Return the words of some nodes of a larger tree, and no more of it than they need.

        Parameters
        ----------
        parents, symbols : array of int
            The larger tree; parents come before their children.
        nodes : array of int
            The nodes whose words to take.

        Examples
        --------
        >>> parents, symbols = np.array([0, 0, 0, 2, 3]), np.array([0, 0, 1, 0, 1])
        >>> WordTree.above(parents, symbols, np.array([3])).parents.tolist()
        [0, 0, 1]
        """
        is_needed = np.zeros(len(parents), dtype=bool)
        is_needed[0] = True
        new = nodes
        while len(new):
            is_needed[new] = True
            new = parents[new]
            new = np.unique(new[~is_needed[new]])
        needed = is_needed.nonzero()[0]
        numbers = np.zeros(len(parents), dtype=np.int32)
        numbers[needed] = np.arange(len(needed), dtype=np.int32)
        last = symbols[needed].astype(np.int32)
        last[0] = 0
        return cls(numbers[parents[needed]], last, numbers[nodes])

    def followed_by(self, others: WordTree) -> WordTree:
        """Return these words followed by other words.

        Examples
        --------
        >>> tree = WordTree(np.array([0, 0]), np.array([0, 1]), np.array([1]))
        >>> tree.followed_by(tree).decoded(Alphabet("ab"))
        [('b',), ('b',)]
        """
        numbers = np.arange(len(others.parents), dtype=np.int32) + np.int32(len(self.parents) - 1)
        numbers[0] = 0
        return WordTree(
            np.concatenate((self.parents, numbers[others.parents[1:]])),
            np.concatenate((self.symbols, others.symbols[1:])),
            np.concatenate((self.ends, numbers[others.ends])),
        )

    def __len__(self) -> int:
        return len(self.ends)

    def __repr__(self) -> str:
        return f"WordTree({len(self)} words)"

    def decoded(self, alphabet: Alphabet) -> list[tuple[Symbol, ...]]:
        """Return the words as tuples of symbols."""
        from pdfalearn.arrays import spelled  # which is not needed to show an automaton

        nodes = self.ends.astype(np.int64)
        return alphabet.decode_words(Words(*spelled(self.parents, self.symbols, nodes)))
