"""A wrapper of models that watches every handle and every question."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from pdfalearn import LanguageModel
from pdfalearn.models.protocol import Handles
from pdfalearn.observations.tree import UNDEFINED
from pdfalearn.words import Words

Codes = tuple[int, ...]


class WatchedModel:
    """Passes everything on, under handles of its own that are never used twice.

    It fails when a handle is used after its release, when more than ``capacity`` are alive, and
    when a word that is known to be undefined is led to again or further.
    """

    fingerprint = None

    def __init__(
        self, inner: LanguageModel, *, capacity: int | None = None, prefixes_free: bool = True
    ) -> None:
        self.alphabet = inner.alphabet
        self.capacity = capacity
        self.prefixes_free = prefixes_free
        self.symbols = 0
        self.batches: list[list[Codes]] = []
        """The words of every call for distributions."""
        self.most_live = 0
        self._inner = inner
        self._live: dict[int, tuple[int, Codes]] = {}
        self._next = 1000
        self._undefined: set[Codes] = set()

    @property
    def asked(self) -> list[Codes]:
        """Every word whose distribution was asked for."""
        return [word for batch in self.batches for word in batch]

    @property
    def live(self) -> int:
        """How many handles are alive."""
        return len(self._live)

    def start(self) -> int:
        return self._handed_out(self._inner.start(), ())

    def extend(self, handles: Handles, words: Words) -> Handles:
        assert len(handles) == len(words)
        assert words.symbols.dtype == np.int32
        self.symbols += len(words.symbols)
        led_to = self._prefixes(handles, words)
        assert not any(word[:-1] in self._undefined or word in self._undefined for word in led_to)
        inner = self._inner.extend(self._inner_handles(handles), words)
        return np.array(
            [self._handed_out(*pair) for pair in zip(inner.tolist(), led_to, strict=True)]
        )

    def distributions(self, handles: Handles) -> NDArray[np.float64]:
        self.batches.append([self._live[handle][1] for handle in handles.tolist()])
        return self._inner.distributions(self._inner_handles(handles))

    def release(self, handles: Handles) -> None:
        self._inner.release(self._inner_handles(handles))
        for handle in handles.tolist():
            del self._live[handle]

    def _inner_handles(self, handles: Handles) -> Handles:
        return np.array([self._live[handle][0] for handle in handles.tolist()], dtype=np.int64)

    def _prefixes(self, handles: Handles, words: Words) -> list[Codes]:
        codes = words.symbols.tolist()
        led_to = []
        for handle, (begin, end) in zip(handles.tolist(), pairwise(words.offsets), strict=True):
            base = self._live[handle][1]
            led_to += [(*base, *codes[begin:stop]) for stop in range(begin + 1, end + 1)]
        return led_to

    def _handed_out(self, inner: int, word: Codes) -> int:
        if inner == UNDEFINED:
            self._undefined.add(word)
            return UNDEFINED
        self._next += 1
        self._live[self._next] = inner, word
        self.most_live = max(self.most_live, len(self._live))
        assert self.capacity is None or self.most_live <= self.capacity
        return self._next
