"""Measure automata on held-out words, and put a frontier of them together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import stdtrit

from pdfalearn.distilling.evidence import Evidence
from pdfalearn.distilling.machines import Fit
from pdfalearn.distilling.noise import FreshAnswers
from pdfalearn.distilling.sampling import Positions, Sampling, make_evidence
from pdfalearn.observations import ObservationTree
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
from pdfalearn.typing import Floats, Integers

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
    # The mean of the finite divergences on prefixes that were not learnt from.
    unseen_divergence: float


class WordSums(NamedTuple):
    """Sums over the positions of every held-out word."""

    # The finite divergences, and how many are infinite.
    losses: Floats
    infinite: Floats
    # The same over the positions whose prefixes were not learnt from.
    unseen_losses: Floats
    unseen_infinite: Floats
    # The finite cross entropies, the L1 distances, and how often the likeliest symbols differ.
    crossed: Floats
    distances: Floats
    wrong: Floats

    @property
    def comparable(self) -> Floats:
        """Losses that can be compared between automata, even if some are infinite."""
        return comparable(self.losses, self.infinite)


class HeldOut:
    """Words that nothing was learnt from.

    ``codes`` are the symbols that are looked at, if not all; ``learnt`` the weights of the nodes
    that were learnt from; ``fresh`` the answers to measure with, where a model is noisy.
    """

    def __init__(
        self,
        positions: Positions,
        observations: ObservationTree,
        *,
        codes: Integers | None = None,
        learnt: Floats | None = None,
        fresh: FreshAnswers | None = None,
    ) -> None:
        passes = positions.count_passes(observations)
        rows = None if fresh is None else fresh.rows
        evidence, nodes = make_evidence(observations, passes, codes=codes, row_numbers=rows)
        # What divergences from noisy answers are too large by, and its error.
        self._noise = 0.0, 0.0
        if fresh is not None:
            positions, self._noise = fresh.positions, (fresh.noise, fresh.noise_error)
        numbers = np.zeros(observations.nodes.size, dtype=np.int64)
        numbers[nodes] = np.arange(len(nodes))
        self._evidence = evidence
        self._nodes = numbers[positions.nodes]
        self._words = positions.words
        self.word_count = positions.word_count
        # How many positions every word has.
        self.lengths: Floats = self._sum_up(np.ones(evidence.size))
        is_unseen = np.ones(evidence.size) if learnt is None else learnt[nodes] == 0
        self._is_unseen: Floats = is_unseen.astype(np.float64)
        # How many of them have prefixes that were not learnt from.
        self.unseen_lengths: Floats = self._sum_up(self._is_unseen)
        # The mean entropy of the model's answers.
        self.entropy = self._noise[0] - float(evidence.negative_entropies[self._nodes].mean())
        mean = evidence.sums(np.zeros(evidence.size, dtype=np.int64), 1)[0][0] / evidence.total
        single = -float(mean @ np.log(np.where(mean > 0, mean, 1.0))) - self.entropy
        # What one more word would add to a mean, with the loss of an automaton of a single state. A
        # word on which an automaton is lost may be too rare to be among the held-out ones.
        self.room = max(0.0, single) / max(1, self.word_count)

    def measure(self, pdfa: PDFA) -> Measured:
        """Measure an automaton."""
        return self.summarize(self.sum_words(pdfa.transitions, pdfa.initial, pdfa.probabilities))

    def sum_words(self, transitions: NDArray[np.int32], initial: int, rows: Floats) -> WordSums:
        """Measure an automaton word by word; -1 is an undefined transition."""
        evidence = self._evidence
        states = evidence.states(transitions, initial)
        crossed, distances, is_wrong = _compare(evidence, rows, states)
        divergences = crossed + evidence.negative_entropies
        divergences[divergences < _ROUNDING] = 0.0
        is_infinite = ~np.isfinite(divergences)
        divergences[is_infinite] = crossed[is_infinite] = 0.0
        unseen = self._is_unseen
        figures = (
            *(divergences, is_infinite, divergences * unseen, is_infinite * unseen),
            *(crossed, distances, is_wrong),
        )
        return WordSums(*map(self._sum_up, figures))

    def _sum_up(self, figures: NDArray[Any]) -> Floats:
        """Sum figures of nodes up over the positions of every word."""
        return np.bincount(self._words, figures[self._nodes], self.word_count).astype(np.float64)

    def summarize(self, sums: WordSums) -> Measured:
        """Return the measures over all words."""
        total, infinite = float(self.lengths.sum()), float(sums.infinite.sum())
        unseen = float((self.unseen_lengths - sums.unseen_infinite).sum())
        divergence = estimate_mean(sums.losses, self.lengths - sums.infinite, *self._noise)
        unseen_loss = max(0.0, float(sums.unseen_losses.sum()) - unseen * self._noise[0])
        return Measured(
            sums.losses,
            sums.infinite,
            float(sums.distances.sum()) / total,
            float(sums.wrong.sum()) / total,
            float(sums.crossed.sum()) / max(total - infinite, 1e-300),
            divergence,
            infinite / total,
            unseen_loss / unseen if unseen else divergence.mean,
        )


def _compare(
    evidence: Evidence, table: Floats, states: NDArray[np.int32]
) -> tuple[Floats, Floats, Floats]:
    """Return every node's cross entropy and L1 distance, and whether the likeliest differ."""
    crossed, distances = np.full(evidence.size, np.inf), np.full(evidence.size, 2.0)
    is_wrong = np.ones(evidence.size)
    known = (states >= 0).nonzero()[0]
    likeliest = table.argmax(axis=1)
    for begin in range(0, len(known), _AT_ONCE):
        part = known[begin : begin + _AT_ONCE]
        answers = evidence.answers[part]
        if not isinstance(answers, csr_array):
            rows = table[states[part]]
            is_zero = rows <= 0
            logs = np.log(np.where(is_zero, 1.0, rows))
            crossed[part] = -np.einsum("xa,xa->x", answers, logs)
            if is_zero.any():
                crossed[part[((answers > 0) & is_zero).any(axis=1)]] = np.inf
            distances[part] = np.abs(answers - rows).sum(axis=1)
            mine = answers[np.arange(len(part)), likeliest[states[part]]]
            is_wrong[part] = mine < answers.max(axis=1)
            continue
        nodes, columns = answers.nonzero()
        values = answers.data[answers.data != 0]
        rows = table[states[part][nodes], columns]
        with np.errstate(divide="ignore"):
            crossed[part] = -np.bincount(nodes, values * np.log(rows), len(part))
        listed = np.bincount(nodes, np.abs(values - rows) - rows, len(part))
        distances[part] = np.maximum(1.0 + listed, 0.0)  # the automaton's rows sum up to 1
        best = np.zeros(len(part))
        np.maximum.at(best, nodes, values)
        is_best = columns == likeliest[states[part]][nodes]
        is_wrong[part] = np.bincount(nodes, np.where(is_best, values, 0.0), len(part)) < best
    return crossed, distances, is_wrong


def estimate_mean(
    losses: Floats, lengths: Floats, noise: float = 0.0, noise_error: float = 0.0
) -> Interval:
    """Estimate a mean per position from sums per word: a ratio, as words differ in length.

    ``noise`` is subtracted from every position; the interval is then that of the mean itself.

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
    if noise:
        width = quantile * float(np.hypot(error, noise_error))
        less = mean - noise
        return Interval(max(0.0, less), max(0.0, less - width), max(0.0, less + width))
    with np.errstate(over="ignore"):
        factor = float(np.exp(quantile * error / mean))
    return Interval(mean, mean / factor, mean * factor)


class Measurement(NamedTuple):
    """An automaton of a frontier, and what is known about it."""

    pdfa: PDFA
    # Sums over the held-out words, of the automaton before all answers were given to its rows.
    sums: WordSums
    # On the words that it was made from, and by how much rare words may raise it.
    training_divergence: float
    rare: float


def make_frontier(
    found: Sequence[Measurement],
    held_out: HeldOut,
    sizes: Iterable[int],
    sampling: Sampling,
    fresh: FreshAnswers | None = None,
    *,
    is_interrupted: bool,
) -> Frontier:
    """Put a frontier together, and certify what was done."""
    found = _leave_out_beaten(found, held_out.lengths)
    losses = np.array([each.sums.comparable for each in found])
    kept = [found[place] for place in not_worse(losses, held_out.lengths).nonzero()[0].tolist()]
    points = []
    for each in kept:
        measured = held_out.summarize(each.sums)
        mean, low, high = measured.divergence
        points.append(
            Point(
                states=len(each.pdfa),
                pdfa=each.pdfa,
                divergence=mean,
                low=low,
                high=high + held_out.room + each.rare,
                infinite_share=measured.infinite_share,
                l1=measured.l1,
                word_error_rate=measured.word_error_rate,
                perplexity=float(np.exp(measured.cross_entropy)),
                training_divergence=max(0.0, each.training_divergence),
                unseen_divergence=measured.unseen_divergence,
            )
        )
    frontier = Frontier(
        points=tuple(points),
        sizes=tuple(sorted(sizes)),
        certificate=Certificate("distilled", "", {"answers": sampling.answered}),
        model_perplexity=float(np.exp(held_out.entropy)),
        kept_losses=np.array([each.sums.losses for each in kept]),
        kept_infinite=np.array([each.sums.infinite for each in kept]),
        kept_lengths=held_out.lengths,
    )
    certificate = _certify(frontier, sampling, held_out, fresh, is_interrupted=is_interrupted)
    return replace(frontier, certificate=certificate)


def _leave_out_beaten(found: Sequence[Measurement], lengths: Floats) -> list[Measurement]:
    """Return one automaton for each number of states, without those that a smaller one beats.

    It is beaten if a smaller one is as good on the held-out words: so a larger one of the frontier
    is always the better one there.
    """
    chosen: list[Measurement] = []
    least = np.inf
    for each in sorted(found, key=lambda one: (len(one.pdfa), one.sums.comparable.sum())):
        mean = float(each.sums.comparable.sum()) / float(lengths.sum())
        is_new = not chosen or len(each.pdfa) > len(chosen[-1].pdfa)
        if is_new and mean < least - NOTHING:
            chosen.append(each)
            least = mean
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


def _certify(
    frontier: Frontier,
    sampling: Sampling,
    held_out: HeldOut,
    fresh: FreshAnswers | None,
    *,
    is_interrupted: bool,
) -> Certificate:
    best = frontier.point(len(frontier.best))
    observations = sampling.observations
    counts, name = observations.counts, sampling.sampler.name
    words, unseen = held_out.word_count, int(held_out.unseen_lengths.sum())
    texts = [
        f"the automaton of {best.states:,} states diverges by {best.divergence:.4g} per symbol "
        f"({CONFIDENCE:.0%} interval {best.low:.4g} to {best.high:.4g}) on {words:,} held-out "
        f"words, {name}; an estimate under these words, not an equivalence",
        "rows were then refitted on all answers, those to held-out words included",
    ]
    if unseen and not best.low <= best.unseen_divergence <= best.high:
        texts.append(
            f"on the {unseen:,} held-out prefixes that nothing was learnt from the divergence is "
            f"{best.unseen_divergence:.4g}"
        )
    if sampling.cut_words:
        texts.append(f"{sampling.cut_words:,} of {sampling.words:,} words were cut")
    if best.infinite_share:
        texts.append(f"at {best.infinite_share:.2%} of positions the divergence is infinite")
    if words < FEW_WORDS:
        texts.append(
            f"intervals from fewer than {FEW_WORDS} words are too narrow rather often: take a "
            "larger budget to publish them"
        )
    if fresh is not None:
        texts.append(
            "answers differ from one time to the next: held-out prefixes that were learnt from "
            f"were asked again ({fresh.asked:,}) or left out ({fresh.left_out:,} positions), and "
            f"the noise of answers, {fresh.noise:.3g} nats, is subtracted"
        )
    if is_interrupted:
        texts.append("stopped by hand")
    details: dict[str, object] = {
        "words": name,
        "words_drawn": sampling.words,
        "words_cut": sampling.cut_words,
        "held_out_words": words,
        "held_out_positions": int(held_out.lengths.sum()),
        "unseen_positions": unseen,
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
        "unseen_divergence": best.unseen_divergence,
        "infinite_share": best.infinite_share,
        "knee": frontier.knee,
        "seed": sampling.seed,
        "interrupted": is_interrupted,
    }
    if fresh is not None:
        details |= {"asked_again": fresh.asked, "left_out": fresh.left_out, "noise": fresh.noise}
    if counts.outside_known:
        details |= counts.outside_details
    return Certificate("distilled", "; ".join(texts), details)
