"""Ask a model for words again, freshly opened, and compare its answers with the first ones."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from pdfalearn.alphabet import shorten
from pdfalearn.equivalence import Relation, different_rows
from pdfalearn.errors import ModelError
from pdfalearn.models import (
    FEW,
    BadAnswerError,
    Batch,
    Interrupts,
    LanguageModel,
    Lineage,
    ask_batch,
    number_words,
)
from pdfalearn.observations.answers import Answers
from pdfalearn.observations.metering import Meter
from pdfalearn.observations.nodes import Nodes, NodeTable
from pdfalearn.results import Certificate, certificate_document
from pdfalearn.row_checks import UndecidedError
from pdfalearn.rows import Rows
from pdfalearn.typing import Floats, Integers
from pdfalearn.words import Words

if TYPE_CHECKING:
    from pdfalearn.stores import ModelAnswers

# The first audit comes after this many words, the next ones at four times as many.
_FIRST = 4096
# An audit on the way looks at one word in this many, or more.
_SHARE = 1024
# But it looks at no more probabilities than this.
_MOST = 2**26
# At most this many probabilities are compared at once.
_NUMBERS_AT_ONCE = 2**22
# When a store is opened, this many of its words are asked again.
_ASKED_AGAIN = 4
# Two answers to one word that differ by more than this are not those of one model.
_SAME = 1e-3
# Copies with the same answer are named up to this many.
_MOST_NAMES = 3

_REMEDY = (
    "is anything in it random, such as dropout in a network that is not in .eval()? If it only "
    "answers a little differently from one batch to the next, learn with another kappa, with "
    "answers rounded (Rounded(by, decimals=6)), or ask it in float64; audit=0 asks nothing again"
)


class UnsteadyModelError(ModelError):
    """A model has answered differently the second time.

    Parameters
    ----------
    word : tuple
        The word.
    before, again : list of float, or str
        The first answer and the second one, or what is to be said of it.
    difference : float
        By how much a probability differs at most, as far as that can be said.
    more : str
        What else is known, such as which copies of the model differ.
    """

    def __init__(
        self,
        word: tuple[object, ...],
        before: list[float] | str,
        again: list[float] | str,
        difference: float,
        more: str = "",
    ) -> None:
        first, then = (text if isinstance(text, str) else shorten(text) for text in (before, again))
        super().__init__(
            f"the model answers differently the second time to the word {shorten(word)}: "
            f"{first}, then {then}; {_REMEDY}{more}"
        )
        self.word = word
        self.before = before
        self.again = again
        self.difference = difference

    def certify(self, certificate: Certificate) -> Certificate:
        """Return what is known about an automaton of such a model, given what was known before."""
        return Certificate(
            "unsteady",
            f"{self}. A probability differs by up to {self.difference:.3g}: where such noise moves "
            "an answer to another class, states are split or merged by chance. If it did not, this "
            f"would hold: {certificate}",
            {
                "word": list(self.word),
                "first": self.before,
                "second": self.again,
                "difference": self.difference,
                "otherwise": certificate_document(certificate),
            },
        )


class Audits:
    """Asks for samples of words again, each time of a freshly opened model.

    They are counted apart from all else that is asked.
    """

    def __init__(
        self,
        model: LanguageModel,
        equivalence: Relation,
        nodes: NodeTable,
        answers: Answers,
        meter: Meter,
        interrupts: Interrupts,
    ) -> None:
        self._model = model
        self._interrupts = interrupts
        self._equivalence = equivalence
        self._nodes = nodes
        self._answers = answers
        self._meter = meter
        self._counts = meter.counts
        self._count = self._seed = 0
        # How many words are asked before the next audit on the way.
        self.due_at = math.inf

    def plan(self, count: int, seed: int) -> None:
        """Audit on the way too, with samples of at least this many words, if there are any.

        A model that is not deterministic may never let learning end.
        """
        self._count, self._seed = count, seed
        self.due_at = _FIRST if count else math.inf

    def audit_on_the_way(self) -> None:
        """Audit as planned; the more was asked, the more is asked again."""
        self.due_at = 4 * self._counts.words
        share = min(self._counts.words // _SHARE, _MOST // self._answers.width)
        self.audit(max(self._count, share), self._seed)

    def audit(self, count: int, seed: int) -> None:
        """Ask for a sample of words again, drawn by a seed; undefined words are left alone."""
        nodes, known = self._nodes, slice(0, self._nodes.size)
        asked = ((nodes.classes[known] >= 0) & (nodes.rows[known] >= 0)).nonzero()[0]
        random = np.random.default_rng(seed)
        sample = np.sort(random.choice(asked, min(count, len(asked)), replace=False))
        size = max(1, _NUMBERS_AT_ONCE // self._answers.width)
        for begin in range(0, len(sample), size):
            part = sample[begin : begin + size]
            part = part[self._meter.affordable(nodes.lengths[part])]
            before = self._answers.rows(nodes.rows[part])
            self._compare(part, nodes.lineage, int(nodes.lengths[part].sum()), before, 1.0)

    def count_affordable(self, words: Integers, symbols: Integers, calls: int) -> int:
        """Return how many of some sums of words and symbols the budget leaves for asking again."""
        return self._meter.count_affordable(words, symbols, calls)

    def ask_again(self, nodes: Nodes, *, are_paid: bool = False) -> tuple[Nodes, Integers]:
        """Ask for words again, from the first on as far as the budget goes.

        Returns which were asked, and the numbers of the answers; undefined words are left out. Of
        words that ``are_paid`` the budget is known to suffice, and all prefixes are among them, so
        that each costs a symbol.
        """
        asked = nodes if are_paid else nodes[self._meter.affordable(self._nodes.lengths[nodes])]
        if not len(asked):
            return asked, asked
        ids = np.sort(asked)
        batch = Batch.of_ids(ids, np.ones(len(ids), dtype=bool), self._nodes.lineage)
        self._interrupts.check()
        again = ask_batch(self._model, batch, interrupts=self._interrupts)
        symbols = np.minimum(self._nodes.lengths[ids], 1) if are_paid else self._nodes.lengths[ids]
        self._meter.count_audit(len(ids), int(symbols.sum()))
        if again.undefined is not None:
            ids, again = ids[~again.undefined], again.take((~again.undefined).nonzero()[0])
        return ids, self._answers.add(again)

    def compare_stored(self, stored: ModelAnswers, key: str, *, is_replayed: bool) -> None:
        """Ask for a few stored words again; refuse a store of another model.

        One that does not agree with itself either is not another one. Where stored answers count
        for the budget, this may cost no more than what is kept for audits, so that all else can be
        asked as it was.
        """
        limit = self._meter.budget.max_words  # of which enough is left to go on
        count = _ASKED_AGAIN if limit is None else min(_ASKED_AGAIN, limit // 4)
        words, before = stored.sample(count, seed=0)
        if is_replayed:
            places = self._meter.affordable(words.lengths, are_of_reserve=True)
            words, before = words.take(places), before.take(places)
        try:
            self.compare(words, before, _SAME)
        except ModelError as error:
            if self.differs_from_itself(words, _SAME):
                return
            raise ModelError(
                f"{error}. The first are answers that the store holds under the key {key!r}: if "
                "the model is another one, give it another model_id"
            ) from error

    def compare(self, words: Words, before: Rows, most: float) -> None:
        """Ask for different words again as far as the budget goes; refuse what differs too much.

        A probability may not differ by more than ``most``, even within a class.
        """
        places = self._meter.affordable(words.lengths)
        asked = words.take(places)
        batch, rows = number_words(asked)
        ids = batch.wanted_ids[rows]
        order, symbols = np.argsort(ids), len(asked.symbols)
        self._compare(ids[order], batch.lineage, symbols, before.take(places[order]), most)

    def differs_from_itself(self, words: Words, most: float) -> bool:
        """Return whether a model that is asked twice for words, now, differs from itself."""
        batch, _ = number_words(words.take(self._meter.affordable(words.lengths)))
        first, second = ask_batch(self._model, batch), ask_batch(self._model, batch)
        return _find_change(self._equivalence, first, second, most)[0] is not None

    def _compare(
        self, ids: Nodes, lineage: Lineage, symbols: int, before: Rows, most: float
    ) -> None:
        """Ask for words that have some symbols together, and compare the answers."""
        if not len(ids):
            return
        counts, wanted = self._counts, np.ones(len(ids), dtype=bool)
        batch = Batch.of_ids(ids, wanted, lineage, is_narrow=len(ids) < FEW)
        self._interrupts.check()
        try:
            again = ask_batch(self._model, batch, interrupts=self._interrupts)
        except BadAnswerError as error:
            here = (ids == error.word_id).nonzero()[0]  # none if it lies on the way to such a word
            word = self._model.alphabet.decode(batch.spell(error.word_id))
            first = before.take(here).to_dense()[0].tolist() if len(here) else "nothing wrong"
            raise UnsteadyModelError(word, first, error.row, 1.0) from error
        self._meter.count_audit(len(ids), symbols)
        place, difference = _find_change(self._equivalence, before, again, most)
        counts.largest_difference = max(counts.largest_difference, difference)
        if place is not None:
            raise self._unsteady(batch, before, again, place, difference)

    def _unsteady(
        self, batch: Batch, before: Rows, again: Rows, place: int, difference: float
    ) -> UnsteadyModelError:
        here, codes = np.array([place]), batch.word(place)
        first = before.take(here).to_dense()[0].tolist()
        undefined = again.undefined is not None and bool(again.undefined[place])
        second = "undefined" if undefined else again.take(here).to_dense()[0].tolist()
        word = self._model.alphabet.decode(codes)
        return UnsteadyModelError(word, first, second, difference, self._compare_copies(codes))

    def _compare_copies(self, codes: list[int]) -> str:
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
        parts = []
        for answer, (first, *others) in fewest_first:
            others = others if len(others) < _MOST_NAMES else [f"{len(others)} others"]
            verb = "answer" if others else "answers"
            parts.append(f"{' and '.join([first, *others])} {verb} {answer}")
        return f". The copies differ: {'; '.join(parts)}" if named else ""


def _find_change(
    equivalence: Relation, before: Rows, again: Rows, most: float
) -> tuple[int | None, float]:
    """Return the place of an answer that is not the same, if any, and the largest difference."""
    if again.undefined is not None and again.undefined.any():
        return int(again.undefined.argmax()), 1.0
    differences: Floats = np.abs(again.to_dense() - before.to_dense()).max(axis=1)
    largest = float(differences.max(initial=0.0))
    if not differences.any() and not (before.is_sparse or again.is_sparse):
        return None, largest
    try:
        moved = different_rows(equivalence, before, again) | (differences > most)
    except UndecidedError as error:
        return error.place, largest
    return int(moved.argmax()) if moved.any() else None, largest
