"""The exact divergence of two PDFA, over all words with their probabilities."""

from __future__ import annotations

from math import inf, isinf

import numpy as np

from pdfalearn.chains import Pairs, sums_by, visits_and_weights
from pdfalearn.equivalence import over_union
from pdfalearn.pdfa import PDFA, checked_pdfa
from pdfalearn.results import DirectedDivergence, Divergence


def divergence(a: PDFA, b: PDFA) -> Divergence:
    """Compute the Kullback-Leibler divergence of two PDFA, exactly and both ways.

    Parameters
    ----------
    a, b : PDFA
        The automata; a symbol that one of them does not know has probability 0 there, and their
        terminals may have other names. Rows are divided by their sums, which files may leave off 1
        by 1e-6.

    Returns
    -------
    Divergence
        ``forward`` is KL(a ‖ b) and ``backward`` KL(b ‖ a): each per word, per symbol, and the part
        of every state. It is infinite where one gives probability 0 to what the other allows.

    Raises
    ------
    InputError
        If words reach more than four million pairs of states.

    Notes
    -----
    Words drawn from a visit pairs of states of the two automata. The expected numbers of visits v
    solve v = e + Pᵀv, where e is the initial pair and P are a's probabilities, and KL(a ‖ b) is the
    sum of v times the divergence of the two rows. Where words of a never end with a positive
    probability, ``per_symbol`` is what the mean over the first n positions of such words tends to;
    ``per_word`` is then infinite unless that is 0.

    Examples
    --------
    >>> from pdfalearn.datasets import figure_1
    >>> result = divergence(figure_1(), figure_1(0.25))
    >>> round(result.forward.per_word, 6), round(result.forward.per_symbol, 6)
    (0.287682, 0.095894)
    >>> result.forward.by_state.sum() == result.forward.per_symbol
    np.True_
    """
    a, b = checked_pdfa(a, "a"), checked_pdfa(b, "b")
    return Divergence(forward=directed_divergence(a, b), backward=directed_divergence(b, a))


def directed_divergence(first: PDFA, second: PDFA) -> DirectedDivergence:
    """Compute one direction only: KL(first ‖ second).

    Examples
    --------
    >>> from pdfalearn.datasets import figure_3
    >>> directed_divergence(figure_3(), figure_3()).per_word
    0.0
    """
    first, second = over_union(checked_pdfa(first, "first"), checked_pdfa(second, "second"))
    pairs = Pairs.visited(first, second)
    values = pairs.row_divergences()
    visits, weights = visits_and_weights(pairs.flow)
    finite = np.isfinite(values)
    terms = np.where(finite, weights * np.where(finite, values, 0.0), inf)
    by_state = sums_by(pairs.lefts, terms, len(first))
    shares = sums_by(pairs.lefts, weights, len(first))
    for array in (by_state, shares):
        array.setflags(write=False)
    per_symbol, ends = float(by_state.sum()), not pairs.flow.endless.any()
    per_word = inf if per_symbol and not ends else float(visits @ np.where(visits, values, 0.0))
    finite_weight = float(weights[finite].sum())
    return DirectedDivergence(
        per_word=inf if isinf(per_symbol) else per_word,
        per_symbol=per_symbol,
        expected_length=float(visits.sum()) - 1 if ends else inf,
        by_state=by_state,
        visits=shares,
        infinite_share=float(weights[~finite].sum() / weights.sum()),
        finite_mean=float(terms[finite].sum()) / finite_weight if finite_weight else np.nan,
    )
