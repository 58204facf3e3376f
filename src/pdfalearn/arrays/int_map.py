"""A map from integers to 0, 1, … that is asked and filled by whole arrays."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Keys = NDArray[np.int64]
Values = NDArray[np.int64]

_SMALL = 2**16
"""Up to this many keys a dictionary holds them, unless many are asked for at once."""
_MANY = 256
"""From this many keys at once on, array passes beat a dictionary."""
_FEW = 24
"""Below this many keys, one after the other is faster than array passes over a table."""

_ROOMY = 2**21
"""Tables of fewer slots grow by twice as much as they have to."""

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

    def get_or_add(self, keys: Keys) -> Values:
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
        return self._placed(keys)

    def get(self, keys: Keys) -> Values:
        """Return the number of every key; -1 where it has none."""
        if self._small is not None:
            known = self._small
            return np.array([known.get(key, -1) for key in keys.tolist()], dtype=np.int64)
        numbers = np.full(len(keys), -1, dtype=np.int64)
        slots, rest = self._slots(keys), np.arange(len(keys))
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

    def _fill(self, keys: Keys, values: Values) -> None:
        """Put different keys into an empty table."""
        slots = self._slots(keys)
        while len(keys):
            free = self._values[slots] < 0
            self._values[slots[free]] = values[free]
            self._keys[slots[free]] = keys[free]
            lost = self._values[slots] != values
            keys, values, slots = keys[lost], values[lost], slots[lost] + 1 & self._mask

    def _slots(self, keys: Keys) -> Values:
        products = keys.view(np.uint64) * np.uint64(_MULTIPLIER)
        return (products >> np.uint64(self._shift)).view(np.int64)

    def _placed(self, keys: Keys) -> Values:
        """Find the slot of every key, taking empty ones for new keys; return its number."""
        slots = self._slots(keys)
        known = self._size
        numbers = np.empty(len(keys), dtype=np.int64)
        rest = np.arange(len(keys))
        firsts: list[Keys] = []
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

    def _take(self, places: Keys, slots: Values, keys: Keys) -> Keys:
        """Put the keys at places into empty slots, the first key of each slot; return these."""
        self._values[slots[::-1]] = places[::-1]
        first = self._values[slots] == places
        winners: Keys = places[first]
        slots = slots[first]
        self._keys[slots] = keys[winners]
        self._values[slots] = np.arange(self._size, self._size + len(winners))
        self._size += len(winners)
        return winners

    def _renumber(self, firsts: Keys, known: int, slots: Values, numbers: Values) -> None:
        """Number new keys by their first places, not by the passes that found them slots."""
        is_first = np.zeros(len(slots), dtype=bool)
        is_first[firsts] = True
        ranks = np.cumsum(is_first)[firsts] + (known - 1)
        self._values[slots[firsts]] = ranks
        new = numbers >= known
        numbers[new] = ranks[numbers[new] - known]
