"""The session of a model that is asked for whole words."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pdfalearn.arrays.growing import grown
from pdfalearn.arrays.spelling import spelled
from pdfalearn.models.checking import checked_rows
from pdfalearn.models.protocol import Handles, LanguageModel, Session
from pdfalearn.row_checks import BadRowError, given_rows
from pdfalearn.rows import Rows
from pdfalearn.words import Words

_MOST_SYMBOLS = 2**20
"""The words of a batch have about this many symbols together at most."""


class WholeWords(Session):
    """Notes down words as they get longer, and asks the model for whole ones.

    A handle is the number of a word: its last symbol and the number of the word before that.
    Nothing is asked before `read`. A word takes 16 bytes; all words are forgotten together.

    Parameters
    ----------
    model : LanguageModel
        The model, whose method `answer` is called.
    """

    def __init__(self, model: LanguageModel) -> None:
        self._model = model
        self._parents: Handles = np.full(64, -1, dtype=np.int64)
        self._symbols: NDArray[np.int32] = np.full(64, -1, dtype=np.int32)
        self._lengths: NDArray[np.int32] = np.zeros(64, dtype=np.int32)
        self._size = 1

    def start(self) -> int:
        """Return the number of the empty word."""
        return 0

    def extend(self, handles: Handles, words: Words) -> Handles:
        """Note down the longer words."""
        count = len(words.symbols)
        new = np.arange(self._size, self._size + count)
        self._size += count
        self._parents = grown(self._parents, self._size)
        self._symbols = grown(self._symbols, self._size)
        parents = new - 1
        begun = words.lengths > 0
        parents[words.offsets[:-1][begun]] = handles[begun]
        self._parents[new] = parents
        self._symbols[new] = words.symbols
        self._lengths = grown(self._lengths, self._size)
        within = np.arange(count) - np.repeat(words.offsets[:-1], words.lengths)
        self._lengths[new] = np.repeat(self._lengths[handles], words.lengths) + within + 1
        return new

    def read(self, handles: Handles) -> Rows:
        """Ask the model for the words, in batches of a bounded number of symbols."""
        symbols = np.cumsum(self._lengths[handles], dtype=np.int64)
        if not len(symbols) or symbols[-1] <= _MOST_SYMBOLS:
            return self._answer(handles)
        begins = np.unique(symbols // _MOST_SYMBOLS, return_index=True)[1]
        parts = np.split(handles, begins[1:])
        pairs = zip(parts, begins.tolist(), strict=True)
        return Rows.joined([self._answer(part, begin) for part, begin in pairs])

    def close(self) -> None:
        """Forget all words."""
        self._parents, self._symbols = self._parents[:0], self._symbols[:0]
        self._lengths = self._lengths[:0]

    def _answer(self, handles: Handles, begin: int = 0) -> Rows:
        words = Words(*spelled(self._parents, self._symbols, handles))
        try:
            return answered(self._model, words)
        except BadRowError as error:
            error.place += begin
            raise


def answered(model: LanguageModel, words: Words) -> Rows:
    """Ask a model for whole words; return its answers, or say what is wrong with their form."""
    rows: object = model.answer(words)
    width = len(model.alphabet) + 1
    if isinstance(rows, Rows):
        return checked_rows(rows, len(words), width)
    return given_rows(rows, len(words), width)
