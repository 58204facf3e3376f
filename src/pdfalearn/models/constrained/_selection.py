"""Wrappers that keep some symbols of a distribution, by their probabilities, and cut the others."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter

import numpy as np
from numpy.typing import NDArray

from pdfalearn.errors import ModelError
from pdfalearn.models.constrained._rows import Floats, Kept, is_table, renormalised
from pdfalearn.models.constrained._supports import Supports
from pdfalearn.models.constrained._wrapper import Wrapper
from pdfalearn.models.protocol import Handles, LanguageModel
from pdfalearn.pdfa import PDFA
from pdfalearn.words import Words


class Selection(Wrapper):
    """A model of which some symbols are kept after each word; the others have probability 0.

    Words through a symbol of probability 0 are undefined. Whether a word is, only the distributions
    of its prefixes tell: so these are asked for on the way, symbol by symbol, and the model inside
    is never led beyond what is kept. As they are there then, prefixes are free.

    Parameters
    ----------
    model : PDFA or LanguageModel
        The model inside.
    """

    def __init__(self, model: PDFA | LanguageModel) -> None:
        super().__init__(model)
        self._supports = Supports(len(self.alphabet))
        self._read_ahead: dict[int, Floats] = {}
        """Rows that were needed on the way and are not handed out yet."""
        self._held: Counter[int] = Counter()
        """How often each handle was handed out and not given back: words may share one."""

    @property
    def prefixes_free(self) -> bool:
        """True: the distributions of prefixes are needed to know whether a word is undefined."""
        return True

    @abstractmethod
    def _kept(self, rows: Floats) -> Kept:
        """Say what is kept of distributions; what has probability 0 is not kept in any case."""

    def start(self) -> int:
        """Give a new handle of the empty word."""
        handle = super().start()
        self._held[handle] += 1
        return handle

    def extend(self, handles: Handles, words: Words) -> Handles:
        """Lead the model inside along every word until a symbol is cut."""
        self._read_ahead.clear()
        answer = np.full(len(words.symbols), -1, dtype=np.int64)
        lengths = words.lengths
        active = lengths.nonzero()[0]
        here, position = handles[active], 0
        while len(active):
            symbols = words.symbols[words.offsets[active] + position]
            kept = self._hold(here, symbols)
            active, here, symbols = active[kept], here[kept], symbols[kept]
            if len(active):
                here = self._extended(here, Words(symbols, np.arange(len(active) + 1)))
                answer[words.offsets[active] + position] = here
            position += 1
            onwards = (here >= 0) & (lengths[active] > position)
            active, here = active[onwards], here[onwards]
        self._held.update(answer[answer >= 0].tolist())
        return answer

    def distributions(self, handles: Handles) -> Floats:
        """Give the distributions over what is kept."""
        ahead = self._read_ahead
        if not ahead:
            return self._read(handles)
        is_new = np.array([handle not in ahead for handle in handles.tolist()])
        rows = np.empty((len(handles), len(self.alphabet) + 1))
        if is_new.any():
            rows[is_new] = self._read_rows(handles[is_new])
        if not is_new.all():
            rows[~is_new] = [ahead[handle] for handle in handles[~is_new].tolist()]
        return rows

    def undefined_after(self, handles: Handles) -> NDArray[np.bool_]:
        """Say which symbols are cut, where the distribution has been read."""
        undefined = super().undefined_after(handles).copy()
        known = np.array([handle in self._supports for handle in handles.tolist()], dtype=bool)
        if known.any():
            undefined[known] |= ~self._supports.rows(handles[known])
        return undefined

    def release(self, handles: Handles) -> None:
        """Give handles back to the model inside, and forget what was kept after the last ones."""
        for handle in handles.tolist():
            self._held[handle] -= 1
            if self._held[handle] <= 0:
                del self._held[handle]
                self._supports.forget(handle)
                self._read_ahead.pop(handle, None)
        self.model.release(handles)

    def _hold(self, handles: Handles, symbols: NDArray[np.int32]) -> Kept:
        """Say which symbols are kept after words, asking for distributions not read yet."""
        unread = [handle for handle in handles.tolist() if handle not in self._supports]
        if unread:
            new = np.array(list(dict.fromkeys(unread)), dtype=np.int64)
            self._read_ahead.update(zip(new.tolist(), self._read_rows(new), strict=True))
        return self._supports.hold(handles, symbols)

    def _read(self, handles: Handles) -> Floats:
        """Ask the model inside, and remember what is kept."""
        rows = self._changed(handles, self._selected)
        if is_table(rows, (len(handles), len(self.alphabet) + 1)):
            self._supports.note(handles, rows[:, 1:] > 0)
        return rows

    def _read_rows(self, handles: Handles) -> Floats:
        """Ask the model inside where its answer has to have the right form."""
        rows = self._read(handles)
        shape = len(handles), len(self.alphabet) + 1
        if not is_table(rows, shape):
            raise ModelError(
                f"the model's answer is an array of {rows.dtype} of shape {rows.shape}; "
                f"for {len(handles)} words it has to be one of numbers of shape {shape}"
            )
        return rows

    def _selected(self, rows: Floats) -> Floats:
        rows *= self._kept(rows)
        return renormalised(rows)
