"""What is kept of rows, by their probabilities."""

from __future__ import annotations

import numpy as np

from pdfalearn.models.constrained._blocks import blocks_of
from pdfalearn.models.constrained._possible import as_words
from pdfalearn.models.constrained._rows import (
    SPARSE_ABOVE,
    divided,
    divided_sparse,
    listed_of_sparse,
    listed_of_table,
    not_negative,
    parts_of,
)
from pdfalearn.models.constrained._rules import Rule
from pdfalearn.row_checks import check_decided
from pdfalearn.rows import Floats, Rows
from pdfalearn.words import Words


def selected(rows: Rows, rule: Rule) -> Rows:
    """Return distributions over what a rule keeps; sparse ones list that, and the terminal."""
    if rows.is_sparse:
        return _of_sparse(rows, rule)
    if rows.width - 1 > SPARSE_ABOVE and len(rows):
        parts = [_listed(rows.values[part], rule) for part in parts_of(len(rows), rows.width)]
        return Rows.joined(parts)
    table = not_negative(rows.values)
    for part in parts_of(*table.shape):
        table[part] *= rule.kept(table[part], np.zeros(len(table[part])))
        divided(table[part])
    return Rows.dense(table)


def kept_symbols(rows: Rows) -> Words:
    """Return the symbols that have any probability."""
    if rows.offsets is None or rows.columns is None:
        return as_words(rows.values[:, 1:] > 0)
    kept = (rows.columns > 0) & (rows.values > 0)
    return Words(rows.columns[kept] - 1, np.append(0, np.cumsum(kept))[rows.offsets])


def _listed(values: Floats, rule: Rule) -> Rows:
    """List what is kept of a table."""
    table = not_negative(values)
    kept = rule.kept(table, np.zeros(len(table)))
    table[:, 0] *= kept[:, 0]
    kept[:, 0] = True
    return divided_sparse(listed_of_table(table, kept))


def _of_sparse(rows: Rows, rule: Rule) -> Rows:
    kept = np.empty(len(rows.values), dtype=bool)
    undecided = rows.is_open
    rests = np.where(undecided, rows.rests, 0.0)
    for places, table, inside, entries in blocks_of(rows):
        kept_here = rule.kept(table, rests[places])
        kept[entries] = kept_here[inside]
        if undecided[places].any():
            enough = rule.are_enough(table, kept_here, rests[places])
            least = np.where(kept_here, table, np.inf).min(axis=1)
            undecided[places] &= ~(enough & (least > rows.ceilings[places]))
    check_decided(rows, undecided, rule.remedy)
    cut = listed_of_sparse(rows, not_negative(rows.values) * kept, kept | (rows.columns == 0))
    return divided_sparse(cut)
