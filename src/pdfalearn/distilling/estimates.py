"""Measure automata on held-out words, and put a frontier of them together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import stdtrit

from pdfalearn.distilling.evidence import Table, sum_xlogx
from pdfalearn.distilling.noise import FreshAnswers
from pdfalearn.distilling.sampling import Positions, Sampling, make_evidence, make_table
from pdfalearn.observations import ObservationTree
from pdfalearn.pdfa import PDFA
from pdfalearn.results import (
    IMPOSSIBLE,
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
# About this many numbers are compared at once: they stay in the processor's cache.
_AT_ONCE = 2**16
# Smaller divergences are rounding.
_ROUNDING = 1e-12
# What is so rare that it is in none of n words has at most this share over n of all, in 95%.
_RULE_OF_THREE = 3.0


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
    that were learnt from; ``fresh`` the words to measure with, where a model is noisy.
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
        evidence, nodes = make_evidence(observations, passes, codes=codes)
        numbers = np.zeros(observations.nodes.size, dtype=np.int64)
        numbers[nodes] = np.arange(len(nodes))
        # The answers to measure with, the node of each, what Σ D·log D is of each without noise,
        # and which answer is that of every position.
        self._answers, self._nodes = evidence.answers, np.arange(len(nodes))
        self._entropies, self._places = evidence.negative_entropies, numbers[positions.nodes]
        # What divergences from noisy answers are too large by, and its error; None without noise.
        self.noise = 0.0
        self._noise_error: float | None = None
        if fresh is not None:
            positions = fresh.positions
            self._nodes, self._places = numbers[positions.nodes], np.arange(len(positions.nodes))
            table, _ = make_table(observations, positions.nodes, fresh.rows, evidence.codes)
            self._answers, self._entropies = table, sum_xlogx(table) - fresh.noise
            self.noise, self._noise_error = fresh.noise, fresh.noise_error
        self._evidence = evidence
        self._words = positions.words
        self.word_count = positions.word_count
        # How many positions every word has.
        self.lengths: Floats = self._sum_up(np.ones(len(self._nodes)))
        is_unseen = np.ones(evidence.size) if learnt is None else learnt[nodes] == 0
        self._is_unseen: Floats = is_unseen[self._nodes].astype(np.float64)
        # How many of them have prefixes that were not learnt from.
        self.unseen_lengths: Floats = self._sum_up(self._is_unseen)
        # The mean entropy of the model's answers.
        self.entropy = -float(self._entropies[self._places].mean())

    def measure(self, pdfa: PDFA) -> Measured:
        """Measure an automaton."""
        return self.summarize(self.sum_words(pdfa.transitions, pdfa.initial, pdfa.probabilities))

    def add_unseen(self, interval: Interval, pdfa: PDFA) -> Interval:
        """Add what an automaton may lose on words that are too rare to be among these.

        Lost, it would be in any of its states wherever it is. By the rule of three, words on which
        it is lost have a share of at most 3 / n where none of n words is one of them (in 95%).
        """
        evidence, codes = self._evidence, self._evidence.codes
        states = evidence.states(pdfa.transitions[:, codes], pdfa.initial)[self._nodes]
        states = states[self._places]
        visits = np.bincount(states[states >= 0], minlength=len(pdfa))
        passes = np.bincount(self._nodes[self._places], minlength=evidence.size)
        mean = np.asarray(passes @ evidence.answers) / passes.sum()
        rows = pdfa.probabilities[:, np.append(0, codes + 1)]
        logs = np.log(np.maximum(rows, np.exp(-IMPOSSIBLE)))
        lost = -float(visits @ (logs @ mean)) / max(1, int(visits.sum())) - self.entropy
        unseen = _RULE_OF_THREE * max(0.0, lost) / max(1, self.word_count)
        high = interval.mean + float(np.hypot(interval.high - interval.mean, unseen))
        return interval._replace(high=high)

    def find_visited(self, transitions: NDArray[np.int32]) -> Integers:
        """Return the states that words visit, from state 0 on."""
        return np.unique(self._evidence.states(transitions, 0))

    def sum_words(self, transitions: NDArray[np.int32], initial: int, rows: Floats) -> WordSums:
        """Measure an automaton word by word; -1 is an undefined transition."""
        states = self._evidence.states(transitions, initial)[self._nodes]
        crossed, distances, is_wrong = _compare(self._answers, rows, states)
        divergences = crossed + self._entropies
        divergences[np.abs(divergences) < _ROUNDING] = 0.0
        is_infinite = ~np.isfinite(divergences)
        divergences[is_infinite] = crossed[is_infinite] = 0.0
        unseen = self._is_unseen
        figures = (
            *(divergences, is_infinite, divergences * unseen, is_infinite * unseen),
            *(crossed, distances, is_wrong),
        )
        return WordSums(*map(self._sum_up, figures))

    def _sum_up(self, figures: NDArray[Any]) -> Floats:
        """Sum figures of answers up over the positions of every word."""
        return np.bincount(self._words, figures[self._places], self.word_count).astype(np.float64)

    def summarize(self, sums: WordSums) -> Measured:
        """Return the measures over all words."""
        total, infinite = float(self.lengths.sum()), float(sums.infinite.sum())
        unseen = float((self.unseen_lengths - sums.unseen_infinite).sum())
        divergence = estimate_mean(sums.losses, self.lengths - sums.infinite, self._noise_error)
        unseen_loss = max(0.0, float(sums.unseen_losses.sum()))
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
    all_answers: Table, table: Floats, states: NDArray[np.int32]
) -> tuple[Floats, Floats, Floats]:
    """Return every answer's cross entropy and L1 distance, and whether the likeliest differ."""
    crossed, distances = np.full(len(states), np.inf), np.full(len(states), 2.0)
    is_wrong = np.ones(len(states))
    known = (states >= 0).nonzero()[0]
    likeliest, is_sparse = table.argmax(axis=1), isinstance(all_answers, csr_array)
    logs = table if is_sparse else np.log(np.where(table > 0, table, 1.0))
    at_once = _AT_ONCE * len(states) // max(1, all_answers.size) + 1
    for begin in range(0, len(known), at_once):
        part = known[begin : begin + at_once]
        answers = all_answers[part]
        if not isinstance(answers, csr_array):
            rows = table[states[part]]
            crossed[part] = -np.einsum("xa,xa->x", answers, logs[states[part]])
            crossed[part[((answers > 0) & (rows <= 0)).any(axis=1)]] = np.inf
            distances[part] = np.abs(np.subtract(answers, rows, out=rows), out=rows).sum(axis=1)
            of_likeliest = answers[np.arange(len(part)), likeliest[states[part]]]
            is_wrong[part] = of_likeliest < answers.max(axis=1)
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


def estimate_mean(losses: Floats, lengths: Floats, noise_error: float | None = None) -> Interval:
    """Estimate a mean per position from sums per word: a ratio, as words differ in length.

    Most of a divergence may come from few words, and those that cost most may not have been drawn.
    So the interval is one of the logarithm, and as wide as if the worst word had come twice. Where
    noise was subtracted, with the error ``noise_error``, it is that of the mean itself.
    """
    mean = float(losses.sum() / max(lengths.sum(), 1.0))
    if len(losses) < 2:
        return Interval(mean, 0.0, np.inf)
    if not mean:
        return Interval(0.0, 0.0, 0.0)
    worst = int((losses - mean * lengths).argmax())
    error = standard_error(np.append(losses, losses[worst]), np.append(lengths, lengths[worst]))
    quantile = float(stdtrit(len(losses) - 1, (1 + CONFIDENCE) / 2))  # of Student's t
    if noise_error is not None:
        width = quantile * float(np.hypot(error, noise_error))
        return Interval(max(0.0, mean), max(0.0, mean - width), max(0.0, mean + width))
    with np.errstate(over="ignore"):
        factor = float(np.exp(quantile * error / mean))
    return Interval(mean, mean / factor, mean * factor)


class Measurement(NamedTuple):
    """An automaton of a frontier, and what is known about it."""

    pdfa: PDFA
    # Sums over the held-out words, of the automaton before it was given all answers.
    sums: WordSums
    # On the words that were not held out, and by how much rare words may raise it.
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
        mean, low, high = _widen(measured.divergence, each, held_out)
        points.append(
            Point(
                states=len(each.pdfa),
                pdfa=each.pdfa,
                divergence=mean,
                low=low,
                high=high,
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
        certificate=Certificate("distilled", "", {"answers": sampling.answer_count}),
        model_perplexity=float(np.exp(held_out.entropy)),
        kept_losses=np.array([each.sums.losses for each in kept]),
        kept_infinite=np.array([each.sums.infinite for each in kept]),
        kept_lengths=held_out.lengths,
    )
    certificate = _certify(frontier, sampling, held_out, fresh, is_interrupted=is_interrupted)
    return replace(frontier, certificate=certificate)


def _widen(interval: Interval, found: Measurement, held_out: HeldOut) -> Interval:
    """Widen an interval by what held-out words cannot show, as rows are given all answers later."""
    mean, low, high = held_out.add_unseen(interval, found.pdfa)
    least = max(0.0, found.training_divergence - held_out.noise)
    return Interval(mean, low * min(1.0, least / max(mean, _ROUNDING)), high + found.rare)


def _leave_out_beaten(found: Sequence[Measurement], lengths: Floats) -> list[Measurement]:
    """Return one automaton for each number of states, without those that a smaller one beats.

    A larger one is taken if it is better on the held-out words by a standard error; or if it is
    better on the words that it was made from, and not worse on the others by as much.
    """
    chosen: list[Measurement] = []
    best, least, states = np.full(len(lengths), np.inf), np.inf, 0
    for each in sorted(found, key=lambda one: (len(one.pdfa), one.sums.comparable.sum())):
        losses, mine = each.sums.comparable, each.training_divergence
        gain = float((best - losses).sum() / lengths.sum())
        error = standard_error(best - losses, lengths) if chosen else 0.0
        is_better = gain > max(NOTHING, error) or (mine < least - NOTHING and gain > -error)
        if is_better and len(each.pdfa) > states:
            chosen.append(each)
            least, best, states = min(least, mine), losses if gain > 0 else best, len(each.pdfa)
    return chosen


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
        "rows and contexts were then refitted on all answers, those to held-out words included",
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
    if fresh is not None:
        texts.append(
            f"answers differ from one time to the next: {fresh.asked:,} held-out prefixes were "
            "asked again, for each word by itself, until the budget was spent (which leaves out "
            f"{fresh.left_out:,} words), and the noise of answers, {fresh.noise:.3g} nats, is "
            "subtracted"
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
        "answers": sampling.answer_count,
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
