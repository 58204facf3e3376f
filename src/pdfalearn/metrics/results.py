"""What an evaluation gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pdfalearn.equivalence.relations import Equivalence, Tolerance
from pdfalearn.metrics.distributions import (
    distribution_differences,
    kl_divergences,
    l1_distances,
    ndcg_scores,
    word_errors,
)
from pdfalearn.registry import shown

Floats = NDArray[np.float64]

_MOST_CELLS = 2**20


def rows_at_once(width: int) -> int:
    """Return how many distributions are compared at once: parts of about a million numbers."""
    return max(1, _MOST_CELLS // width)


@dataclass(frozen=True)
class Comparison:
    """Means over pairs of distributions, the target's and the candidate's after the same word.

    Examples
    --------
    >>> from pdfalearn import evaluate_exactly, figure_1
    >>> found = evaluate_exactly(figure_1(), figure_1(0.25)).over_words
    >>> found.word_error_rate, round(found.l1, 6), found.infinite_kl
    (0.0, 0.5, 0.0)
    """

    word_error_rate: float
    """How often the candidate's likeliest symbol is not one of the target's likeliest."""
    ndcg: float
    """How well the candidate orders the likeliest symbols, NDCG@k: 1 is as the target does."""
    difference: float
    """The share of distributions in another class, or out of tolerance."""
    l1: float
    """The distance Σ |p - p̂|."""
    kl: float
    """The divergence Σ p ln(p / p̂); infinite if it is so for one pair."""
    infinite_kl: float
    """The share of pairs whose divergence is infinite."""


@dataclass(frozen=True)
class Evaluation:
    """How well a candidate predicts a target.

    Examples
    --------
    >>> from pdfalearn import evaluate_exactly, figure_1
    >>> found = evaluate_exactly(figure_1(), figure_1(0.25))
    >>> found.mean_length, round(found.perplexity, 6), found.one_sided_words
    (2.0, 1.747161, 0.0)
    """

    words: int | None
    """How many words; None for all words, each with its probability in the target."""
    cut_words: int
    """How many of them were drawn up to the maximal length and cut there."""
    mean_length: float
    """The mean length of the words."""
    by: Equivalence | Tolerance
    """When two distributions are the same, or similar."""
    k: int
    """How many places count for NDCG."""
    over_prefixes: Comparison
    """After every prefix of every word, as Weiss et al. (2019) average."""
    over_words: Comparison
    """After whole words only, as the program of the paper's authors averages."""
    log_probability_error: float | None
    """The mean of |ln P(w) - ln P̂(w)| over whole words; None where it is over all words."""
    one_sided_words: float
    """The share of words that are possible in one of the two only."""
    target_perplexity: float
    """exp of the target's mean of -ln p over all symbols and terminals of the words."""
    perplexity: float
    """The same of the candidate."""

    def _repr_html_(self) -> Any:
        return shown("html", self)

    @property
    def kl_of_words(self) -> float:
        """The divergence of whole words, if the words are the target's own: E ln(P(w) / P̂(w))."""
        return self.over_prefixes.kl * (self.mean_length + 1)

    def table(self) -> str:
        """Return all measures as a table, for people.

        Examples
        --------
        >>> from pdfalearn import Quantization, evaluate, figure_3, quotient
        >>> coarse = quotient(figure_3(), by=Quantization(1))
        >>> for line in evaluate(figure_3(), coarse, ["", "0", "01"]).table().splitlines()[:4]:
        ...     print(line)
                                     all prefixes  whole words
        word error rate                      0.25     0.333333
        NDCG@1                              0.875     0.833333
        different                             0.5     0.666667
        """
        from pdfalearn.metrics.tables import table_of

        return table_of(self)

    def to_frame(self) -> Any:
        """Make a table of pandas, a line for each measure; needs the extra ``exchange``.

        Its columns are ``over_prefixes`` and ``over_words``.
        """
        from pdfalearn.metrics.tables import frame_of

        return frame_of(self)


def figures_of(target: Floats, candidate: Floats, by: Equivalence | Tolerance, k: int) -> Floats:
    """Measure pairs of distributions: one column for each field of a `Comparison`, in order.

    NDCG stands there as what it lacks to 1: so a perfect candidate's mean is 1 without rounding.
    """
    figures = np.empty((len(target), 6))
    part = rows_at_once(target.shape[1])
    for begin in range(0, len(target), part):
        rows, others = target[begin : begin + part], candidate[begin : begin + part]
        divergences = kl_divergences(rows, others)
        figures[begin : begin + part] = np.column_stack(
            (
                word_errors(rows, others),
                1 - ndcg_scores(rows, others, k),
                distribution_differences(rows, others, by=by),
                l1_distances(rows, others),
                divergences,
                np.isinf(divergences),
            )
        )
    return figures


def weighted(figures: Floats, weights: Floats) -> Comparison:
    """Average the figures of pairs by weights, which need not sum to 1."""
    counted = weights > 0
    means = np.average(figures[counted], axis=0, weights=weights[counted])
    error, lack, *others = means.tolist()
    return Comparison(error, 1 - lack, *others)
