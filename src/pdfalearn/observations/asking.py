"""The one path of asking: plan a batch, ask the model, note the answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pdfalearn.alphabet import shorten
from pdfalearn.arrays import firsts
from pdfalearn.budgets import BudgetReached
from pdfalearn.errors import ModelError
from pdfalearn.models import (
    FEW,
    Batch,
    Interrupts,
    LanguageModel,
    attached_answers,
    close_quietly,
    open_model,
)
from pdfalearn.observations.answers import Answers
from pdfalearn.observations.audits import Audits
from pdfalearn.observations.metering import Meter
from pdfalearn.observations.nodes import UNKNOWN, Nodes, NodeTable
from pdfalearn.observations.undefined import UndefinedWords
from pdfalearn.row_checks import UndecidedError
from pdfalearn.rows import Rows, SharedRows
from pdfalearn.typing import Floats

if TYPE_CHECKING:
    from pdfalearn.stores import ModelAnswers

# Batches of words that cost nothing have at most this many.
_LARGEST_BATCH = 2**16
# All others have at most this many: larger ones bring nothing, and between two of them progress is
# reported, answers are noted, and Ctrl-C stops.
_LARGEST_PAID_BATCH = 2**13
# Where a budget or a store counts words that cost something, batches have at most this many.
_LOST_AT_MOST = 1024
# Where moreover every distribution is a question of its own, as to a server.
_SENT_AT_MOST = 256
# Where seconds are bounded, batches have this many words for each, so that they end in time.
_WORDS_A_SECOND = 16
# The rows of a batch take at most this many bytes.
_MOST_BYTES = 2**26
# The words of a batch, written out, have at most about this many symbols together.
_MOST_SYMBOLS = 2**20


class Asker:
    """Asks a model for words; only audits ask it besides."""

    def __init__(
        self,
        model: LanguageModel,
        nodes: NodeTable,
        answers: Answers,
        meter: Meter,
        audits: Audits,
        interrupts: Interrupts,
    ) -> None:
        self._model = model
        self._nodes = nodes
        self._answers = answers
        self._meter = meter
        self._audits = audits
        self._counts = meter.counts
        self._interrupts = interrupts
        self._prefixes_free = model.cost.prefix == 0
        # Whether the row before an undefined word, or a guide, says so for nothing.
        self._undefined_free = self._prefixes_free or model.is_constrained
        self._largest_batch = _LARGEST_BATCH if model.cost.is_free else _LARGEST_PAID_BATCH
        self._at_once = max(1, _MOST_BYTES // (8 * answers.width))
        # Whether a budget or a store counts words, or a server gets them: what it has answered is
        # noted soon, as it may fail for good in the next batch.
        self._is_counted = meter.budget.bounds_words or model.cost.cached_symbol > 0
        self._stored: ModelAnswers | None = None
        # The table of shared rows whose numbers among the answers are known.
        self._table: Floats | None = None
        # The number of each of its rows; negative where it is not known.
        self._number_of: Nodes = np.empty(0, dtype=np.int64)
        self._undefined: UndefinedWords | None = None  # None until a word is undefined
        # Called after every batch of answers.
        self.on_batch: Callable[[], None] | None = None
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

    def close(self) -> list[str]:
        """Close the model, once; return notes on what went wrong."""
        opened, self._opened = self._opened, None
        note = None if opened is None else close_quietly(opened)
        return [] if note is None else [note]

    def ask(self, nodes: Nodes) -> None:
        """Ask for those of the nodes that are not known, in batches.

        Nodes are cut here by the size of a batch, in `_send_allowed` by what the budget allows, and
        in `_parts` by what fits in memory, or by levels.
        """
        table = self._nodes
        nodes = table.different(nodes[table.classes[nodes] == UNKNOWN])
        if not len(nodes):
            return
        if self._meter.guard is not None:
            nbytes = table.size * table.node_bytes + self._answers.nbytes
            self._meter.check_guard(self._meter.guard, nbytes)
        size = self._batch_size() if self._is_counted else self._largest_batch
        for begin in range(0, len(nodes), size):
            part = nodes[begin : begin + size]
            if begin:
                part = part[table.classes[part] == UNKNOWN]
            if self._undefined is not None:
                part = self._undefined.rule_out(part)
            if self._is_counted:
                self._send_allowed(self._look_up(part) if not self._meter.is_replayed else part)
            elif len(part):
                self._send(part)
        if self._counts.words >= self._audits.due_at:
            self._audits.audit_on_the_way()

    def _batch_size(self) -> int:
        """Return how many words may be asked for in a batch where a budget or a store counts."""
        if self._model.cost.is_free:
            return _LARGEST_BATCH
        most = _LOST_AT_MOST if self._prefixes_free else _SENT_AT_MOST
        seconds = self._meter.budget.max_seconds
        if seconds is None:
            return most
        return int(min(most, max(_WORDS_A_SECOND, _WORDS_A_SECOND * seconds)))

    def _send_allowed(self, nodes: Nodes) -> None:
        """Ask for nodes, as many at a time as the budget allows."""
        while len(nodes):
            try:
                allowed = self._meter.allowed(nodes)
            except BudgetReached as reached:
                reached.where = self._model.alphabet.decode(self._nodes.word(int(nodes[0])))
                raise
            self._send(allowed)
            nodes = nodes[self._nodes.classes[nodes] == UNKNOWN]

    def _send(self, nodes: Nodes) -> None:
        """Plan a batch that asks for nodes, ask the model, and note what it answers."""
        table = self._nodes
        batch = plan_batch(table, nodes, prefixes_free=self._prefixes_free)
        opened = self._opened or self._open()
        for part in self._parts(batch, opened):
            if part is not batch:
                self._meter.check_seconds()
            self._interrupts.check()
            asked = part
            if self._meter.is_replayed and self._stored is not None:
                asked = self._take_stored(self._stored, part, opened, nodes)
            if len(asked.ids):
                self._interrupts.is_calling = True
                try:
                    with self._meter.keep_time():
                        rows = opened.answer(asked)
                except BaseException as error:
                    self._interrupts.is_calling = False
                    self._salvage(error, nodes)
                    raise
                self._interrupts.is_calling = False
                is_part = part is not batch or asked is not part
                self._note(asked, rows, nodes, is_part=is_part)
            if self._meter.is_replayed:
                free, is_part = self._undefined_free, part is not batch
                self._meter.count_batch(part, nodes, free, is_part=is_part, is_planned=True)

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
            ids = batch.ids[places[batch.wanted[places]]]
            if self._undefined is not None:
                ids = self._undefined.rule_out(ids)
            for begin in range(0, len(ids), self._at_once):
                part = ids[begin : begin + self._at_once]
                above = self._nodes.rows[self._nodes.parents[part]]
                level = Batch.of_ids(part, np.ones(len(part), dtype=bool), batch.lineage)
                # What the rows before exclude is ruled out, also where a store has these rows.
                level.are_possible = bool((above[part > 0] >= 0).all())
                yield level

    def _salvage(self, error: BaseException, asked: Nodes) -> None:
        """Note what a batch that failed has answered; throw away the model's opened state."""
        self.close()
        partial = attached_answers(error)
        if partial is None or not len(partial.ids):
            return
        order = np.argsort(partial.ids)
        ids = partial.ids[order]
        try:
            batch = Batch.of_ids(ids, np.ones(len(ids), dtype=bool), self._nodes.lineage)
            self._note(batch, partial.rows.take(order), asked, is_part=True)
        except Exception as second:
            error.add_note(f"what was answered before could not be kept: {second}")

    def _note(self, batch: Batch, rows: Rows, asked: Nodes, *, is_part: bool) -> None:
        """Count and keep answers to the wanted words of a batch.

        ``asked`` are the words that were asked for by themselves. Other parts of the batch may
        answer some of these.
        """
        answered = batch.wanted_ids
        table = self._nodes
        if rows.is_sparse:
            # Twice the largest batch so far: how much is listed may differ from word to word.
            row_bytes = max(64, 2 * rows.nbytes // max(1, len(rows)))
            self._at_once = max(1, _MOST_BYTES // row_bytes)
        elif isinstance(rows, SharedRows) and self._stored is None:
            self._at_once = _LARGEST_BATCH  # they are numbers, and a store would write them out
        self._keep(answered, rows)
        self._meter.count_batch(batch, asked, self._undefined_free, is_part=is_part)
        if self._stored is not None:
            self._stored.add(table.words(answered), rows.to_signed())
        if self.on_batch is not None:
            self.on_batch()

    def _keep(self, nodes: Nodes, rows: Rows, whose: str = "model's") -> None:
        """Keep the answers to words."""
        if rows.undefined is not None and rows.undefined.any():
            self._note_undefined().note(nodes[rows.undefined])
            defined = (~rows.undefined).nonzero()[0]
            nodes, rows = nodes[defined], rows.take(defined)
            if not len(nodes):
                return
        if rows.outside is not None:
            self._counts.note_outside(rows.outside)
        answers, table = self._answers, self._nodes
        try:
            if isinstance(rows, SharedRows):
                numbers = self._number_shared(rows)
            else:
                numbers = answers.add(rows)
        except UndecidedError as error:
            word = shorten(self._model.alphabet.decode(table.word(int(nodes[error.place]))))
            raise ModelError(f"the {whose} answer to the word {word}: {error}") from error
        table.rows[nodes] = numbers
        table.classes[nodes] = answers.classes[numbers]
        if self._undefined is not None or answers.exclude_some:
            self._note_undefined().check_defined(nodes)
            excluded = answers.impossible_symbols(numbers)
            if excluded is not None:
                table.exclude(nodes, excluded)

    def _note_undefined(self) -> UndefinedWords:
        """Return what notes undefined words, made when it is needed first."""
        if self._undefined is None:
            self._undefined = UndefinedWords(self._model.alphabet, self._nodes, self._answers)
        return self._undefined

    def _number_shared(self, rows: SharedRows) -> Nodes:
        """Return the numbers of shared rows among the answers, each looked up once."""
        if rows.table is not self._table:
            self._table = rows.table
            self._number_of = np.full(len(rows.table), -1, dtype=np.int64)
        numbers = self._number_of[rows.numbers]
        unread = (numbers < 0).nonzero()[0]
        if len(unread):
            new = unread
            if len(unread) > 1:
                new = unread[firsts(self._number_of, rows.numbers[unread])]
            self._number_of[rows.numbers[new]] = self._answers.add(rows.take(new))
            numbers[unread] = self._number_of[rows.numbers[unread]]
        return numbers

    # Answers that a store has

    def record(
        self, stored: ModelAnswers, key: str, *, may_ask: bool, is_replayed: bool = False
    ) -> None:
        """Take answers from a store as if they were asked for, and write all new ones into it.

        If ``is_replayed``, they count as much as if they were, so that the same words are asked for
        as without a store.

        If that is allowed, a few of the stored words are asked again, to catch a store of another
        model. One that does not agree with itself either is not another one.
        """
        self._stored = stored
        self._is_counted = True
        if may_ask:
            self._audits.compare_stored(stored, key, is_replayed=is_replayed)
        if is_replayed:
            self._meter.replay()

    def _take_stored(
        self, stored: ModelAnswers, batch: Batch, opened: LanguageModel, asked: Nodes
    ) -> Batch:
        """Keep the answers to a batch that are stored; return the batch that asks for the others.

        The model was not led to what was stored, and has to be now.
        """
        table, wanted = self._nodes, batch.wanted_ids
        places, rows = stored.find(table.words(wanted))
        if len(places):
            self._keep(wanted[places], rows.from_signed(), "stored")
            self._counts.stored += int(np.isin(asked, wanted[places]).sum())
        missing = np.delete(wanted, places)
        # Models that need the rows before know from these what they need.
        ids = missing if opened.needs_prefixes else _with_ways(table, missing, self._meter.led())
        if len(missing) == batch.count and len(ids) == len(batch.ids):
            return batch
        others = Batch.of_ids(ids, np.isin(ids, missing), batch.lineage)
        others.are_possible = batch.are_possible
        return others

    def _look_up(self, nodes: Nodes) -> Nodes:
        """Take the answers that are stored; return the nodes that are still unknown."""
        if not len(nodes) or self._stored is None or not len(self._stored):
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
            self._keep(wanted[places], rows.from_signed(), "stored")
            self._counts.stored += int(np.count_nonzero(table.classes[nodes] >= 0))
        return np.extract(table.classes[nodes] == UNKNOWN, nodes)


def plan_batch(table: NodeTable, nodes: Nodes, *, prefixes_free: bool) -> Batch:
    """Make the batch that asks for different nodes: with them go the words that lead there.

    Where rows on the way cost nothing, they are wanted, too.
    """
    # Without a loop over few nodes a combination lock takes 5 times as long.
    is_narrow = len(nodes) < FEW
    ids = _with_few_ways(table, nodes.tolist()) if is_narrow else _with_ways(table, nodes)
    if len(ids) == len(nodes):
        wanted = np.ones(len(ids), dtype=bool)
    elif prefixes_free:
        wanted = table.classes[ids] == UNKNOWN
    else:
        wanted = np.zeros(len(ids), dtype=bool)
        wanted[np.searchsorted(ids, nodes)] = True
    return Batch.of_ids(ids, wanted, table.lineage, is_narrow=is_narrow)


def _with_ways(table: NodeTable, nodes: Nodes, seen: NDArray[np.bool_] | None = None) -> Nodes:
    """Return nodes and their ancestors that the model has not seen, in ascending order."""
    seen = table.seen if seen is None else seen
    parts, above = [nodes], table.parents[nodes]
    while len(above := above[~seen[above]]):
        above = np.unique(above)
        parts.append(above.astype(np.int64))
        above = table.parents[above]
    return np.unique(np.concatenate(parts)) if len(parts) > 1 else np.sort(nodes)


def _with_few_ways(table: NodeTable, nodes: list[int]) -> Nodes:
    """Do what `_with_ways` does, one after the other."""
    found = set(nodes)
    is_seen, parent = table.is_seen, table.parent
    for node in nodes:
        above = parent[node]
        while not is_seen[above] and above not in found:
            found.add(above)
            above = parent[above]
    return np.array(sorted(found), dtype=np.int64)
