"""Keys and values of tokens, kept in rows up to a bound on memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pdfalearn.models._token_tree import Nodes, TokenTree

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import Cache

_FIRST_SIZE = 64
_GROWTH = 1.5
"""While rows are moved to a place of twice the size, this many times the new size is held."""
_FORGOTTEN_SHARE = 8
"""When memory is used up, one row in this many is forgotten at once."""


class KeyValueRows:
    """What each layer of a transformer keeps of a token: one row a token, and the prompt's besides.

    Where there is no more memory, the rows that were not used for longest are forgotten. Whoever
    needs them again computes them again, so that any bound on memory will do.

    Parameters
    ----------
    tree : TokenTree
        The tokens; it is told which row each has.
    prompt : Cache
        Keys and values of some tokens, one at least.
    length : int
        How many of these stand before all nodes of the tree.
    memory : int
        The most bytes that rows may take, those that are being moved included.
    """

    def __init__(self, tree: TokenTree, prompt: Cache, length: int, memory: int) -> None:
        self._tree = tree
        tables = [_by_token(layer.keys, layer.values) for layer in prompt.layers]
        self._prompt = [(keys[:length].clone(), values[:length].clone()) for keys, values in tables]
        self.prompt_length = length
        """The number of the prompt's tokens."""
        self.row_bytes: int = sum(table[0].nbytes for pair in tables for table in pair)
        """What a token takes."""
        self.capacity: int = int(memory / _GROWTH) // self.row_bytes
        """The most rows."""
        self._tables = [(keys[:0].clone(), values[:0].clone()) for keys, values in tables]
        self._owners: Nodes = np.empty(0, dtype=np.int64)
        """The node that each row belongs to; -1 if none."""
        self._used: Nodes = np.empty(0, dtype=np.int64)
        """When each row was used last."""
        self._free: list[int] = []
        self._time = 0

    def cache(self, nodes: Nodes) -> Cache:
        """Return the keys and values of the prompt and of nodes, as a model takes them."""
        import torch
        from transformers import DynamicCache

        self._time += 1
        self._used[self._tree.rows[nodes]] = self._time
        rows = self._tensor(self._tree.rows[nodes])
        cache = DynamicCache()
        for layer, pairs in enumerate(zip(self._prompt, self._tables, strict=True)):
            keys, values = (
                torch.cat([prompt, table.index_select(0, rows)]).transpose(0, 1).unsqueeze(0)
                for prompt, table in zip(*pairs, strict=True)
            )
            cache.update(keys, values, layer)
        return cache

    def keep(self, nodes: Nodes, cache: Cache, begin: int) -> None:
        """Keep what a cache holds from some place on for nodes: of as many as there is memory for.

        Nodes that have rows already keep these.
        """
        new = (self._tree.rows[nodes] < 0).nonzero()[0]
        places = new[: self._free_rows(len(new))]
        if not len(places):
            return
        rows = np.array([self._free.pop() for _ in places], dtype=np.int64)
        here, there = self._tensor(rows), self._tensor(begin + places)
        for tables, layer in zip(self._tables, cache.layers, strict=True):
            for table, given in zip(tables, _by_token(layer.keys, layer.values), strict=True):
                table.index_copy_(0, here, given.index_select(0, there))
        self._tree.rows[nodes[places]] = rows
        self._owners[rows] = nodes[places]
        self._used[rows] = self._time

    def _free_rows(self, needed: int) -> int:
        """Have rows free, if that can be; return how many are."""
        if needed > len(self._free) and len(self._owners) < self.capacity:
            self._grow(needed - len(self._free))
        if needed > len(self._free):
            self._forget(max(needed - len(self._free), self.capacity // _FORGOTTEN_SHARE))
        return len(self._free)

    def _grow(self, more: int) -> None:
        old = len(self._owners)
        size = min(self.capacity, max(_FIRST_SIZE, 2 * (old + more)))
        self._tables = [
            (_longer(keys, size), _longer(values, size)) for keys, values in self._tables
        ]
        self._owners = np.append(self._owners, np.full(size - old, -1))
        self._used = np.append(self._used, np.zeros(size - old, dtype=np.int64))
        self._free += range(old, size)

    def _forget(self, count: int) -> None:
        """Free the rows that were not used for longest."""
        kept = (self._owners >= 0).nonzero()[0]
        rows = kept[np.argsort(self._used[kept], kind="stable")[:count]]
        self._tree.rows[self._owners[rows]] = -1
        self._owners[rows] = -1
        self._free += rows.tolist()

    def _tensor(self, numbers: Nodes) -> Tensor:
        import torch

        return torch.from_numpy(numbers).to(self._tables[0][0].device)


def _by_token(keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
    """Bring keys and values of a sequence into the form of rows, one a token."""
    return keys[0].transpose(0, 1), values[0].transpose(0, 1)


def _longer(table: Tensor, size: int) -> Tensor:
    longer = table.new_empty((size, *table.shape[1:]))
    longer[: len(table)] = table
    return longer
