"""Only the most probable symbols: top-k and top-p."""

from __future__ import annotations

import numpy as np

from pdfalearn.checks import checked_integer, checked_number
from pdfalearn.errors import InputError
from pdfalearn.models.constrained._rows import Floats, Kept
from pdfalearn.models.constrained._selection import Selection
from pdfalearn.models.protocol import LanguageModel
from pdfalearn.pdfa import PDFA

_ROUNDING = 1e-12
"""A mass may fall short of p by this much, as adding up leaves it."""


class TopK(Selection):
    """A language model of which only the k most probable symbols are kept after each word.

    The terminal is a symbol like the others. Of equal probabilities the first is kept: the
    terminal, then the symbols in the order of the alphabet. What is kept is divided by its sum;
    words through other symbols are undefined.

    Parameters
    ----------
    model : PDFA or LanguageModel
        The model inside.
    k : int
        How many, at least 1.

    Examples
    --------
    >>> from pdfalearn import FunctionModel
    >>> model = TopK(FunctionModel(lambda words: [[0.2, 0.4, 0.2, 0.2]] * len(words), "abc"), 2)
    >>> model.distributions(np.array([model.start()])).round(3)
    array([[0.333, 0.667, 0.   , 0.   ]])
    """

    def __init__(self, model: PDFA | LanguageModel, k: int) -> None:
        super().__init__(model)
        self.k = checked_integer(k, "k", 1)

    def _parameters(self) -> str:
        return str(self.k)

    def _kept(self, rows: Floats) -> Kept:
        width = rows.shape[1]
        if self.k >= width:
            return rows > 0
        least = np.partition(rows, width - self.k, axis=1)[:, width - self.k, None]
        above, equal = rows > least, rows == least
        room = self.k - above.sum(axis=1, keepdims=True)
        equal &= np.cumsum(equal, axis=1, dtype=np.int32) <= room
        kept: Kept = (above | equal) & (rows > 0)
        return kept


class TopP(Selection):
    """A language model of which the fewest symbols with a mass of at least p are kept.

    The terminal is a symbol like the others. Symbols are taken from the most probable one down;
    of equal probabilities the terminal comes first, then the symbols in the order of the alphabet.
    What is kept is divided by its sum; words through other symbols are undefined. With p = 1
    only symbols of probability 0 are cut.

    Parameters
    ----------
    model : PDFA or LanguageModel
        The model inside.
    p : float
        The least mass, above 0 and at most 1. Masses are compared within 1e-12.

    Examples
    --------
    >>> from pdfalearn import FunctionModel
    >>> model = TopP(FunctionModel(lambda words: [[0.1, 0.2, 0.7, 0.0]] * len(words), "abc"), 0.9)
    >>> model.distributions(np.array([model.start()])).round(3)
    array([[0.   , 0.222, 0.778, 0.   ]])
    """

    def __init__(self, model: PDFA | LanguageModel, p: float) -> None:
        super().__init__(model)
        self.p = checked_number(p, "p", 0, 1)
        if not self.p:
            raise InputError("p is 0, and nothing has that mass; give a number above 0")

    def _parameters(self) -> str:
        return repr(self.p)

    def _kept(self, rows: Floats) -> Kept:
        order = np.argsort(-rows, axis=1, kind="stable")
        sorted_rows = np.take_along_axis(rows, order, axis=1)
        masses = np.cumsum(sorted_rows, axis=1)
        enough = self.p * masses[:, -1:] - _ROUNDING
        is_needed = sorted_rows > 0
        if self.p < 1:
            is_needed[:, 1:] &= masses[:, :-1] < enough
        kept = np.empty_like(is_needed)
        np.put_along_axis(kept, order, is_needed, axis=1)
        return kept
