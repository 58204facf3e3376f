"""Words from trees of words: each word a last symbol, and the word before that."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]

_FEW = 16
"""Below this many words at once, one word after the other is faster than array passes."""


def spelled(
    parents: NDArray[np.integer], symbols: NDArray[np.int32], nodes: Numbers
) -> tuple[NDArray[np.int32], Numbers]:
    """Return the symbols of nodes' words, one word after the other, and where each word begins.

    Parameters
    ----------
    parents, symbols : array of int
        Of every node the node before its last symbol, and that symbol. Node 0 is the empty word.
    nodes : array of int
        The nodes to spell.

    Examples
    --------
    >>> parents, symbols = np.array([-1, 0, 1]), np.array([-1, 4, 5], dtype=np.int32)
    >>> spelled(parents, symbols, np.array([2, 0, 1]))
    (array([4, 5, 4], dtype=int32), array([0, 2, 2, 3]))
    """
    steps: list[tuple[NDArray[np.intp], NDArray[np.int32]]] = []
    lengths = np.zeros(len(nodes), dtype=np.int64)
    active = nodes.nonzero()[0]
    here = nodes[active]
    while len(active) >= _FEW:
        steps.append((active, symbols[here]))
        lengths[active] += 1
        here = parents[here].astype(np.int64, copy=False)
        onwards = here > 0
        active, here = active[onwards], here[onwards]
    tails = [_spelled_one(parents, symbols, node) for node in here.tolist()]
    lengths[active] += np.array([len(tail) for tail in tails], dtype=np.int64)
    offsets = np.zeros(len(nodes) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    spelt = np.empty(offsets[-1], dtype=np.int32)
    for distance, (places, last) in enumerate(steps):
        spelt[offsets[places + 1] - 1 - distance] = last
    for place, tail in zip(active.tolist(), tails, strict=True):
        spelt[offsets[place] : offsets[place] + len(tail)] = tail
    return spelt, offsets


def _spelled_one(parents: NDArray[np.integer], symbols: NDArray[np.int32], node: int) -> list[int]:
    codes = []
    parent_of, symbol_of = parents.data, symbols.data
    while node > 0:
        codes.append(symbol_of[node])
        node = parent_of[node]
    return codes[::-1]
