"""The words of a run as a tree of tokens, and the passes of its tokens through a transformer."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pdfalearn.arrays import grown
from pdfalearn.models.spelling import Path

Nodes = NDArray[np.int64]


class TokenTree:
    """Tokens, each with the token before it; a word is the number of its last token's node.

    Node 0 is the token before all words. A node takes 20 bytes, and all are forgotten together.
    """

    def __init__(self, root: int, is_kept: Callable[[Nodes], NDArray[np.bool_]]) -> None:
        self.is_kept = is_kept
        self.parents: Nodes = np.full(64, -1, dtype=np.int64)
        """Of every node the one before; -1 before the root."""
        self.tokens: NDArray[np.int32] = np.full(64, root, dtype=np.int32)
        """The token of every node."""
        self.depths: NDArray[np.int32] = np.zeros(64, dtype=np.int32)
        """The number of tokens behind the root."""
        self._scratch: NDArray[np.int32] = np.full(64, -1, dtype=np.int32)
        self.size = 1
        """The number of nodes."""

    def add(self, parents: Nodes, tokens: NDArray[np.integer]) -> None:
        """Add nodes, numbered from the size on; a parent may be one of those added before it."""
        old, new = self.size, slice(self.size, self.size + len(parents))
        self.size = new.stop
        for name in ("parents", "tokens", "depths", "_scratch"):
            setattr(self, name, grown(getattr(self, name), self.size))
        self.parents[new], self.tokens[new] = parents, tokens
        # Depths by jumping twice as far each time, until all jumps end at nodes from before.
        depths, above = np.ones(len(parents), dtype=np.int32), parents.copy()
        while (inside := above >= old).any():
            jumps = above[inside] - old
            depths[inside] += depths[jumps]
            above[inside] = above[jumps]
        self.depths[new] = depths + self.depths[above]

    def closure(self, nodes: Nodes) -> Nodes:
        """Return nodes and all that stand before them, once each and in ascending order."""
        marks, steps = self._scratch, []
        while len(nodes):
            nodes = nodes[marks[nodes] < 0]
            marks[nodes] = 1
            steps.append(nodes)
            nodes = self.parents[nodes]
            nodes = nodes[nodes >= 0]
        found = np.unique(np.concatenate(steps)) if steps else nodes
        marks[found] = -1
        return found

    def ancestry(self, nodes: Nodes, columns: Nodes) -> NDArray[np.bool_]:
        """Return a table that marks in a row for each node itself and all that stand before it.

        ``columns`` are the nodes that the columns of the table stand for: a closure of the nodes.
        """
        places = self._scratch
        places[columns] = np.arange(len(columns))
        table = np.zeros((len(nodes), len(columns)), dtype=bool)
        active = np.arange(len(nodes))
        while len(active):
            table[active, places[nodes]] = True
            nodes = self.parents[nodes]
            onwards = nodes >= 0
            active, nodes = active[onwards], nodes[onwards]
        places[columns] = -1
        return table

    def count_new(self, nodes: Nodes) -> Nodes:
        """Return how many nodes that are not kept each node needs that no earlier one needs.

        A node needs itself in any case.
        """
        active, here = np.arange(len(nodes)), nodes
        needing, needed = [active], [here]
        while len(active):
            here = self.parents[here]
            onwards = here >= 0
            onwards[onwards] = ~self.is_kept(here[onwards])
            active, here = active[onwards], here[onwards]
            needing.append(active)
            needed.append(here)
        # A node that several need counts for the first of them.
        owners, found = np.concatenate(needing), np.concatenate(needed)
        order = np.lexsort((owners, found))
        first = np.unique(found[order], return_index=True)[1]
        return np.bincount(owners[order[first]], minlength=len(nodes))


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
    """Lays out passes: which tokens are in one, and what each of them may see."""

    def __init__(self, tree: TokenTree, prefixes: tuple[Path, ...], prompt_length: int) -> None:
        inner = prefixes[1:]
        self._tree = tree
        self._prompt_length = prompt_length
        self._inner_tokens = np.array([prefix[-1] for prefix in inner], dtype=np.int64)
        self._inner_depths = np.array([len(prefix) for prefix in inner], dtype=np.int64)
        self._inner_sees = _mark_beginnings(inner)

    def plan(self, nodes: Nodes) -> Pass:
        """Return the pass that reads nodes, all of them different."""
        tree = self._tree
        needed = tree.closure(nodes)
        is_new = ~tree.is_kept(needed)
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


def _mark_beginnings(prefixes: tuple[Path, ...]) -> NDArray[np.bool_]:
    """Return which prefixes each of them begins with, itself included; shorter ones come first."""
    numbers = {prefix: number for number, prefix in enumerate(prefixes)}
    table = np.eye(len(prefixes), dtype=bool)
    for prefix, number in numbers.items():
        if len(prefix) > 1:
            table[number] |= table[numbers[prefix[:-1]]]
    return table
