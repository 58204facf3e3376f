"""Which symbols may follow the words of handles."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pdfalearn.models.constrained._possible import are_in
from pdfalearn.models.protocol import Handles
from pdfalearn.rows import Flags
from pdfalearn.words import Words, offsets_of


@dataclass(eq=False, slots=True)
class _Support:
    """A set of symbols, for as many handles as have it."""

    data: bytes
    """The symbols in ascending order, or a bit for each if that is shorter."""
    handles: int = 0


class Supports:
    """Remembers the support of every handle: lists of symbols, and of equal ones only one.

    Parameters
    ----------
    symbols : int
        The size of the alphabet.

    Examples
    --------
    >>> supports = Supports(3)
    >>> supports.note(np.array([7]), Words.of([[0, 2]]))
    >>> supports.hold(np.array([7, 7]), np.array([0, 1])), 7 in supports
    (array([ True, False]), True)
    """

    def __init__(self, symbols: int) -> None:
        self._symbols = symbols
        self._type = np.min_scalar_type(symbols)
        self._support_of: dict[int, _Support] = {}
        self._different: dict[bytes, _Support] = {}

    def __contains__(self, handle: int) -> bool:
        return handle in self._support_of

    def note(self, handles: Handles, words: Words) -> None:
        """Remember the supports of handles, given as lists of symbols."""
        data = words.symbols.astype(self._type).tobytes()
        ends = (words.offsets * self._type.itemsize).tolist()
        for place, handle in enumerate(handles.tolist()):
            self._note(handle, data[ends[place] : ends[place + 1]])

    def note_all(self, handles: Handles) -> None:
        """Remember of handles that every symbol may follow."""
        data = np.arange(self._symbols, dtype=self._type).tobytes()
        for handle in handles.tolist():
            self._note(handle, data)

    def words(self, handles: Handles) -> Words:
        """Return the supports of handles that are remembered, as lists of symbols."""
        found = [self._listed(self._support_of[handle].data) for handle in handles.tolist()]
        lengths = [len(data) // self._type.itemsize for data in found]
        symbols = np.frombuffer(b"".join(found), dtype=self._type)
        return Words(symbols.astype(np.int32), offsets_of(lengths))

    def hold(self, handles: Handles, symbols: NDArray[np.integer]) -> Flags:
        """Return for each handle whether a symbol is in its support."""
        different, rows = np.unique(handles, return_inverse=True)
        return are_in(rows, symbols, self.words(different), self._symbols)

    def forget(self, handle: int) -> None:
        """Forget the support of a handle."""
        support = self._support_of.pop(handle, None)
        if support is not None:
            support.handles -= 1
            if not support.handles:
                del self._different[support.data]

    def _note(self, handle: int, listed: bytes) -> None:
        data = self._packed(listed)
        support = self._different.get(data)
        if support is None:
            support = self._different[data] = _Support(data)
        support.handles += 1
        self.forget(handle)
        self._support_of[handle] = support

    def _packed(self, listed: bytes) -> bytes:
        """Return a list as bits, behind a byte that says so, if that is shorter."""
        if len(listed) <= self._symbols // 8 + 2:
            return b"\0" + listed
        mask = np.zeros(self._symbols, dtype=bool)
        mask[np.frombuffer(listed, dtype=self._type)] = True
        return b"\1" + np.packbits(mask).tobytes()

    def _listed(self, data: bytes) -> bytes:
        if data[0] == 0:
            return data[1:]
        mask = np.unpackbits(np.frombuffer(data, dtype=np.uint8, offset=1), count=self._symbols)
        return mask.nonzero()[0].astype(self._type).tobytes()
