"""Where a counterexample breaks a hypothesis (Rivest and Schapire 1993, for any classes)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate, chain
from typing import NamedTuple

import numpy as np

from pdfalearn.observations._nodes import NodeTable
from pdfalearn.observations.suffixes import Suffixes
from pdfalearn.observations.tree import UNDEFINED, ObservationTree

_FEW = 48
"""Below this many words, one after the other is faster than array passes."""
_LONG = 24
"""From this length on, suffixes of a counterexample are numbered, and the way down remembered."""


@dataclass
class Counterexample:
    """A word after which the model and the hypothesis differ."""

    codes: list[int]
    nodes: list[int]
    """The nodes of its prefixes, the empty word's first."""
    truth: int
    """The model's class after it."""
    last_break: tuple[int, int] = (0, 0)
    """Where it broke the last time, and the hypothesis's state there: asked on, it was right."""
    suffixes: list[int] = field(default_factory=list)
    """The numbers of its suffixes, where they are long enough to have some."""


class Break(NamedTuple):
    """Where a counterexample shows that a transition leads to the wrong state."""

    before: int
    """The state that the transition leaves."""
    symbol: int
    after: int
    """The state that it leads to, and should not."""
    counterexample: Counterexample
    place: int
    """What follows this place tells the state after from where the transition should lead."""
    old_class: int
    """The class after what follows, from the state after; from the other state it is the truth."""

    def suffix(self, table: Suffixes) -> int:
        """Give the number of what follows the break."""
        if self.counterexample.suffixes:
            return self.counterexample.suffixes[self.place + 1]
        return table.add_word(self.counterexample.codes[self.place + 1 :])


@dataclass
class _Search:
    """Finds by halves where asking on from the hypothesis's state stops giving the truth.

    α(i) is the class after access(run[i])·γ[i:]. α(0) is the truth, and α(|γ|) what the hypothesis
    says; where the run is undefined, so is α. The search keeps α(low) the truth and α(high) not; it
    begins at the last break of the same counterexample, in growing steps, as the next one is often
    near.
    """

    counterexample: Counterexample
    run: list[int]
    high_class: int
    low: int
    high: int
    step: int

    @classmethod
    def of(
        cls, access: Sequence[int], counterexample: Counterexample, run: list[int], said: int
    ) -> _Search:
        place, state = counterexample.last_break
        low = place if run[place] == state else 0
        high = run.index(-1) if said == UNDEFINED else len(run) - 1
        step = 1 if low else 0
        # As long as prefixes are access words themselves, α is the truth without asking.
        while low + 1 < high and access[run[low + 1]] == counterexample.nodes[low + 1]:
            low += 1
        return cls(counterexample, run, said, low, high, step)

    @property
    def place(self) -> int:
        if self.step and self.low + self.step < self.high:
            return self.low + self.step
        return (self.low + self.high) // 2

    def narrow(self, class_: int) -> None:
        if class_ == self.counterexample.truth:
            self.low, self.step = self.place, 2 * self.step
        else:
            self.high, self.high_class, self.step = self.place, class_, 0

    def found(self) -> Break:
        ce, i = self.counterexample, self.low
        ce.last_break = i, self.run[i]
        return Break(self.run[i], ce.codes[i], self.run[i + 1], ce, i, self.high_class)


def counterexamples_of(
    observations: ObservationTree, words: list[list[int]]
) -> list[Counterexample]:
    """Ask for the truth after every counterexample."""
    paths = _paths(observations.nodes, words)
    truths = observations.classes_at([path[-1] for path in paths])
    return [Counterexample(*parts) for parts in zip(words, paths, truths, strict=True)]


def _paths(nodes: NodeTable, words: list[list[int]]) -> list[list[int]]:
    """Give the nodes of every word's prefixes, the empty word's first."""
    if len(words) < _FEW:
        return [list(accumulate(codes, nodes.step_one, initial=0)) for codes in words]
    lengths = np.array([len(codes) for codes in words])
    table = np.zeros((len(words), int(lengths.max()) + 1), dtype=np.int64)
    flat = np.fromiter(chain.from_iterable(words), np.int64, int(lengths.sum()))
    begins = np.cumsum(lengths) - lengths
    for place in range(table.shape[1] - 1):
        longer = (lengths > place).nonzero()[0]
        symbols = flat[begins[longer] + place]
        table[longer, place + 1] = nodes.step(table[longer, place], symbols)
    return [row[: len(codes) + 1] for row, codes in zip(table.tolist(), words, strict=True)]


def breaks_of(
    observations: ObservationTree,
    access: Sequence[int],
    counterexamples: list[Counterexample],
    runs: list[list[int]],
    said: list[int],
) -> list[Break]:
    """Find a break in every counterexample.

    Parameters
    ----------
    observations : ObservationTree
        Whom to ask.
    access : sequence of int
        The node of every state's access word.
    counterexamples : list of Counterexample
        Words after which the hypothesis is wrong.
    runs : list of list of int
        The hypothesis's states along each.
    said : list of int
        The hypothesis's class after each.
    """
    given = zip(counterexamples, runs, said, strict=True)
    searches = [_Search.of(access, *each) for each in given]
    while asked := [search for search in searches if search.high - search.low > 1]:
        ends = [
            _end(observations, access[s.run[s.place]], s.counterexample, s.place) for s in asked
        ]
        for search, class_ in zip(asked, observations.classes_at(ends), strict=True):
            search.narrow(class_)
    return [search.found() for search in searches]


def _end(observations: ObservationTree, node: int, ce: Counterexample, begin: int) -> int:
    """Give the node that the rest of a counterexample leads to."""
    if len(ce.codes) - begin < _LONG:
        for symbol in ce.codes[begin:]:
            node = observations.nodes.step_one(node, symbol)
        return node
    if not ce.suffixes:
        ce.suffixes = observations.suffixes.add_all(ce.codes)
    return observations.nodes.descend_one(node, ce.suffixes[begin], observations.suffixes)
