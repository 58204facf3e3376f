"""How far automata are from a model, on fresh words of the model."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.distilling.answers import Answers, Floats, Integers
from pdfalearn import PDFA

_CELLS = 2**21
"""A pass looks at about this many probabilities at once."""


class Divergence(NamedTuple):
    """The divergence per symbol of an automaton from a model."""

    mean: float
    """The mean Kullback-Leibler divergence of rows, in nats, where it is finite."""
    infinite: float
    """The share of positions where the model allows what the automaton does not."""

    @property
    def total(self) -> float:
        """The mean over all positions: infinite if it is so at any."""
        return self.mean if self.infinite == 0 else float("inf")


def divergence(pdfa: PDFA, answers: Answers) -> Divergence:
    """Measure an automaton on words whose answers are known.

    Every position of every word counts alike, its end included.

    Examples
    --------
    >>> from benchmarks.distilling.answers import asked
    >>> from benchmarks.distilling.black_boxes import BlackBox
    >>> from pdfalearn.datasets import figure_3
    >>> exact = divergence(figure_3(), asked(BlackBox(figure_3()), 100, seed=1))
    >>> exact.mean < 1e-12, exact.infinite
    (True, 0.0)
    """
    each = divergences(pdfa, answers)
    finite = np.isfinite(each)
    weight, total = answers.weights[finite].sum(), answers.weights.sum()
    mean = float(each[finite] @ answers.weights[finite] / weight) if weight else float("nan")
    return Divergence(mean, float(1 - weight / total))


def divergences(pdfa: PDFA, answers: Answers) -> Floats:
    """Return the divergence after each prefix; infinite where something possible is not."""
    states = answers.states(pdfa)
    with np.errstate(divide="ignore"):
        logarithms = np.log(pdfa.probabilities)
    is_zero = np.isneginf(logarithms)
    logarithms[is_zero] = 0.0
    each = -answers.entropies
    size = max(1, _CELLS // answers.rows.shape[1])
    for begin in range(0, len(each), size):
        part = slice(begin, begin + size)
        each[part] -= np.einsum("xa,xa->x", answers.rows[part], logarithms[states[part]])
    if is_zero.any():
        each[_impossible(is_zero, states, answers)] = np.inf
    each[states < 0] = np.inf
    return np.maximum(each, 0.0)


def _impossible(
    is_zero: NDArray[np.bool_], states: Integers, answers: Answers
) -> NDArray[np.bool_]:
    """Return after which prefixes a symbol is possible that has probability 0 in the state."""
    found = np.zeros(len(states), dtype=bool)
    with_zeros = np.asarray(is_zero.any(axis=1))[states].nonzero()[0]
    size = max(1, _CELLS // is_zero.shape[1])
    for begin in range(0, len(with_zeros), size):
        places = with_zeros[begin : begin + size]
        found[places] = ((answers.rows[places] > 0) & is_zero[states[places]]).any(axis=1)
    return found
