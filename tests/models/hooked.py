"""An automaton as a model with hooks into its sessions, to count, delay, lie and fail."""

from __future__ import annotations

from pdfalearn import AutomatonModel
from pdfalearn.models.protocol import Handles, Mask, Session
from pdfalearn.rows import Rows
from pdfalearn.words import Words


class HookedModel(AutomatonModel):
    """Passes everything on; tests override what they want to tamper with."""

    def open(self) -> HookedSession:  # type: ignore[override]
        return HookedSession(self, super().open())

    def start(self, inner: Session) -> int:
        return inner.start()

    def extend(self, inner: Session, handles: Handles, words: Words) -> Handles:
        return inner.extend(handles, words)

    def read(self, inner: Session, handles: Handles) -> Rows:
        return inner.read(handles)

    def possible(self, inner: Session, handles: Handles) -> Mask | Words | None:
        return inner.possible(handles)


class HookedSession(Session):
    """Asks the model's hooks."""

    def __init__(self, model: HookedModel, inner: Session) -> None:
        self.shared, self.room = inner.shared, inner.room
        self._model, self._inner = model, inner

    def start(self) -> int:
        return self._model.start(self._inner)

    def extend(self, handles: Handles, words: Words) -> Handles:
        return self._model.extend(self._inner, handles, words)

    def read(self, handles: Handles) -> Rows:
        return self._model.read(self._inner, handles)

    def possible(self, handles: Handles) -> Mask | Words | None:
        return self._model.possible(self._inner, handles)
