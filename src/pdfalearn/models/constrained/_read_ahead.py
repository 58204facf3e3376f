"""Rows that were needed on the way to longer words, and are not handed out yet."""

from __future__ import annotations

import numpy as np

from pdfalearn.models.protocol import Handles
from pdfalearn.rows import Flags, Rows


class ReadAhead:
    """Keeps the rows of handles."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Forget all."""
        self._parts: list[Rows] = []
        self._place_of: dict[int, int] = {}

    def note(self, handles: Handles, rows: Rows) -> None:
        """Remember the rows of handles that have none yet."""
        size = sum(map(len, self._parts))
        self._parts.append(rows)
        self._place_of.update(zip(handles.tolist(), range(size, size + len(rows)), strict=True))

    def forget(self, handle: int) -> None:
        """Forget the row of a handle."""
        self._place_of.pop(handle, None)

    def hold(self, handles: Handles) -> Flags:
        """Return which handles have a row here."""
        known = self._place_of
        return np.array([handle in known for handle in handles.tolist()], dtype=bool)

    def rows(self, handles: Handles) -> Rows:
        """Return the rows of handles that have one."""
        self._parts = [Rows.joined(self._parts)]
        places = [self._place_of[handle] for handle in handles.tolist()]
        return self._parts[0].take(np.array(places, dtype=np.int64))
