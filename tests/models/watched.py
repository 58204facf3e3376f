"""A wrapper of models that watches every batch."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pdfalearn import LanguageModel
from pdfalearn.models.batch import Batch
from pdfalearn.models.opened import open_model
from pdfalearn.models.protocol import EVERY_WORD, FREE, QueryCost
from pdfalearn.rows import Rows

Codes = tuple[int, ...]

COSTS = {True: FREE, False: EVERY_WORD}
"""By whether the distributions of prefixes are free."""


class WatchedModel(LanguageModel):
    """Passes everything on, and fails when a batch is not as it has to be.

    It fails when ids do not ascend, or stand for other words than before; when what is opened is
    asked after it is closed; and when a word is asked again, or below one that is undefined. With a
    capacity, the words that are remembered are so few that batches have to be completed.
    """

    def __init__(
        self, inner: LanguageModel, *, capacity: int | None = None, cost: QueryCost | None = None
    ) -> None:
        self.alphabet = inner.alphabet
        self.cost = inner.cost if cost is None else cost
        self.capacity = capacity
        self.symbols = 0
        """How many words were on a batch for the first time, the empty one left out."""
        self.undefined = 0
        """How many of the wanted words were undefined."""
        self.batches: list[list[Codes]] = []
        """The wanted words of every batch."""
        self.opened: list[OpenedWatched] = []
        self.inner = inner

    @property
    def asked(self) -> list[Codes]:
        """Every word whose distribution was asked for."""
        return [word for batch in self.batches for word in batch]

    @property
    def open_count(self) -> int:
        """How many of those that were opened are not closed."""
        return sum(not opened.is_closed for opened in self.opened)

    def open(self) -> OpenedWatched:
        opened = OpenedWatched(self)
        self.opened.append(opened)
        return opened

    def before(self, words: list[Codes]) -> None:
        """Do what tests want to happen before a batch is answered."""

    def answered(self, words: list[Codes], rows: Rows) -> Rows:
        """Return what is answered; tests override it to tamper with that."""
        return rows


class OpenedWatched(LanguageModel):
    """Watches the batches of one run."""

    def __init__(self, model: WatchedModel) -> None:
        self.alphabet = model.alphabet
        self.is_closed = False
        self._model = model
        self._inner = open_model(model.inner)
        self._words: dict[int, Codes] = {}
        self._undefined: set[Codes] = set()
        self._known: list[int] = []

    def answer(self, batch: Batch) -> Rows:
        assert not self.is_closed, "it is closed"
        self._check(batch)
        words = [tuple(codes) for codes in batch.words]
        assert not any(word[:-1] in self._undefined or word in self._undefined for word in words)
        self._model.batches.append(words)
        self._model.before(words)
        if self._model.capacity is not None:
            self._complete(batch, self._model.capacity)
        rows = self._inner.answer(batch)
        if rows.undefined is not None:
            lost = rows.undefined.nonzero()[0].tolist()
            self._model.undefined += len(lost)
            self._undefined.update(words[place] for place in lost)
        return self._model.answered(words, rows)

    def close(self) -> None:
        assert not self.is_closed, "it is closed already"
        self.is_closed = True
        self._inner.close()

    def _check(self, batch: Batch) -> None:
        assert batch.count == len(batch.words) == np.count_nonzero(batch.wanted) > 0
        assert (np.diff(batch.ids) > 0).all()
        assert (batch.parents < batch.ids).all()
        ids = np.union1d(batch.ids, batch.parents[batch.parents >= 0])
        spelling = dict(zip(ids.tolist(), map(tuple, batch.lineage.spell(ids)), strict=True))
        for place, word in enumerate(batch.ids.tolist()):
            spelled = spelling[word]
            if word not in self._words:
                self._model.symbols += word > 0
            assert self._words.setdefault(word, spelled) == spelled, "an id of another word"
            if word:
                assert spelled[-1] == batch.symbols[place]
                assert spelling[int(batch.parents[place])] == spelled[:-1]
            else:
                assert batch.parents[place] == -1

    def _complete(self, batch: Batch, capacity: int) -> None:
        """Check that a batch is completed by what is not remembered, up to the empty word."""

        def is_known(ids: NDArray[np.int64]) -> NDArray[np.bool_]:
            return np.isin(ids, self._known)

        whole = batch.reaching(is_known)
        assert whole.ids[whole.wanted].tolist() == batch.wanted_ids.tolist()
        there = {-1, *self._known, *whole.ids.tolist()}
        assert there.issuperset(whole.parents.tolist())
        added = set(whole.ids.tolist()) - set(batch.ids.tolist())
        assert added.isdisjoint(self._known)
        self._known = [*self._known, *whole.ids.tolist()][-capacity:]
