"""Words of plain lines, read as one array of bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pdfalearn.words import Words

_LONGEST = 8
"""Symbols of up to this many bytes fit into one integer."""
_MASKS = np.array([2 ** (8 * count) - 1 for count in range(_LONGEST + 1)], dtype=np.uint64)
_NEW_LINE, _BLANK = 10, 32
_BITS, _MOST_SYMBOLS, _TRIALS = 16, 512, 200
"""A table of 2¹⁶ slots has one for each of at most 512 symbols; 200 multipliers are tried."""

Bytes = NDArray[np.uint8]
Indices = NDArray[np.int64]


class PlainLines:
    """Reads lines of an alphabet whose symbols are short and plain, many at once.

    Parameters
    ----------
    texts : sequence of str
        How each symbol is written.
    are_joined : bool
        Whether symbols stand side by side, each one character, or have blanks between them.
    """

    def __init__(self, texts: Sequence[str], *, are_joined: bool) -> None:
        self._are_joined = are_joined
        is_plain = all(text.isascii() and 0 < len(text) <= _LONGEST for text in texts)
        is_plain &= are_joined or not any(" " in text for text in texts)
        numbers = [int.from_bytes(text.encode()[:_LONGEST], "little") for text in texts]
        self._numbers = np.array(numbers, dtype=np.uint64)
        self._hash: _Hash | None = None
        if is_plain and len(texts) <= _MOST_SYMBOLS:
            self._hash = _hash_without_collision(self._numbers)

    def words(self, lines: Sequence[str]) -> Words | None:
        """Return the words of lines, each with its end of line; None if it is not that simple."""
        text = "".join(lines)
        if self._hash is None or not text.isascii() or text.count("\n") != len(lines):
            return None
        characters = np.frombuffer(text.encode(), dtype=np.uint8)
        breaks = np.flatnonzero(characters == _NEW_LINE)
        if self._are_joined:
            begins = np.flatnonzero(characters != _NEW_LINE)
            keys = characters[begins].astype(np.uint64)
        else:
            begins, lengths = _tokens(characters)
            if len(lengths) and lengths.max() > _LONGEST:
                return None
            keys = _packed(characters, begins, lengths)
        codes = self._hash.codes(keys)
        if not np.array_equal(self._numbers[codes], keys):
            return None
        offsets = np.append(0, np.searchsorted(begins, breaks))
        return Words(codes, offsets.astype(np.int64))


@dataclass(frozen=True, eq=False)
class _Hash:
    """Finds the code of a number in one step; of other numbers, any code."""

    multiplier: np.uint64
    table: NDArray[np.int32]

    def codes(self, numbers: NDArray[np.uint64]) -> NDArray[np.int32]:
        return np.asarray(self.table[(numbers * self.multiplier) >> np.uint64(64 - _BITS)])


def _hash_without_collision(numbers: NDArray[np.uint64]) -> _Hash | None:
    random = np.random.default_rng(0)
    for _ in range(_TRIALS):
        multiplier = np.uint64(int(random.integers(2**63)) * 2 + 1)
        slots = (numbers * multiplier) >> np.uint64(64 - _BITS)
        if len(np.unique(slots)) == len(numbers):
            table = np.zeros(2**_BITS, dtype=np.int32)
            table[slots] = np.arange(len(numbers))
            return _Hash(multiplier, table)
    return None


def _tokens(characters: Bytes) -> tuple[Indices, Indices]:
    """Return where what stands between blanks begins, and how long it is."""
    inside = (characters != _NEW_LINE) & (characters != _BLANK)
    edges = np.flatnonzero(np.diff(inside, prepend=False, append=False))
    return edges[::2], edges[1::2] - edges[::2]


def _packed(characters: Bytes, begins: Indices, lengths: Indices) -> NDArray[np.uint64]:
    """Put the bytes of every token into one integer, the first byte lowest."""
    padded = np.concatenate((characters, np.zeros(_LONGEST, dtype=np.uint8)))
    # Every eight bytes that follow each other, one integer for each place.
    windows = np.ndarray(len(characters), dtype="<u8", buffer=padded.data, strides=(1,))
    return np.asarray(windows[begins] & _MASKS[lengths])
