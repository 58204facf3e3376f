"""The exact divergence of two PDFA, over all words with their probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isinf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pdfalearn.metrics.visits import Chain, visits_and_weights
from pdfalearn.pdfa import PDFA, checked_pdfa
from pdfalearn.registry import shown

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class DirectedDivergence:
    """The divergence of a second PDFA from a first, whose words these are, in nats.

    Examples
    --------
    >>> from pdfalearn import figure_1
    >>> forward = divergence(figure_1(), figure_1(0.25)).forward
    >>> round(forward.per_word, 6), round(forward.expected_length, 6), forward.is_infinite
    (0.287682, 2.0, False)
    """

    per_word: float
    """KL of the distributions over words: E ln(P(w) / P̂(w)), w drawn from the first."""
    per_symbol: float
    """``per_word`` divided by ``expected_length`` + 1, or the long-run rate of endless words."""
    expected_length: float
    """The expected length of the first's words; infinite if they may never end."""
    by_state: Floats
    """The part of ``per_symbol`` that arises in each state of the first; they sum to it."""
    visits: Floats
    """The share of positions at which the first is in each of its states; they sum to 1."""
    infinite_share: float
    """The share of positions at which the second gives 0 to what the first allows."""
    finite_mean: float
    """The mean over all other positions; NaN if there are none."""

    @property
    def is_infinite(self) -> bool:
        """Whether the second gives 0 to a symbol that the first allows, after any word."""
        return isinf(self.per_symbol)


@dataclass(frozen=True, eq=False)
class Divergence:
    """How far two PDFA ``a`` and ``b`` are apart, both ways, in nats.

    Examples
    --------
    >>> from pdfalearn import figure_1
    >>> both = divergence(figure_1(), figure_1(0.25))
    >>> round(both.forward.per_symbol, 6), round(both.backward.per_symbol, 6)
    (0.095894, 0.07475)
    """

    forward: DirectedDivergence
    """KL(a ‖ b): words are drawn from a, and b has to account for them."""
    backward: DirectedDivergence
    """KL(b ‖ a)."""

    def _repr_html_(self) -> Any:
        return shown("html", self)

    def __str__(self) -> str:
        ways = (("a", "b", self.forward), ("b", "a", self.backward))
        return "; ".join(
            f"KL({first} ‖ {second}) = {one.per_symbol:.6g} per symbol, {one.per_word:.6g} per word"
            for first, second, one in ways
        )

    def table(self) -> str:
        """Return a small table of both directions, for people.

        Examples
        --------
        >>> from pdfalearn import figure_1
        >>> print(divergence(figure_1(), figure_1(0.25)).table())
                                            a ‖ b      b ‖ a
        per symbol                      0.0958940  0.0747497
        per word                         0.287682   0.174416
        expected length                   2.00000    1.33333
        positions where it is infinite          0          0
        mean over all other positions   0.0958940  0.0747497
        """
        rows = [("", "a ‖ b", "b ‖ a"), *self.rows()]
        widths = [max(len(row[column]) for row in rows) for column in range(3)]
        return "\n".join(
            f"{row[0]:<{widths[0]}}  {row[1]:>{widths[1]}}  {row[2]:>{widths[2]}}" for row in rows
        )

    def rows(self) -> list[tuple[str, str, str]]:
        """Return what each figure is, and its two values, as texts."""
        labels = {
            "per_symbol": "per symbol",
            "per_word": "per word",
            "expected_length": "expected length",
            "infinite_share": "positions where it is infinite",
            "finite_mean": "mean over all other positions",
        }
        one, other = vars(self.forward), vars(self.backward)
        return [(text, _shown(one[name]), _shown(other[name])) for name, text in labels.items()]


def divergence(a: PDFA, b: PDFA) -> Divergence:
    """Compute the Kullback-Leibler divergence of two PDFA, exactly and both ways.

    Parameters
    ----------
    a, b : PDFA
        Automata over the same symbols, in any order; their terminals may have other names. Rows are
        divided by their sums, which files may leave off 1 by 1e-6.

    Returns
    -------
    Divergence
        ``forward`` is KL(a ‖ b) and ``backward`` KL(b ‖ a): each per word, per symbol, and the part
        of every state. It is infinite where one gives probability 0 to what the other allows.

    Raises
    ------
    InputError
        If the symbols differ, or if words reach more than four million pairs of states.

    Notes
    -----
    Words drawn from a visit pairs of states of the two automata. The expected numbers of visits v
    solve v = e + Pᵀv, where e is the initial pair and P are a's probabilities, and KL(a ‖ b) is the
    sum of v times the divergence of the two rows. Where words of a never end with a positive
    probability, ``per_symbol`` is what the mean over the first n positions of such words tends to;
    ``per_word`` is then infinite unless that is 0.

    Examples
    --------
    >>> from pdfalearn import figure_1
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
    >>> from pdfalearn import figure_3
    >>> directed_divergence(figure_3(), figure_3()).per_word
    0.0
    """
    chain = Chain.of(checked_pdfa(first, "first"), checked_pdfa(second, "second"))
    values = chain.divergences()
    visits, weights = visits_and_weights(chain)
    finite = np.isfinite(values)
    terms = np.where(finite, weights * np.where(finite, values, 0.0), inf)
    by_state = _by_state(chain, terms)
    per_symbol, ends = float(by_state.sum()), bool((chain.components < 0).all())
    per_word = inf if per_symbol and not ends else float(visits @ np.where(visits, values, 0.0))
    finite_weight = float(weights[finite].sum())
    return DirectedDivergence(
        per_word=inf if isinf(per_symbol) else per_word,
        per_symbol=per_symbol,
        expected_length=float(visits.sum()) - 1 if ends else inf,
        by_state=by_state,
        visits=_by_state(chain, weights),
        infinite_share=float(weights[~finite].sum() / weights.sum()),
        finite_mean=float(terms[finite].sum()) / finite_weight if finite_weight else np.nan,
    )


def _by_state(chain: Chain, values: Floats) -> Floats:
    """Add up the values of the pairs of each of the target's states."""
    sums = np.zeros(len(chain.target))
    np.add.at(sums, chain.lefts, values)
    sums.setflags(write=False)
    return sums


def _shown(value: float) -> str:
    return f"{value:#.6g}" if value and np.isfinite(value) else f"{value:.6g}"
