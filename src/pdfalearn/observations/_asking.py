"""Ask a model, check its answers and note them in the nodes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from pdfalearn.alphabet import shortened
from pdfalearn.arrays.growing import firsts, grown
from pdfalearn.errors import ModelError
from pdfalearn.models.protocol import LanguageModel, SaysUndefined
from pdfalearn.observations._leading import Leader, Led, Ways
from pdfalearn.observations._nodes import NO_HANDLE, UNDEFINED, UNKNOWN, Nodes, NodeTable
from pdfalearn.observations._stored import StoredAnswers
from pdfalearn.observations.answers import Answers, BadRowError

_SPREAD = 8
"""Handles beyond so many times the number of words are too far apart to be counted on."""


@dataclass
class Counts:
    """What the model has been asked so far."""

    words: int = 0
    """Words that were asked for."""
    distributions: int = 0
    """Distributions that were read: with a word's own may come those of its prefixes."""
    batches: list[int] = field(default_factory=list)
    """How many distributions were read at once, each time."""
    stored: int = 0
    """Words that were not asked for, as a store had their answers."""
    audited: int = 0
    """Words that an audit asked for a second time."""
    largest_difference: float = 0.0
    """By how much a probability differed at most the second time."""


class Asker:
    """The only one who calls a model.

    Parameters
    ----------
    model : LanguageModel
        Whom to ask.
    nodes : NodeTable
        The words.
    answers : Answers
        The distributions.
    counts : Counts
        What has been asked.
    """

    def __init__(
        self, model: LanguageModel, nodes: NodeTable, answers: Answers, counts: Counts
    ) -> None:
        self._model = model
        self._nodes = nodes
        self._answers = answers
        self._counts = counts
        self._leader = Leader(model, nodes)
        self._number_of: Nodes = np.empty(0, dtype=np.int64)
        """The number of each handle's answer, where handles are never used again; else negative."""
        self._unchecked: dict[int, list[int]] = {}
        self.stored: StoredAnswers | None = None
        """Answers that need not be asked for."""
        self.on_batch: Callable[[], None] | None = None
        """Called after every batch of answers."""
        self.new: list[Nodes] | None = None
        """If it is a list: the nodes that are answered are added to it."""

    @property
    def _may_repeat(self) -> bool:
        """Whether words may have an answer and no handle."""
        return self.stored is not None or self._leader.has_released

    @property
    def leader(self) -> Leader:
        """Who keeps the handles."""
        return self._leader

    def ask_many(self, nodes: Nodes, ways: Ways | None = None) -> None:
        """Ask for nodes, all of them different and unknown, the ways to which may be known."""
        if self._model.capacity is not None and not self._leader.has_room:
            for begin in range(0, len(nodes), self._model.capacity):
                part = nodes[begin : begin + self._model.capacity]
                self.ask_few(part[self._nodes.classes[part] == UNKNOWN].tolist())
            return
        while len(nodes):
            led = self._leader.lead(nodes, ways)
            self._answer(nodes, led)
            nodes, ways = led.rest, None

    def ask_successors(self, nodes: Nodes, successors: Nodes) -> bool:
        """Ask for all successors of nodes, which have just been made; say whether it could be."""
        led = None if self._may_repeat else self._leader.lead_on(nodes, successors)
        if led is not None:
            self._answer(successors, led)
        return led is not None

    def ask_few(self, nodes: list[int]) -> None:
        """Do what `ask_many` does, for few nodes: less to set up, more for each."""
        while nodes:
            led = self._leader.lead_few(nodes)
            self._answer(np.array(nodes), led)
            nodes = led.rest

    def _answer(self, nodes: Nodes, led: Led[object]) -> None:
        """Read the answers to those of the nodes that the model was led to."""
        if not led.is_whole or self._may_repeat:
            self._answer_some(nodes, led.path)
            return
        self._counts.words += len(nodes)
        if self._model.prefixes_free:
            self._note_answers(led.path, led.handles)
        else:
            self._note_answers(nodes, self._nodes.handles[nodes])

    def _answer_some(self, nodes: Nodes, path: Nodes) -> None:
        """Read the answers to those of the nodes, and of the path, that have handles."""
        table = self._nodes
        read, handles = nodes, table.handles[nodes]
        if handles.min() == NO_HANDLE:
            led = handles != NO_HANDLE
            read, handles = nodes[led], handles[led]
        words = int(np.count_nonzero(handles >= 0))
        if self._model.prefixes_free and len(path):
            new = path
            if self._may_repeat:
                self.look_up(path)
                new = path[table.rows[path] < 0]
            read = table.different(np.concatenate((new, read)))
            handles = table.handles[read]
        if words < len(nodes):
            lost = path[table.handles[path] < 0]
            self._note(lost)
            self._check_undefined(lost.tolist())
            read, handles = read[handles >= 0], handles[handles >= 0]
        self._counts.words += words
        if len(read):
            self._note_answers(read, handles)

    def _note_answers(self, nodes: Nodes, handles: Nodes) -> None:
        numbers = self._read(handles, nodes)
        self._nodes.rows[nodes] = numbers
        self._nodes.classes[nodes] = self._answers.classes[numbers]
        self._note(nodes)
        if self._unchecked:
            self._check_late(nodes)
        if self.on_batch is not None:
            self.on_batch()

    def undefined_after(self, nodes: Nodes) -> NDArray[np.bool_] | None:
        """Say after which symbols answered words are undefined; None if the model cannot say."""
        model, rest = self._model, nodes
        if not isinstance(model, SaysUndefined) or self._model.capacity is not None:
            return None
        while len(rest):
            rest = self._leader.lead(rest).rest
        handles = self._nodes.handles[nodes]
        if handles.min() < 0:  # a store has answers that the model contradicts
            return None
        undefined = model.undefined_after(handles)
        rows = self._answers.rows[self._nodes.rows[nodes]]
        for place, symbol in np.argwhere(undefined & (rows[:, 1:] > 0))[:1].tolist():
            self._check_zero(int(nodes[place]), symbol)
        return undefined

    def _check_undefined(self, nodes: list[int]) -> None:
        """Refuse undefined words whose last symbol has a positive probability."""
        for node in nodes:
            parent, symbol = self._nodes.parent[node], self._nodes.last_symbol[node]
            if self._nodes.class_at[parent] == UNKNOWN:
                self._unchecked.setdefault(parent, []).append(symbol)
            elif self._nodes.class_at[parent] != UNDEFINED:
                self._check_zero(parent, symbol)

    def _check_zero(self, node: int, symbol: int) -> None:
        probability = float(self._answers.rows[self._nodes.rows[node], symbol + 1])
        if probability > 0:
            name = self._model.alphabet.symbols[symbol]
            raise ModelError(
                f"after the word {shortened(self._word(node))} the model gives the symbol {name!r} "
                f"probability {probability}, but says that the word is undefined with it"
            )

    def _check_late(self, nodes: Nodes | list[int]) -> None:
        """Make up for checks of undefined words whose parents were not known at the time."""
        for node in self._unchecked.keys() & set(map(int, nodes)):
            for symbol in self._unchecked.pop(node):
                self._check_zero(node, symbol)

    def _read(self, handles: Nodes, nodes: Nodes) -> Nodes:
        """Read distributions; give their numbers among the answers."""
        numbers = self._numbers(handles, nodes)
        self._counts.distributions += len(nodes)
        self._counts.batches.append(len(nodes))
        return numbers

    def _numbers(self, handles: Nodes, nodes: Nodes) -> Nodes:
        if self._model.capacity is not None or not self._reach(int(handles.max())):
            return self._add(handles, nodes)
        # Equal handles have equal answers: only the first of each is to be read.
        numbers = self._number_of[handles]
        unread = (numbers < 0).nonzero()[0]
        if len(unread):
            handles = handles[unread]
            first = firsts(self._number_of, handles)
            new = handles[first]
            self._number_of[new] = self._add(new, nodes[unread[first]])
            numbers[unread] = self._number_of[handles]
        return numbers

    def _reach(self, handle: int) -> bool:
        """Make room for the answers of handles, unless they are too large for an array."""
        if handle > _SPREAD * self._nodes.size:
            return False
        self._number_of = grown(self._number_of, handle + 1)
        return True

    def _add(self, handles: Nodes, nodes: Nodes) -> Nodes:
        rows = self._model.distributions(handles)
        try:
            return self._answers.add(rows, len(nodes))
        except BadRowError as error:
            word = shortened(self._word(int(nodes[error.place])))
            raise ModelError(f"the model's answer to the word {word}: {error}") from error

    def look_up(self, nodes: Nodes) -> int:
        """Answer nodes from the store as far as it goes; give how many have a distribution."""
        if not self.stored:
            return 0
        nodes = nodes[self._nodes.classes[nodes] == UNKNOWN]
        found = self.stored.find(nodes)
        self._nodes.mark_undefined(found.undefined)
        numbers = self._answers.add(found.rows, len(found.rows))
        self._nodes.rows[found.answered] = numbers
        self._nodes.classes[found.answered] = self._answers.classes[numbers]
        if self._unchecked:
            self._check_late(found.answered)
        return len(found.answered)

    def _note(self, nodes: Nodes | list[int]) -> None:
        if self.new is not None:
            self.new.append(np.array(nodes, dtype=np.int64))

    def _word(self, node: int) -> tuple[object, ...]:
        return self._model.alphabet.decode(self._nodes.word(node))
