"""When two distributions count as the same, or as similar: all relations, and pairs of rows."""

from __future__ import annotations

import numpy as np

from pdfalearn.equivalence.equivalences import Equivalence as Equivalence
from pdfalearn.equivalence.equivalences import Exact as Exact
from pdfalearn.equivalence.equivalences import Quantization as Quantization
from pdfalearn.equivalence.equivalences import Rounded as Rounded
from pdfalearn.equivalence.equivalences import check_equivalence as check_equivalence
from pdfalearn.equivalence.equivalences import checked_keys as checked_keys
from pdfalearn.equivalence.sparse import SparseKeys as SparseKeys
from pdfalearn.equivalence.sparse import different_keys, pieces_of
from pdfalearn.equivalence.tolerance import Tolerance as Tolerance
from pdfalearn.errors import InputError
from pdfalearn.row_checks import UndecidedError
from pdfalearn.rows import Flags, Floats, Rows

Relation = Equivalence | Tolerance
"""When two distributions are the same, or similar."""


def different_rows(by: Relation, rows: Floats | Rows, others: Floats | Rows) -> Flags:
    """Return for each pair of rows whether they are in different classes, or not similar.

    Parameters
    ----------
    by : Equivalence or Tolerance
        When two distributions are the same, or similar.
    rows, others : array of float, or Rows
        As many of one as of the other, dense or sparse.

    Raises
    ------
    UndecidedError
        If a row leaves open what decides; ``place`` is that of the pair.

    Examples
    --------
    >>> rows = Rows.sparse(4, [0, 2], [0, 3], [0.45, 0.54], rest=[0.01])
    >>> different_rows(Quantization(10), rows, np.array([[0.45, 0.0, 0.0, 0.55]]))
    array([False])
    """
    left, right = (part if isinstance(part, Rows) else Rows.dense(part) for part in (rows, others))
    if left.is_sparse and right.is_sparse:
        return _different_sparse(by, left, right)
    if left.is_sparse or right.is_sparse:
        return _different_mixed(by, left, right)
    if isinstance(by, Tolerance):
        return ~by.similar(left.values, right.values)
    keys = checked_keys(by, left.values), checked_keys(by, right.values)
    return np.asarray((keys[0] != keys[1]).any(axis=1))


def _different_sparse(by: Relation, rows: Rows, others: Rows) -> Flags:
    if isinstance(by, Tolerance):
        return by.different_sparse(rows.to_sparse(), others.to_sparse())
    return different_keys(by.sparse_keys(rows), by.sparse_keys(others))


def _different_mixed(by: Relation, rows: Rows, others: Rows) -> Flags:
    """Compare dense rows with sparse ones, in pieces: what is dense is large."""
    different = np.zeros(len(rows), dtype=bool)
    for (begin, left), (_, right) in zip(pieces_of(rows), pieces_of(others), strict=True):
        try:
            different[begin : begin + len(left)] = _different_sparse(by, left, right)
        except UndecidedError as error:
            error.place += begin
            raise
    return different


def check_relation(by: object) -> Relation:
    """Refuse what is neither an equivalence nor a similarity."""
    return by if isinstance(by, Tolerance) else check_equivalence(by)


def check_tolerance(by: object) -> Tolerance:
    """Refuse what is not a similarity."""
    if isinstance(by, Tolerance):
        return by
    raise InputError(f"by={by!r} is not a similarity; use Tolerance(t)")


def relation_text(by: object) -> str:
    """Write a κ or a tolerance.

    Examples
    --------
    >>> relation_text(Quantization(10)), relation_text(Tolerance(0.01))
    ('κ = 10', 'tolerance 0.01')
    """
    if isinstance(by, Quantization):
        return f"κ = {by.kappa}"
    return f"tolerance {by.tolerance:g}" if isinstance(by, Tolerance) else str(by)
