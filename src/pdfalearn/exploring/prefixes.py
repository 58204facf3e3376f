"""Tables of prefixes: those that are open, and the likeliest that settle something."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pdfalearn.typing import Codes, Floats, Integers

# At most this many settled prefixes are kept of each kind.
_MOST_FOUND = 2**15


class Found:
    """The likeliest prefixes with which something was settled."""

    def __init__(self, models: int) -> None:
        self.floor = 0.0
        """All that are likelier than this are kept."""
        self.nodes = np.zeros(0, dtype=np.int64)
        self.symbols = np.zeros(0, dtype=np.int32)
        """The last symbol; -1 where it is the end."""
        self.labels = np.zeros(0, dtype=np.int16)
        self.masses = np.zeros((0, models))

    def add(
        self, nodes: Integers, symbols: Codes | Integers, labels: NDArray[np.int16], masses: Floats
    ) -> None:
        """Add prefixes, and forget the least likely ones if they are too many."""
        self.nodes = np.concatenate([self.nodes, nodes])
        self.symbols = np.concatenate([self.symbols, symbols.astype(np.int32)])
        self.labels = np.concatenate([self.labels, labels])
        self.masses = np.concatenate([self.masses, masses])
        if len(self.nodes) > _MOST_FOUND:
            top = self.masses.max(axis=1)
            kept = np.argpartition(-top, _MOST_FOUND // 2)
            self.floor = float(top[kept[_MOST_FOUND // 2]])
            kept = kept[: _MOST_FOUND // 2]
            for name in ("nodes", "symbols", "labels", "masses"):
                setattr(self, name, getattr(self, name)[kept])


class Items:
    """Prefixes that are open, in no order."""

    _NAMES = ("parents", "symbols", "states", "prompts", "masses", "tops")

    def __init__(self, models: int) -> None:
        self.size = 0
        self._parents = np.zeros(64, dtype=np.int64)
        self._symbols = np.zeros(64, dtype=np.int32)
        self._states = np.zeros(64, dtype=np.int32)
        self._prompts = np.zeros(64, dtype=np.int32)
        self._masses = np.zeros((64, models))
        self._tops = np.zeros(64)
        self._show()

    def _show(self) -> None:
        size = self.size
        self.parents, self.symbols = self._parents[:size], self._symbols[:size]
        self.states, self.prompts = self._states[:size], self._prompts[:size]
        self.masses = self._masses[:size]
        self.tops = self._tops[:size]
        """The most that one prefix has, by the model that holds it for likeliest."""

    def __len__(self) -> int:
        return self.size

    def add(self, *columns: Integers | Codes | Floats) -> None:
        """Add items, given by all their columns."""
        begin = self.size
        self.size += len(columns[0])
        for name, column in zip(self._NAMES, columns, strict=True):
            table = getattr(self, f"_{name}")
            if len(table) < self.size:
                more = np.zeros((max(self.size, 2 * len(table)), *table.shape[1:]), table.dtype)
                more[:begin] = table[:begin]
                setattr(self, f"_{name}", table := more)
            table[begin : self.size] = column
        self._show()

    def take(self, places: Integers) -> Items:
        """Return some items."""
        part = Items(self.masses.shape[1])
        part.add(*(getattr(self, name)[places] for name in self._NAMES))
        return part

    def remove(self, places: Integers) -> None:
        """Remove items at ascending places; the last ones take them."""
        left = self.size - len(places)
        last = np.arange(left, self.size)
        last = np.setdiff1d(last, places[places >= left], assume_unique=True)
        for name in self._NAMES:
            table = getattr(self, f"_{name}")
            table[places[places < left]] = table[last]
        self.size = left
        self._show()
