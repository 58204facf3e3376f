"""Measure automata on held-out words, and put a frontier of them together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import stdtrit

from pdfalearn.distilling.evidence import Evidence
from pdfalearn.distilling.machines import Fit, make_pdfa
from pdfalearn.distilling.sampling import Positions, Sampling, make_evidence
from pdfalearn.observations import Nodes, ObservationTree
from pdfalearn.pdfa import PDFA
from pdfalearn.results import (
    NOTHING,
    Certificate,
    Frontier,
    Point,
    comparable,
    not_worse,
    standard_error,
)
from pdfalearn.typing import Floats

CONFIDENCE = 0.95
# At most this many answers are compared at once.
_AT_ONCE = 2**12
# Smaller divergences are rounding.
_ROUNDING = 1e-12
# Intervals from fewer held-out words than this are too narrow rather often.
FEW_WORDS = 200


class Interval(NamedTuple):
    """A mean with its confidence interval."""

    mean: float
    low: float
    high: float


class Measured(NamedTuple):
    """The measures of an automaton on held-out words."""

    # For every word, the sum of its finite divergences.
    losses: Floats
    # For every word, how many are infinite.
    infinite: Floats
    l1: float
    word_error_rate: float
    # The mean of -Σ D·ln row over the positions where that is finite.
    cross_entropy: float
    # The mean of the finite divergences.
    divergence: Interval
    infinite_share: float


class HeldOut:
    """Words that nothing was learnt from."""

    def __init__(self, positions: Positions, observations: ObservationTree) -> None:
        evidence, nodes = make_evidence(observations, positions.count_passes(observations))
        numbers = np.zeros(observations.nodes.size, dtype=np.int64)
        numbers[nodes] = np.arange(len(nodes))
        self._evidence = evidence
        self._nodes = numbers[positions.nodes]
        self._words = positions.words
        self.word_count = positions.word_count
        lengths = np.bincount(positions.words, minlength=positions.word_count)
        # How many positions every word has.
        self.lengths: Floats = lengths.astype(np.float64)
        # The mean entropy of the model's answers.
        self.entropy = -float(evidence.negative_entropies[self._nodes].mean())
        mean = evidence.sums(np.zeros(evidence.size, dtype=np.int64), 1)[0][0] / evidence.total
        single = -float(mean @ np.log(np.where(mean > 0, mean, 1.0))) - self.entropy
        # What one more word would add to a mean, with the loss of an automaton of a single state. A
        # word on which an automaton is lost may be too rare to be among the held-out ones.
        self.room = max(0.0, single) / max(1, self.word_count)

    def measure(self, pdfa: PDFA) -> Measured:
        """Measure an automaton."""
        evidence = self._evidence
        states = evidence.states(pdfa.transitions, pdfa.initial)
        crossed, distances, is_wrong = _compare(evidence, pdfa, states)
        divergences = crossed + evidence.negative_entropies
        divergences[divergences < _ROUNDING] = 0.0
        is_finite = np.isfinite(divergences)
        divergences = np.where(is_finite, divergences, 0.0)
        weights = evidence.weights
        finite = float(weights[is_finite].sum())
        losses = np.bincount(self._words, divergences[self._nodes], self.word_count).astype(float)
        cut_off = self._words[~is_finite[self._nodes]]
        infinite = np.bincount(cut_off, minlength=self.word_count).astype(np.float64)
        return Measured(
            losses,
            infinite,
            float(weights @ distances / evidence.total),
            float(weights @ is_wrong / evidence.total),
            float(weights[is_finite] @ crossed[is_finite] / max(finite, 1e-300)),
            estimate_mean(losses, self.lengths - infinite),
            float(infinite.sum() / self.lengths.sum()),
        )


def _compare(
    evidence: Evidence, pdfa: PDFA, states: NDArray[np.int32]
) -> tuple[Floats, Floats, Floats]:
    """Return every node's cross entropy and L1 distance, and whether the likeliest differ."""
    crossed, distances = np.full(evidence.size, np.inf), np.full(evidence.size, 2.0)
    is_wrong = np.ones(evidence.size)
    known = (states >= 0).nonzero()[0]
    likeliest = pdfa.probabilities.argmax(axis=1)
    for begin in range(0, len(known), _AT_ONCE):
        part = known[begin : begin + _AT_ONCE]
        answers = evidence.answers[part]
        nodes, columns = answers.nonzero()
        is_sparse = isinstance(answers, csr_array)
        values = answers.data[answers.data != 0] if is_sparse else answers[nodes, columns]
        rows = pdfa.probabilities[states[part][nodes], columns]
        with np.errstate(divide="ignore"):
            crossed[part] = -np.bincount(nodes, values * np.log(rows), len(part))
        listed = np.bincount(nodes, np.abs(values - rows) - rows, len(part))
        distances[part] = np.maximum(1.0 + listed, 0.0)  # the automaton's rows sum up to 1
        best = np.zeros(len(part))
        np.maximum.at(best, nodes, values)
        is_best = columns == likeliest[states[part]][nodes]
        is_wrong[part] = np.bincount(nodes, np.where(is_best, values, 0.0), len(part)) < best
    return crossed, distances, is_wrong


def estimate_mean(losses: Floats, lengths: Floats) -> Interval:
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


def make_frontier(
    fits: Mapping[int, Fit],
    evidence: Evidence,
    nodes: Nodes,
    sampling: Sampling,
    *,
    is_interrupted: bool,
) -> Frontier:
    """Measure automata on the held-out words, and certify what was done.

    ``nodes`` are those of the observations that the nodes of the evidence are.
    """
    observations = sampling.observations
    held_out = HeldOut(sampling.held_out, observations)
    drawn = sampling.training.count_passes(observations)[nodes]
    chosen = _leave_out_beaten(fits)
    pdfas = [make_pdfa(fit, evidence, observations.alphabet) for fit in chosen]
    measured = [held_out.measure(pdfa) for pdfa in pdfas]
    losses = np.array([comparable(each.losses, each.infinite) for each in measured])
    kept = not_worse(losses, held_out.lengths).nonzero()[0].tolist()
    points = []
    for place in kept:
        pdfa, fit, (mean, low, high) = pdfas[place], chosen[place], measured[place].divergence
        unseen = held_out.room + rare_loss(fit, evidence, drawn)
        points.append(
            Point(
                states=len(pdfa),
                pdfa=pdfa,
                divergence=mean,
                low=low,
                high=high + unseen,
                infinite_share=measured[place].infinite_share,
                l1=measured[place].l1,
                word_error_rate=measured[place].word_error_rate,
                perplexity=float(np.exp(measured[place].cross_entropy)),
                training_divergence=max(0.0, fit.loss),
            )
        )
    frontier = Frontier(
        points=tuple(points),
        sizes=tuple(sorted(fits)),
        certificate=Certificate("distilled", "", {"answers": sampling.answered}),
        model_perplexity=float(np.exp(held_out.entropy)),
        kept_losses=np.array([measured[place].losses for place in kept]),
        kept_infinite=np.array([measured[place].infinite for place in kept]),
        kept_lengths=held_out.lengths,
    )
    certificate = _certify(frontier, sampling, is_interrupted=is_interrupted)
    return replace(frontier, certificate=certificate)


def _leave_out_beaten(fits: Mapping[int, Fit]) -> list[Fit]:
    """Return one automaton for each number of states, without those that a smaller one beats."""
    chosen: list[Fit] = []
    for fit in sorted(fits.values(), key=lambda fit: (len(fit.machine.rows), fit.loss)):
        if not chosen or fit.loss < chosen[-1].loss - NOTHING:
            chosen.append(fit)
    return chosen


def rare_loss(fit: Fit, evidence: Evidence, drawn: Floats) -> float:
    """Return by how much words that are too rare to be drawn may raise the loss.

    ``drawn`` says how many of the drawn words pass every node: none those that were asked because
    automata were blind there.
    """
    is_rare = (drawn == 0) & (fit.states >= 0)
    sums = evidence.sum_answers(np.where(is_rare, fit.states, -1), len(fit.logs))
    crossed = (sums.multiply(fit.logs) if isinstance(sums, csr_array) else sums * fit.logs).sum()
    weights = evidence.weights[is_rare]
    more = weights @ evidence.negative_entropies[is_rare] - crossed - weights.sum() * fit.loss
    return max(0.0, float(more) / max(1.0, float(drawn.sum())))


def _certify(frontier: Frontier, sampling: Sampling, *, is_interrupted: bool) -> Certificate:
    best = frontier.point(len(frontier.best))
    held_out, observations = sampling.held_out, sampling.observations
    counts, name = observations.counts, sampling.sampler.name
    words = held_out.word_count
    texts = [
        f"the automaton of {best.states:,} states diverges by {best.divergence:.4g} per symbol "
        f"({CONFIDENCE:.0%} interval {best.low:.4g} to {best.high:.4g}) on {words:,} held-out "
        f"words, {name}; an estimate under these words, not an equivalence"
    ]
    if sampling.cut_words:
        texts.append(f"{sampling.cut_words:,} of {sampling.words:,} words were cut")
    if best.infinite_share:
        texts.append(f"at {best.infinite_share:.2%} of positions the divergence is infinite")
    if words < FEW_WORDS:
        texts.append(
            f"intervals from fewer than {FEW_WORDS} words are too narrow rather often: take a "
            "larger budget to publish them"
        )
    if is_interrupted:
        texts.append("stopped by hand")
    details: dict[str, object] = {
        "words": name,
        "words_drawn": sampling.words,
        "words_cut": sampling.cut_words,
        "held_out_words": words,
        "held_out_positions": len(held_out.nodes),
        "training_positions": len(sampling.training.nodes),
        "answers": sampling.answered,
        "words_asked": counts.words,
        "symbols_asked": counts.symbols,
        "cost": observations.meter.spent,
        "stored_words": counts.stored,
        "audited_words": counts.audited,
        "largest_difference": counts.largest_difference,
        "confidence": CONFIDENCE,
        "best": best.states,
        "divergence": best.divergence,
        "interval": [best.low, best.high],
        "infinite_share": best.infinite_share,
        "knee": frontier.knee,
        "seed": sampling.seed,
        "interrupted": is_interrupted,
    }
    if counts.outside_known:
        details |= counts.outside_details
    return Certificate("distilled", "; ".join(texts), details)
