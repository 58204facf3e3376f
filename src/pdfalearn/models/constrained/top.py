"""Only the most probable symbols: top-k and top-p."""

from __future__ import annotations

from pdfalearn.checks import checked_integer, checked_number
from pdfalearn.errors import InputError
from pdfalearn.models.constrained._rules import FewestOfMass, MostProbable
from pdfalearn.models.constrained._selection import Selection
from pdfalearn.models.protocol import LanguageModel
from pdfalearn.pdfa import PDFA


class TopK(Selection):
    """A language model that keeps only the k most probable symbols after each word.

    The terminal is a symbol like the others. Of equal probabilities the first is kept: the
    terminal, then the symbols in the order of the alphabet. What is kept is divided by its sum;
    words through other symbols are undefined. If the model inside does not list all symbols, it has
    to list k that are more probable than any other can be.

    Parameters
    ----------
    model : PDFA or LanguageModel
        The model inside.
    k : int
        How many, at least 1.

    Examples
    --------
    >>> import numpy as np
    >>> from pdfalearn import FunctionModel
    >>> model = TopK(FunctionModel(lambda words: [[0.2, 0.4, 0.2, 0.2]] * len(words), "abc"), 2)
    >>> session = model.open()
    >>> session.read(np.array([session.start()])).to_dense().round(3)
    array([[0.333, 0.667, 0.   , 0.   ]])
    """

    def __init__(self, model: PDFA | LanguageModel, k: int) -> None:
        super().__init__(model)
        self.k = checked_integer(k, "k", 1)
        self._rule = MostProbable(self.k)

    def _parameters(self) -> str:
        return str(self.k)


class TopP(Selection):
    """A language model that keeps the fewest symbols with a mass of at least p.

    The terminal is a symbol like the others. Symbols are taken from the most probable one down;
    of equal probabilities the terminal comes first, then the symbols in the order of the alphabet.
    What is kept is divided by its sum; words through other symbols are undefined. With p = 1
    only symbols of probability 0 are cut. If the model inside does not list all symbols, it has to
    list those that are kept, each more probable than any other symbol can be.

    Parameters
    ----------
    model : PDFA or LanguageModel
        The model inside.
    p : float
        The least mass, above 0 and at most 1. Masses are compared within 1e-12.

    Examples
    --------
    >>> import numpy as np
    >>> from pdfalearn import FunctionModel
    >>> model = TopP(FunctionModel(lambda words: [[0.1, 0.2, 0.7, 0.0]] * len(words), "abc"), 0.9)
    >>> session = model.open()
    >>> session.read(np.array([session.start()])).to_dense().round(3)
    array([[0.   , 0.222, 0.778, 0.   ]])
    """

    def __init__(self, model: PDFA | LanguageModel, p: float) -> None:
        super().__init__(model)
        self.p = checked_number(p, "p", 0, 1)
        if not self.p:
            raise InputError("p is 0, and nothing has that mass; give a number above 0")
        self._rule = FewestOfMass(self.p, len(self.alphabet))

    def _parameters(self) -> str:
        return repr(self.p)
