"""Red-blue merging of recorded prefixes: the one engine below all state-merging learners."""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable
from heapq import heappop, heappush
from math import inf
from typing import NamedTuple

import numpy as np

from pdfalearn.alphabet import Alphabet
from pdfalearn.checks import check_fits
from pdfalearn.corpora import PrefixTree
from pdfalearn.pdfa import PDFA
from pdfalearn.typing import Codes, Flags, Floats, Integers


class Subtree(NamedTuple):
    """The nodes below a blue one, itself first, by length: those of a parent are neighbours."""

    nodes: Integers
    # The place of each node's parent; 0 for the first.
    ups: Integers
    # Where the nodes of each length begin, and behind them the number of nodes.
    borders: list[int]


class _Tails(NamedTuple):
    """What follows a prefix of one word only: below a blue node merging leaves it as it was."""

    # The nodes that one word passes, word by word.
    nodes: Integers
    # Where each node is in these, and how many nodes follow it there.
    places: Integers
    lengths: Integers

    @classmethod
    def of(cls, tree: PrefixTree) -> _Tails:
        is_single, roots = tree.passes == 1, np.arange(len(tree))
        is_inner = is_single & is_single[tree.parents]
        roots[is_inner] = tree.parents[is_inner]
        while (above := roots[roots] != roots).any():
            roots[above] = roots[roots[above]]
        nodes = np.flatnonzero(is_single)
        nodes = nodes[np.argsort(roots[nodes], kind="stable")]
        places, lengths = np.full((2, len(tree)), -1)
        places[nodes] = np.arange(len(nodes))
        ends = np.searchsorted(roots[nodes], roots[nodes], side="right")
        lengths[nodes] = ends - places[nodes] - 1
        return cls(nodes, places, lengths)

    def list_below(self, level: Integers) -> tuple[Integers, Integers, Integers]:
        """List the nodes below some by length, the places of their parents, and each number."""
        lengths = self.lengths[level]
        begins = np.cumsum(lengths) - lengths
        steps = np.arange(lengths.sum()) - np.repeat(begins, lengths)
        nodes = self.nodes[np.repeat(self.places[level] + 1, lengths) + steps]
        order = np.argsort(steps, kind="stable")
        numbers = np.empty(len(order) + 1, dtype=np.int64)
        numbers[order + 1] = np.arange(len(order)) + len(level)
        going = lengths.nonzero()[0]
        numbers[begins[going]] = going  # the first of each follows the node itself
        return nodes[order], numbers[order], np.bincount(steps)


class Merging:
    """Prefixes that are being merged into states.

    Red nodes are states of the automaton. Each other node has one parent and is in the tree
    below a *blue* node, which is a red node's child. A node keeps its number from the tree of
    prefixes; a merged one is out of reach.

    Parameters
    ----------
    tree : PrefixTree
        The recorded prefixes.
    """

    # The node that follows by each symbol, or -1. One row more, all -1, as in a PDFA.
    table: Codes
    # How many words end in each node, and go on by each symbol.
    counts: Floats
    # How many words pass each node.
    passes: Floats
    # The symbol that leads to each node that is not red.
    symbols: Integers
    # The red nodes, in shortlex order of their access words.
    reds: list[int]

    def __init__(self, tree: PrefixTree) -> None:
        check_fits(len(tree), tree.width)
        nodes, above, last = np.arange(1, len(tree)), tree.parents[1:], tree.symbols[1:]
        self.table = np.full((len(tree) + 1, tree.width), -1, dtype=np.int32)
        self.table[above, last] = nodes
        self.counts = np.zeros((len(tree), tree.width + 1))
        self.counts[:, 0] = tree.ends
        self.counts[above, last + 1] = tree.passes[1:]
        self.passes = tree.passes.copy()
        self.symbols = tree.symbols.copy()
        self._parents = tree.parents.copy()
        self._tails = _Tails.of(tree)
        self._is_red: Flags = np.zeros(len(tree), dtype=bool)
        # The length of a state's access word, and the word: states are in shortlex order of these.
        self._order: dict[int, tuple[int, tuple[int, ...]]] = {0: (0, ())}
        self.reds = []
        # The order of each blue node, and the node.
        self._blues: list[tuple[tuple[int, tuple[int, ...]], int]] = []
        self.promote(0)

    def take_first(self) -> int:
        """Take out the blue node whose access word is the least in shortlex order; -1 if none."""
        return heappop(self._blues)[1] if self._blues else -1

    def take_largest(self) -> int:
        """Take out the blue node that most words pass, among several the first; -1 if none.

        This leaves the heap of `take_first` in disorder: a learner uses one of them.
        """
        if not self._blues:
            return -1
        passes = self.passes[[node for _, node in self._blues]]
        best = min(np.flatnonzero(passes == passes.max()).tolist(), key=self._blues.__getitem__)
        node = self._blues[best][1]
        self._blues[best] = self._blues[-1]
        self._blues.pop()
        return node

    def promote(self, node: int) -> None:
        """Make a blue node red, and its children blue."""
        self._is_red[node] = True
        insort(self.reds, node, key=self._order.__getitem__)
        children = self.table[node]
        self._add_blues(children[children >= 0].tolist())

    def fold(self, red: int, blue: int) -> None:
        """Merge a blue node into a red one, and all that follows from it."""
        width = self.table.shape[1]
        counts, table = self.counts.reshape(-1), self.table
        table[self._parents[blue], self.symbols[blue]] = red
        targets, sources = np.array([red]), np.array([blue])
        fresh: list[int] = []
        while len(sources):
            np.add.at(self.passes, targets, self.passes[sources])
            np.add.at(counts, targets * (width + 1), self.counts[sources, 0])
            children = table[sources]
            places, symbols = np.nonzero(children >= 0)
            below, onto = children[places, symbols], targets[places]
            np.add.at(counts, onto * (width + 1) + symbols + 1, self.passes[below])
            missing = np.flatnonzero(table[onto, symbols] < 0)
            if len(missing):
                # The first node takes the empty place with its tree; the others merge into it.
                cells = onto[missing] * width + symbols[missing]
                taken = missing[np.unique(cells, return_index=True)[1]]
                table[onto[taken], symbols[taken]] = below[taken]
                self._parents[below[taken]] = onto[taken]
                fresh += below[taken[self._is_red[onto[taken]]]].tolist()
                is_left = np.ones(len(below), dtype=bool)
                is_left[taken] = False
                below, onto, symbols = below[is_left], onto[is_left], symbols[is_left]
            targets, sources = table[onto, symbols].astype(np.int64), below
        self._add_blues(fresh)

    def subtree(self, blue: int, least: float = 0.0) -> Subtree:
        """List the nodes below a blue one, without children of nodes that fewer words pass."""
        level, nodes = np.array([blue]), list[Integers]()
        ups, borders = [np.zeros(1, np.int64)], [0]
        while len(level):
            nodes.append(level)
            borders.append(borders[-1] + len(level))
            if least <= 1 and self.passes[level].max() == 1:
                below, above, sizes = self._tails.list_below(level)
                nodes.append(below)
                ups.append(above + borders[-2])
                borders += (borders[-1] + sizes.cumsum()).tolist()
                break
            children = self.table.take(level, axis=0)
            known = children >= 0
            if least:
                known &= (self.passes[level] >= least)[:, None]
            ups.append(known.nonzero()[0] + borders[-2])
            level = children[known].astype(np.int64)
        return Subtree(np.concatenate(nodes), np.concatenate(ups), borders)

    def walk(self, reds: Integers, tree: Subtree) -> Integers:
        """Return where the words of a subtree lead from each of some reds; -1 where nowhere.

        Rows are nodes of the subtree, columns are reds. Behind the last row all lead nowhere. The
        way to the subtree's first node leads to the red instead, as if they were merged.
        """
        width = self.table.shape[1]
        states = np.empty((len(tree.nodes), len(reds)), dtype=np.int64)
        states[0] = reds
        symbols, cells = self.symbols[tree.nodes, None], self.table.reshape(-1)
        for begin, end in zip(tree.borders[1:-1], tree.borders[2:], strict=True):
            here = slice(begin, end)
            found = cells.take(states[tree.ups[here]] * width + symbols[here])
            states[here] = np.where(found == tree.nodes[0], reds, found)
            if found.max() < 0:
                return states[:end]
        return states

    def make_tables(self) -> tuple[Codes, Floats]:
        """Return the transitions of the red nodes, and their counts, when no blue one is left."""
        reds = np.array(self.reds)
        numbers = np.full(len(self.table), -1, dtype=np.int32)
        numbers[reds] = np.arange(len(reds), dtype=np.int32)
        return numbers[self.table[reds]], self.counts[reds]

    def make_pdfa(self, alphabet: Alphabet) -> PDFA:
        """Make an automaton of the red nodes when no blue one is left."""
        transitions, counts = self.make_tables()
        rows = counts / counts.sum(axis=1, keepdims=True)
        return PDFA(alphabet=alphabet, transitions=transitions, probabilities=rows)

    def _add_blues(self, nodes: list[int]) -> None:
        for node in nodes:
            length, word = self._order[int(self._parents[node])]
            self._order[node] = length + 1, (*word, int(self.symbols[node]))
            heappush(self._blues, (self._order[node], node))


def merge_states(
    tree: PrefixTree,
    choose_red: Callable[[Merging, int], int],
    *,
    largest: bool = False,
    most: float = inf,
) -> Merging:
    """Merge or promote blue nodes until none is left.

    Parameters
    ----------
    tree : PrefixTree
        The recorded prefixes.
    choose_red : callable
        The criterion: returns the red node that a blue one is to be merged into, or -1.
    largest : bool
        Whether to take the blue node that most words pass, not the first in shortlex order.
    most : float
        Give up when there are more red nodes than this.
    """
    merging = Merging(tree)
    take = merging.take_largest if largest else merging.take_first
    while len(merging.reds) <= most and (blue := take()) >= 0:
        red = choose_red(merging, blue)
        if red < 0:
            merging.promote(blue)
        else:
            merging.fold(red, blue)
    return merging
