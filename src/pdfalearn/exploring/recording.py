"""A model whose rows are kept in a store, so that an exploration that was killed goes on."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pdfalearn.errors import ModelError
from pdfalearn.models import (
    Batch,
    CheckedModel,
    LanguageModel,
    attached_answers,
    close_quietly,
    open_model,
)
from pdfalearn.rows import Rows
from pdfalearn.stores import AnswerStore, model_key

# This many stored rows are asked for again, and may differ by this much.
_ASKED_AGAIN = 2
_SAME = 1e-3


class RecordedModel(LanguageModel):
    """A model that is asked only for what a store does not have, and puts that into it."""

    def __init__(self, model: LanguageModel, store: str | Path, model_id: str | None) -> None:
        self.model, self._path = model, store
        self.key = model_key(model, model_id)
        self.alphabet, self.cost = model.alphabet, model.cost
        self.needs_prefixes, self.full_support = model.needs_prefixes, model.full_support

    def open(self) -> LanguageModel:
        """Open the model and the store."""
        return _OpenedRecord(self, AnswerStore(self._path))


class _OpenedRecord(CheckedModel):
    """An opened model and an opened store."""

    def __init__(self, recorded: RecordedModel, store: AnswerStore) -> None:
        self.alphabet, self.cost = recorded.alphabet, recorded.cost
        self._store = store
        self._answers = store.answers(recorded.key, recorded.alphabet)
        self._model = open_model(recorded.model)
        if len(self._answers):
            self._compare(recorded.key)

    def _compare(self, key: str) -> None:
        """Refuse a store that has rows of another model."""
        words, rows = self._answers.sample(_ASKED_AGAIN, seed=0)
        batch = Batch.of(words)
        now = self._model.answer(batch).to_dense()
        before = rows.from_signed().to_dense()
        known = {tuple(word): row for word, row in zip(batch.words, now, strict=True)}
        for word, row in zip(words, before, strict=True):
            if np.abs(known[tuple(word)] - row).max() > _SAME:
                raise ModelError(
                    f"the store holds other rows under the key {key!r} than the model gives now: "
                    "if the model is another one, give it another model_id"
                )

    def answer(self, batch: Batch) -> Rows:
        """Return the rows of words, asked or stored; new ones are stored, also if asking fails."""
        places, stored = self._answers.find(batch.words)
        stored = stored.from_signed()
        missing = np.setdiff1d(np.arange(batch.count), places)
        if not len(missing):
            return stored
        part = batch.select(missing)
        try:
            rows = self._model.answer(part)
        except BaseException as error:
            partial = attached_answers(error)
            if partial is not None and len(partial.ids):
                self._answers.add(batch.lineage.spell(partial.ids), partial.rows.to_signed())
            raise
        self._answers.add(part.words, rows.to_signed())
        if not len(places):
            return rows
        order = np.argsort(np.concatenate([places, missing]))
        return Rows.join([stored, rows]).take(order)

    def close(self) -> None:
        """Close both."""
        close_quietly(self._model)
        self._store.close()
