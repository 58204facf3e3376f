"""The observation tree: every word that has been thought of, with the model's answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from pdfalearn._checks import SUM_TOLERANCE
from pdfalearn.alphabet import shortened
from pdfalearn.equivalence.relations import Equivalence
from pdfalearn.errors import ModelError
from pdfalearn.models.protocol import LanguageModel
from pdfalearn.observations._leading import Leader
from pdfalearn.observations._nodes import UNDEFINED, UNKNOWN, Nodes, NodeTable
from pdfalearn.observations.answers import Answers, BadRowError
from pdfalearn.observations.suffixes import Suffixes

Classes = NDArray[np.int64]

_FEW = 48
"""Below this many words, one after the other is faster than array passes."""
_WIDE = 8
"""Beyond this many symbols, no distribution is read twice for words that share a handle."""

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
    """

    def __init__(self, model: LanguageModel, by: Equivalence) -> None:
        self.model = model
        self.by = by
        self.counts = Counts()
        self.nodes = NodeTable(len(model.alphabet))
        self.suffixes = Suffixes()
        self.answers = Answers(by, len(model.alphabet) + 1)
        self._leader = Leader(model, self.nodes)
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
        if len(unknown) < _FEW:
            self._ask_few(unknown)
        else:
            self._ask(np.array(unknown))
        return [class_at[node] for node in nodes]

    def known_class(self, node: int, suffix: int) -> int | None:
        """Give the class after a node's word and a suffix, or None if it has not been asked for."""
        end = self.nodes.descend_one(node, suffix, self.suffixes)  # this may move the columns
        class_ = self.nodes.class_at[end]
        return None if class_ == UNKNOWN else class_

    def _ask(self, nodes: Nodes) -> None:
        """Ask for nodes, all of them different and unknown."""
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
                read = self.nodes.different(np.concatenate((path, asked)))
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
            if self.model.capacity is not None:
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
        again = self._leader.distributions_again(
            [self.nodes.word(node) for node in sample.tolist()]
        )
        for node, before, now in zip(sample.tolist(), self.rows(sample), again, strict=True):
            if now is None or not self._same_class(before, now):
                raise ModelError(
                    "the model answers differently the second time to the word "
                    f"{shortened(self.word(node))}: {shortened(before.tolist())}, "
                    f"then {_row_text(now)}; is anything in it random?"
                )
        self.counts.audited += len(sample)

    def _same_class(self, before: NDArray[np.float64], now: NDArray[np.float64]) -> bool:
        if np.array_equal(before, now):
            return True
        if before.shape != now.shape or now.dtype.kind not in "iuf":
            return False
        if not (now.min() >= -1e-12 and abs(float(now.sum()) - 1) <= SUM_TOLERANCE):
            return False
        old, new = self.by.classes(np.stack((before, np.maximum(now, 0.0)))).tolist()
        return bool(old == new)


def _row_text(row: NDArray[np.float64] | None) -> str:
    return "undefined" if row is None else shortened(row.tolist())
