"""An automaton as a model with a hook into its answers, to count, delay, lie and fail."""

from __future__ import annotations

from pdfalearn.models import AutomatonModel
from pdfalearn.models.batch import Batch
from pdfalearn.models.protocol import LanguageModel
from pdfalearn.rows import Rows


class HookedModel(AutomatonModel):
    """Passes everything on; tests override what they want to tamper with."""

    def open(self) -> LanguageModel:  # type: ignore[override]
        return OpenedHooked(self, super().open())

    def answer_batch(self, inner: LanguageModel, batch: Batch) -> Rows:
        return inner.answer(batch)

    def close_run(self, inner: LanguageModel) -> None:
        inner.close()


class OpenedHooked(LanguageModel):
    """Asks the model's hooks."""

    def __init__(self, model: HookedModel, inner: LanguageModel) -> None:
        self.alphabet, self.cost = model.alphabet, model.cost
        self._model, self._inner = model, inner

    def answer(self, batch: Batch) -> Rows:
        return self._model.answer_batch(self._inner, batch)

    def close(self) -> None:
        self._model.close_run(self._inner)
