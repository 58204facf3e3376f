"""Flatter or steeper distributions."""

from __future__ import annotations

import numpy as np

from pdfalearn.checks import checked_number
from pdfalearn.models.constrained._rows import refuse_undecided
from pdfalearn.models.constrained.wrapper import States, Wrapper
from pdfalearn.models.protocol import LanguageModel
from pdfalearn.pdfa import PDFA
from pdfalearn.rows import Rows
from pdfalearn.typing import Floats


class Temperature(Wrapper):
    """A language model whose probabilities are raised to the power 1/t and divided by their sum.

    Below 1 a temperature makes distributions steeper, above 1 flatter. What has probability 0
    keeps it, and words are defined or undefined as in the model inside. The model inside has to
    list every symbol that has any probability.

    Parameters
    ----------
    model : PDFA or LanguageModel
        The model inside.
    temperature : float
        The temperature t, from 1e-6 to 1e6.

    Examples
    --------
    >>> from pdfalearn import FunctionModel, Words
    >>> from pdfalearn.models.opened import ask_words
    >>> model = Temperature(FunctionModel(lambda words: [[0.2, 0.4, 0.4]] * len(words), "ab"), 0.5)
    >>> ask_words(model, Words.of([()])).to_dense().round(3)
    array([[0.111, 0.444, 0.444]])
    """

    def __init__(self, model: PDFA | LanguageModel, temperature: float) -> None:
        super().__init__(model)
        self.temperature = checked_number(temperature, "temperature", 1e-6, 1e6)

    def _parameters(self) -> str:
        return repr(self.temperature)

    def _weigh(self, table: Floats, states: States | None) -> None:
        self._heat(table, table.max(axis=1, keepdims=True))

    def _weigh_listed(self, rows: Rows, states: States | None) -> tuple[Floats, None]:
        reason = "a temperature changes all probabilities; let the model list every symbol"
        refuse_undecided(rows, rows.is_open, reason)
        values = np.maximum(rows.values, 0.0)
        if rows.offsets is not None and len(rows):
            self._heat(values, np.maximum.reduceat(values, rows.offsets[:-1])[rows.row_numbers])
        return values, None

    def _heat(self, values: Floats, largest: Floats) -> None:
        """Raise to the power, in place, with the largest probability of every row as 1.

        So the sum of a row is never too small to divide by.
        """
        np.divide(values, largest, out=values, where=largest > 0)
        np.power(values, 1 / self.temperature, out=values)
