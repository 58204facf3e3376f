"""The observation tree: every word that has been thought of, with the model's answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from pdfalearn.alphabet import shortened
from pdfalearn.budgets import Budget
from pdfalearn.equivalence.relations import Equivalence
from pdfalearn.errors import ModelError
from pdfalearn.models.protocol import LanguageModel
from pdfalearn.observations._again import RestlessError, largest_difference
from pdfalearn.observations._leading import Leader
from pdfalearn.observations._meter import Meter
from pdfalearn.observations._nodes import UNDEFINED, UNKNOWN, Nodes, NodeTable
from pdfalearn.observations.answers import Answers, BadRowError
from pdfalearn.observations.suffixes import Suffixes

Classes = NDArray[np.int64]

_FEW = 48
"""Below this many words, one after the other is faster than array passes."""
_PART = 1024
"""So many words at most are asked at once where there is a budget or a store."""
_WIDE = 8
"""Beyond this many symbols, no distribution is read twice for words that share a handle."""

UNBOUNDED = Budget()

__all__ = ["UNDEFINED", "Counts", "Nodes", "ObservationTree"]


@dataclass
class Counts:
    """What the model has been asked so far."""

    words: int = 0
    """Words that were asked for."""
    distributions: int = 0
    """Distributions that were read: with a word's own may come those of its prefixes."""
    batches: list[int] = field(default_factory=list)
    """The size of every call for distributions; words that share a handle may count once."""
    audited: int = 0
    """Words that an audit asked for a second time."""
    largest_difference: float = 0.0
    """By how much a probability differed at most the second time."""


class ObservationTree:
    """The tree of words, and the only one who asks the model.

    A node is a word; node 0 is the empty one. Nodes are made freely; the model is asked only for
    classes, and for each word at most once. All its answers are checked here.

    Parameters
    ----------
    model : LanguageModel
        Whom to ask.
    by : Equivalence
        When two distributions are in the same class.
    budget : Budget
        How much may be asked.
    """

    def __init__(self, model: LanguageModel, by: Equivalence, budget: Budget = UNBOUNDED) -> None:
        self.model = model
        self.by = by
        self.counts = Counts()
        self.nodes = NodeTable(len(model.alphabet))
        self.suffixes = Suffixes()
        self.answers = Answers(by, len(model.alphabet) + 1)
        self.meter = Meter(budget)
        self._leader = Leader(model, self.nodes)
        self._in_parts = not budget.is_unbounded
        self._may_repeat = model.capacity is not None
        """Whether words may have an answer and no handle."""
        self.on_batch: Callable[[], None] | None = None
        """Called after every batch of answers."""
        self._unchecked: dict[int, list[int]] = {}

    def __len__(self) -> int:
        return self.nodes.size

    @property
    def symbols(self) -> int:
        """How many symbols the model has been led through."""
        return self._leader.symbols

    def word(self, node: int) -> tuple[object, ...]:
        """Give a node's word."""
        return self.model.alphabet.decode(self.nodes.word(node))

    def rows(self, nodes: Nodes) -> NDArray[np.float64]:
        """Give the distributions of nodes that have been asked for."""
        return self.answers.rows[self.nodes.rows[nodes]]

    def arc_label(self, class_: int) -> tuple[float, ...] | None:
        """Give the key of a class, such as its quantization vector; None for undefined."""
        return None if class_ == UNDEFINED else self.answers.keys[class_]

    def classes(self, nodes: Nodes, suffixes: Nodes) -> Classes:
        """Give the class after every node's word and a suffix, asking for those not known."""
        ends = self.nodes.descend(nodes, suffixes, self.suffixes)
        classes = self.nodes.classes[ends]
        unknown = classes == UNKNOWN
        if unknown.any():
            self._ask(self.nodes.different(ends[unknown]))
            classes = self.nodes.classes[ends]
        return classes.astype(np.int64)

    def classes_of_few(self, nodes: list[int], suffixes: list[int]) -> list[int]:
        """Give what `classes` gives, for few words: less to set up, more for each."""
        descend, table = self.nodes.descend_one, self.suffixes
        return self.classes_at(
            [descend(node, suffix, table) for node, suffix in zip(nodes, suffixes, strict=True)]
        )

    def classes_at(self, nodes: list[int]) -> list[int]:
        """Give the class of every node's word, asking for those not known."""
        class_at = self.nodes.class_at
        unknown = list(dict.fromkeys([node for node in nodes if class_at[node] == UNKNOWN]))
        if self._in_parts or len(unknown) >= _FEW:
            self._ask(np.array(unknown, dtype=np.int64))
        else:
            self._ask_few(unknown)
        return [class_at[node] for node in nodes]

    def known_class(self, node: int, suffix: int) -> int | None:
        """Give the class after a node's word and a suffix, or None if it has not been asked for."""
        end = self.nodes.descend_one(node, suffix, self.suffixes)  # this may move the columns
        class_ = self.nodes.class_at[end]
        return None if class_ == UNKNOWN else class_

    def _ask(self, nodes: Nodes) -> None:
        """Ask for nodes, all of them different and unknown."""
        if not self._in_parts:
            self._ask_many(nodes)
            return
        while len(nodes):
            part = self.meter.allowed(self, nodes)[:_PART]
            if len(part) < _FEW:
                self._ask_few(part.tolist())
            else:
                self._ask_many(part)
            nodes = nodes[self.nodes.classes[nodes] == UNKNOWN]

    def _ask_many(self, nodes: Nodes) -> None:
        if self.model.capacity is not None:
            for begin in range(0, len(nodes), self.model.capacity):
                part = nodes[begin : begin + self.model.capacity]
                self._ask_few(part[self.nodes.classes[part] == UNKNOWN].tolist())
            return
        while len(nodes):
            path, rest = self._leader.lead(nodes)
            asked = nodes[~np.isin(nodes, rest)] if len(rest) else nodes
            read = asked
            if self.model.prefixes_free and len(path):
                new = path[self.nodes.rows[path] < 0] if self._may_repeat else path
                read = self.nodes.different(np.concatenate((new, asked)))
            defined = self.nodes.handles[read] >= 0
            if not (len(read) and defined.all()):
                self._check_undefined(path[self.nodes.handles[path] < 0].tolist())
                read = read[defined]
                asked = asked[self.nodes.handles[asked] >= 0]
            self.counts.words += len(asked)
            if len(read):
                numbers = self._read(self.nodes.handles[read], read)
                self.nodes.rows[read] = numbers
                self.nodes.classes[read] = self.answers.classes[numbers]
                if self._unchecked:
                    self._check_late(read)
            nodes = rest

    def _ask_few(self, nodes: list[int]) -> None:
        """Do what `_ask` does, for few nodes: less to set up, more for each."""
        handle_at, class_at = self.nodes.handle_at, self.nodes.class_at
        while nodes:
            path, rest = self._leader.lead_few(nodes)
            if self._may_repeat:
                path = [node for node in path if self.nodes.row_at[node] < 0]
            waiting = set(rest)
            asked = [node for node in nodes if node not in waiting]
            read = asked
            if self.model.prefixes_free:
                read = path if path == asked else list(dict.fromkeys([*path, *asked]))
            handles = [handle_at[node] for node in read]
            if min(handles, default=-1) < 0:
                self._check_undefined([node for node in path if handle_at[node] < 0])
                read = [node for node in read if handle_at[node] >= 0]
                asked = [node for node in asked if handle_at[node] >= 0]
                handles = [handle_at[node] for node in read]
            self.counts.words += len(asked)
            if read:
                numbers = self._read(np.array(handles), read).tolist()
                row_at, class_of = self.nodes.row_at, self.answers.classes.data
                for node, number in zip(read, numbers, strict=True):
                    row_at[node] = number
                    class_at[node] = class_of[number]
                if self._unchecked:
                    self._check_late(read)
            nodes = rest

    def _check_undefined(self, nodes: list[int]) -> None:
        """Refuse undefined words whose last symbol has a positive probability."""
        for node in nodes:
            parent, symbol = self.nodes.parent[node], self.nodes.last_symbol[node]
            if self.nodes.class_at[parent] == UNKNOWN:
                self._unchecked.setdefault(parent, []).append(symbol)
            elif self.nodes.class_at[parent] != UNDEFINED:
                self._check_zero(parent, symbol)

    def _check_zero(self, node: int, symbol: int) -> None:
        probability = float(self.answers.rows[self.nodes.rows[node], symbol + 1])
        if probability > 0:
            name = self.model.alphabet.symbols[symbol]
            raise ModelError(
                f"after the word {shortened(self.word(node))} the model gives the symbol {name!r} "
                f"probability {probability}, but says that the word is undefined with it"
            )

    def _check_late(self, nodes: Nodes | list[int]) -> None:
        """Make up for checks of undefined words whose parents were not known at the time."""
        for node in self._unchecked.keys() & set(map(int, nodes)):
            for symbol in self._unchecked.pop(node):
                self._check_zero(node, symbol)

    def _read(self, handles: Nodes, nodes: Nodes | list[int]) -> Nodes:
        """Read distributions; give their numbers among the answers."""
        self.counts.distributions += len(nodes)
        if self.nodes.symbols > _WIDE:
            # Equal handles have equal answers, and rows this wide are not to be handled twice.
            handles, places, back = np.unique(handles, return_index=True, return_inverse=True)
            return self._numbers(handles, [int(nodes[place]) for place in places])[back]
        return self._numbers(handles, nodes)

    def _numbers(self, handles: Nodes, nodes: Nodes | list[int]) -> Nodes:
        rows = self.model.distributions(handles)
        self.counts.batches.append(len(handles))
        if self.on_batch is not None:
            self.on_batch()
        try:
            return self.answers.add(rows, len(nodes))
        except BadRowError as error:
            word = shortened(self.word(int(nodes[error.place])))
            raise ModelError(f"the model's answer to the word {word}: {error}") from error

    def release_handles(self) -> None:
        """Give all handles back to the model."""
        self._leader.release_all()

    def asked_again(self, words: list[list[int]]) -> list[NDArray[np.float64] | None]:
        """Ask for words from the start, whatever is known; None where one is undefined."""
        return self._leader.distributions_again(words)

    def audit(self, count: int, seed: int) -> None:
        """Ask for a sample of words again, and refuse a model that answers differently.

        Parameters
        ----------
        count : int
            How many words, at most; they are counted apart. Undefined words are left alone.
        seed : int
            Seed of the sample.
        """
        asked = (self.nodes.rows[: self.nodes.size] >= 0).nonzero()[0]
        random = np.random.default_rng(seed)
        sample = np.sort(random.choice(asked, min(count, len(asked)), replace=False))
        if not len(sample):
            return
        words = [self.nodes.word(node) for node in sample.tolist()]
        before, again = self.rows(sample), self._leader.distributions_again(words)
        try:
            difference = largest_difference(self.by, before, again)
        except RestlessError as error:
            word = shortened(self.word(int(sample[error.place])))
            raise ModelError(
                f"the model answers differently the second time to the word {word}: {error}"
            ) from error
        self.counts.audited += len(sample)
        self.counts.largest_difference = max(self.counts.largest_difference, difference)
