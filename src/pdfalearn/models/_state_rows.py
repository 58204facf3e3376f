"""Rows of state of a recurrent network, taken and given back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pdfalearn.errors import InputError, ModelError
from pdfalearn.models._nests import leaves, rebuilt
from pdfalearn.models.protocol import Handles

if TYPE_CHECKING:
    from torch import Tensor

    from pdfalearn.models._nests import Nest

_FIRST_SIZE = 256
_LEAST_CAPACITY = 3
_GROWTH = 1.5
"""While rows are moved to a place of twice the size, this many times the new size is held."""


class StateRows:
    """States and distributions of many words, one row a word; they grow up to a capacity.

    Parameters
    ----------
    two, three : nest of tensors
        States of two and of three words: these show on which axis the words of a batch stand.
    width : int
        The number of symbols, and one for the terminal.
    memory : int
        The most bytes that the rows may take, those that are being moved included.
    """

    def __init__(self, two: Nest, three: Nest, width: int, memory: int) -> None:
        self._nest = two
        self._axes = _batch_axes(leaves(two), leaves(three))
        self.row_bytes: int = sum(leaf.nbytes // 2 for leaf in leaves(two)) + 8 * width + 8
        """What a word takes: its state, its distribution and its place in the list of free rows."""
        self.capacity: int = int(memory / _GROWTH) // self.row_bytes
        """The most rows."""
        if self.capacity < _LEAST_CAPACITY:
            raise InputError(
                f"memory of {memory:,} bytes is too little: a word takes {self.row_bytes:,}, and "
                f"{_LEAST_CAPACITY} must fit in even while they are moved"
            )
        self.width = width
        """The length of a distribution."""
        self.clear()

    def clear(self) -> None:
        """Forget all rows, and free their memory."""
        import torch

        # The words stand on the axis of the batch, as the network wants them.
        with_axes = zip(leaves(self._nest), self._axes, strict=True)
        self._tables = [leaf.narrow(axis, 0, 0) for leaf, axis in with_axes]
        self.distributions = np.empty((0, self.width))
        """The distribution of each row."""
        self._shared = torch.from_numpy(self.distributions)
        """The same memory, as torch writes into it."""
        self._free: Handles = np.empty(0, dtype=np.int64)
        self._free_count = 0

    def take(self, count: int) -> Handles:
        """Return rows that nobody uses."""
        if count > self._free_count:
            self._grow(count - self._free_count)
        self._free_count -= count
        return self._free[self._free_count : self._free_count + count].copy()

    def give_back(self, rows: Handles) -> None:
        """Note that rows are not used any more."""
        self._free[self._free_count : self._free_count + len(rows)] = rows
        self._free_count += len(rows)

    def _grow(self, more: int) -> None:
        import torch

        old = len(self.distributions)
        if old + more > self.capacity:
            raise InputError(
                f"a network with room for the states of {self.capacity:,} words is to hold "
                f"{old + more:,}; give it more memory"
            )
        size = min(self.capacity, max(_FIRST_SIZE, 2 * (old + more)))
        tables = []
        for table, axis in zip(self._tables, self._axes, strict=True):
            larger = table.new_empty((*table.shape[:axis], size, *table.shape[axis + 1 :]))
            larger.narrow(axis, 0, old).copy_(table)
            tables.append(larger)
        distributions = np.empty((size, self.width))
        distributions[:old] = self.distributions
        free = np.empty(size, dtype=np.int64)
        free[: self._free_count] = self._free[: self._free_count]
        free[self._free_count : self._free_count + size - old] = np.arange(size - 1, old - 1, -1)
        # Nothing has changed so far, in case there is no memory after all.
        self._tables = tables
        self.distributions, self._shared = distributions, torch.from_numpy(distributions)
        self._free = free
        self._free_count += size - old

    def states(self, rows: Tensor) -> Nest:
        """Return the states of rows as one batch."""
        tables = zip(self._tables, self._axes, strict=True)
        return rebuilt(self._nest, iter([table.index_select(axis, rows) for table, axis in tables]))

    def first(self, state: Nest, count: int) -> Nest:
        """Return the first few of a batch of states."""
        given = zip(leaves(state), self._axes, strict=True)
        return rebuilt(self._nest, iter([leaf.narrow_copy(axis, 0, count) for leaf, axis in given]))

    def put(self, rows: Tensor, state: Nest) -> None:
        """Keep a batch of states in rows."""
        given = leaves(state)
        if len(given) != len(self._tables):
            raise ModelError(
                f"the network's state has {len(self._tables)} tensors before a step and "
                f"{len(given)} after it"
            )
        for table, leaf, axis in zip(self._tables, given, self._axes, strict=True):
            try:
                table.index_copy_(axis, rows, leaf)
            except (RuntimeError, IndexError) as error:
                shape = (*table.shape[:axis], len(rows), *table.shape[axis + 1 :])
                raise ModelError(
                    f"after a step of {len(rows)} words the network gives a state of shape "
                    f"{tuple(leaf.shape)} in {leaf.dtype}, not {shape} in {table.dtype} as before"
                ) from error

    def put_distributions(self, rows: Tensor, distributions: Tensor) -> None:
        """Keep a batch of distributions in rows."""
        self._shared.index_copy_(0, rows.cpu(), distributions.cpu())


def _batch_axes(two: list[Tensor], three: list[Tensor]) -> list[int]:
    """Find the axis on which the words of a batch stand, in every tensor of a state."""
    if len(two) != len(three):
        raise InputError("the network's start gives states of different forms for 2 and 3 words")
    axes = []
    for leaf, longer in zip(two, three, strict=True):
        expected = [
            axis
            for axis in range(leaf.ndim)
            if leaf.shape[axis] == 2
            and longer.shape == (*leaf.shape[:axis], 3, *leaf.shape[axis + 1 :])
        ]
        if len(expected) != 1:
            raise InputError(
                f"the network's start gives a state of shape {tuple(leaf.shape)} for 2 words and "
                f"{tuple(longer.shape)} for 3; one axis has to be the number of words"
            )
        axes += expected
    return axes
