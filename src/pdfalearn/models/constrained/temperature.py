"""Flatter or steeper distributions."""

from __future__ import annotations

from pdfalearn.checks import checked_number
from pdfalearn.models.constrained._rows import Floats, renormalised
from pdfalearn.models.constrained._wrapper import Wrapper
from pdfalearn.models.protocol import Handles, LanguageModel
from pdfalearn.pdfa import PDFA


class Temperature(Wrapper):
    """A language model whose probabilities are raised to the power 1/t and divided by their sum.

    Below 1 a temperature makes distributions steeper, above 1 flatter. What has probability 0
    keeps it, and words are defined or undefined as in the model inside.

    Parameters
    ----------
    model : PDFA or LanguageModel
        The model inside.
    temperature : float
        The temperature t, from 1e-6 to 1e6.

    Examples
    --------
    >>> import numpy as np
    >>> from pdfalearn import FunctionModel
    >>> model = Temperature(FunctionModel(lambda words: [[0.2, 0.4, 0.4]] * len(words), "ab"), 0.5)
    >>> model.distributions(np.array([model.start()])).round(3)
    array([[0.111, 0.444, 0.444]])
    """

    def __init__(self, model: PDFA | LanguageModel, temperature: float) -> None:
        super().__init__(model)
        self.temperature = checked_number(temperature, "temperature", 1e-6, 1e6)

    def _parameters(self) -> str:
        return repr(self.temperature)

    def distributions(self, handles: Handles) -> Floats:
        """Give the distributions at this temperature."""
        return self._changed(handles, self._heated)

    def _heated(self, rows: Floats) -> Floats:
        # Beside the largest probability, which stays 1, no power is too small to be divided by.
        largest = rows.max(axis=1, keepdims=True)
        largest[largest == 0] = 1.0
        rows /= largest
        rows **= 1 / self.temperature
        return renormalised(rows)
