"""The prefixes of recorded words as a tree, with how many words pass each and end there."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from pdfalearn.frozen import ArrayValue
from pdfalearn.typing import Flags, Floats, Integers

if TYPE_CHECKING:
    from pdfalearn.words import Words


@dataclass(frozen=True, eq=False, repr=False)
class PrefixTree(ArrayValue):
    """The prefixes of recorded words.

    Node 0 is the empty word. Nodes are ordered by length, within a length by their last symbol, and
    then by their parent: so the children that share a symbol have different parents.

    Parameters
    ----------
    width : int
        The number of symbols of the alphabet.
    parents, symbols : array of int
        The node one symbol shorter, and the last symbol; both 0 for node 0.
    passes : array of float
        How many words have this prefix.
    ends : array of float
        How many words are just this prefix, those that were cut there not counted.
    borders : array of int
        Where the nodes of each length begin, and behind them the number of nodes.

    Examples
    --------
    >>> from pdfalearn.words import Words
    >>> tree = PrefixTree.of(Words.of([(0, 1), (0,), ()]), 2)
    >>> tree.parents.tolist(), tree.symbols.tolist(), tree.passes.tolist(), tree.ends.tolist()
    ([0, 0, 1], [0, 0, 1], [3.0, 2.0, 1.0], [1.0, 1.0, 1.0])
    """

    width: int
    parents: Integers
    symbols: Integers
    passes: Floats
    ends: Floats
    borders: Integers

    @classmethod
    def of(cls, words: Words, width: int, is_cut: Flags | None = None) -> PrefixTree:
        """Count the prefixes of words over an alphabet of this many symbols."""
        return cls.with_ends(words, width, is_cut)[0]

    @classmethod
    def with_ends(
        cls, words: Words, width: int, is_cut: Flags | None = None
    ) -> tuple[PrefixTree, Integers]:
        """Count the prefixes of words; also return the node of each word."""
        lengths, begins = words.lengths, words.offsets[:-1]
        nodes = np.zeros(len(words), dtype=np.int64)
        active = np.arange(len(words))
        parents, symbols = [np.zeros(1, np.int64)], [np.zeros(1, np.int64)]
        counts, borders = [np.full(1, float(len(words)))], [0, 1]
        for position in range(int(lengths.max(initial=0))):
            active = active[lengths[active] > position]
            here, above = words.symbols[begins[active] + position], nodes[active] - borders[-2]
            count = borders[-1] - borders[-2]
            keys, places = np.unique(here.astype(np.int64) * count + above, return_inverse=True)
            last, before = np.divmod(keys, count)
            parents.append(before + borders[-2])
            symbols.append(last)
            counts.append(np.bincount(places).astype(np.float64))
            nodes[active] = places + borders[-1]
            borders.append(borders[-1] + len(keys))
        ended = nodes if is_cut is None else nodes[~is_cut]
        tree = cls(
            width,
            np.concatenate(parents),
            np.concatenate(symbols),
            np.concatenate(counts),
            np.bincount(ended, minlength=borders[-1]).astype(np.float64),
            np.array(borders),
        )
        return tree, nodes

    def __len__(self) -> int:
        return len(self.parents)

    def __repr__(self) -> str:
        return f"PrefixTree({len(self)} prefixes of {self.passes[0]:g} words)"

    @cached_property
    def levels(self) -> list[slice]:
        """Where the nodes of each length are."""
        return [slice(*pair) for pair in pairwise(self.borders.tolist())]

    @cached_property
    def level_runs(self) -> list[tuple[slice, list[tuple[int, int, int]]]]:
        """The nodes of each length but 0, and their `runs`."""
        return [(level, self.runs(level)) for level in self.levels[1:]]

    def runs(self, level: slice) -> list[tuple[int, int, int]]:
        """Return which nodes of a length share their last symbol: from where to where, and it."""
        symbols = self.symbols[level]
        edges = [*np.flatnonzero(np.diff(symbols, prepend=-1)).tolist(), len(symbols)]
        first = level.start
        return [(first + begin, first + end, int(symbols[begin])) for begin, end in pairwise(edges)]
