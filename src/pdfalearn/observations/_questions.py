"""Ask for words in batches, as far as a budget goes, and keep the answers in a store."""

from __future__ import annotations

import numpy as np

from pdfalearn.errors import ModelError
from pdfalearn.models.protocol import LanguageModel
from pdfalearn.observations._answers import Answers
from pdfalearn.observations._asking import Asker, Counts
from pdfalearn.observations._audits import Audits
from pdfalearn.observations._meter import Meter
from pdfalearn.observations._nodes import UNKNOWN, Nodes, NodeTable
from pdfalearn.observations._stored import StoredAnswers
from pdfalearn.stores import SAME, AnswerStore
from pdfalearn.words import Words

FEW = 48
"""Below this many words, one after the other is faster than array passes."""
_LARGEST_BATCH = 2**16
"""Batches have at most this many words."""
_LOST_AT_MOST = 1024
"""Where a budget or a store counts words that cost something, batches have at most this many."""
_SENT_AT_MOST = 256
"""Where moreover every distribution is a question of its own, as to a server."""
_WORDS_A_SECOND = 16
"""Where seconds are bounded, batches have this many words for each, so that they end in time."""
_ASKED_AGAIN = 4
"""When a store is opened, this many of its words are asked again."""


class Questions:
    """Cuts what is to be asked into batches, and checks these against the budget.

    Parameters
    ----------
    model : LanguageModel
        The model, whose cost says how large batches are.
    nodes : NodeTable
        The words.
    answers : Answers
        The distributions.
    asker : Asker
        What calls the model.
    meter : Meter
        What the budget allows.
    audits : Audits
        What asks again now and then.
    counts : Counts
        What has been asked.
    """

    def __init__(
        self,
        model: LanguageModel,
        nodes: NodeTable,
        answers: Answers,
        asker: Asker,
        meter: Meter,
        audits: Audits,
        counts: Counts,
    ) -> None:
        self._model = model
        self._nodes = nodes
        self._answers = answers
        self._counts = counts
        self._asker = asker
        self._meter = meter
        self._audits = audits
        # What a server has answered is noted soon, as it may fail for good in the next batch.
        self._in_parts = meter.budget.bounds_words or model.cost.cached_symbol > 0
        if meter.budget.max_seconds is not None:
            asker.check_time = meter.check_seconds
        self._recording: StoredAnswers | None = None

    def ask(self, nodes: Nodes) -> None:
        """Ask for those of the nodes that are not known."""
        if len(nodes) < FEW:
            self.ask_few(nodes.tolist())
            return
        unknown = self._nodes.classes[nodes] == UNKNOWN
        if unknown.any():
            self._ask(self._nodes.different(nodes[unknown]))
            self._audits.audit_if_due()

    def ask_few(self, nodes: list[int]) -> None:
        """Do what `ask` does, for few nodes: less to set up, more for each."""
        class_at = self._nodes.class_at
        unknown = list(dict.fromkeys([node for node in nodes if class_at[node] == UNKNOWN]))
        if unknown:
            if self._in_parts or self._answers.is_sparse:
                self._ask(np.array(unknown, dtype=np.int64))
            else:
                self._asker.ask_few(unknown)
            self._audits.audit_if_due()

    def ask_path(self, path: Nodes, words: Words) -> None:
        """Ask for every prefix of words that is not known yet; the path has their nodes."""
        room, prefixes_free = self._asker.leader.room, self._model.cost.prefix == 0
        size = max(1, len(path))
        if room is not None and not prefixes_free:
            size = max(1, room // 4)  # few enough that all of a part keep their handles
        is_end = np.zeros(len(path), dtype=bool)
        is_end[words.ends] = True
        is_end[size - 1 :: size] = True
        for begin in range(0, len(path), size):
            part = path[begin : begin + size]
            # Ends first: they lead the model to all prefixes, and may bring their answers along.
            for nodes in (part[is_end[begin : begin + size]], part):
                self.ask(nodes)

    def _ask(self, nodes: Nodes) -> None:
        """Ask for nodes, all of them different and unknown, in batches."""
        size = self._batch_size()
        for begin in range(0, len(nodes), size):
            part = self._asker.rule_out(nodes[begin : begin + size])
            if begin:
                part = part[self._nodes.classes[part] == UNKNOWN]
            if not self._in_parts:
                self._ask_all(part)
            else:
                self._ask_allowed(self._looked_up(part))

    def _batch_size(self) -> int:
        """Return how many words may be in a batch."""
        if not self._in_parts or self._model.cost.is_free:
            return _LARGEST_BATCH
        most = _SENT_AT_MOST if self._model.cost.prefix else _LOST_AT_MOST
        seconds = self._meter.budget.max_seconds
        if seconds is None:
            return most
        return int(min(most, max(_WORDS_A_SECOND, _WORDS_A_SECOND * seconds)))

    def _ask_all(self, nodes: Nodes) -> None:
        if len(nodes) < FEW:
            self._asker.ask_few(nodes.tolist())
        else:
            self._asker.ask_many(nodes)

    def _ask_allowed(self, nodes: Nodes) -> None:
        """Ask for nodes as far as the budget goes, and record what was answered."""
        while len(nodes):
            part = self._meter.allowed(self._asker, nodes)
            new = self._asker.new = None if self._recording is None else []
            try:
                if self._meter.budget.max_cost is None:
                    self._ask_all(part)
                else:
                    self._asker.ask_once(part)  # every reading is a call, which may cost
            finally:
                if self._recording is not None and new:
                    self._recording.write(np.concatenate(new), self._answers)
            nodes = nodes[self._nodes.classes[nodes] == UNKNOWN]

    def _looked_up(self, nodes: Nodes) -> Nodes:
        """Take the answers that are stored; return the nodes that are still unknown."""
        if self._recording is not None:
            self._counts.stored += self._asker.look_up(nodes)
            above = nodes[self._nodes.classes[nodes] != UNKNOWN]
            while self._model.cost.prefix == 0 and len(above):
                above = np.unique(self._nodes.parents[above]).astype(np.int64)
                above = above[self._nodes.classes[above] == UNKNOWN]
                self._asker.look_up(above)
        return np.extract(self._nodes.classes[nodes] == UNKNOWN, nodes)

    def record(self, store: AnswerStore, key: str) -> None:
        """Take answers from a store as if they were asked for, and write all new ones into it.

        A few of the stored words are asked again, to catch a store of another model.
        """
        answers = store.answers(key, self._model.alphabet)
        self._recording = self._asker.stored = StoredAnswers(answers, self._nodes)
        self._in_parts = True
        try:
            self._audits.compare(*answers.sample(self._meter.opening(_ASKED_AGAIN), seed=0), SAME)
        except ModelError as error:
            raise ModelError(
                f"{error}. The first are answers that the store holds under the key {key!r}: if "
                "the model is another one, give it another model_id"
            ) from error
