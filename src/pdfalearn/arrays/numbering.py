"""Number integers and rows 0, 1, …, exactly and fast: many at once, or as they come."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from pdfalearn.arrays.passes import grown
from pdfalearn.typing import Integers

Words = NDArray[np.uint64]

# Up to this many keys a dictionary holds them, unless many are asked for at once.
_SMALL = 2**16
# From this many keys at once on, array passes beat a dictionary.
_MANY = 256
# Below this many keys, one after the other is faster than array passes over a table.
_FEW = 24
# Tables of fewer slots grow by twice as much as they have to.
_ROOMY = 2**18
# Up to this many rows are held by a dictionary of their bytes, which needs no setting up.
_SMALL_ROWS = 2**12
# And up to this many bytes of rows.
_SMALL_BYTES = 2**17

_MULTIPLIER = 0x9E3779B97F4A7C15
_MASK = 2**64 - 1


class IntMap:
    """Numbers keys 0, 1, … in the order in which they are first seen.

    A dictionary while there are few keys; then a table with open addressing and linear probing,
    never more than a third full, over which whole arrays of keys are looked up at once. Numbers
    depend on the order of the keys alone, not on how many are given at once.

    Examples
    --------
    >>> numbers = IntMap()
    >>> numbers.get_or_add(np.array([7, 7, 5])), len(numbers)
    (array([0, 0, 1]), 2)
    """

    def __init__(self) -> None:
        self._size = 0
        self._small: dict[int, int] | None = {}

    def __len__(self) -> int:
        return self._size

    def get_or_add(self, keys: Integers) -> Integers:
        """Return the number of every key; keys that are new get the next numbers."""
        if self._small is not None:
            if len(keys) < _MANY and self._size + len(keys) <= _SMALL:
                known = self._small
                numbers = [known.setdefault(key, len(known)) for key in keys.tolist()]
                self._size = len(known)
                return np.array(numbers, dtype=np.int64)
            self._leave_dictionary()
        elif len(keys) < _FEW:
            numbers = [self.get_or_add_one(key) for key in keys.tolist()]
            return np.array(numbers, dtype=np.int64)
        self._reserve(len(keys))
        return self._place_keys(keys)

    def get(self, keys: Integers) -> Integers:
        """Return the number of every key; -1 where it has none."""
        if self._small is not None:
            known = self._small
            return np.array([known.get(key, -1) for key in keys.tolist()], dtype=np.int64)
        numbers = np.full(len(keys), -1, dtype=np.int64)
        slots, rest = self._slots(keys), np.arange(len(keys))
        # All keys probe at once; those that met another key go on to the next slot.
        while len(rest):
            here = slots[rest]
            taken = self._values[here] >= 0
            same = taken & (self._keys[here] == keys[rest])
            numbers[rest[same]] = self._values[here[same]]
            rest = rest[taken & ~same]
            slots[rest] = slots[rest] + 1 & self._mask
        return numbers

    def get_one(self, key: int) -> int:
        """Return the number of one key; -1 if it has none."""
        if self._small is not None:
            return self._small.get(key, -1)
        slot = (key * _MULTIPLIER & _MASK) >> self._shift
        while (value := self._value[slot]) >= 0 and self._key[slot] != key:
            slot = slot + 1 & self._mask
        return value

    def get_or_add_one(self, key: int) -> int:
        """Return the number of one key; if it is new, the next number."""
        if self._small is not None:
            number = self._small.setdefault(key, self._size)
            if number == self._size:
                self._size += 1
                if self._size > _SMALL:
                    self._leave_dictionary()
            return number
        slot = (key * _MULTIPLIER & _MASK) >> self._shift
        key_at, value_at, mask = self._key, self._value, self._mask
        while (value := value_at[slot]) >= 0:
            if key_at[slot] == key:
                return value
            slot = slot + 1 & mask
        if 3 * self._size > mask:
            self._reserve(1)
            return self.get_or_add_one(key)
        key_at[slot] = key
        value_at[slot] = self._size
        self._size += 1
        return self._size - 1

    def _allocate(self, slots: int) -> None:
        self._keys = np.zeros(slots, dtype=np.int64)
        self._values = np.full(slots, -1, dtype=np.int64)
        self._key, self._value = self._keys.data, self._values.data
        self._mask = slots - 1
        self._shift = 65 - slots.bit_length()

    def _leave_dictionary(self) -> None:
        known, self._small = self._small or {}, None
        self._allocate(1 << max(12, (4 * len(known)).bit_length()))
        self._fill(np.array(list(known), dtype=np.int64), np.arange(len(known)))

    def _reserve(self, more: int) -> None:
        needed = 3 * (self._size + more)
        if needed > self._mask:
            full = self._values >= 0
            keys, values = self._keys[full], self._values[full]
            self._allocate(1 << needed.bit_length() + (needed < _ROOMY))
            self._fill(keys, values)

    def _fill(self, keys: Integers, values: Integers) -> None:
        """Put different keys into an empty table."""
        slots = self._slots(keys)
        while len(keys):
            # Several keys may claim one free slot: whose value is there afterwards has got it.
            free = self._values[slots] < 0
            self._values[slots[free]] = values[free]
            self._keys[slots[free]] = keys[free]
            others = self._values[slots] != values
            keys, values, slots = keys[others], values[others], slots[others] + 1 & self._mask

    def _slots(self, keys: Integers) -> Integers:
        # Fibonacci hashing: the uppermost bits of a product with 2⁶⁴ divided by the golden ratio.
        products = keys.view(np.uint64) * np.uint64(_MULTIPLIER)
        return (products >> np.uint64(self._shift)).view(np.int64)

    def _place_keys(self, keys: Integers) -> Integers:
        """Find the slot of every key, taking empty ones for new keys; return its number."""
        slots = self._slots(keys)
        known = self._size
        numbers = np.empty(len(keys), dtype=np.int64)
        rest = np.arange(len(keys))
        firsts: list[Integers] = []
        while len(rest):
            here = slots[rest]
            empty = rest[self._values[here] < 0]
            if len(empty):
                firsts.append(self._take(empty, slots[empty], keys))
            same = self._keys[here] == keys[rest]
            numbers[rest[same]] = self._values[here[same]]
            rest = rest[~same]
            slots[rest] = slots[rest] + 1 & self._mask
        if len(firsts) > 1:
            self._renumber(np.concatenate(firsts), known, slots, numbers)
        return numbers

    def _take(self, places: Integers, slots: Integers, keys: Integers) -> Integers:
        """Put the keys at places into empty slots, the first key of each slot; return these."""
        # Of several writers to a slot the last one stays: backwards, that is the first key.
        self._values[slots[::-1]] = places[::-1]
        first = self._values[slots] == places
        winners: Integers = places[first]
        slots = slots[first]
        self._keys[slots] = keys[winners]
        self._values[slots] = np.arange(self._size, self._size + len(winners))
        self._size += len(winners)
        return winners

    def _renumber(self, firsts: Integers, known: int, slots: Integers, numbers: Integers) -> None:
        """Number new keys by their first places, not by the passes that found them slots."""
        is_first = np.zeros(len(slots), dtype=bool)
        is_first[firsts] = True
        ranks = np.cumsum(is_first)[firsts] + (known - 1)
        self._values[slots[firsts]] = ranks
        new = numbers >= known
        numbers[new] = ranks[numbers[new] - known]


class RowNumbers:
    """Numbers rows of bytes 0, 1, … in the order in which they are first seen.

    A dictionary of bytes while there are few rows. Then rows of up to 64 bits are their own key;
    wider ones are found by a 64-bit hash and compared whole, and a row whose hash is taken by
    another one goes on to the next key.

    Examples
    --------
    >>> numbers = RowNumbers()
    >>> numbers.get_or_add(np.array([[0.5, 0.5], [0.1, 0.9], [0.5, 0.5]])), numbers.size
    (array([0, 1, 0]), 2)
    """

    def __init__(self) -> None:
        self.size = 0
        """How many rows have a number."""
        self._small: dict[bytes, int] | None = {}

    def get_or_add(self, rows: NDArray[np.generic]) -> Integers:
        """Return the number of every row; rows that are new get the next numbers."""
        if self._small is not None:
            width = rows.shape[1] * rows.itemsize
            most = len(self._small) + len(rows)
            if most <= _SMALL_ROWS and most * width <= _SMALL_BYTES:
                known = self._small
                blobs = np.ascontiguousarray(rows).view(f"V{width}").ravel().tolist()
                numbers = [known.setdefault(blob, len(known)) for blob in blobs]
                self.size = len(known)
                return np.array(numbers, dtype=np.int64)
            self._leave_dictionary(rows)
        return self._find(as_words(rows), add=True)

    def get(self, rows: NDArray[np.generic]) -> Integers:
        """Return the number of every row; -1 where it has none."""
        if self._small is not None:
            known, width = self._small, rows.shape[1] * rows.itemsize
            blobs = np.ascontiguousarray(rows).view(f"V{width}").ravel().tolist()
            return np.array([known.get(blob, -1) for blob in blobs], dtype=np.int64)
        return self._find(as_words(rows), add=False)

    def _leave_dictionary(self, like: NDArray[np.generic]) -> None:
        known, self._small = self._small or {}, None
        self._stored: Words
        self._map, self._stored = IntMap(), as_words(like[:0])
        if known:
            rows = np.frombuffer(b"".join(known), dtype=like.dtype).reshape(-1, like.shape[1])
            words = as_words(rows)
            numbers = [self._find(part, add=True) for part in np.array_split(words, 8)]
            if (np.concatenate(numbers) != np.arange(len(words))).any():
                # Hashes have collided: one by one the rows keep their numbers all the same.
                self._map = IntMap()
                for place in range(len(words)):
                    self._find(words[place : place + 1], add=True)

    def _find(self, words: Words, *, add: bool) -> Integers:
        """Return the numbers of rows by the map; those that are new are added, or have none."""
        keys, numbers = row_hashes(words), np.empty(len(words), dtype=np.int64)
        rest: slice | Integers = slice(None)  # at first a view of all rows, without copying
        while True:
            known = len(self._map)
            found = self._map.get_or_add(keys[rest]) if add else self._map.get(keys[rest])
            numbers[rest] = found
            if words.shape[1] == 1:
                break
            self._store(words[rest], found, known)
            # A row whose hash another one has goes on to the next key. That is hardly ever so: one
            # look at all is far faster than one at every row.
            differ = self._stored[found] != words[rest]
            differ[found < 0] = False
            if not differ.any():
                break
            rest = np.arange(len(words))[rest][differ.any(axis=1)]
            keys[rest] += 1
        self.size = len(self._map)
        return numbers

    def _store(self, words: Words, numbers: Integers, known: int) -> None:
        if len(self._map) > known:
            self._stored = grown(self._stored, len(self._map), fill=0)
            new = numbers >= known
            self._stored[numbers[new]] = words[new]


def numbered_rows(rows: NDArray[np.generic]) -> Integers:
    """Number the different rows of a table 0, 1, …: equal numbers iff equal bytes.

    Rows of up to 64 bits are sorted as they are. Wider ones are sorted by a 64-bit hash; should
    two different rows ever share one, the rows themselves are sorted.
    """
    words = as_words(rows)
    uniques, numbers = np.unique(row_hashes(words), return_inverse=True)
    if words.shape[1] > 1 and len(uniques) < len(words):
        # Any row of each number will do: all others have to be equal to it.
        samples = np.empty(len(uniques), dtype=np.int64)
        samples[numbers] = np.arange(len(words))
        if (words[samples[numbers]] != words).any():
            whole = words.view(np.dtype((np.void, words.shape[1] * 8))).reshape(-1)
            numbers = np.unique(whole, return_inverse=True)[1]
    return numbers


def row_hashes(words: Words) -> Integers:
    """Return a 64-bit hash of every row; a row of one word is its own."""
    hashes = words[:, 0] if words.shape[1] == 1 else words @ _multipliers(words.shape[1])
    return hashes.view(np.int64)


def as_words(rows: NDArray[np.generic]) -> Words:
    """View every row as 64-bit words, filled up with zero bytes."""
    row_bytes = rows.shape[1] * rows.itemsize
    contiguous = np.ascontiguousarray(rows)
    if row_bytes % 8 == 0:
        return contiguous.view(np.uint64)
    filled = np.zeros((len(rows), row_bytes + -row_bytes % 8), dtype=np.uint8)
    filled[:, :row_bytes] = contiguous.view(np.uint8)
    return filled.view(np.uint64)


@lru_cache(maxsize=8)
def _multipliers(count: int) -> Words:
    """Return well-mixed odd numbers (the finaliser of SplitMix64 over 1, 2, …)."""
    mixed = np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (mixed ^ (mixed >> np.uint64(31))) | np.uint64(1)
