"""How far a candidate's distribution is from the target's: one figure for every pair of rows.

Rows are distributions, the terminal first; a row of NaN stands for an undefined word. Where both
are undefined they agree; where only one is, they are as far apart as can be.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import rel_entr

from pdfalearn.checks import check_integer, row_fault, wrong_rows
from pdfalearn.equivalence import Equivalence, Tolerance, check_relation, different_rows
from pdfalearn.errors import InputError
from pdfalearn.results import Agreement
from pdfalearn.typing import Floats

# Probabilities that differ by no more are equal, as in `Tolerance`.
_ROUNDING = 2.0**-49
# About this many numbers are compared at once.
_NUMBERS_AT_ONCE = 2**20


class _Measure(NamedTuple):
    """A figure of pairs of defined rows, and what it is if both are undefined, or only one is."""

    compute: Callable[[Floats, Floats], Floats]
    agreed: float = 0.0
    apart: float = 1.0

    def __call__(self, rows: Floats, others: Floats) -> Floats:
        lacking, others_lacking = np.isnan(rows[:, 0]), np.isnan(others[:, 0])
        both = ~(lacking | others_lacking)
        if both.all():
            return self.compute(rows, others)
        figures = np.where(lacking == others_lacking, self.agreed, self.apart)
        if both.any():
            figures[both] = self.compute(rows[both], others[both])
        return figures


def word_errors(target: ArrayLike, candidate: ArrayLike) -> Floats:
    """Return whether the candidate's likeliest symbol is wrong: the word error rate's terms.

    Parameters
    ----------
    target, candidate : array_like of float, shape (count, symbols + 1)
        Distributions; NaN where a word is undefined.

    Returns
    -------
    array of float, shape (count,)
        0 if the candidate's likeliest symbol is one of the target's likeliest, else 1. Where the
        candidate has several, the share of them that are not among the target's. 1 where only one
        of the two is defined, 0 where neither is.

    Examples
    --------
    >>> word_errors([[0.4, 0.4, 0.2]] * 3, [[0.1, 0.8, 0.1], [0.2, 0.2, 0.6], [0.3, 0.3, 0.4]])
    array([0., 1., 1.])
    >>> word_errors([[0.5, 0.3, 0.2]], [[0.4, 0.4, 0.2]])
    array([0.5])
    """
    return _measure_checked(target, candidate, _ERROR)


def _word_errors(rows: Floats, others: Floats) -> Floats:
    likeliest = others >= others.max(axis=1, keepdims=True) - _ROUNDING
    right = likeliest & (rows >= rows.max(axis=1, keepdims=True) - _ROUNDING)
    return np.asarray(1 - right.sum(axis=1) / likeliest.sum(axis=1))


def ndcg_scores(target: ArrayLike, candidate: ArrayLike, k: int | None = None) -> Floats:
    """Return how well the candidate orders the symbols: the terms of NDCG@k.

    Parameters
    ----------
    target, candidate : array_like of float, shape (count, symbols + 1)
        Distributions; NaN where a word is undefined.
    k : int, optional
        How many places of the order count; half the symbols, rounded up, if not given.

    Returns
    -------
    array of float, shape (count,)
        Σ p(σᵢ) / log₂(i + 1) over the first k symbols σ₁, σ₂, … in the candidate's order, p being
        the target's probabilities, divided by the same in the target's own order. Where the
        candidate has ties, the mean over all orders of the tied symbols. 0 where only one of the
        two is defined, 1 where neither is.

    Examples
    --------
    >>> ndcg_scores([[0.5, 0.25, 0.25]] * 2, [[0.9, 0.1, 0.0], [0.1, 0.9, 0.0]], k=1)
    array([1. , 0.5])
    """
    return _measure_checked(target, candidate, _ndcg(k))


def _ndcg(k: int | None) -> _Measure:
    def scores(rows: Floats, others: Floats) -> Floats:
        width = rows.shape[1]
        places = check_places(k, width - 1)
        # Places after the first k count nothing.
        discounts = np.zeros(width)
        discounts[:places] = 1 / np.log2(np.arange(2, places + 2))
        best = np.sort(rows, axis=1)[:, ::-1] @ discounts
        return np.minimum((_gains(rows, others) @ discounts) / best, 1.0)

    return _Measure(scores, agreed=1.0, apart=0.0)


def check_places(k: int | None, symbols: int) -> int:
    """Return the k of NDCG@k: half the symbols, rounded up, if it is not given."""
    return (symbols + 1) // 2 if k is None else check_integer(k, "k", 1, symbols + 1)


def _gains(rows: Floats, others: Floats) -> Floats:
    """Return the target's probabilities in the candidate's order; ties have their mean."""
    order = np.argsort(-others, axis=1, kind="stable")
    gains = np.take_along_axis(rows, order, axis=1)
    ordered = np.take_along_axis(others, order, axis=1)
    # Where a run of tied symbols begins; runs never go on into the next row.
    opens = np.ones(rows.shape, dtype=bool)
    opens[:, 1:] = ordered[:, :-1] - ordered[:, 1:] > _ROUNDING
    begins = opens.ravel().nonzero()[0]
    if len(begins) == rows.size:
        return gains
    sizes = np.diff(begins, append=rows.size)
    return np.repeat(np.add.reduceat(gains.ravel(), begins) / sizes, sizes).reshape(rows.shape)


def l1_distances(target: ArrayLike, candidate: ArrayLike) -> Floats:
    """Return Σ |p(σ) - p̂(σ)| over the terminal and all symbols: from 0 to 2.

    It is 2 where only one of the two is defined, and 0 where neither is.

    Examples
    --------
    >>> l1_distances([[0.5, 0.5], [0.5, 0.5]], [[0.25, 0.75], [np.nan, np.nan]])
    array([0.5, 2. ])
    """
    return _measure_checked(target, candidate, _L1)


def kl_divergences(target: ArrayLike, candidate: ArrayLike) -> Floats:
    """Return Σ p(σ) ln(p(σ) / p̂(σ)), the Kullback-Leibler divergence from the target.

    Symbols that the target gives 0 add nothing. It is infinite where the candidate gives 0 to a
    symbol that the target does not, and where only one of the two is defined; 0 where neither is.

    Examples
    --------
    >>> kl_divergences([[0.0, 1.0], [0.5, 0.5]], [[0.5, 0.5], [0.0, 1.0]]).round(4)
    array([0.6931,    inf])
    """
    return _measure_checked(target, candidate, _KL)


def distribution_differences(
    target: ArrayLike, candidate: ArrayLike, *, equivalence: Equivalence | Tolerance
) -> Floats:
    """Return whether the distributions are in different classes, or out of tolerance.

    Parameters
    ----------
    target, candidate : array_like of float, shape (count, symbols + 1)
        Distributions; NaN where a word is undefined, which is a class of its own.
    equivalence : Equivalence or Tolerance
        When two distributions are the same, or similar.

    Returns
    -------
    array of float, shape (count,)
        1 where they differ, else 0.

    Examples
    --------
    >>> from pdfalearn import Quantization
    >>> candidate = [[0.55, 0.45], [0.65, 0.35]]
    >>> distribution_differences([[0.5, 0.5]] * 2, candidate, equivalence=Quantization(5))
    array([0., 1.])
    """
    return _measure_checked(target, candidate, _difference(equivalence))


def _difference(equivalence: Equivalence | Tolerance) -> _Measure:
    relation = check_relation(equivalence)
    return _Measure(lambda rows, others: different_rows(relation, rows, others).astype(np.float64))


def _measure_checked(target: ArrayLike, candidate: ArrayLike, measure: _Measure) -> Floats:
    rows, others = _check_rows(target, "target"), _check_rows(candidate, "candidate")
    if rows.shape != others.shape:
        raise InputError(
            f"the target's rows have shape {rows.shape} and the candidate's {others.shape}; "
            "both need a row for each word, in it the terminal and every symbol"
        )
    return measure(rows, others)


def _check_rows(given: ArrayLike, name: str) -> Floats:
    array = np.asarray(given)
    if array.ndim != 2 or array.dtype.kind not in "iuf" or array.shape[1] < 2:
        raise InputError(
            f"the {name}'s rows are an array of {array.dtype} of shape {array.shape}; they have to "
            "be distributions: the terminal's probability first, then every symbol's"
        )
    rows = array.astype(np.float64, copy=False)
    wrong = wrong_rows(rows) & ~np.isnan(rows).all(axis=1)
    if wrong.any():
        place = int(wrong.argmax())
        raise InputError(
            f"row {place} of the {name} is not a distribution: {row_fault(rows[place])}; divide it "
            "by its sum, or fill it with NaN where the word is undefined"
        )
    return rows


def figures_of(
    target: tuple[Floats, NDArray[np.integer]],
    candidate: tuple[Floats, NDArray[np.integer]],
    equivalence: Equivalence | Tolerance,
    k: int,
) -> Floats:
    """Measure pairs of distributions: one column for each field of an `Agreement`, in order.

    Target and candidate are tables of distributions that were checked, and the number of one of
    them for each pair, -1 where it is undefined. NDCG stands there as what it lacks to 1: so a
    perfect candidate's mean is 1 without rounding.
    """
    measures = (_ERROR, _ndcg(k), _difference(equivalence), _L1, _KL)
    count, part = len(target[1]), max(1, _NUMBERS_AT_ONCE // target[0].shape[1])
    figures = np.empty((count, 6))
    for begin in range(0, count, part):
        here = slice(begin, begin + part)
        rows, others = (table.take(numbers[here], axis=0) for table, numbers in (target, candidate))
        rows[target[1][here] < 0] = np.nan
        others[candidate[1][here] < 0] = np.nan
        figures[here, :5] = np.column_stack([measure(rows, others) for measure in measures])
    figures[:, 1] = 1 - figures[:, 1]
    figures[:, 5] = np.isinf(figures[:, 4])
    return figures


def average_figures(figures: Floats, weights: Floats) -> Agreement:
    """Average the figures of pairs by weights, which need not sum to 1."""
    counted = weights > 0
    means = np.average(figures[counted], axis=0, weights=weights[counted])
    error, lack, *others = means.tolist()
    return Agreement(error, 1 - lack, *others)


_ERROR = _Measure(_word_errors)
_L1 = _Measure(lambda rows, others: np.abs(rows - others).sum(axis=1), apart=2.0)
_KL = _Measure(
    lambda rows, others: np.maximum(rel_entr(rows, others).sum(axis=1), 0.0), apart=np.inf
)
