"""Number rows as they come, exactly: equal numbers iff equal bytes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pdfalearn.arrays.int_map import IntMap
from pdfalearn.arrays.numbering import as_words, row_hashes

_SMALL = 2048
"""Up to this many rows are held by a dictionary of their bytes: no array pass beats it there."""
_SMALL_BYTES = 2**17
"""And up to this many bytes of rows."""


class RowNumbers:
    """Numbers rows of bytes 0, 1, … in the order in which they are first seen.

    A dictionary of bytes while there are few rows. Then rows of up to 64 bits are their own key;
    wider ones are found by a 64-bit hash and compared whole, and a row whose hash is taken by
    another one goes on to the next key.

    Examples
    --------
    >>> numbers = RowNumbers()
    >>> numbers.get_or_add(np.array([[0.5, 0.5], [0.1, 0.9], [0.5, 0.5]])), len(numbers)
    (array([0, 1, 0]), 2)
    """

    def __init__(self) -> None:
        self._small: dict[bytes, int] | None = {}
        self._map = IntMap()
        self._stored = np.empty((0, 1), dtype=np.uint64)

    def __len__(self) -> int:
        return len(self._map) if self._small is None else len(self._small)

    def get_or_add(self, rows: NDArray[np.generic]) -> NDArray[np.int64]:
        """Return the number of every row; rows that are new get the next numbers."""
        if self._small is not None:
            width = rows.shape[1] * rows.itemsize
            size = len(self._small) + len(rows)
            if size <= _SMALL and size * width <= _SMALL_BYTES:
                known = self._small
                blobs = np.ascontiguousarray(rows).view(f"V{width}").ravel().tolist()
                numbers = [known.setdefault(blob, len(known)) for blob in blobs]
                return np.array(numbers, dtype=np.int64)
            self._leave_dictionary(rows)
        return self._found(as_words(rows))

    def _leave_dictionary(self, like: NDArray[np.generic]) -> None:
        known, self._small = self._small or {}, None
        if known:
            rows = np.frombuffer(b"".join(known), dtype=like.dtype).reshape(-1, like.shape[1])
            words = as_words(rows)
            numbers = [self._found(part) for part in np.array_split(words, 8)]
            if (np.concatenate(numbers) != np.arange(len(words))).any():
                # Hashes have collided: one by one the rows keep their numbers all the same.
                self._map = IntMap()
                for place in range(len(words)):
                    self._found(words[place : place + 1])

    def _found(self, words: NDArray[np.uint64]) -> NDArray[np.int64]:
        keys = row_hashes(words)
        known = len(self._map)
        numbers = self._map.get_or_add(keys)
        if words.shape[1] == 1:
            return numbers
        self._store(words, numbers, known)
        differ = self._stored[numbers] != words
        if not differ.any():  # as good as always: far faster than looking at every row
            return numbers
        rest = differ.any(axis=1).nonzero()[0]
        while len(rest):
            keys[rest] += 1
            known = len(self._map)
            numbers[rest] = self._map.get_or_add(keys[rest])
            self._store(words[rest], numbers[rest], known)
            rest = rest[(self._stored[numbers[rest]] != words[rest]).any(axis=1)]
        return numbers

    def _store(self, words: NDArray[np.uint64], numbers: NDArray[np.int64], known: int) -> None:
        size = len(self._map)
        if size == known:
            return
        if size > len(self._stored):
            larger = np.empty((2 * size, words.shape[1]), dtype=np.uint64)
            larger[:known] = self._stored[:known]
            self._stored = larger
        new = numbers >= known
        self._stored[numbers[new]] = words[new]
