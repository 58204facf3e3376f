"""The observation tree: every word that has been thought of, with the model's answer."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pdfalearn.alphabet import shortened
from pdfalearn.budgets import Budget
from pdfalearn.equivalence.relations import Equivalence, Exact, Relation
from pdfalearn.errors import ModelError
from pdfalearn.models.protocol import LanguageModel
from pdfalearn.observations._again import RestlessError, largest_difference
from pdfalearn.observations._asking import Asker, Counts
from pdfalearn.observations._leading import Ways
from pdfalearn.observations._meter import Meter
from pdfalearn.observations._nodes import UNDEFINED, UNKNOWN, Nodes, NodeTable
from pdfalearn.observations._stored import SAME, StoredAnswers
from pdfalearn.observations.answers import Answers
from pdfalearn.observations.suffixes import Suffixes

if TYPE_CHECKING:
    from pdfalearn.observations.recording import Recording
    from pdfalearn.stores.store import AnswerStore

Classes = NDArray[np.int64]

_FEW = 48
"""Below this many words, one after the other is faster than array passes."""
_PART = 1024
"""So many words at most are asked at once where there is a budget or a store …"""
_FAST = 0.005
_LARGEST_PART = 2**16
"""… but up to so many as long as the model is so fast that a part takes less than so long."""
_ASKED_AGAIN = 4
"""So many stored words are asked again when a store is opened."""
_FIRST_AUDIT = 4096
"""After so many words there is an audit, and then whenever there are four times as many …"""
_AUDITED_SHARE = 1024
"""… of at least one word in so many."""
_LARGE = 32
"""From more symbols than this on, it pays to ask first which of them are undefined."""

UNBOUNDED = Budget()

__all__ = ["UNDEFINED", "Counts", "Nodes", "ObservationTree"]


class ObservationTree:
    """The tree of words, and the only one who asks the model.

    A node is a word; node 0 is the empty one. Nodes are made freely; the model is asked only for
    classes, and for each word at most once. All its answers are checked here.

    Parameters
    ----------
    model : LanguageModel
        Whom to ask.
    by : Equivalence or Tolerance
        When two distributions are in the same class. A similarity has no classes: then those that
        are equal share one.
    budget : Budget
        How much may be asked.
    """

    def __init__(self, model: LanguageModel, by: Relation, budget: Budget = UNBOUNDED) -> None:
        self.model = model
        self.by = by
        self.counts = Counts()
        self.nodes = NodeTable(len(model.alphabet))
        self.suffixes = Suffixes()
        classified_by = by if isinstance(by, Equivalence) else Exact()
        self.answers = Answers(classified_by, len(model.alphabet) + 1)
        self.meter = Meter(budget)
        self._asker = Asker(model, self.nodes, self.answers, self.counts)
        self._in_parts = budget.bounds_words
        self._part = _PART
        self._recording: Recording | None = None
        self._audit: tuple[int, int] | None = None
        self._next_audit = _FIRST_AUDIT

    def __len__(self) -> int:
        return self.nodes.size

    def call_after_batches(self, callback: Callable[[], None]) -> None:
        """Have something called after every batch of answers."""
        self._asker.on_batch = callback

    @property
    def symbols(self) -> int:
        """How many symbols the model has been led through."""
        return self._asker.leader.symbols

    @property
    def all_symbols(self) -> int:
        """How many symbols the model has been led through, those of audits too."""
        return self.symbols + self._asker.leader.symbols_again

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
        ends = self._asked(nodes, suffixes)  # this may move the columns
        return self.nodes.classes[ends].astype(np.int64)

    def distributions(self, nodes: Nodes, suffixes: Nodes) -> NDArray[np.float64]:
        """Give the distribution after every node's word and a suffix; NaN where undefined."""
        ends = self._asked(nodes, suffixes)
        is_defined = self.nodes.classes[ends] != UNDEFINED
        rows = np.full((len(ends), self.nodes.symbols + 1), np.nan)
        rows[is_defined] = self.rows(ends[is_defined])
        return rows

    def _asked(self, nodes: Nodes, suffixes: Nodes) -> Nodes:
        """Give the nodes that a suffix each leads to, after asking for those not known."""
        ends = self.nodes.descend(nodes, suffixes, self.suffixes)
        self.ask(ends)
        return ends

    def ask(self, nodes: Nodes, ways: Ways | None = None) -> None:
        """Ask for those of the nodes that are not known, the ways to which may be known."""
        unknown = self.nodes.classes[nodes] == UNKNOWN
        if unknown.any():
            self._ask(self.nodes.different(nodes[unknown]), ways)
            self._audit_if_due()

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
            self._asker.ask_few(unknown)
        self._audit_if_due()
        return [class_at[node] for node in nodes]

    def successors(self, nodes: Nodes) -> tuple[Nodes, Nodes]:
        """Give the successors of words that have been asked for.

        Returns
        -------
        places, successors : array of int
            Of word i the successor by symbol j is at the place i · symbols + j. Where the alphabet
            is large, successors that the model knows to be undefined are left out.
        """
        width = self.nodes.symbols
        may_lead = self.meter.budget.max_symbols is None
        undefined = self._asker.undefined_after(nodes) if width > _LARGE and may_lead else None
        if undefined is None or not undefined.any():
            return np.arange(len(nodes) * width), self.nodes.successors(nodes)
        places = (~undefined).reshape(-1).nonzero()[0]
        words, symbols = np.divmod(places, width)
        return places, self.nodes.step(nodes[words], symbols)

    def asked_successors(self, nodes: Nodes) -> tuple[Nodes, Nodes, Classes]:
        """Give what `successors` gives, and their classes after asking for those not known."""
        known = len(self)
        places, successors = self.successors(nodes)
        are_new = len(self) - known == len(successors) == len(nodes) * self.nodes.symbols
        if not (are_new and not self._in_parts and self._asker.ask_successors(nodes, successors)):
            self.ask(successors)
        self._audit_if_due()
        return places, successors, self.nodes.classes[successors].astype(np.int64)

    def known_class(self, node: int, suffix: int) -> int | None:
        """Give the class after a node's word and a suffix, or None if it has not been asked for."""
        end = self.nodes.descend_one(node, suffix, self.suffixes)  # this may move the columns
        class_ = self.nodes.class_at[end]
        return None if class_ == UNKNOWN else class_

    def _ask(self, nodes: Nodes, ways: Ways | None = None) -> None:
        """Ask for nodes, all of them different and unknown."""
        if not self._in_parts:
            if len(nodes) < _FEW and ways is None:
                self._asker.ask_few(nodes.tolist())
            else:
                self._asker.ask_many(nodes, ways)
            return
        while len(nodes):
            part, nodes = nodes[: self._part], nodes[self._part :]
            self._ask_part(self._looked_up(part))

    def _ask_part(self, nodes: Nodes) -> None:
        """Ask for few enough nodes to lose if all goes wrong, as far as the budget goes."""
        while len(nodes):
            part = self.meter.allowed(self, nodes)
            new = self._asker.new = None if self._recording is None else []
            begun = time.perf_counter()
            try:
                if len(part) < _FEW:
                    self._asker.ask_few(part.tolist())
                else:
                    self._asker.ask_many(part)
            finally:
                is_fast = time.perf_counter() - begun < _FAST
                self._part = min(2 * self._part, _LARGEST_PART) if is_fast else _PART
                if self._recording is not None and new:
                    self._recording.write(np.concatenate(new))
            nodes = nodes[self.nodes.classes[nodes] == UNKNOWN]

    def _looked_up(self, nodes: Nodes) -> Nodes:
        """Take the answers that are stored; give the nodes that are still unknown."""
        if self._recording is not None:
            self.counts.stored += self._asker.look_up(nodes)
            above = nodes[self.nodes.classes[nodes] != UNKNOWN]
            while self.model.prefixes_free and len(above):
                above = np.unique(self.nodes.parents[above]).astype(np.int64)
                above = above[self.nodes.classes[above] == UNKNOWN]
                self._asker.look_up(above)
        return np.extract(self.nodes.classes[nodes] == UNKNOWN, nodes)

    def record(self, store: AnswerStore, key: str) -> None:
        """Take answers from a store as if they were asked for, and write all new ones into it.

        A few of the stored words are asked again, to catch a store of another model.
        """
        from pdfalearn.observations.recording import Recording

        writer = store.writer(key, self.model.alphabet)
        stored = self._asker.stored = StoredAnswers(store.segments(key), self.nodes)
        self._in_parts = True
        self._recording = Recording(writer, self.nodes, self.answers)
        try:
            self._compare(*stored.sample(self.meter.opening(_ASKED_AGAIN), seed=0), SAME)
        except ModelError as error:
            raise ModelError(
                f"{error}. The first are answers that the store holds under the key {key!r}: if "
                "the model is another one, give it another model_id"
            ) from error

    def release_handles(self) -> None:
        """Give all handles back to the model."""
        self._asker.leader.release_all()

    def asked_again(self, words: list[list[int]]) -> list[NDArray[np.float64] | None]:
        """Ask for words from the start, whatever is known; None where one is undefined."""
        return self._asker.leader.distributions_again(words)

    def audit(self, count: int, seed: int) -> None:
        """Ask for a sample of words again, and refuse a model that answers differently.

        Parameters
        ----------
        count : int
            How many words, at most; they are counted apart. Undefined words are left alone.
        seed : int
            Seed of the sample.
        """
        known = slice(0, self.nodes.size)
        asked = ((self.nodes.classes[known] >= 0) & (self.nodes.rows[known] >= 0)).nonzero()[0]
        random = np.random.default_rng(seed)
        sample = np.sort(random.choice(asked, min(count, len(asked)), replace=False))
        words = [self.nodes.word(node) for node in sample.tolist()]
        self._compare(words, self.rows(sample), 1.0)

    def audit_along_the_way(self, count: int, seed: int) -> None:
        """Audit also while learning goes on: a restless model may never let it end."""
        self._audit = (count, seed) if count else None

    def _audit_if_due(self) -> None:
        if self._audit is not None and self.counts.words >= self._next_audit:
            self._next_audit = 4 * self.counts.words
            count, seed = self._audit
            self.audit(max(count, self.counts.words // _AUDITED_SHARE), seed)

    def _compare(self, words: list[list[int]], before: NDArray[np.float64], most: float) -> None:
        """Ask for words again as far as the budget goes; refuse answers that differ too much."""
        places = self.meter.affordable(self, [len(codes) for codes in words])
        if not places:
            return
        words, before = [words[place] for place in places], before[places]
        again = self._asker.leader.distributions_again(words)
        self.counts.audited += len(words)
        try:
            difference = largest_difference(self.by, before, again, most)
        except RestlessError as error:
            word = shortened(self.model.alphabet.decode(words[error.place]))
            raise ModelError(
                f"the model answers differently the second time to the word {word}: {error}"
            ) from error
        self.counts.largest_difference = max(self.counts.largest_difference, difference)
