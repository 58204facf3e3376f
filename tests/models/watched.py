"""A wrapper of models that watches every session, handle and question."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from pdfalearn import LanguageModel
from pdfalearn.models.cost import EVERY_WORD, FREE, QueryCost
from pdfalearn.models.protocol import Handles, Mask, Session
from pdfalearn.rows import Rows
from pdfalearn.words import Words

Codes = tuple[int, ...]

COSTS = {True: FREE, False: EVERY_WORD}
"""By whether the distributions of prefixes are free."""


class WatchedModel(LanguageModel):
    """Passes everything on, under owned handles that are never used twice, in any session.

    It fails when a handle is used after its release, in another session or after the session is
    closed; when more than ``room`` are alive; and when a word that is known to be undefined is led
    to again or further in the same session.
    """

    def __init__(
        self, inner: LanguageModel, *, room: int | None = None, cost: QueryCost | None = None
    ) -> None:
        self.alphabet = inner.alphabet
        self.cost = inner.cost if cost is None else cost
        self.room = room
        self.symbols = 0
        """How many symbols sessions were led through, undefined ones included."""
        self.defined_symbols = 0
        """How many of them have got a handle."""
        self.batches: list[list[Codes]] = []
        """The words of every call for distributions."""
        self.most_live = 0
        """The most handles that were alive in one session."""
        self.sessions: list[WatchedSession] = []
        self.next_handle = 1000
        self._inner = inner

    @property
    def asked(self) -> list[Codes]:
        """Every word whose distribution was asked for."""
        return [word for batch in self.batches for word in batch]

    @property
    def live(self) -> int:
        """How many handles are alive, in all sessions that are open."""
        return sum(len(session.words) for session in self.sessions)

    @property
    def open_sessions(self) -> int:
        """How many sessions are open."""
        return sum(not session.is_closed for session in self.sessions)

    def open(self) -> WatchedSession:
        session = WatchedSession(self, self._inner.open())
        self.sessions.append(session)
        return session

    def led(self, word: Codes) -> None:
        """Note a word that has just got a handle, or is undefined."""

    def answered(self, batch: list[Codes], rows: Rows) -> Rows:
        """Return what is answered; tests override it to tamper with that."""
        return rows


class WatchedSession(Session):
    """Watches one session."""

    def __init__(self, model: WatchedModel, inner: Session) -> None:
        self.room = model.room
        self.is_closed = False
        self.words: dict[int, Codes] = {}
        """The word of every handle that is alive."""
        self._inner_of: dict[int, int] = {}
        self._model = model
        self._inner = inner
        self._undefined: set[Codes] = set()

    def start(self) -> int:
        self._check_open()
        return self._handed_out(self._inner.start(), ())

    def extend(self, handles: Handles, words: Words) -> Handles:
        assert len(handles) == len(words)
        assert words.symbols.dtype == np.int32
        self._model.symbols += len(words.symbols)
        inner = self._inner_handles(handles)
        led_to = self._prefixes(handles, words)
        assert not any(word[:-1] in self._undefined or word in self._undefined for word in led_to)
        after = self._inner.extend(inner, words)
        pairs = zip(after.tolist(), led_to, strict=True)
        return np.array([self._handed_out(*pair) for pair in pairs], dtype=np.int64)

    def read(self, handles: Handles) -> Rows:
        inner = self._inner_handles(handles)
        batch = [self.words[handle] for handle in handles.tolist()]
        self._model.batches.append(batch)
        rows = self._inner.read(inner)
        if rows.undefined is not None:
            self._undefined.update(batch[place] for place in rows.undefined.nonzero()[0])
        return self._model.answered(batch, rows)

    def possible(self, handles: Handles) -> Mask | Words | None:
        return self._inner.possible(self._inner_handles(handles))

    def release(self, handles: Handles) -> None:
        inner = self._inner_handles(handles)
        if not self._inner.shared:
            self._inner.release(inner)
        for handle in handles.tolist():
            del self.words[handle]

    def close(self) -> None:
        self._check_open()
        self.is_closed = True
        self.words.clear()
        self._inner.close()

    def _check_open(self) -> None:
        assert not self.is_closed, "the session is closed"

    def _inner_handles(self, handles: Handles) -> Handles:
        self._check_open()
        assert handles.dtype == np.int64
        strange = set(handles.tolist()) - self.words.keys()
        assert not strange, f"handles {strange} were released, or are another session's"
        return np.array([self._inner_of[handle] for handle in handles.tolist()], dtype=np.int64)

    def _prefixes(self, handles: Handles, words: Words) -> list[Codes]:
        codes = words.symbols.tolist()
        led_to = []
        for handle, (begin, end) in zip(handles.tolist(), pairwise(words.offsets), strict=True):
            base = self.words[handle]
            led_to += [(*base, *codes[begin:stop]) for stop in range(begin + 1, end + 1)]
        return led_to

    def _handed_out(self, inner: int, word: Codes) -> int:
        self._model.led(word)
        if inner < 0:
            self._undefined.add(word)
            return -1
        self._model.defined_symbols += len(word) > 0
        self._model.next_handle += 1
        handle = self._model.next_handle
        self.words[handle] = word
        self._inner_of[handle] = inner
        self._model.most_live = max(self._model.most_live, len(self.words))
        assert self.room is None or len(self.words) <= self.room
        return handle
