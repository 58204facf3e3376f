"""Codes of the symbols in a text, for many of them in a few array passes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pdfalearn.typing import Bytes, Codes, Integers

# A symbol is compared eight bytes at a time, the first byte lowest.
_WIDTH = 8
_MASKS = np.array([2 ** (8 * count) - 1 for count in range(_WIDTH + 1)], dtype=np.uint64)
# Longer symbols, or more of them, are looked up one by one.
_LONGEST = 64
_MOST = 1000
# With 2**20 slots for a thousand symbols, three of five random tables have no collision.
_MOST_BITS = 20


class TokenCodes:
    """A perfect hash table of symbols that are texts of bytes.

    Examples
    --------
    >>> table = TokenCodes([b"up", b"down"])
    >>> text = np.frombuffer(b"down left up", dtype=np.uint8)
    >>> table.find(text, np.array([0, 5, 10]), np.array([4, 4, 2])).tolist()
    [1, -1, 0]
    """

    def __init__(self, texts: Sequence[bytes]) -> None:
        self._lengths = np.array([len(text) for text in texts])
        count = -(-int(self._lengths.max()) // _WIDTH)
        padded = b"".join(text.ljust(count * _WIDTH, b"\0") for text in texts)
        self._chunks = np.frombuffer(padded, dtype="<u8").reshape(len(texts), count).T
        random = np.random.default_rng(0)
        bits = min(_MOST_BITS, 2 * len(texts).bit_length() + 1)
        self._shift = np.uint64(64 - bits)
        while True:
            self._factors = random.integers(2**63, size=count, dtype=np.uint64) * np.uint64(2) + 1
            slots = self._slots_of(list(self._chunks))
            if len(np.unique(slots)) == len(texts):
                break
        # An empty slot leads to the first symbol, which is then not equal.
        self._codes = np.zeros(2**bits, dtype=np.int32)
        self._codes[slots] = np.arange(len(texts), dtype=np.int32)

    @classmethod
    def of(cls, texts: Sequence[str]) -> TokenCodes | None:
        """Make the table, or nothing where symbols are not ASCII, too long or too many."""
        if len(texts) > _MOST or not all(one.isascii() and len(one) <= _LONGEST for one in texts):
            return None
        return cls([one.encode() for one in texts])

    def find(self, points: Bytes, begins: Integers, lengths: Integers) -> Codes:
        """Return the code of what begins at each place and has this length; -1 for unknown ones."""
        padded = np.concatenate((points, np.zeros(_WIDTH * len(self._chunks), dtype=np.uint8)))
        # Every eight bytes that follow each other, one integer for each place.
        windows = np.ndarray(len(padded) - 7, dtype="<u8", buffer=padded.data, strides=(1,))
        chunks = []
        for number in range(len(self._chunks)):
            left = np.clip(lengths - number * _WIDTH, 0, _WIDTH)
            places = begins if not number else np.minimum(begins + number * _WIDTH, len(points))
            chunks.append(windows[places] & _MASKS[left])
        codes: Codes = self._codes[self._slots_of(chunks)]
        is_same = self._lengths[codes] == lengths
        for known, chunk in zip(self._chunks, chunks, strict=True):
            is_same &= known[codes] == chunk
        codes[~is_same] = -1
        return codes

    def _slots_of(self, chunks: Sequence[NDArray[np.uint64]]) -> NDArray[np.uint64]:
        mixed = chunks[0] * self._factors[0]
        for chunk, factor in zip(chunks[1:], self._factors[1:], strict=True):
            mixed += chunk * factor
        return np.asarray(mixed >> self._shift)
