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
    handles: int


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
        self._longest_list = symbols // 8 + 1
        """Lists of more bytes are kept as bits, one for each symbol, and one byte more."""
        self._support_of: dict[int, _Support] = {}
        self._different: dict[bytes, _Support] = {}

    def __contains__(self, handle: int) -> bool:
        return handle in self._support_of

    def note(self, handles: Handles, words: Words) -> None:
        """Remember the supports of handles that have none yet, given as lists of symbols."""
        data = words.symbols.astype(self._type).tobytes()
        ends = (words.offsets * self._type.itemsize).tolist()
        for place, handle in enumerate(handles.tolist()):
            if handle not in self._support_of:
                self._note(handle, data[ends[place] : ends[place + 1]])

    def note_all(self, handles: Handles) -> None:
        """Remember of handles that have no support yet that every symbol may follow."""
        every = np.arange(self._symbols, dtype=np.int32)
        for handle in handles.tolist():
            self.note(np.array([handle]), Words(every, np.array([0, len(every)])))

    def words(self, handles: Handles) -> Words:
        """Return the supports of handles that are remembered, as lists of symbols."""
        longest = self._longest_list
        found = [self._support_of[handle].data for handle in handles.tolist()]
        lists = [data if len(data) <= longest else self._listed(data) for data in found]
        lengths = [len(data) // self._type.itemsize for data in lists]
        symbols = np.frombuffer(b"".join(lists), dtype=self._type)
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

    def _note(self, handle: int, data: bytes) -> None:
        if len(data) > self._longest_list:
            data = self._bits(data)
        support = self._different.get(data)
        if support is None:
            support = self._different[data] = _Support(data, 0)
        support.handles += 1
        self._support_of[handle] = support

    def _bits(self, listed: bytes) -> bytes:
        mask = np.zeros(8 * (self._longest_list + 1), dtype=bool)
        mask[np.frombuffer(listed, dtype=self._type)] = True
        return np.packbits(mask).tobytes()

    def _listed(self, bits: bytes) -> bytes:
        mask = np.unpackbits(np.frombuffer(bits, dtype=np.uint8))
        return mask.nonzero()[0].astype(self._type).tobytes()
