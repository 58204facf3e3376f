"""The one path of asking: plan a batch, ask the model, note the answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from pdfalearn.errors import ModelError
from pdfalearn.models.batch import Batch
from pdfalearn.models.opened import Interrupts, close_quietly, open_model
from pdfalearn.models.protocol import LanguageModel, attached_answers
from pdfalearn.observations.answers import Answers
from pdfalearn.observations.audits import Audits
from pdfalearn.observations.nodes import UNKNOWN, Nodes, NodeTable
from pdfalearn.observations.noting import Notes
from pdfalearn.observations.planning import Counts, Meter, plan_batch
from pdfalearn.rows import Rows

if TYPE_CHECKING:
    from pdfalearn.stores.answers import ModelAnswers

_LARGEST_BATCH = 2**16
"""Batches have at most this many words."""
_LOST_AT_MOST = 1024
"""Where a budget or a store counts words that cost something, batches have at most this many."""
_SENT_AT_MOST = 256
"""Where moreover every distribution is a question of its own, as to a server."""
_WORDS_A_SECOND = 16
"""Where seconds are bounded, batches have this many words for each, so that they end in time."""
_MOST_BYTES = 2**26
"""The rows of a batch take at most this many bytes."""
_MOST_SYMBOLS = 2**20
"""The words of a batch, written out, have at most about this many symbols together."""
_ASKED_AGAIN = 4
"""When a store is opened, this many of its words are asked again."""
_SAME = 1e-3
"""Two answers to one word that differ by more than this are not those of one model."""


class Asker:
    """Asks a model for words; nothing else calls it.

    Parameters
    ----------
    model : LanguageModel
        The model.
    nodes : NodeTable
        The words.
    answers : Answers
        The distributions.
    meter : Meter
        What the budget allows.
    audits : Audits
        What asks again now and then.
    counts : Counts
        What has been asked.
    interrupts : Interrupts
        What holds a Ctrl-C back while nothing may be left half done.
    """

    def __init__(
        self,
        model: LanguageModel,
        nodes: NodeTable,
        answers: Answers,
        meter: Meter,
        audits: Audits,
        counts: Counts,
        interrupts: Interrupts,
    ) -> None:
        self._model = model
        self._nodes = nodes
        self._answers = answers
        self._meter = meter
        self._audits = audits
        self._counts = counts
        self._interrupts = interrupts
        self._notes = Notes(model.alphabet, nodes, answers, counts)
        self._prefixes_free = model.cost.prefix == 0
        self._undefined_free = self._prefixes_free or model.is_constrained
        """Whether the row before an undefined word, or a guide, says so for nothing."""
        self._at_once = max(1, _MOST_BYTES // (8 * answers.width))
        # What a server has answered is noted soon, as it may fail for good in the next batch.
        self._in_parts = meter.budget.bounds_words or model.cost.cached_symbol > 0
        self._stored: ModelAnswers | None = None
        self.on_batch: Callable[[], None] | None = None
        """Called after every batch of answers."""
        self._opened: LanguageModel | None = None
        self._open()

    def _open(self) -> LanguageModel:
        if self._opened is None:
            self._interrupts.check()
            self._interrupts.is_calling = True
            try:
                self._opened = open_model(self._model)
            finally:
                self._interrupts.is_calling = False
        return self._opened

    def close(self) -> str | None:
        """Close the model, once; return a note if that went wrong."""
        opened, self._opened = self._opened, None
        return None if opened is None else close_quietly(opened)

    def ask(self, nodes: Nodes) -> None:
        """Ask for those of the nodes that are not known, in batches."""
        nodes = nodes[self._nodes.classes[nodes] == UNKNOWN]
        if not len(nodes):
            return
        nodes = self._nodes.different(nodes) if len(nodes) > 1 else nodes
        self._meter.check_guard(self._nodes.nbytes + self._answers.nbytes)
        size = self._batch_size()
        for begin in range(0, len(nodes), size):
            part = nodes[begin : begin + size]
            if begin:
                part = part[self._nodes.classes[part] == UNKNOWN]
            part = self._notes.rule_out(part)
            if not self._in_parts:
                if len(part):
                    self._send(part)
                continue
            part = self._look_up(part)
            while len(part):
                where = self._model.alphabet.decode(self._nodes.word(int(part[0])))
                self._send(self._meter.allowed(part, where))
                part = part[self._nodes.classes[part] == UNKNOWN]
        self._audits.audit_if_due()

    def _batch_size(self) -> int:
        """Return how many words may be asked for in a batch."""
        if not self._in_parts or self._model.cost.is_free:
            return _LARGEST_BATCH
        most = _LOST_AT_MOST if self._prefixes_free else _SENT_AT_MOST
        seconds = self._meter.budget.max_seconds
        if seconds is None:
            return most
        return int(min(most, max(_WORDS_A_SECOND, _WORDS_A_SECOND * seconds)))

    def _send(self, nodes: Nodes) -> None:
        """Plan a batch that asks for nodes, ask the model, and note what it answers."""
        batch = plan_batch(self._nodes, nodes, prefixes_free=self._prefixes_free)
        opened = self._opened or self._open()
        for part in self._parts(batch, opened):
            if part is not batch:
                self._meter.check_seconds()
            self._interrupts.check()
            self._interrupts.is_calling = True
            try:
                rows = opened.answer(part)
            except BaseException as error:
                self._interrupts.is_calling = False
                self._salvage(error, nodes)
                raise
            self._interrupts.is_calling = False
            self._note(part.ids, part.wanted_ids, rows, nodes, is_part=part is not batch)

    def _parts(self, batch: Batch, opened: LanguageModel) -> Iterable[Batch]:
        """Cut a batch into parts whose rows, and whose symbols, are not too many."""
        if opened.needs_prefixes:
            return self._levels(batch)
        begins = range(0, batch.count, self._at_once)
        more: Nodes | list[int] = []
        if not self._prefixes_free:  # words are written out for the model
            lengths = self._nodes.lengths[batch.wanted_ids]
            if lengths.sum() > _MOST_SYMBOLS:
                symbols = np.cumsum(lengths, dtype=np.int64)
                more = np.diff(symbols // _MOST_SYMBOLS).nonzero()[0] + 1
        if len(begins) == 1 and not len(more):
            return [batch]
        cuts = np.union1d(begins, more).astype(np.int64)[1:]
        return map(batch.select, np.split(np.arange(batch.count), cuts))

    def _levels(self, batch: Batch) -> Iterator[Batch]:
        """Cut a batch by levels: each is asked when the answers to the one before are noted."""
        for places in batch.levels():
            ids = self._notes.rule_out(batch.ids[places[batch.wanted[places]]])
            for begin in range(0, len(ids), self._at_once):
                part = ids[begin : begin + self._at_once]
                yield Batch.of_ids(part, np.ones(len(part), dtype=bool), batch.lineage)

    def _salvage(self, error: BaseException, asked: Nodes) -> None:
        """Note what a batch that failed has answered; throw away the model's opened state."""
        self.close()
        partial = attached_answers(error)
        if partial is None or not len(partial.ids):
            return
        order = np.argsort(partial.ids)
        ids = partial.ids[order]
        try:
            self._note(ids, ids, partial.rows.take(order), asked, is_part=True)
        except Exception as second:
            error.add_note(f"what was answered before could not be kept: {second}")

    def _note(
        self, ids: Nodes, answered: Nodes, rows: Rows, asked: Nodes, *, is_part: bool
    ) -> None:
        """Count and keep answers.

        Parameters
        ----------
        ids, answered : array of int
            The words of a batch, and those of them that have an answer.
        rows : Rows
            The answers.
        asked : array of int
            The words that were asked for by themselves.
        is_part : bool
            Whether other parts of the batch answer some of these.
        """
        table, counts = self._nodes, self._counts
        if rows.is_sparse:
            # Twice the largest batch so far: how much is listed may differ from word to word.
            row_bytes = max(64, 2 * rows.nbytes // max(1, len(rows)))
            self._at_once = max(1, _MOST_BYTES // row_bytes)
        symbols = len(ids) - int(np.count_nonzero(table.seen[ids]))
        lost = self._notes.note(answered, rows)
        words = len(asked)
        if is_part or lost:
            counted = answered
            if lost and self._undefined_free and rows.undefined is not None:
                counted = answered[~rows.undefined]
                symbols -= lost
            words = int(np.count_nonzero(np.isin(asked, counted, assume_unique=True)))
        table.seen[ids] = True
        counts.words += words
        counts.symbols += symbols
        counts.distributions += len(answered) - (lost if self._undefined_free else 0)
        counts.batches.append(len(answered))
        if self._model.cost.cached_symbol:
            counts.cached_symbols += int(table.lengths[asked].sum()) - symbols
        if self._stored is not None:
            self._stored.add(table.words(answered), rows.to_signed())
        if self.on_batch is not None:
            self.on_batch()

    # Answers that a store has

    def record(self, stored: ModelAnswers, key: str) -> None:
        """Take answers from a store as if they were asked for, and write all new ones into it.

        A few of the stored words are asked again, to catch a store of another model.
        """
        self._stored = stored
        self._in_parts = True
        words, before = stored.sample(self._meter.opening(_ASKED_AGAIN), seed=0)
        try:
            self._audits.compare(words, before, _SAME)
        except ModelError as error:
            raise ModelError(
                f"{error}. The first are answers that the store holds under the key {key!r}: if "
                "the model is another one, give it another model_id"
            ) from error

    def _look_up(self, nodes: Nodes) -> Nodes:
        """Take the answers that are stored; return the nodes that are still unknown."""
        if self._stored is None or not len(nodes) or not len(self._stored):
            return nodes
        table, wanted = self._nodes, nodes
        if self._prefixes_free:
            above = nodes
            while len(above):
                above = np.unique(table.parents[above]).astype(np.int64)
                above = above[(table.classes[above] == UNKNOWN) & ~np.isin(above, wanted)]
                wanted = np.append(wanted, above)
        wanted = np.sort(wanted)
        places, rows = self._stored.find(table.words(wanted))
        if len(places):
            self._notes.note(wanted[places], rows.from_signed(), "stored")
            self._counts.stored += int(np.count_nonzero(table.classes[nodes] >= 0))
        return np.extract(table.classes[nodes] == UNKNOWN, nodes)
