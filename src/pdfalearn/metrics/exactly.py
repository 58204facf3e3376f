"""Evaluate a PDFA against another one over all words at once, without drawing any."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from pdfalearn.alphabet import shortened
from pdfalearn.chains.visits import Chain, expected_visits
from pdfalearn.equivalence.relations import Equivalence, Tolerance
from pdfalearn.errors import InputError
from pdfalearn.metrics.distributions import checked_places, figures_of, weighted
from pdfalearn.metrics.evaluation import EXACT
from pdfalearn.pdfa import PDFA, checked_pdfa
from pdfalearn.results.evaluations import Evaluation

Floats = NDArray[np.float64]


def evaluate_exactly(
    target: PDFA,
    candidate: PDFA,
    *,
    by: Equivalence | Tolerance = EXACT,
    k: int | None = None,
) -> Evaluation:
    """Evaluate how well a PDFA predicts another, over all words with their probabilities.

    Parameters
    ----------
    target, candidate : PDFA
        Automata over the same symbols, in any order. Words drawn from the target must end with
        probability 1.
    by : Equivalence or Tolerance
        When two distributions are the same, or similar.
    k : int, optional
        How many places count for NDCG; half the symbols, rounded up, if not given.

    Returns
    -------
    Evaluation
        What `evaluate` tends to on more and more words drawn from the target. Only the
        log-probability error is missing, as absolute values do not add up along a word; the mean of
        the signed difference is ``kl_of_words``.

    Notes
    -----
    Words drawn from the target visit pairs of states of the two automata. The expected numbers of
    visits v solve v = e + Pᵀv, where e is the initial pair and P are the target's probabilities.

    Examples
    --------
    >>> from pdfalearn import figure_1
    >>> result = evaluate_exactly(figure_1(), figure_1(0.25))
    >>> result.mean_length, result.over_prefixes.l1, result.over_words.l1
    (2.0, 0.3333333333333333, 0.5)
    """
    target, candidate = checked_pdfa(target, "target"), checked_pdfa(candidate, "candidate")
    places = checked_places(k, len(target.alphabet))
    chain = Chain.of(target, candidate)
    _check_ends(target, chain)
    visits = expected_visits(chain.moves, chain.start)
    rows, others = chain.target_rows, chain.candidate_rows
    ends = visits * chain.shares[:, 0]
    figures = figures_of(rows, others, by, places)
    prefixes = float(visits.sum())
    return Evaluation(
        words=None,
        cut_words=0,
        mean_length=prefixes - 1,
        by=by,
        k=places,
        over_prefixes=weighted(figures, visits),
        over_words=weighted(figures, ends),
        log_probability_error=None,
        one_sided_words=_impossible(chain),
        target_perplexity=_perplexity(chain.shares, rows, visits),
        perplexity=_perplexity(chain.shares, others, visits),
    )


def _check_ends(target: PDFA, chain: Chain) -> None:
    """Refuse a target whose words may never end, with a word that leads there."""
    endless = chain.first_endless()
    if endless is not None:
        word = shortened(target.alphabet.decode(chain.word(endless)))
        raise InputError(
            f"after the word {word} the target never ends; draw words of a maximal length instead"
        )


def _impossible(chain: Chain) -> float:
    """Return the probability that a word drawn from the target is impossible in the candidate."""
    possible = chain.candidate_rows > 0  # NaN is not
    lost = np.where(possible, 0.0, chain.shares).sum(axis=1)
    if not lost.any():
        return 0.0
    return float(expected_visits(chain.moves_where(possible), chain.start) @ lost)


def _perplexity(shares: Floats, rows: Floats, visits: Floats) -> float:
    """Return exp of the mean cross entropy of visited pairs; undefined is impossible."""
    visited = visits > 0
    crossed = xlogy(shares[visited], np.nan_to_num(rows[visited])).sum(axis=1)
    return float(np.exp(-(crossed @ visits[visited]) / visits.sum()))
