"""The tokens that symbols are spelled with, as a tree of their beginnings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Path = tuple[int, ...]
Ids = NDArray[np.int64]


class TokenTrie:
    """The beginnings of token sequences of which none begins another.

    An *inner node* is a beginning of a sequence that is not the whole of it; the root is (). Behind
    a node stand the tokens that end a sequence there, then those that lead to other nodes.

    Parameters
    ----------
    paths : sequence of tuple of int
        The token sequences, one for each symbol.

    Examples
    --------
    >>> trie = TokenTrie([(5,), (6, 7), (6, 8)])
    >>> trie.prefixes
    ((), (6,))
    >>> [tokens.tolist() for tokens in trie.tokens], [ends.tolist() for ends in trie.symbols]
    ([[5, 6], [7, 8]], [[0], [1, 2]])
    >>> trie.children
    (range(1, 2), range(2, 2))
    """

    prefixes: tuple[Path, ...]
    """The inner nodes, each after its parent, those of one parent side by side."""
    symbols: tuple[Ids, ...]
    """Of every node the symbols whose last token stands behind it."""
    children: tuple[range, ...]
    """Of every node the nodes that are one token longer."""
    tokens: tuple[Ids, ...]
    """Of every node the tokens behind it: those of its symbols, then those of its children."""

    def __init__(self, paths: Sequence[Path]) -> None:
        inner = {path[:length] for path in paths for length in range(len(path))}
        self.prefixes = tuple(sorted(inner, key=lambda prefix: (len(prefix), prefix)))
        numbers = {prefix: node for node, prefix in enumerate(self.prefixes)}
        ending: list[list[int]] = [[] for _ in self.prefixes]
        for symbol, path in enumerate(paths):
            ending[numbers[path[:-1]]].append(symbol)
        leading: list[list[int]] = [[] for _ in self.prefixes]
        for prefix in self.prefixes[1:]:
            leading[numbers[prefix[:-1]]].append(prefix[-1])
        self.symbols = tuple(np.array(symbols, dtype=np.int64) for symbols in ending)
        bounds = np.cumsum([1, *map(len, leading)]).tolist()
        self.children = tuple(range(begin, end) for begin, end in pairwise(bounds))
        self.tokens = tuple(
            np.array([paths[symbol][-1] for symbol in symbols] + onwards, dtype=np.int64)
            for symbols, onwards in zip(ending, leading, strict=True)
        )


def one_beginning_another(paths: Iterable[Path]) -> tuple[int, int] | None:
    """Return the places of two sequences of which the first begins the second, or equals it.

    Examples
    --------
    >>> one_beginning_another([(3, 4), (1,), (3,)])
    (2, 0)
    """
    ordered = sorted((path, place) for place, path in enumerate(paths))
    for (path, place), (later, later_place) in pairwise(ordered):
        if later[: len(path)] == path:
            return place, later_place
    return None
