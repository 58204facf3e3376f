"""Many words that share their prefixes, which takes little memory even for long words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pdfalearn.alphabet import Alphabet, Symbol
from pdfalearn.frozen import ArrayValue


@dataclass(frozen=True, eq=False, repr=False)
class WordTree(ArrayValue):
    """Words as nodes of a tree of prefixes.

    Node 0 is the empty word. Every other is an earlier node's word with a symbol after it.

    Parameters
    ----------
    parents, symbols : array of int, one entry a node
        The earlier node, and the symbol's position in an alphabet; both 0 for node 0.
    ends : array of int
        The node of each of the words.

    Examples
    --------
    >>> tree = WordTree(np.array([0, 0, 1]), np.array([0, 1, 0]), np.array([2, 0]))
    >>> tree.decoded(Alphabet("ab"))
    [('b', 'a'), ()]
    """

    parents: NDArray[np.int32]
    symbols: NDArray[np.int32]
    ends: NDArray[np.int32]

    @classmethod
    def above(
        cls, parents: NDArray[Any], symbols: NDArray[Any], nodes: NDArray[np.integer]
    ) -> WordTree:
        """Return the words of some nodes of a larger tree, and no more of it than they need.

        Parameters
        ----------
        parents, symbols : array of int
            The larger tree; parents come before their children.
        nodes : array of int
            The nodes whose words to take.

        Examples
        --------
        >>> parents, symbols = np.array([0, 0, 0, 2, 3]), np.array([0, 0, 1, 0, 1])
        >>> WordTree.above(parents, symbols, np.array([3])).parents.tolist()
        [0, 0, 1]
        """
        is_needed = np.zeros(len(parents), dtype=bool)
        is_needed[0] = True
        new = nodes
        while len(new):
            is_needed[new] = True
            new = parents[new]
            new = np.unique(new[~is_needed[new]])
        needed = is_needed.nonzero()[0]
        numbers = np.zeros(len(parents), dtype=np.int32)
        numbers[needed] = np.arange(len(needed), dtype=np.int32)
        last = symbols[needed].astype(np.int32)
        last[0] = 0
        return cls(numbers[parents[needed]], last, numbers[nodes])

    def followed_by(self, others: WordTree) -> WordTree:
        """Return these words followed by other words.

        Examples
        --------
        >>> tree = WordTree(np.array([0, 0]), np.array([0, 1]), np.array([1]))
        >>> tree.followed_by(tree).decoded(Alphabet("ab"))
        [('b',), ('b',)]
        """
        numbers = np.arange(len(others.parents), dtype=np.int32) + np.int32(len(self.parents) - 1)
        numbers[0] = 0
        return WordTree(
            np.concatenate((self.parents, numbers[others.parents[1:]])),
            np.concatenate((self.symbols, others.symbols[1:])),
            np.concatenate((self.ends, numbers[others.ends])),
        )

    def __len__(self) -> int:
        return len(self.ends)

    def __repr__(self) -> str:
        return f"WordTree({len(self)} words)"

    def decoded(self, alphabet: Alphabet) -> list[tuple[Symbol, ...]]:
        """Return the words as tuples of symbols."""
        parents, symbols = self.parents.tolist(), alphabet.decode(self.symbols.tolist())
        known: dict[int, tuple[Symbol, ...]] = {0: ()}
        words = []
        for end in self.ends.tolist():
            rest, node = [], end
            while node not in known:
                rest.append(symbols[node])
                node = parents[node]
            if rest:
                known[end] = (*known[node], *reversed(rest))
            words.append(known[end])
        return words
