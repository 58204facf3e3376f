"""States made of counted prefixes, by bands alone; and the words that hang in the balance."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pdfalearn.arrays import grown
from pdfalearn.sampled.counted_tree import LEAST_COUNTS, CountedTree
from pdfalearn.sampled.samples import Codes
from pdfalearn.typing import Floats, Integers
from pdfalearn.typing import Codes as CodeArray

# Before rows are compared by likelihood, a row is drawn to that of all words by so many counts.
_SMOOTHING = 0.5
# Of contradictions the likeliest so many lead to questions at a time.
_MOST_CONTRADICTIONS = 64


class Hypothesis:
    """States, and the state of every word that was drawn.

    The *red* nodes are the access words of states, each of which differs from each other: the bands
    after the two words, or after the same suffix behind both, have no row in common. A transition
    leads to the red node from which its *blue* node does not differ, and among several to the one
    that makes what was drawn after the blue one likeliest.

    Parameters
    ----------
    tree : CountedTree
        What was drawn.
    """

    # The nodes of the states' access words.
    reds: list[int]

    def __init__(self, tree: CountedTree) -> None:
        self.tree, self._table, self._counts = tree, tree.table, tree.counts
        self._totals: Floats = self._counts.sum(axis=1)
        self.bands = tree.bands()
        self.states: CodeArray = np.full(len(tree), -1, dtype=np.int32)
        self.reds = []
        width = self._table.shape[1]
        # The last row of both is that of no state.
        self._moves = np.full((1, width), -1, dtype=np.int32)
        self._pooled = np.zeros((1, width + 1))
        # The words that take a transition which has no state yet.
        self._blues: dict[tuple[int, int], list[int]] = {}
        self._background: Floats = self._counts.sum(axis=0) + 1.0
        self._promote([0])
        while self._blues:
            self._settle(max(self._blues, key=self._weigh))

    @property
    def transitions(self) -> CodeArray:
        """The state after each state and symbol, or -1."""
        return self._moves[: len(self.reds)]

    @property
    def pooled(self) -> Floats:
        """What came next after the words of each state."""
        return self._pooled[: len(self.reds)]

    def rows(self) -> Floats:
        """Return the shares of what came next, by state."""
        return self.pooled / self.pooled.sum(axis=1, keepdims=True)

    def _weigh(self, slot: tuple[int, int]) -> tuple[float, int]:
        nodes = self._blues[slot]
        return float(self._totals[nodes].sum()), -min(nodes)

    def _settle(self, slot: tuple[int, int]) -> None:
        """Find the state of a transition, or make it one."""
        nodes = self._blues.pop(slot)
        blue = int(self._table[self.reds[slot[0]], slot[1]])
        if blue < 0:  # only other words of the state took it
            blue = max(nodes, key=lambda node: (self._totals[node], -node))
        differs, likelihoods = self._compare(blue)
        if differs.all():
            nodes.remove(blue)
            self._moves[slot] = len(self.reds)
            self._promote([blue, *nodes])
        else:
            state = int(np.where(differs, -np.inf, likelihoods).argmax())
            self._moves[slot] = state
            self._fold(np.array(nodes), np.full(len(nodes), state))

    def _promote(self, nodes: list[int]) -> None:
        """Make the first node red; the others are words of its state."""
        state = len(self.reds)
        self.reds.append(nodes[0])
        self._moves = grown(self._moves, state + 2)
        self._pooled = grown(self._pooled, state + 2, 0)
        self._fold(np.array(nodes), np.full(len(nodes), state))

    def _fold(self, nodes: Integers, states: Integers) -> None:
        """Give nodes their states, and what is below them, as far as transitions are known."""
        while len(nodes):
            self.states[nodes] = states
            np.add.at(self._pooled, states, self._counts[nodes])
            children = self._table[nodes]
            places, symbols = np.nonzero(children >= 0)
            below, above = children[places, symbols].astype(np.int64), states[places]
            states = self._moves[above, symbols].astype(np.int64)
            unknown = states < 0
            slots = zip(above[unknown].tolist(), symbols[unknown].tolist(), strict=True)
            for slot, node in zip(slots, below[unknown].tolist(), strict=True):
                self._blues.setdefault(slot, []).append(node)
            nodes, states = below[~unknown], states[~unknown]

    def _compare(self, blue: int) -> tuple[Floats, Floats]:
        """Return from which states a node differs, and how likely each makes what follows it."""
        reds, count = np.array(self.reds), len(self.reds)
        rows = self._pooled[: count + 1] + _SMOOTHING * self._background / self._background.sum()
        rows[count] = self._background
        logs = np.log(rows / rows.sum(axis=1, keepdims=True))
        moves = self._moves[: count + 1].copy()
        moves[count] = -1
        differs, likelihoods = np.zeros(count, dtype=bool), np.zeros(count)
        nodes, others, states = np.array([blue]), reds[:, None], np.arange(count)[:, None]
        while len(nodes):
            low, high = self.bands[nodes].swapaxes(0, 1)
            theirs = self.bands[others]
            apart = (theirs[:, :, 0] > high) | (theirs[:, :, 1] < low)
            differs |= apart.any(axis=(1, 2))
            likelihoods += np.einsum("mk,rmk->r", self._counts[nodes], logs[states])
            children = self._table[nodes]
            places, symbols = np.nonzero(self._totals[children] >= LEAST_COUNTS)
            nodes = children[places, symbols].astype(np.int64)
            others = self._table[others[:, places], symbols]
            states = moves[states[:, places], symbols]
        return differs, likelihoods


class Balance(NamedTuple):
    """How far words are decided, and what has to be drawn for those that are not."""

    # How many words were compared with their state's access word.
    compared: int
    # Words of which it is open whether they differ from that, and the share of the positions
    # of words that are theirs.
    undecided: int
    undecided_share: float
    # Words that differ from it: something before them was merged wrongly.
    contradictions: int
    # What to draw continuations of, and how much that matters.
    wanted: dict[Codes, float]


def weigh_words(found: Hypothesis, gap: float, reach: float) -> Balance:
    """Compare likely words with their states' access words."""
    tree, bands = found.tree, found.bands[:-1]
    access = np.array(found.reds)[found.states]
    masses = _mass_of_words(found)
    own, theirs = bands, bands[access]
    apart = ((own[:, 0] > theirs[:, 1]) | (own[:, 1] < theirs[:, 0])).any(axis=1)
    farthest = np.maximum(own[:, 1] - theirs[:, 0], theirs[:, 1] - own[:, 0]).max(axis=1)
    is_likely = masses >= reach
    is_likely[found.reds] = False
    is_open = is_likely & ~apart & (farthest > gap)
    wanted: dict[Codes, float] = {}
    totals = tree.counts.sum(axis=1)
    # The word of fewer counts makes the comparison so vague.
    nodes = np.flatnonzero(is_open)
    rarer = np.where(totals[nodes] <= totals[access[nodes]], nodes, access[nodes])
    for node, mass in zip(rarer.tolist(), masses[nodes].tolist(), strict=True):
        word = tree.word(node)
        wanted[word] = wanted.get(word, 0.0) + mass
    odd = np.flatnonzero(apart)
    for node in odd[np.argsort(-masses[odd], kind="stable")[:_MOST_CONTRADICTIONS]].tolist():
        word = _word_to_ask(found, node)
        wanted[word] = wanted.get(word, 0.0) + max(float(masses[node]), reach)
    total = float(masses.sum())
    return Balance(
        compared=int((is_likely & ~is_open & ~apart).sum()),
        undecided=len(nodes),
        undecided_share=float(masses[is_open | (is_likely & apart)].sum()) / total,
        contradictions=len(odd),
        wanted=wanted,
    )


def _mass_of_words(found: Hypothesis) -> Floats:
    """Return the share of words that begin with each node's word, by the automaton."""
    tree, rows = found.tree, found.rows()
    masses = np.ones(len(tree))
    depths, parents = np.array(tree.depths), np.array(tree.parents)
    symbols = np.array(tree.symbols)
    order = np.argsort(depths, kind="stable")
    borders = np.searchsorted(depths[order], np.arange(1, depths.max() + 2))
    for begin, end in zip(borders[:-1], borders[1:], strict=True):
        nodes = order[begin:end]
        above = parents[nodes]
        masses[nodes] = masses[above] * rows[found.states[above], symbols[nodes] + 1]
    return masses


def _word_to_ask(found: Hypothesis, node: int) -> Codes:
    """Return the word whose draws tell which merge before a contradiction is wrong.

    On the way to the node the first word that is not red was merged with a state. What follows it
    up to the node is put behind that state's access word: if it differs there, the merge is wrong;
    if not, another one on the shorter way is (Rivest and Schapire's analysis, step by step).
    """
    suffix = []
    first = node
    reds = set(found.reds)
    tree = found.tree
    while tree.parents[first] not in reds:
        suffix.append(tree.symbols[first])
        first = tree.parents[first]
    return (*tree.word(found.reds[found.states[first]]), *suffix[::-1])
