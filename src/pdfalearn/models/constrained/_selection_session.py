"""Lead a model along what is kept of its distributions."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from pdfalearn.errors import ModelError
from pdfalearn.models.constrained._possible import as_mask, as_words, merged
from pdfalearn.models.constrained._read_ahead import ReadAhead
from pdfalearn.models.constrained._rows import SPARSE_ABOVE, at_places, changed, right_rows
from pdfalearn.models.constrained._rules import Rule
from pdfalearn.models.constrained._selected_rows import kept_symbols, selected
from pdfalearn.models.constrained._supports import Supports
from pdfalearn.models.constrained.inner import extended, rows_read
from pdfalearn.models.constrained.wrapper import WrapperSession
from pdfalearn.models.protocol import Handles, Mask, Session
from pdfalearn.row_checks import BadRowError, UndecidedError
from pdfalearn.rows import Flags, Numbers, Rows
from pdfalearn.words import Words


class SelectionSession(WrapperSession):
    """Reads every distribution on the way, and remembers what is kept of it.

    Parameters
    ----------
    inner, symbols
        As for every wrapper.
    rule : Rule
        What is kept.
    """

    def __init__(self, inner: Session, symbols: int, rule: Rule) -> None:
        super().__init__(inner, symbols)
        self._rule = rule
        self._supports = Supports(symbols)
        self._ahead = ReadAhead()

    def extend(self, handles: Handles, words: Words) -> Handles:
        """Lead the model inside along every word until a symbol is cut."""
        self._ahead.clear()
        answer = np.full(len(words.symbols), -1, dtype=np.int64)
        lengths = words.lengths
        active = lengths.nonzero()[0]
        here, position = handles[active], 0
        while len(active):
            symbols = words.symbols[words.offsets[active] + position]
            with _on_the_way(active, position):
                kept = self._hold(here, symbols)
            active, here, symbols = active[kept], here[kept], symbols[kept]
            if len(active):
                with _on_the_way(active, position):
                    here = extended(self.inner, here, Words(symbols, np.arange(len(active) + 1)))
                answer[words.offsets[active] + position] = here
            position += 1
            onwards = (here >= 0) & (lengths[active] > position)
            active, here = active[onwards], here[onwards]
        return answer

    def read(self, handles: Handles) -> Rows:
        """Return the distributions over what is kept."""
        is_ahead = self._ahead.hold(handles)
        if not is_ahead.any():
            return self._read(handles)
        ahead, new = is_ahead.nonzero()[0], (~is_ahead).nonzero()[0]
        rows = self._ahead.rows(handles[ahead])
        if not len(new):
            return rows
        with at_places(new):
            rows = Rows.joined([rows, self._read(handles[new])])
        return rows.take(np.argsort(np.append(ahead, new)))

    def possible(self, handles: Handles) -> Mask | Words | None:
        """Return what is kept; where that is not known, what the model inside knows."""
        known = np.array([handle in self._supports for handle in handles.tolist()], dtype=bool)
        listed = self._supports.words(handles[known])
        if known.all():
            return listed if self.symbols > SPARSE_ABOVE else as_mask(listed, self.symbols)
        inner = super().possible(handles[~known])
        if self.symbols <= SPARSE_ABOVE:
            mask = np.ones((len(handles), self.symbols), dtype=bool)
            mask[known] = as_mask(listed, self.symbols)
            if inner is not None:
                mask[~known] = as_mask(inner, self.symbols)
            return mask
        if inner is None:  # to list all symbols of a large alphabet would help nobody
            return None
        return merged(listed, as_words(inner), known)

    def release(self, handles: Handles) -> None:
        """Forget what is kept after words that will not be used again."""
        for handle in handles.tolist():
            self._supports.forget(handle)
            self._ahead.forget(handle)
        self.inner.release(handles)

    def _hold(self, handles: Handles, symbols: NDArray[np.int32]) -> Flags:
        """Return which symbols are kept after words, reading those that are not read yet."""
        unread = [
            place for place, handle in enumerate(handles.tolist()) if handle not in self._supports
        ]
        if unread:
            new, first = np.unique(handles[unread], return_index=True)
            with at_places(np.array(unread)[first]):
                self._ahead.note(new, self._read(new))
        return self._supports.hold(handles, symbols)

    def _read(self, handles: Handles) -> Rows:
        """Ask the model inside, and remember what is kept."""
        given = rows_read(self.inner, handles, self.symbols)
        right = right_rows(given)
        rows = changed(given, right, lambda right_ones, _: selected(right_ones, self._rule))
        if right.all():
            self._supports.note(handles, kept_symbols(rows))
            return rows
        good, wrong = right.nonzero()[0], ~right
        if given.undefined is not None:
            nothing = handles[given.undefined]
            self._supports.note(nothing, Words.of([[]] * len(nothing)))
            wrong &= ~given.undefined
        self._supports.note_all(handles[wrong])  # of what is wrong nobody knows what to cut
        if len(good):
            self._supports.note(handles[good], kept_symbols(rows.take(good)))
        return rows


@contextmanager
def _on_the_way(places: Numbers, length: int) -> Iterator[None]:
    """Where something is refused on the way to longer words, say to which, and how far."""
    try:
        yield
    except UndecidedError as error:
        error.place, error.length = int(places[error.place]), length
        raise
    except BadRowError as error:
        raise ModelError(f"the model's answer to words on the way to others: {error}") from error
