"""What a guide leaves of distributions."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from pdfalearn.languages.dfa import DFA
from pdfalearn.models.constrained._possible import as_mask, as_words, without_others
from pdfalearn.models.constrained._rows import (
    SPARSE_ABOVE,
    divided,
    divided_sparse,
    listed_of_sparse,
    not_negative,
    parts_of,
)
from pdfalearn.models.protocol import Handles, Mask
from pdfalearn.row_checks import check_decided
from pdfalearn.rows import Floats, Rows
from pdfalearn.words import Words, offsets_of


class Held:
    """Holds distributions to what a guide allows in a state each.

    Parameters
    ----------
    guide : DFA
        The guide over the model's alphabet.
    """

    def __init__(self, guide: DFA) -> None:
        self._allowed = np.column_stack((guide.accepting, guide.transitions >= 0))
        self._counts = np.count_nonzero(guide.transitions >= 0, axis=1)
        self.forced = self._counts + guide.accepting == 1
        """Which states leave one possibility."""

    def rows(self, rows: Rows, states: Handles) -> Rows:
        """Return distributions over what is allowed; sparse ones list that, and the terminal."""
        if rows.is_sparse:
            return self._of_sparse(rows, states)
        if rows.width - 1 > SPARSE_ABOVE and len(rows):
            parts = parts_of(len(rows), rows.width)
            return Rows.joined([self._listed(rows.values[part], states[part]) for part in parts])
        table = not_negative(rows.values)
        for part in parts_of(*table.shape):
            table[part] *= self._allowed[states[part]]
            divided(table[part])
        return Rows.dense(table)

    def forced_rows(self, states: Handles) -> Rows:
        """Return the distributions in states that leave one possibility; nobody was asked."""
        columns = self._allowed[states].argmax(axis=1)
        table = np.zeros((len(states), self._allowed.shape[1]))
        table[np.arange(len(states)), columns] = 1.0
        rows = self.rows(Rows.dense(table), states)
        rows.outside = np.full(len(states), np.nan)
        return rows

    def possible(self, states: Handles, inner: Mask | Words | None) -> Mask | Words:
        """Return which symbols are allowed, of those that are possible in the model inside."""
        symbols = self._allowed.shape[1] - 1
        if symbols <= SPARSE_ABOVE:
            mask = self._allowed[states, 1:]
            return mask if inner is None else mask & as_mask(inner, symbols)
        words = self._symbols.take(states)
        return words if inner is None else without_others(words, inner, symbols)

    @cached_property
    def _symbols(self) -> Words:
        """The symbols that are allowed in each state."""
        return as_words(self._allowed[:, 1:])

    def _listed(self, table: Floats, states: Handles) -> Rows:
        """List what is allowed of dense rows."""
        symbols = self._symbols.take(states)
        offsets = offsets_of(symbols.lengths + 1)
        columns = np.zeros(offsets[-1], dtype=np.int32)
        is_symbol = np.ones(len(columns), dtype=bool)
        is_symbol[offsets[:-1]] = False
        columns[is_symbol] = symbols.symbols + 1
        numbers = np.repeat(np.arange(len(states)), symbols.lengths + 1)
        values = not_negative(table[numbers, columns])
        values[offsets[:-1]] *= self._allowed[states, 0]
        return divided_sparse(Rows(table.shape[1], values, columns, offsets))

    def _of_sparse(self, rows: Rows, states: Handles) -> Rows:
        if rows.offsets is None or rows.columns is None:
            raise TypeError("dense rows do not list anything")
        allowed = self._allowed[states[rows.row_numbers], rows.columns]
        is_terminal = rows.columns == 0
        listed = np.append(0, np.cumsum(allowed & ~is_terminal))[rows.offsets]
        check_decided(
            rows,
            rows.is_open & (np.diff(listed) < self._counts[states]),
            "the guide allows some of them; let the model list every symbol that it allows",
        )
        values = not_negative(rows.values) * allowed
        return divided_sparse(listed_of_sparse(rows, values, allowed | is_terminal))
