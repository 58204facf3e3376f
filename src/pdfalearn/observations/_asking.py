"""Ask a model, check its answers and note them in the nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from pdfalearn.alphabet import shortened
from pdfalearn.arrays.growing import firsts, grown
from pdfalearn.errors import ModelError
from pdfalearn.models.checking import checked_possible, checked_rows
from pdfalearn.models.protocol import LanguageModel, Mask
from pdfalearn.observations._answers import Answers
from pdfalearn.observations._consistency import Consistency
from pdfalearn.observations._leading import Leader, Led
from pdfalearn.observations._nodes import NO_HANDLE, UNDEFINED, UNKNOWN, Nodes, NodeTable
from pdfalearn.observations._stored import StoredAnswers
from pdfalearn.row_checks import BadRowError, UndecidedError
from pdfalearn.rows import Floats, Rows
from pdfalearn.words import Words

_MOST_BYTES = 2**26
"""Distributions that are read at once take at most this many bytes."""
_SPREAD = 8
"""Handles beyond this many times the number of words are too far apart to be counted on."""


@dataclass
class Counts:
    """What the model has been asked so far."""

    words: int = 0
    """Words that were asked for."""
    distributions: int = 0
    """Distributions that were read: with a word's own may come those of its prefixes."""
    batches: list[int] = field(default_factory=list)
    """How many distributions were read at once, each time."""
    cached_symbols: int = 0
    """Symbols of words that the model had been led through before."""
    stored: int = 0
    """Words that were not asked for, as a store had their answers."""
    audited: int = 0
    """Words that an audit asked for a second time."""
    audited_symbols: int = 0
    """The symbols that it led the model through."""
    audits: int = 0
    """How many audits there were."""
    largest_difference: float = 0.0
    """By how much a probability differed at most the second time."""
    outside: float = 0.0
    """The sum of the mass outside of the alphabet over all distributions where it is known. Stores
    do not keep it: with a store, words that an audit asked for count as well."""
    outside_known: int = 0
    """The number of these."""
    largest_outside: float = 0.0
    """The largest mass outside of the alphabet."""

    @property
    def outside_details(self) -> dict[str, object]:
        """What a certificate says about the mass outside of the alphabet, if there is any."""
        if not self.outside_known:
            return {}
        return {
            "outside": {
                "mean": self.outside / self.outside_known,
                "largest": self.largest_outside,
                "distributions": self.outside_known,
                "unknown": max(0, self.distributions + self.stored - self.outside_known),
            }
        }

    def note_outside(self, outside: Floats) -> None:
        """Count the mass outside of the alphabet beside distributions; NaN where not known."""
        known = outside[~np.isnan(outside)]
        self.outside += float(known.sum())
        self.outside_known += len(known)
        self.largest_outside = max(self.largest_outside, float(known.max(initial=0.0)))


def _go_on() -> None:
    """Do nothing: there is no bound on the time."""


class Asker:
    """Asks the model; nothing else calls it.

    Parameters
    ----------
    model : LanguageModel
        The model to ask.
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
        self.leader = Leader(model, nodes)
        """Who keeps the handles."""
        self._prefixes_free = model.cost.prefix == 0
        self._at_once = max(1, _MOST_BYTES // (8 * answers.width))
        self._number_of: Nodes = np.empty(0, dtype=np.int64)
        """The number of each shared handle's answer; negative where it is not known."""
        self._consistency = Consistency(model.alphabet, nodes, answers, self._note)
        self.rule_out = self._consistency.rule_out
        """Leaves out words that are undefined as sparse rows do not list a symbol."""
        self.stored: StoredAnswers | None = None
        """Answers that need not be asked for."""
        self.check_time: Callable[[], None] = _go_on
        """Called between the parts of a batch, to stop if the time is up."""
        self.on_batch: Callable[[], None] | None = None
        """Called after every batch of answers."""
        self.new: list[Nodes] | None = None
        """If it is a list: the nodes that are answered are added to it."""

    @property
    def _may_repeat(self) -> bool:
        """Whether words may have an answer and no handle."""
        return self.stored is not None or self.leader.has_released

    def ask_many(self, nodes: Nodes) -> None:
        """Ask for nodes, all of them different and unknown."""
        self.leader.start()
        room = self.leader.room
        if room is not None and not self.leader.has_room:
            for begin in range(0, len(nodes), room):
                part = nodes[begin : begin + room]
                self.ask_few(part[self._nodes.classes[part] == UNKNOWN].tolist())
            return
        while len(nodes):
            led = self.leader.lead(nodes)
            self._answer(nodes, led)
            nodes = led.rest
            if len(nodes):
                self.check_time()

    def ask_once(self, nodes: Nodes) -> None:
        """Ask for those of the nodes that can be read at once."""
        self.leader.start()
        nodes = nodes[: self._at_once]
        if self.leader.room is None:
            self._answer(nodes, self.leader.lead(nodes))
        else:
            self._answer(nodes, self.leader.lead_few(nodes.tolist()))

    def ask_few(self, nodes: list[int]) -> None:
        """Do what `ask_many` does, for few nodes: less to set up, more for each."""
        self.leader.start()
        if self.leader.is_next_to(nodes):
            self.ask_many(np.array(nodes))
            return
        while nodes:
            led = self.leader.lead_few(nodes)
            self._answer(np.array(nodes), led)
            nodes = led.rest.tolist()
            if nodes:
                self.check_time()

    def _answer(self, nodes: Nodes, led: Led) -> None:
        """Read the answers to those of the nodes that the model was led to."""
        if self._model.cost.cached_symbol:
            self._counts.cached_symbols += int(self._nodes.depths(nodes).sum()) - len(led.path)
        if not led.is_whole or self._may_repeat:
            self._answer_some(nodes, led.path)
            return
        self._counts.words += len(nodes)
        if self._prefixes_free:
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
        if self._prefixes_free and len(path):
            new = path
            if self._may_repeat:
                self.look_up(path)
                new = path[table.rows[path] < 0]
            read = table.different(np.concatenate((new, read)))
            handles = table.handles[read]
        if words < len(nodes):
            lost = path[table.handles[path] < 0]
            self._note(lost)
            self._consistency.check_undefined(lost.tolist())
            read, handles = read[handles >= 0], handles[handles >= 0]
        self._counts.words += words
        if len(read):
            self._note_answers(read, handles)

    def _note_answers(self, nodes: Nodes, handles: Nodes) -> None:
        if self.leader.is_shared or len(nodes) <= self._at_once:
            self._note_part(nodes, handles)
            return
        for begin in range(0, len(nodes), self._at_once):
            if begin:
                self.check_time()
            part = slice(begin, begin + self._at_once)
            self._note_part(nodes[part], handles[part])

    def _note_part(self, nodes: Nodes, handles: Nodes) -> None:
        numbers = self._numbers(handles, nodes)
        self._counts.distributions += len(nodes)
        self._counts.batches.append(len(nodes))
        if numbers.min() < 0:
            nodes, numbers = self._without_undefined(nodes, numbers)
        self._nodes.rows[nodes] = numbers
        self._nodes.classes[nodes] = self._answers.classes[numbers]
        self._note(nodes)
        if self._answers.is_sparse:
            self._consistency.check_defined(nodes)
        self._consistency.check_late(nodes)
        if self.on_batch is not None:
            self.on_batch()

    def _without_undefined(self, nodes: Nodes, numbers: Nodes) -> tuple[Nodes, Nodes]:
        """Note the words that the model's rows say are undefined; return the others."""
        is_lost = numbers < 0
        lost = nodes[is_lost]
        if lost.min() == 0:
            raise ModelError("the model says that the empty word is undefined")
        self.leader.give_up(lost)
        self._nodes.mark_undefined(lost)
        self._note(lost)
        self._consistency.check_undefined(lost.tolist())
        return nodes[~is_lost], numbers[~is_lost]

    def _numbers(self, handles: Nodes, nodes: Nodes) -> Nodes:
        """Read distributions; return their numbers among the answers, -1 where undefined."""
        if not self.leader.is_shared or not self._reach(int(handles.max())):
            return self._read(handles, nodes)
        # Equal handles have equal answers: only the first of each is to be read.
        numbers = self._number_of[handles]
        unread = (numbers < 0).nonzero()[0]
        if len(unread):
            handles = handles[unread]
            first = firsts(self._number_of, handles)
            new = handles[first]
            self._number_of[new] = self._read(new, nodes[unread[first]])
            numbers[unread] = self._number_of[handles]
        return numbers

    def _reach(self, handle: int) -> bool:
        """Make room for the answers of handles, unless they are too large for an array."""
        if handle > _SPREAD * self._nodes.size:
            return False
        self._number_of = grown(self._number_of, handle + 1)
        return True

    def _read(self, handles: Nodes, nodes: Nodes) -> Nodes:
        most = self._at_once
        if len(handles) > most:
            parts = [slice(begin, begin + most) for begin in range(0, len(handles), most)]
            return np.concatenate([self._read(handles[part], nodes[part]) for part in parts])
        try:
            given = self.leader.session.read(handles)
            return self._added(checked_rows(given, len(handles), self._answers.width))
        except (BadRowError, UndecidedError) as error:
            word = shortened(self.word(int(nodes[error.place])))
            raise ModelError(f"the model's answer to the word {word}: {error}") from error

    def _added(self, rows: Rows) -> Nodes:
        if rows.is_sparse:
            # Twice the largest batch so far: how much is listed may differ from word to word.
            row_bytes = max(64, 2 * rows.nbytes // max(1, len(rows)))
            self._at_once = max(1, _MOST_BYTES // row_bytes)
        if rows.outside is not None:
            self._count_outside(rows.outside)
        if rows.undefined is None:
            return self._answers.add(rows)
        numbers = np.full(len(rows), UNDEFINED, dtype=np.int64)
        defined = (~rows.undefined).nonzero()[0]
        if len(defined):
            try:
                numbers[defined] = self._answers.add(rows.take(defined))
            except (BadRowError, UndecidedError) as error:
                error.place = int(defined[error.place])
                raise
        return numbers

    def _count_outside(self, outside: Floats) -> None:
        if (outside < 0).any():
            place = int((outside < 0).argmax())
            raise BadRowError("the mass outside of the alphabet is negative", place)
        self._counts.note_outside(outside)

    def possible(self, nodes: Nodes) -> Mask | Words | None:
        """Return which symbols may follow answered words; None if nothing is known."""
        if self._answers.is_sparse:
            return self._listed(nodes)
        if self.leader.room is not None:
            return None
        self.leader.start()
        rest = nodes
        while len(rest):
            rest = self.leader.lead(rest).rest
        handles = self._nodes.handles[nodes]
        if handles.min() < 0:  # a store has answers that the model contradicts
            return None
        given = self.leader.session.possible(handles)
        possible = checked_possible(given, len(nodes), self._answers.width - 1)
        if possible is not None:
            numbers = self._nodes.rows[nodes].astype(np.int64)
            for place, symbol in self._excluded(numbers, possible):
                self._consistency.check_agrees(int(nodes[place]), symbol, is_defined=False)
        return possible

    def _excluded(self, numbers: Nodes, possible: Mask | Words) -> Iterator[tuple[int, int]]:
        """Find a symbol that is impossible and has a positive probability."""
        for begin in range(0, len(numbers), self._at_once):
            part = slice(begin, begin + self._at_once)
            wrong = self._answers.dense(numbers[part])[:, 1:] > 0
            if isinstance(possible, Words):
                listed = possible.part(begin, begin + len(wrong))
                wrong[np.repeat(np.arange(len(wrong)), listed.lengths), listed.symbols] = False
            else:
                wrong &= ~possible[part]
            if wrong.any():
                place, symbol = np.argwhere(wrong)[0].tolist()
                yield begin + place, symbol
                return

    def _listed(self, nodes: Nodes) -> Words | None:
        """Return the symbols that sparse rows list; all of them where there is a rest."""
        rows = self._answers.rows(self._nodes.rows[nodes].astype(np.int64))
        if rows.rest is not None and rows.rest.any():
            return None
        columns, offsets = rows.columns, rows.offsets
        if columns is None or offsets is None:
            return None
        return Words(columns[columns > 0] - 1, offsets - np.arange(len(offsets)))

    def look_up(self, nodes: Nodes) -> int:
        """Answer nodes from the store as far as it goes; return how many have a distribution."""
        if not self.stored:
            return 0
        nodes = nodes[self._nodes.classes[nodes] == UNKNOWN]
        found = self.stored.find(nodes)
        self._nodes.mark_undefined(found.undefined)
        try:
            numbers = self._answers.add(found.rows)
        except (BadRowError, UndecidedError) as error:
            word = shortened(self.word(int(found.answered[error.place])))
            raise ModelError(f"the stored answer to the word {word}: {error}") from error
        self._nodes.rows[found.answered] = numbers
        self._nodes.classes[found.answered] = self._answers.classes[numbers]
        self._consistency.check_late(found.answered)
        return len(found.answered)

    def _note(self, nodes: Nodes | list[int]) -> None:
        if self.new is not None:
            self.new.append(np.array(nodes, dtype=np.int64))

    def word(self, node: int) -> tuple[object, ...]:
        """Return a node's word."""
        return self._model.alphabet.decode(self._nodes.word(node))
