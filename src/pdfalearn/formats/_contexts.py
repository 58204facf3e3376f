"""The contexts of a back-off n-gram model as a tree of their prefixes.

A context is what an n-gram has before its last word, or an n-gram with a back-off weight: after any
other sequence of words the model says the same as after its suffix. Every prefix of a context is
one, so that the longest suffix that is a context tells what comes next and which context follows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pdfalearn.formats._arpa_text import Grams
from pdfalearn.formats._lines import at_line

Nodes = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Level:
    """The contexts of one length, numbered from ``begin`` on."""

    begin: int
    parents: Nodes  # each context without its last word
    words: Nodes  # its last word
    weights: NDArray[np.float64]  # its back-off weight, 1 if it has none
    lines: Nodes  # where its back-off weight stands, or its first n-gram

    @property
    def end(self) -> int:
        """The number after the last."""
        return self.begin + len(self.words)


@dataclass(frozen=True, eq=False)
class Contexts:
    """All contexts, shortest first; the empty one has number 0."""

    levels: list[Level]
    before: list[Nodes]  # for each order the contexts of its n-grams

    def __len__(self) -> int:
        return self.levels[-1].end

    def path(self, context: int) -> tuple[list[int], int]:
        """Return a context's words, and the line that an error should name."""
        length = sum(level.begin <= context for level in self.levels) - 1
        line = int(self.levels[length].lines[context - self.levels[length].begin])
        words = []
        for level in self.levels[length:0:-1]:
            words.append(int(level.words[context - level.begin]))
            context = int(level.parents[context - level.begin])
        return words[::-1], line


def contexts_of(orders: list[Grams], terminal: int, width: int) -> Contexts:
    """Find the contexts of n-grams whose words are below ``width``, none behind the terminal."""
    before = [np.zeros(len(grams), np.int64) for grams in orders]
    first_line = min((int(grams.lines[0]) for grams in orders if len(grams)), default=1)
    none = np.zeros(1, np.int64)
    levels = [Level(0, none, none, np.ones(1), np.array([first_line]))]
    for length, grams in enumerate(orders, start=1):
        keys = before[length - 1] * width + grams.words[:, -1]
        _check_distinct(grams, keys)
        if length == len(orders):
            break
        # The n-grams that are contexts by their weight, and the beginnings of longer ones.
        has_weight = (grams.weights != 1) & (grams.words[:, -1] != terminal)
        groups = [(keys[has_weight], grams.lines[has_weight])]
        for nodes, longer in zip(before[length:], orders[length:], strict=True):
            groups.append((nodes * width + longer.words[:, length - 1], longer.lines))
        every_key, lines = (np.concatenate(parts) for parts in zip(*groups, strict=True))
        found, first, places = np.unique(every_key, return_index=True, return_inverse=True)
        weights = np.ones(len(found))
        weights[places[: has_weight.sum()]] = grams.weights[has_weight]
        level = Level(levels[-1].end, found // width, found % width, weights, lines[first])
        levels.append(level)
        cuts = np.cumsum([len(part) for part, _ in groups])
        before[length:] = np.split(level.begin + places, cuts)[1:-1]
    return Contexts(levels, before)


def _check_distinct(grams: Grams, keys: Nodes) -> None:
    order = np.argsort(keys, kind="stable")
    again = order[1:][np.diff(keys[order]) == 0]
    if len(again):
        raise at_line(int(grams.lines[again].min()), "this n-gram is already there; keep one")
