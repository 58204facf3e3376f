"""Which symbols may follow the words of handles."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pdfalearn.models.protocol import Handles

Mask = NDArray[np.bool_]


class Supports:
    """Remembers the support of every handle, a bit a symbol.

    Parameters
    ----------
    symbols : int
        The size of the alphabet.

    Examples
    --------
    >>> supports = Supports(3)
    >>> supports.note(np.array([7]), np.array([[True, False, True]]))
    >>> supports.hold(np.array([7, 7]), np.array([0, 1])), 7 in supports
    (array([ True, False]), True)
    """

    def __init__(self, symbols: int) -> None:
        self._symbols = symbols
        self._bits_of: dict[int, bytes] = {}
        self._different: dict[bytes, bytes] = {}
        """Equal supports are kept once."""

    def __contains__(self, handle: int) -> bool:
        return handle in self._bits_of

    def note(self, handles: Handles, supports: Mask) -> None:
        """Remember the supports of handles, one a row."""
        blob, width = np.packbits(supports, axis=1).tobytes(), (self._symbols + 7) // 8
        for place, handle in enumerate(handles.tolist()):
            bits = blob[place * width : (place + 1) * width]
            self._bits_of[handle] = self._different.setdefault(bits, bits)

    def rows(self, handles: Handles) -> Mask:
        """Give the supports of handles that are remembered, one a row."""
        blob = b"".join([self._bits_of[handle] for handle in handles.tolist()])
        packed = np.frombuffer(blob, dtype=np.uint8).reshape(len(handles), -1)
        return np.unpackbits(packed, axis=1, count=self._symbols).view(bool)

    def hold(self, handles: Handles, symbols: NDArray[np.integer]) -> Mask:
        """Say for each handle whether a symbol is in its support."""
        different, places = np.unique(handles, return_inverse=True)
        return np.asarray(self.rows(different)[places, symbols])

    def forget(self, handle: int) -> None:
        """Forget the support of a handle."""
        self._bits_of.pop(handle, None)
