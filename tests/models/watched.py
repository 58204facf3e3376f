"""A wrapper of models that watches every session, every handle and every question."""

from __future__ import annotations

import numpy as np

from pdfalearn import LanguageModel
from pdfalearn.models.price import EVERY_WORD, FREE, Price
from pdfalearn.models.protocol import Handles, Session
from pdfalearn.observations.tree import UNDEFINED
from pdfalearn.rows import Rows
from pdfalearn.words import Words

Codes = tuple[int, ...]

PRICES = {True: FREE, False: EVERY_WORD}
"""By whether the distributions of prefixes are free."""


class WatchedModel(LanguageModel):
    """Passes everything on, under handles of its own that are never used twice.

    It fails when a handle is used after its release or in another session, when more than ``room``
    are alive, and when a word that is known to be undefined is led to again or further.
    """

    def __init__(
        self, inner: LanguageModel, *, room: int | None = None, price: Price = FREE
    ) -> None:
        self.alphabet = inner.alphabet
        self.price = price
        self.room = room
        self.inner = inner
        self.symbols = 0
        """How many symbols sessions were led through, undefined ones included."""
        self.defined_symbols = 0
        """How many of them have got a handle."""
        self.batches: list[list[Codes]] = []
        """The words of every call for distributions."""
        self.most_live = 0
        self.opened = 0
        self.open_sessions: set[WatchedSession] = set()
        self.next = 1000

    @property
    def asked(self) -> list[Codes]:
        """Every word whose distribution was asked for."""
        return [word for batch in self.batches for word in batch]

    @property
    def live(self) -> int:
        """How many handles are alive, in all open sessions together."""
        return sum(len(session.live) for session in self.open_sessions)

    def open(self) -> WatchedSession:
        session = WatchedSession(self, self.inner.open())
        self.open_sessions.add(session)
        self.opened += 1
        return session

    def answered(self, batch: list[Codes], rows: Rows) -> Rows:
        """Return what is answered; tests override it to tamper with that."""
        return rows


class WatchedSession(Session):
    """One watched conversation."""

    def __init__(self, model: WatchedModel, inner: Session) -> None:
        self.room = model.room
        self._model = model
        self._inner = inner
        self.live: dict[int, tuple[int, Codes]] = {}
        self._undefined: set[Codes] = set()

    def start(self) -> int:
        return self._handed_out(self._inner.start(), ())

    def extend(self, handles: Handles, words: Words) -> Handles:
        assert len(handles) == len(words)
        assert words.symbols.dtype == np.int32
        self._model.symbols += len(words.symbols)
        led_to = self._prefixes(handles, words)
        assert not any(word[:-1] in self._undefined or word in self._undefined for word in led_to)
        inner = self._inner.extend(self._inner_handles(handles), words)
        pairs = zip(inner.tolist(), led_to, strict=True)
        return np.array([self._handed_out(*pair) for pair in pairs], dtype=np.int64)

    def read(self, handles: Handles) -> Rows:
        batch = [self.live[handle][1] for handle in handles.tolist()]
        self._model.batches.append(batch)
        return self._model.answered(batch, self._inner.read(self._inner_handles(handles)))

    def release(self, handles: Handles) -> None:
        if not self._inner.shared:
            self._inner.release(self._inner_handles(handles))
        for handle in handles.tolist():
            del self.live[handle]

    def close(self) -> None:
        self._model.open_sessions.remove(self)
        self._inner.close()

    def _inner_handles(self, handles: Handles) -> Handles:
        return np.array([self.live[handle][0] for handle in handles.tolist()], dtype=np.int64)

    def _prefixes(self, handles: Handles, words: Words) -> list[Codes]:
        return [
            (*self.live[handle][1], *codes[: length + 1])
            for handle, codes in zip(handles.tolist(), words, strict=True)
            for length in range(len(codes))
        ]

    def _handed_out(self, inner: int, word: Codes) -> int:
        if inner == UNDEFINED:
            self._undefined.add(word)
            return UNDEFINED
        self._model.defined_symbols += len(word) > 0
        self._model.next += 1
        self.live[self._model.next] = inner, word
        self._model.most_live = max(self._model.most_live, len(self.live))
        assert self.room is None or len(self.live) <= self.room
        return self._model.next
