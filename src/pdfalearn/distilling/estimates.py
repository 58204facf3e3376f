"""What held-out words tell about automata, with confidence intervals."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import stdtrit

from pdfalearn.distilling.evidence import Evidence, Floats, Table, weight_sums
from pdfalearn.distilling.gathering import Positions, evidence_of
from pdfalearn.observations.tree import ObservationTree
from pdfalearn.pdfa import PDFA
from pdfalearn.results.recommendations import standard_error

CONFIDENCE = 0.95
_AT_ONCE = 2**12
"""At most this many answers are compared at once."""
_ROUNDING = 1e-12
"""Smaller divergences are rounding."""


class Interval(NamedTuple):
    """A mean with its confidence interval."""

    mean: float
    low: float
    high: float


class Measured(NamedTuple):
    """The measures of an automaton on held-out words."""

    losses: Floats
    """For every word, the sum of its finite divergences."""
    infinite: Floats
    """For every word, how many are infinite."""
    l1: float
    word_error_rate: float
    cross_entropy: float
    """The mean of -Σ D·ln row over the positions where that is finite."""


class HeldOut:
    """Words that nothing was learnt from.

    Parameters
    ----------
    positions : Positions
        Their prefixes.
    observations : ObservationTree
        The answers.
    """

    def __init__(self, positions: Positions, observations: ObservationTree) -> None:
        weights = np.bincount(positions.nodes, minlength=observations.nodes.size).astype(np.float64)
        self._evidence, nodes = evidence_of(observations, weights)
        numbers = np.zeros(observations.nodes.size, dtype=np.int64)
        numbers[nodes] = np.arange(len(nodes))
        self._nodes = numbers[positions.nodes]
        self._words = positions.words
        self.word_count = positions.word_count
        self.lengths: Floats = np.bincount(positions.words, minlength=positions.word_count).astype(
            np.float64
        )
        """How many positions every word has."""

    @property
    def positions(self) -> int:
        """How many positions there are in all."""
        return len(self._nodes)

    @property
    def entropy(self) -> float:
        """The mean entropy of the model's answers."""
        return -float(self._evidence.negative_entropies[self._nodes].mean())

    @property
    def room(self) -> float:
        """What one more word would add to a mean, with the loss of an automaton of a single state.

        A word on which an automaton is lost may be too rare to be among the held-out ones.
        """
        evidence = self._evidence
        mean = np.asarray(evidence.sums(np.zeros(len(evidence), dtype=np.int64), 1)[0][0])
        mean = mean / evidence.total
        single = -float(mean @ np.log(np.where(mean > 0, mean, 1.0))) - self.entropy
        return max(0.0, single) / max(1, self.word_count)

    def divergence(self, pdfa: PDFA) -> float:
        """Return the mean divergence of an automaton over the positions where it is finite."""
        measured = self.measured(pdfa)
        return interval(measured.losses, self.lengths - measured.infinite).mean

    def measured(self, pdfa: PDFA) -> Measured:
        """Measure an automaton."""
        evidence = self._evidence
        states = evidence.states(pdfa.transitions, pdfa.initial)
        crossed, distances, is_wrong = _compared(evidence, pdfa, states)
        divergences = crossed + evidence.negative_entropies
        divergences[divergences < _ROUNDING] = 0.0
        is_finite = np.isfinite(divergences)
        divergences = np.where(is_finite, divergences, 0.0)
        weights = evidence.weights
        finite = float(weights[is_finite].sum())
        return Measured(
            weight_sums(self._words, divergences[self._nodes], self.word_count),
            weight_sums(self._words, 1.0 - is_finite[self._nodes], self.word_count),
            float(weights @ distances / evidence.total),
            float(weights @ is_wrong / evidence.total),
            float(weights[is_finite] @ crossed[is_finite] / max(finite, 1e-300)),
        )


def _compared(
    evidence: Evidence, pdfa: PDFA, states: NDArray[np.int32]
) -> tuple[Floats, Floats, Floats]:
    """Return every node's cross entropy and L1 distance, and whether the likeliest differ."""
    crossed, distances = np.full(len(evidence), np.inf), np.full(len(evidence), 2.0)
    is_wrong = np.ones(len(evidence))
    known = (states >= 0).nonzero()[0]
    likeliest = pdfa.probabilities.argmax(axis=1)
    for begin in range(0, len(known), _AT_ONCE):
        part = known[begin : begin + _AT_ONCE]
        nodes, columns, values = _entries(evidence.answers[part])
        rows = pdfa.probabilities[states[part][nodes], columns]
        with np.errstate(divide="ignore"):
            crossed[part] = -weight_sums(nodes, values * np.log(rows), len(part))
        listed = weight_sums(nodes, np.abs(values - rows) - rows, len(part))
        distances[part] = np.maximum(1.0 + listed, 0.0)  # the automaton's rows sum up to 1
        best = np.zeros(len(part))
        np.maximum.at(best, nodes, values)
        is_best = columns == likeliest[states[part]][nodes]
        is_wrong[part] = weight_sums(nodes, np.where(is_best, values, 0.0), len(part)) < best
    return crossed, distances, is_wrong


def _entries(answers: Table) -> tuple[NDArray[np.integer], NDArray[np.integer], Floats]:
    """Return the positive probabilities of answers: their nodes, columns and values."""
    if isinstance(answers, csr_array):
        positive = (answers.data > 0).nonzero()[0]
        nodes = np.repeat(np.arange(answers.shape[0]), np.diff(answers.indptr))
        return nodes[positive], answers.indices[positive], answers.data[positive]
    places = (answers > 0).nonzero()
    return places[0], places[1], answers[places]


def interval(losses: Floats, lengths: Floats) -> Interval:
    """Estimate a mean per position from sums per word: a ratio, as words differ in length.

    Most of a divergence may come from few words, and those that cost most may not have been drawn.
    So the interval is one of the logarithm, and as wide as if the worst word had come twice.
    """
    mean = float(losses.sum() / max(lengths.sum(), 1.0))
    if len(losses) < 2:
        return Interval(mean, 0.0, np.inf)
    if not mean:
        return Interval(0.0, 0.0, 0.0)
    worst = int((losses - mean * lengths).argmax())
    error = standard_error(np.append(losses, losses[worst]), np.append(lengths, lengths[worst]))
    quantile = float(stdtrit(len(losses) - 1, (1 + CONFIDENCE) / 2))  # of Student's t
    with np.errstate(over="ignore"):
        factor = float(np.exp(quantile * error / mean))
    return Interval(mean, mean / factor, mean * factor)
