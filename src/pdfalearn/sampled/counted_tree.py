"""What was drawn, counted after every prefix; and bands in which the probabilities are."""

from __future__ import annotations

from typing import Literal

import numpy as np
from scipy.special import betaln

from pdfalearn.arrays import grown
from pdfalearn.sampled.samples import Codes, Draw
from pdfalearn.typing import Codes as CodeArray
from pdfalearn.typing import Flags, Floats, Integers

Test = Literal["exact", "hoeffding"]

# Nodes get a rank, and bands, when they have this many counts.
LEAST_COUNTS = 8
# As ranks are given between draws, a node's draws are counted in parts: at least this many, and
# otherwise one for this many that it has.
_LEAST_PART, _PART = 16, 4
# The ends of a band are found by this many halvings, and then rounded outwards.
_HALVINGS, _ROUNDING = 32, 1e-9
# Where Hoeffding's bands are narrowest in comparison: at some hundreds of counts.
_MIXING = 8.0


class CountedTree:
    """The prefixes of all that was drawn, with how often each symbol and the end came next.

    A continuation is evidence for every prefix along it, and says nothing of what is before it.
    Nodes are numbered as they come; node 0 is the empty word.

    Parameters
    ----------
    width : int
        The number of symbols.
    alpha : float
        The probability that any band, of any node and at any time, misses what it is about.
    test : str
        How bands are computed.

    Notes
    -----
    Most prefixes are drawn once or twice and never compared. So a node gets its rank, from 0, when
    it has eight counts, and only what is drawn after it from then on tells of its band: that does
    not depend on the rank. The bands of rank i may miss with probability
    alpha / ((i + 1) · (i + 2)), and all of them together with alpha.

    A band holds at all times at once, however often and for whatever reason one looks at it
    and draws more: it is what a nonnegative martingale, a mixture of likelihood ratios, does not
    rule out (Ville's inequality; Robbins 1970; Howard, Ramdas, McAuliffe, Sekhon 2021). The
    counts that gave the rank are not lost: they choose the mixture.
    """

    def __init__(self, width: int, alpha: float, test: Test) -> None:
        self._width, self.alpha, self.test = width, alpha, test
        self._children: dict[int, int] = {}
        self.parents, self.symbols, self.depths = [0], [0], [0]
        self._table = np.full((64, width), -1, dtype=np.int32)
        self._counts = np.zeros((64, width + 1))
        # When nodes got their rank, -1 if they have none, and what was counted before.
        self._ranks: Integers = np.full(64, -1)
        self._before = np.zeros((64, width + 1))
        self._ranked = 0
        self.samples = self.steps = 0
        # Nodes after which all draws were cut at once.
        self.mute: set[int] = set()

    def __len__(self) -> int:
        return len(self.parents)

    def last_node(self, word: Codes) -> int:
        """Return the node of a word, or of its longest prefix that was ever drawn."""
        node = 0
        for symbol in word:
            child = self._children.get(node * self._width + symbol)
            if child is None:
                break
            node = child
        return node

    def _step(self, node: int, symbol: int) -> int:
        key = node * self._width + symbol
        child = self._children.get(key)
        if child is None:
            child = self._children[key] = len(self.parents)
            self.parents.append(node)
            self.symbols.append(symbol)
            self.depths.append(self.depths[node] + 1)
        return child

    def word(self, node: int) -> Codes:
        """Return the word of a node."""
        backwards = []
        while node:
            backwards.append(self.symbols[node])
            node = self.parents[node]
        return tuple(backwards[::-1])

    def add(self, drawn: Draw) -> None:
        """Count what was drawn."""
        before, start = len(self), 0
        for symbol in drawn.prefix:
            start = self._step(start, symbol)
        self._grow(before)
        words, begin = list(drawn.words), 0
        while begin < len(words):
            part = max(_LEAST_PART, int(self._counts[start].sum()) // _PART)
            self._count(start, words[begin : begin + part], drawn.is_cut[begin : begin + part])
            begin += part
        self.samples += len(words)
        self.steps += len(drawn.words.symbols)
        if not self._counts[start].any():
            self.mute.add(start)

    def _count(self, start: int, words: list[list[int]], is_cut: Flags) -> None:
        """Count continuations of a node, and give ranks to nodes that have counts enough."""
        before, columns, cells = len(self), self._width + 1, []
        for word, is_open in zip(words, is_cut.tolist(), strict=True):
            node = start
            for symbol in word:
                cells.append(node * columns + symbol + 1)
                node = self._step(node, symbol)
            if not is_open:
                cells.append(node * columns)
        self._grow(before)
        places = np.array(cells, dtype=np.int64)
        np.add.at(self._counts.reshape(-1), places, 1.0)
        nodes = np.unique(places // columns)
        totals = self._counts[nodes].sum(axis=1)
        is_new = (self._ranks[nodes] < 0) & (totals >= LEAST_COUNTS)
        new = nodes[is_new][np.argsort(-totals[is_new], kind="stable")]
        self._ranks[new] = np.arange(self._ranked, self._ranked + len(new))
        self._before[new] = self._counts[new]
        self._ranked += len(new)

    def _grow(self, before: int) -> None:
        """Add the nodes from this number on to the arrays."""
        self._table = grown(self._table, len(self) + 1)
        self._counts = grown(self._counts, len(self) + 1, 0)
        self._before = grown(self._before, len(self) + 1, 0)
        self._ranks = grown(self._ranks, len(self) + 1)
        new = slice(before, None)
        self._table[self.parents[new], self.symbols[new]] = np.arange(before, len(self))

    @property
    def table(self) -> CodeArray:
        """The node after each node and symbol, or -1; a last row has nothing but -1."""
        return self._table[: len(self) + 1]

    @property
    def counts(self) -> Floats:
        """How often the end and each symbol came next; the last row has nothing but 0."""
        return self._counts[: len(self) + 1]

    def bands(self) -> Floats:
        """Return the least and the greatest probability of the end and of each symbol, by node.

        Row -1 is that of no node, and excludes nothing.
        """
        bands = np.zeros((len(self) + 1, 2, self._width + 1))
        bands[:, 1] = 1.0
        nodes = np.flatnonzero(self._ranks[: len(self)] >= 0)
        ranks = self._ranks[nodes, None]
        risks = self.alpha / ((ranks + 1.0) * (ranks + 2.0) * (self._width + 1))
        bands[nodes] = self._compute(self.counts[nodes], self._before[nodes], risks)
        return bands

    def _compute(self, counts: Floats, before: Floats, risks: Floats) -> Floats:
        if self.test == "hoeffding":
            counts = counts - before
            totals = counts.sum(axis=1, keepdims=True)
            spread = totals / 4 + _MIXING
            reach = np.sqrt(spread * np.log(spread / (_MIXING * risks**2)))
            ends = (
                np.stack([counts - reach, counts + reach], axis=1) / np.maximum(totals, 1)[:, None]
            )
        else:
            others = counts.sum(axis=1, keepdims=True) - counts
            others_before = before.sum(axis=1, keepdims=True) - before
            lows = _lower_ends(counts, others, before, others_before, -np.log(risks))
            highs = 1.0 - _lower_ends(others, counts, others_before, before, -np.log(risks))
            ends = np.stack([lows, highs], axis=1)
        clipped: Floats = np.clip(ends, 0.0, 1.0)
        return clipped


def _lower_ends(
    counts: Floats, others: Floats, before: Floats, others_before: Floats, limits: Floats
) -> Floats:
    """Return the least probabilities that a mixture does not beat by more than its limit.

    The mixture is that of all binomial distributions by Jeffreys' prior, Beta(1/2, 1/2), after what
    was counted before: of what was drawn since.
    """
    mixed = betaln(counts + 0.5, others + 0.5) - betaln(before + 0.5, others_before + 0.5)
    counts, others = counts - before, others - others_before
    low, high = np.zeros_like(counts), counts / np.maximum(counts + others, 1.0)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = mixed - counts * np.log(middle) - others * np.log1p(-middle)
        is_out = (ratio > limits) & (counts > 0)
        low, high = np.where(is_out, middle, low), np.where(is_out, high, middle)
    return np.where(counts > 0, low * (1 - _ROUNDING), 0.0)
