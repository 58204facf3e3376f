"""Flatter or steeper distributions."""

from __future__ import annotations

import numpy as np

from pdfalearn.checks import checked_number
from pdfalearn.models.constrained._rows import (
    changed,
    divided,
    divided_sparse,
    not_negative,
    parts_of,
    right_rows,
)
from pdfalearn.models.constrained.inner import rows_read
from pdfalearn.models.constrained.wrapper import Wrapper, WrapperSession
from pdfalearn.models.protocol import Handles, LanguageModel, Session
from pdfalearn.pdfa import PDFA
from pdfalearn.row_checks import check_decided
from pdfalearn.rows import Floats, Numbers, Rows


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
    >>> from pdfalearn import FunctionModel
    >>> model = Temperature(FunctionModel(lambda words: [[0.2, 0.4, 0.4]] * len(words), "ab"), 0.5)
    >>> session = model.open()
    >>> session.read(np.array([session.start()])).to_dense().round(3)
    array([[0.111, 0.444, 0.444]])
    """

    def __init__(self, model: PDFA | LanguageModel, temperature: float) -> None:
        super().__init__(model)
        self.temperature = checked_number(temperature, "temperature", 1e-6, 1e6)

    def _parameters(self) -> str:
        return repr(self.temperature)

    def _around(self, inner: Session) -> Session:
        return TemperatureSession(inner, len(self.alphabet), self.temperature)


class TemperatureSession(WrapperSession):
    """Changes the rows of another session.

    Parameters
    ----------
    inner, symbols
        As for every wrapper.
    temperature : float
        The temperature.
    """

    def __init__(self, inner: Session, symbols: int, temperature: float) -> None:
        super().__init__(inner, symbols)
        self._power = 1 / temperature

    def read(self, handles: Handles) -> Rows:
        """Return the distributions at this temperature."""
        rows = rows_read(self.inner, handles, self.symbols)
        return changed(rows, right_rows(rows), self._heated_rows)

    def _heated_rows(self, rows: Rows, _: Numbers) -> Rows:
        values = not_negative(rows.values)
        if rows.offsets is not None:
            reason = "a temperature changes all probabilities; let the model list every symbol"
            check_decided(rows, rows.is_open, reason)
            largest = np.maximum.reduceat(values, rows.offsets[:-1])[rows.row_numbers]
            heated = self._heated(values, largest)
            return divided_sparse(Rows(rows.width, heated, rows.columns, rows.offsets))
        for part in parts_of(*values.shape):
            divided(self._heated(values[part], values[part].max(axis=1, keepdims=True)))
        return Rows.dense(values)

    def _heated(self, values: Floats, largest: Floats) -> Floats:
        """Raise to the power, in place, with the largest probability of every row as 1.

        So the sum of a row is never too small to divide by.
        """
        np.divide(values, largest, out=values, where=largest > 0)
        return np.power(values, self._power, out=values)
