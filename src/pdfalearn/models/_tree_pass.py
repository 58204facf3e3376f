"""One pass through a transformer: tokens of many words in one sequence, each seeing its own."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pdfalearn.models._token_tree import Nodes, TokenTree
from pdfalearn.models._token_trie import Path


class Pass(NamedTuple):
    """What goes through a model at once."""

    context: Nodes
    """Nodes whose keys and values are kept."""
    new: Nodes
    """Nodes that are computed: the first of the tokens."""
    tokens: Nodes
    """The tokens: of the new nodes, then of every prefix behind each node that is read."""
    positions: Nodes
    """How many tokens stand before each."""
    sees: NDArray[np.bool_]
    """A row for each token: which of prompt, context and tokens it attends to."""
    read: Nodes
    """The places of tokens after which distributions are needed: first those of the nodes that are
    read, then those of all prefixes behind the first node, the second, and so on."""


class PassPlanner:
    """Lays out passes: which tokens are in one, and what each of them may see.

    Parameters
    ----------
    tree : TokenTree
        The words.
    prefixes : tuple of tuple of int
        The beginnings of symbols' spellings, () first.
    prompt_length : int
        The number of tokens before the tree.
    """

    def __init__(self, tree: TokenTree, prefixes: tuple[Path, ...], prompt_length: int) -> None:
        inner = prefixes[1:]
        self._tree = tree
        self._prompt_length = prompt_length
        self._inner_tokens = np.array([prefix[-1] for prefix in inner], dtype=np.int64)
        self._inner_depths = np.array([len(prefix) for prefix in inner], dtype=np.int64)
        self._inner_sees = _beginnings(inner)

    def planned(self, nodes: Nodes) -> Pass:
        """Return the pass that reads nodes, all of them different."""
        tree = self._tree
        needed = tree.closure(nodes)
        is_new = tree.rows[needed] < 0
        is_new[np.searchsorted(needed, nodes)] = True
        context, new = needed[~is_new], needed[is_new]
        read = np.searchsorted(new, nodes)
        count, tried = len(nodes), len(self._inner_tokens)
        depths = tree.depths[new].astype(np.int64)
        positions = (depths, np.add.outer(depths[read], self._inner_depths).ravel())
        return Pass(
            context,
            new,
            np.concatenate([tree.tokens[new], np.tile(self._inner_tokens, count)]),
            self._prompt_length + np.concatenate(positions),
            self._sees(new, np.concatenate([context, new]), read),
            np.concatenate([read, len(new) + np.arange(count * tried)]),
        )

    def _sees(self, new: Nodes, columns: Nodes, read: Nodes) -> NDArray[np.bool_]:
        """Return which of prompt, context, new nodes and prefixes each token attends to."""
        tried = len(self._inner_tokens)
        begin = self._prompt_length + len(columns)
        total = len(new) + len(read) * tried
        sees = np.zeros((total, begin + len(read) * tried), dtype=bool)
        sees[:, : self._prompt_length] = True
        sees[: len(new), self._prompt_length : begin] = self._tree.ancestry(new, columns)
        if tried:
            sees[len(new) :] = np.repeat(sees[read], tried, axis=0)
            blocks = np.kron(np.eye(len(read), dtype=bool), self._inner_sees)
            sees[len(new) :, begin:] = blocks
        return sees


def _beginnings(prefixes: tuple[Path, ...]) -> NDArray[np.bool_]:
    """Return which prefixes each of them begins with, itself included; shorter ones come first."""
    numbers = {prefix: number for number, prefix in enumerate(prefixes)}
    table = np.eye(len(prefixes), dtype=bool)
    for prefix, number in numbers.items():
        if len(prefix) > 1:
            table[number] |= table[numbers[prefix[:-1]]]
    return table
