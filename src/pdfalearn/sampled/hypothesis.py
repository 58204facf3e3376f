"""States made of counted prefixes, by bands alone; and the words that hang in the balance."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from pdfalearn.arrays import grown
from pdfalearn.sampled.counted_tree import LEAST_COUNTS, CountedTree
from pdfalearn.sampled.samples import Codes
from pdfalearn.typing import Codes as CodeArray
from pdfalearn.typing import Flags, Floats, Integers

# For likelihoods, a row is drawn to that of all words as if by this many counts.
_SMOOTHING = 0.5
# An access word should have this many times the counts of a word that is compared with it.
_MORE_OF_ACCESS = 2
# At most this many contradictions lead to questions at a time, the likeliest.
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
        # The words that take a transition which has no state yet, and how many counts they have.
        self._blues: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
        self._weights: Counter[tuple[int, int]] = Counter()
        self._background: Floats = self._counts.sum(axis=0) + 1.0
        self._promote([0])
        while self._blues:
            self._settle(max(self._blues, key=self._weights.__getitem__))
        # The state after each state and symbol, or -1; the shares of what came next in each state.
        self.transitions = self._moves[: len(self.reds)]
        pooled = self._pooled[: len(self.reds)]
        self.rows: Floats = pooled / pooled.sum(axis=1, keepdims=True)

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
            self._moves[slot] = np.where(differs, -np.inf, likelihoods).argmax()
            self._fold(nodes, self._moves[slot])

    def _promote(self, nodes: list[int]) -> None:
        """Make the first node red; the others are words of its state."""
        self.reds.append(nodes[0])
        count = len(self.reds)
        self._moves = grown(self._moves, count + 1)
        self._pooled = grown(self._pooled, count + 1, 0)
        self._fold(nodes, count - 1)

    def _fold(self, words: list[int], state: int) -> None:
        """Note the state of words, and of those below them as far as transitions are known."""
        nodes = np.array(words)
        states = np.full(len(nodes), state)
        while len(nodes):
            self.states[nodes] = states
            np.add.at(self._pooled, states, self._counts[nodes])
            children = self._table[nodes]
            places, symbols = np.nonzero(children >= 0)
            below, above = children[places, symbols].astype(np.int64), states[places]
            states = self._moves[above, symbols].astype(np.int64)
            unknown = states < 0
            new = below[unknown]
            columns = above[unknown], symbols[unknown], new, self._totals[new]
            for before, symbol, node, total in zip(*(one.tolist() for one in columns), strict=True):
                self._blues[before, symbol].append(node)
                self._weights[before, symbol] += total
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
        nodes: Integers = np.array([blue])
        others, states = reds[:, None].astype(np.int32), np.arange(count, dtype=np.int32)[:, None]
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
    """How far transitions are decided, and what has to be drawn for those that are not."""

    # How many transitions were compared with the states that they lead to, and how many of these
    # are decided.
    transitions: int
    decided: int
    # How likely the transitions that are open are taken in all, as a share of all of these.
    open_share: float
    # The words that are certainly near their states' access words, and how near at least; and those
    # that certainly differ from them: something before these was merged wrongly.
    near: Integers
    allowed: Floats
    contradictions: Integers
    # How many words are not compared, as all draws after them were cut at once.
    left_out: int
    # What to draw continuations of, and how much that matters.
    wanted: dict[Codes, float]


def weigh_words(found: Hypothesis, gap: float, reach: float) -> Balance:
    """Compare what follows likely transitions with what follows the states that they lead to."""
    tree, bands = found.tree, found.bands[:-1]
    access = np.array(found.reds)[found.states]
    likely = _Likely(found)
    theirs = bands[access]
    apart = ((bands[:, 0] > theirs[:, 1]) | (bands[:, 1] < theirs[:, 0])).any(axis=1)
    farthest = np.maximum(bands[:, 1] - theirs[:, 0], theirs[:, 1] - bands[:, 0]).max(axis=1)
    # After a suffix, a difference matters as much as the suffix is likely.
    allowed = gap / np.maximum(likely.chances, gap)
    is_compared = (allowed < 1) & (likely.taken >= reach)
    is_compared[found.reds] = False
    left_out = [node for node in tree.mute if is_compared[node]]
    is_compared[left_out] = False
    is_open = is_compared & (farthest > allowed)
    wanted: dict[Codes, float] = {}

    def want(word: Codes, weight: float) -> None:
        # What was never drawn may be impossible: how it comes about is asked instead.
        node = tree.last_node(word)
        if node not in tree.mute:
            word = tree.word(node)
            wanted[word] = wanted.get(word, 0.0) + weight

    totals = tree.counts.sum(axis=1)
    # Many words are compared with one access word: it is worth more counts than they are.
    is_own = totals[: len(tree)] * _MORE_OF_ACCESS <= totals[access]
    for node in np.flatnonzero(is_open & ~is_own).tolist():
        want(tree.word(int(access[node])), float(likely.taken[node] * likely.chances[node]))
    for node, weight in likely.best_to_draw(is_open & is_own & ~apart):
        want(tree.word(node), weight)
    odd = np.flatnonzero(apart)
    weights = np.maximum(likely.taken * likely.chances, reach * gap)[odd]
    for place in np.argsort(-weights, kind="stable")[:_MOST_CONTRADICTIONS].tolist():
        # The first word on the way that is not red was merged with a state. What follows it is put
        # behind that state's access word: if it differs there, that merge is wrong; if not, another
        # one on the shorter way is (Rivest and Schapire's analysis, step by step).
        node, first = int(odd[place]), int(likely.firsts[odd[place]])
        suffix = tree.word(node)[tree.depths[first] :]
        want((*tree.word(int(access[first])), *suffix), float(weights[place]))
    # Transitions that only other words of a state have taken: what follows its access word tells.
    unseen = (tree.table[found.reds] < 0) & (likely.flows >= reach)
    for state, symbol in np.argwhere(unseen).tolist():
        want(tree.word(found.reds[state]), float(likely.flows[state, symbol]))
    firsts, opened = (np.unique(likely.firsts[mask]) for mask in (is_compared, is_open))
    missing = float(likely.flows[unseen].sum())
    total = float(likely.taken[firsts].sum()) + missing
    return Balance(
        transitions=len(firsts) + int(unseen.sum()),
        decided=len(firsts) - len(opened),
        open_share=(float(likely.taken[opened].sum()) + missing) / total if total else 0.0,
        near=np.flatnonzero(is_compared & ~is_open),
        allowed=allowed[is_compared & ~is_open],
        contradictions=odd,
        left_out=len(left_out),
        wanted=wanted,
    )


class _Likely:
    """How likely words come to the transition that each node is about, and from there to the node.

    That is the last transition on the way to the node which leaves the access words.

    Attributes
    ----------
    firsts : array of int
        The node right after that transition; of red nodes themselves.
    flows : array of float, shape (states, symbols)
        How likely a word takes each transition at most.
    taken, chances : array of float
        How likely a word takes the transition, and how likely it goes on to the node then.
    """

    def __init__(self, found: Hypothesis) -> None:
        tree, reds, rows, count = found.tree, found.reds, found.rows, len(found.reds)
        # How often words take each transition, and so how likely at most.
        steps = np.zeros((count, count))
        states, symbols = np.nonzero(found.transitions >= 0)
        np.add.at(steps, (found.transitions[states, symbols], states), rows[states, symbols + 1])
        begin = np.eye(1, count)[0]
        visits = np.linalg.solve(np.eye(count) - (1 - 1e-6) * steps, begin)
        self.flows = np.clip(visits[:, None] * rows[:, 1:], 0.0, 1.0)
        self._parents, last = np.array(tree.parents), np.array(tree.symbols)
        depths = np.array(tree.depths)
        order = np.argsort(depths, kind="stable")
        borders = np.searchsorted(depths[order], np.arange(1, depths.max() + 2)).tolist()
        self._levels = [order[begin:end] for begin, end in pairwise(borders)]
        self._shares = rows[found.states[self._parents], last + 1]
        is_red = np.zeros(len(tree), dtype=bool)
        is_red[reds] = True
        self.firsts, self.taken = np.arange(len(tree)), np.ones(len(tree))
        self.chances = np.ones(len(tree))
        for level in self._levels:
            level = level[~is_red[level]]
            above = self._parents[level]
            begins = is_red[above]
            flows = self.flows[found.states[above], last[level]]
            self.firsts[level] = np.where(begins, level, self.firsts[above])
            self.taken[level] = np.where(begins, flows, self.taken[above])
            longer = self.chances[above] * self._shares[level]
            self.chances[level] = np.where(begins, 1.0, longer)

    def best_to_draw(self, is_open: Flags) -> list[tuple[int, float]]:
        """Return for each transition with open words where draws tell most of these.

        A draw at a word tells of all that is below it, as likely as that comes; and a word matters
        as much as it is likely.
        """
        worth = np.where(is_open, self.chances, 0.0)
        inside = self.firsts != np.arange(len(worth))
        for level in self._levels[::-1]:
            level = level[inside[level]]
            np.add.at(worth, self._parents[level], self._shares[level] * worth[level])
        order = np.lexsort((-worth, self.firsts))
        best = order[np.unique(self.firsts[order], return_index=True)[1]]
        best = best[worth[best] > 0]
        return list(zip(best.tolist(), (self.taken * worth)[best].tolist(), strict=True))
