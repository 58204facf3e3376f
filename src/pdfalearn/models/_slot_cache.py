"""Tensors of a bounded number of words or tokens: those not used for longest are forgotten."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pdfalearn.arrays import grown
from pdfalearn.errors import ModelError
from pdfalearn.typing import Flags, Integers

if TYPE_CHECKING:
    from torch import Tensor

_FIRST_SIZE = 256
_GROWTH = 1.5
"""While tensors are copied to tables of twice the size, this many times the new size is in use."""
_FORGOTTEN_SHARE = 8
"""When memory is used up, one slot in this many is freed at once."""
_NEVER, _FORGOTTEN = -1, -2
"""Stand where a number has no slot: it never had one, or does not have it any more."""
_ALWAYS = 2**62
"""When a slot was used last that is never freed."""


class SlotCache:
    """A network's tensors by the numbers of words or tokens, a slot of each table for each.

    Parameters
    ----------
    samples : list of tensor
        What is kept of one number: these show shapes, types and the device.
    axes : list of int
        The axis of each tensor on which the slots are.
    memory : int
        The most bytes, copies while the tables grow included.
    """

    def __init__(self, samples: list[Tensor], axes: list[int], memory: int) -> None:
        self._axes = axes
        self.row_bytes: int = sum(sample.nbytes for sample in samples) + 16  # _owners and _used
        """What a slot takes."""
        self.capacity: int = int(memory / _GROWTH) // self.row_bytes
        """The most slots."""
        pairs = zip(samples, axes, strict=True)
        self._tables = [sample.narrow(axis, 0, 0).clone() for sample, axis in pairs]
        self._owners: Integers = np.empty(0, dtype=np.int64)
        """The number that each slot belongs to; -1 if it is free."""
        self._used: Integers = np.empty(0, dtype=np.int64)
        """When each slot was used last; 0 if it is free."""
        self._free: Integers = np.empty(0, dtype=np.int64)
        self._slots: NDArray[np.int32] = np.full(1, _NEVER, dtype=np.int32)
        """The slot of each number; the last entry stands for all numbers beyond."""
        self._now = 0
        self.assigned_again = 0
        """How many numbers were assigned slots that they had before, or had lost."""

    def clear(self) -> None:
        """Free the memory of everything."""
        self._tables.clear()
        self._owners = self._used = self._free = self._owners[:0]
        self._slots = self._slots[:0]

    def know(self, numbers: Integers) -> Flags:
        """Return which numbers have slots."""
        return np.asarray(self._slots.take(numbers, mode="clip") >= 0)

    def find(self, numbers: Integers) -> Integers:
        """Return the slots of numbers that have them; these count as used now."""
        slots = self._slots[numbers].astype(np.int64)
        self._now += 1
        self._used[slots] = np.maximum(self._used[slots], self._now)
        return slots

    def assign(self, numbers: Integers, needed: Integers) -> Integers:
        """Return slots for numbers; below 0 where there is no memory left for one.

        Those that have slots keep them. The slots of other numbers, the needed ones, are not freed
        for them.
        """
        self.find(needed)
        self._slots = grown(self._slots, int(numbers.max(initial=0)) + 2)
        slots = self._slots[numbers].astype(np.int64)
        self.assigned_again += int(np.count_nonzero(slots != _NEVER))
        self._used[slots[slots >= 0]] = self._now
        new = (slots < 0).nonzero()[0]
        # Tables grow as long as they may; only then is anything forgotten.
        if len(new) > len(self._free) and len(self._owners) < self.capacity:
            self._grow(len(new) - len(self._free))
        if len(new) > len(self._free):
            self._forget(len(new))
        new = new[: len(self._free)]
        here, self._free = self._free[: len(new)], self._free[len(new) :]
        slots[new] = self._slots[numbers[new]] = here
        self._owners[here] = numbers[new]
        self._used[here] = self._now
        return slots

    def pin(self, number: int) -> None:
        """Never free the slot of a number."""
        self._used[self._slots[number]] = _ALWAYS

    def _forget(self, needed: int) -> None:
        """Free the slots that were not used for longest; those that are free are among them."""
        most = int(np.count_nonzero(self._used < self._now))
        count = min(max(needed, self.capacity // _FORGOTTEN_SHARE), most)
        if count:
            self._free = np.argpartition(self._used, count - 1)[:count]
            owners = self._owners[self._free]
            self._slots[owners[owners >= 0]] = _FORGOTTEN
            self._owners[self._free] = -1
            self._used[self._free] = 0

    def _grow(self, more: int) -> None:
        old = len(self._used)
        size = min(self.capacity, max(_FIRST_SIZE, 2 * (old + more)))
        for number, axis in enumerate(self._axes):
            table = self._tables[number]
            larger = table.new_empty((*table.shape[:axis], size, *table.shape[axis + 1 :]))
            larger.narrow(axis, 0, old).copy_(table)
            self._tables[number] = larger
        new = np.arange(old, size)
        self._free = np.concatenate((self._free, new))
        self._owners = np.concatenate((self._owners, np.full_like(new, -1)))
        self._used = np.concatenate((self._used, np.zeros_like(new)))

    def read(self, slots: Tensor) -> list[Tensor]:
        """Return what is in slots, as one batch."""
        tables = zip(self._tables, self._axes, strict=True)
        return [table.index_select(axis, slots) for table, axis in tables]

    def write(self, slots: Tensor, tensors: list[Tensor]) -> None:
        """Put a batch into slots."""
        if len(tensors) != len(self._tables):
            raise ModelError(
                f"the network's state has {len(self._tables)} tensors before a step and "
                f"{len(tensors)} after it"
            )
        for table, tensor, axis in zip(self._tables, tensors, self._axes, strict=True):
            try:
                table.index_copy_(axis, slots, tensor)
            except (RuntimeError, IndexError) as error:
                shape = (*table.shape[:axis], len(slots), *table.shape[axis + 1 :])
                raise ModelError(
                    f"after a step of {len(slots)} words the network gives a state of shape "
                    f"{tuple(tensor.shape)} in {tensor.dtype}, not {shape} in {table.dtype} as "
                    "before"
                ) from error
