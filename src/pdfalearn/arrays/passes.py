"""Passes over whole arrays: first places, room to grow, words from trees, reachable nodes.

Also `one_thread`, in which many products of small arrays are computed.
"""

from __future__ import annotations

import threading
from contextlib import ContextDecorator
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pdfalearn.typing import Integers

# Below this many words at once, one word after the other is faster than array passes.
_FEW = 64


def grown(table: NDArray[Any], size: int, fill: int = -1) -> NDArray[Any]:
    """Return a table of at least a size; what is new in it is filled with a number."""
    if size <= len(table):
        return table
    shape = max(64, 2 * size), *table.shape[1:]
    # Zeros take no memory until something is written there.
    larger = np.empty(shape, table.dtype) if fill else np.zeros(shape, table.dtype)
    larger[: len(table)] = table
    if fill:
        larger[len(table) :] = fill
    return larger


def firsts(table: NDArray[Any], keys: NDArray[np.integer]) -> Integers:
    """Return the place of the first of each key.

    The table is as long as keys are large; at the keys it is overwritten with numbers below -1.

    Examples
    --------
    >>> firsts(np.full(8, -1), np.array([5, 7, 5, 2, 7]))
    array([0, 1, 3])
    """
    marks = np.arange(-2, -2 - len(keys), -1, dtype=table.dtype)
    table[keys[::-1]] = marks[::-1]
    places: Integers = np.flatnonzero(table[keys] == marks)
    return places


def spelled(
    parents: NDArray[np.integer], symbols: NDArray[np.int32], nodes: Integers
) -> tuple[NDArray[np.int32], Integers]:
    """Return the symbols of nodes' words, one word after the other, and where each word begins.

    Every node has a parent and the symbol after it; node 0 is the empty word.

    Examples
    --------
    >>> parents, symbols = np.array([-1, 0, 1]), np.array([-1, 4, 5], dtype=np.int32)
    >>> spelled(parents, symbols, np.array([2, 0, 1]))
    (array([4, 5, 4], dtype=int32), array([0, 2, 2, 3]))
    """
    parent_of, symbol_of = parents.data, symbols.data

    def climb(node: int) -> list[int]:
        backwards = []
        while node > 0:
            backwards.append(symbol_of[node])
            node = parent_of[node]
        return backwards[::-1]

    if len(nodes) < _FEW:
        words = [climb(node) for node in nodes.tolist()]
        ends = np.cumsum([0, *map(len, words)])
        return np.array([code for word in words for code in word], dtype=np.int32), ends
    # All words lose their last symbols together, as long as that many are left ...
    lengths = np.zeros(len(nodes), dtype=np.int64)
    active = nodes.nonzero()[0]
    here = nodes[active]
    steps: list[tuple[NDArray[np.intp], NDArray[np.int32]]] = []
    while len(active) >= _FEW:
        steps.append((active, symbols[here]))
        here = parents[here].astype(np.int64, copy=False)
        if here.min() <= 0:
            onwards = here > 0
            lengths[active[~onwards]] = len(steps)
            active, here = active[onwards], here[onwards]
    # ... and the beginnings of the few longest words are read one by one.
    beginnings = [climb(node) for node in here.tolist()]
    lengths[active] = [len(steps) + len(codes) for codes in beginnings]
    offsets = np.append(0, np.cumsum(lengths))
    spelt = np.empty(offsets[-1], dtype=np.int32)
    for distance, (places, last) in enumerate(steps, 1):
        spelt[offsets[places + 1] - distance] = last
    for begin, codes in zip(offsets[active].tolist(), beginnings, strict=True):
        spelt[begin : begin + len(codes)] = codes
    return spelt, offsets


def reaching(
    sources: NDArray[np.integer], successors: NDArray[np.integer], targets: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Return which nodes reach one of the targets, or are one of them.

    Examples
    --------
    >>> reaching(np.array([0, 2]), np.array([1, 0]), np.array([False, True, False, False]))
    array([ True,  True,  True, False])
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order

    size = len(targets)
    # Backwards from one more node, which leads to all targets.
    ends = targets.nonzero()[0]
    begins = np.concatenate((successors, np.full(len(ends), size)))
    ends = np.concatenate((sources, ends))
    ones = np.ones(len(begins), dtype=np.int8)
    graph = csr_array((ones, (begins, ends)), shape=(size + 1, size + 1))
    reached = np.zeros(size + 1, dtype=bool)
    reached[breadth_first_order(graph, size, return_predecessors=False)] = True
    return reached[:-1]


class _OneThread(ContextDecorator):
    """Holds BLAS to one thread in a block or a function: threads that wait for small products spin.

    Blocks may lie in each other, and in several threads: the last one that ends gives BLAS back.
    """

    _limit: Any

    def __init__(self) -> None:
        self._lock, self._blocks = threading.Lock(), 0

    @cached_property
    def _libraries(self) -> Any:
        """The libraries of linear algebra; to find them takes about 50 ms."""
        from threadpoolctl import ThreadpoolController

        return ThreadpoolController()

    def __enter__(self) -> None:
        with self._lock:
            if not self._blocks:
                self._limit = self._libraries.limit(limits=1, user_api="blas")
            self._blocks += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._blocks -= 1
            if not self._blocks:
                self._limit.restore_original_limits()


one_thread = _OneThread()
