"""Ask a model for words again, and compare its answers with the first ones."""

from __future__ import annotations

import numpy as np

from pdfalearn.alphabet import shortened
from pdfalearn.equivalence.relations import Relation
from pdfalearn.errors import ModelError
from pdfalearn.models.asking import asked_rows
from pdfalearn.models.protocol import LanguageModel
from pdfalearn.observations._again import RestlessError, largest_difference
from pdfalearn.observations._answers import Answers
from pdfalearn.observations._asking import Asker, Counts
from pdfalearn.observations._meter import Meter
from pdfalearn.observations._nodes import NodeTable
from pdfalearn.row_checks import BadRowError, UndecidedError
from pdfalearn.rows import Rows
from pdfalearn.words import Words

_FIRST = 4096
"""The first audit comes after this many words, the next ones at four times as many."""
_SHARE = 1024
"""An audit on the way looks at one word in this many, or more."""
_MOST = 2**26
"""But it looks at no more probabilities than this."""
_NUMBERS_AT_ONCE = 2**22
"""At most this many probabilities are compared at once."""

_MOST_NAMES = 3
"""Copies with the same answer are named up to this many."""


class Audits:
    """Asks for samples of words again, each time in a session of its own.

    Parameters
    ----------
    model : LanguageModel
        The model.
    by : Equivalence or Tolerance
        When two answers are the same.
    nodes : NodeTable
        The words.
    answers : Answers
        The first answers.
    asker : Asker
        The asker, which knows how many symbols the model was led through.
    meter : Meter
        What the budget allows.
    counts : Counts
        The counts of audits, which are apart from the rest.
    """

    def __init__(
        self,
        model: LanguageModel,
        by: Relation,
        nodes: NodeTable,
        answers: Answers,
        asker: Asker,
        meter: Meter,
        counts: Counts,
    ) -> None:
        self._model = model
        self._by = by
        self._nodes = nodes
        self._answers = answers
        self._asker = asker
        self._meter = meter
        self._counts = counts
        self._width = len(model.alphabet) + 1
        self._plan: tuple[int, int] | None = None
        self._next = _FIRST

    def plan(self, count: int, seed: int) -> None:
        """Ask samples of at least this many words again now and then."""
        self._plan = (count, seed) if count else None

    def audit_if_due(self) -> None:
        """Audit if enough has been asked since the last time."""
        if self._plan is not None and self._counts.words >= self._next:
            self._next = 4 * self._counts.words
            count, seed = self._plan
            share = min(self._counts.words // _SHARE, _MOST // self._width)
            self.audit(max(count, share), seed)

    def audit(self, count: int, seed: int) -> None:
        """Ask for a sample of words again; refuse a model that answers differently."""
        nodes, known = self._nodes, slice(0, self._nodes.size)
        asked = ((nodes.classes[known] >= 0) & (nodes.rows[known] >= 0)).nonzero()[0]
        random = np.random.default_rng(seed)
        sample = np.sort(random.choice(asked, min(count, len(asked)), replace=False))
        size = max(1, _NUMBERS_AT_ONCE // self._width)
        for begin in range(0, len(sample), size):
            part = sample[begin : begin + size]
            before = self._answers.rows(nodes.rows[part].astype(np.int64))
            self.compare(nodes.words(part), before, 1.0)

    def compare(self, words: Words, before: Rows, most: float) -> None:
        """Ask for words again as far as the budget goes; refuse answers that differ too much."""
        places = self._meter.affordable(self._asker.leader.symbols, words.lengths)
        if not len(places):
            return
        if len(places) < len(words):
            words, before = words.take(places), before.take(places)
        counts = self._counts
        try:
            again, symbols = asked_rows(self._model, words)
            counts.audited += len(words)
            counts.audited_symbols += symbols
            counts.audits += 1 if self._asker.leader.room is None else len(words)
            difference = largest_difference(self._by, before, again, most)
        except (RestlessError, BadRowError, UndecidedError) as error:
            codes = list(words)[error.place]
            word = shortened(self._model.alphabet.decode(codes))
            raise ModelError(
                f"the model answers differently the second time to the word {word}: {error}"
                f"{self._told_apart(codes)}"
            ) from error
        counts.largest_difference = max(counts.largest_difference, difference)
        if again.outside is not None and self._asker.stored is not None:
            counts.note_outside(again.outside)

    def _told_apart(self, codes: list[int]) -> str:
        """Write which copies of the model answer what to a word, if there are several."""
        try:
            told = self._model.answers_by_copy(codes)
        except Exception:  # the answers differ in any case
            return ""
        named: dict[str, list[str]] = {}
        for name, answer in told.items():
            named.setdefault(answer, []).append(name)
        if len(named) == 1:
            return f". All {len(told)} copies give the same answer to it now"
        fewest_first = sorted(named.items(), key=lambda item: len(item[1]))
        parts = (f"{_listed(names)} {answer}" for answer, names in fewest_first)
        return f". The copies differ: {'; '.join(parts)}" if named else ""


def _listed(names: list[str]) -> str:
    verb = "answer" if len(names) > 1 else "answers"
    if len(names) <= _MOST_NAMES:
        return f"{' and '.join(names)} {verb}"
    return f"{names[0]} and {len(names) - 1} others {verb}"
