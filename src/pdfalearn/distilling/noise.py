"""Held-out words of a model that answers differently each time: what may be measured on them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import ndtri, stdtrit

from pdfalearn.distilling.evidence import xlogx
from pdfalearn.distilling.sampling import Positions, Sampling, take_words
from pdfalearn.typing import Floats, Integers

# Answers to the same word that differ by more are not those of one model.
SAME = 1e-3
# This many words are asked again to see whether answers differ.
_ASKED_AGAIN = 2
# A prefix that more held-out words share is asked again this often, and they share the answers.
_ROUNDS = 100
_QUANTILE = 0.975


class FreshAnswers(NamedTuple):
    """Held-out words with answers of their own, so that words differ independently."""

    positions: Positions
    # The number of the answer at every position.
    rows: Integers
    # By how many nats a divergence from an answer is larger than that from the mean answer, and the
    # standard error of that.
    noise: float
    noise_error: float
    # How many prefixes were asked again, and how many words there was no budget left for.
    asked: int
    left_out: int


def ask_held_out_again(sampling: Sampling, learnt: Floats) -> FreshAnswers:
    """Ask again for the prefixes of held-out words, once for each word that has it.

    Rows have learnt the noise of the first answers, and would seem nearer than they are; ``learnt``
    has the weights of all nodes. Answers that words shared would err in all of them alike, and
    intervals would not show it.
    """
    observations, held_out = sampling.observations, sampling.held_out
    firsts = observations.nodes.rows[held_out.nodes].astype(np.int64)
    # Where nothing was learnt from a first answer, it is that of the first word.
    rounds = _count_before(held_out.nodes) - (learnt[held_out.nodes] == 0)
    is_asked = (rounds >= 0) & (rounds < _ROUNDS)
    symbols, calls = is_asked & (held_out.nodes > 0), int(rounds.max(initial=0)) + 1
    count = observations.audits.count_affordable(np.cumsum(is_asked), np.cumsum(symbols), calls)
    # Of the last word only the beginning may have been reached.
    words = held_out.word_count if count == len(rounds) else int(held_out.words[count])
    positions = take_words(held_out, words)
    nodes, rounds, firsts = (
        part[: len(positions.nodes)] for part in (held_out.nodes, rounds, firsts)
    )
    rows = np.where(rounds < 0, firsts, -1)
    asked = 0
    for number in range(min(_ROUNDS, int(rounds.max(initial=-1)) + 1)):
        places = (rounds == number).nonzero()[0]
        known, numbers = observations.audits.ask_again(nodes[places], are_paid=True)
        asked += len(known)
        at = np.minimum(np.searchsorted(known, nodes[places]), len(known) - 1)
        if len(known):  # else all of them are undefined now
            rows[places] = np.where(known[at] == nodes[places], numbers[at], -1)
    # Words beyond the last round share the answers of the first ones. The answer before another one
    # to the same prefix says how much answers differ.
    order = np.argsort(nodes, kind="stable")
    is_new = np.diff(nodes[order], prepend=-1) > 0
    places = np.arange(len(order)) - rounds[order] + rounds[order] % _ROUNDS
    rows[order] = rows[order[np.where(rounds[order] < 0, np.arange(len(order)), places)]]
    before = np.where(is_new, firsts[order], rows[np.roll(order, 1)])
    is_pair = (before >= 0) & (rows[order] >= 0) & (before != rows[order])
    pairs = (observations.tables(part[is_pair]) for part in (rows[order], before))
    noise = [_estimate_excess(*pair) for pair in zip(*pairs, strict=True)]
    kept = rows >= 0
    return FreshAnswers(
        Positions(nodes[kept], positions.words[kept], words),
        rows[kept],
        *_average(np.concatenate(noise)),
        asked,
        held_out.word_count - words,
    )


def _count_before(nodes: Integers) -> Integers:
    """Return for every entry how often it has come before.

    Examples
    --------
    >>> _count_before(np.array([0, 3, 0, 4, 0, 3])).tolist()
    [0, 0, 1, 0, 2, 1]
    """
    order = np.argsort(nodes, kind="stable")
    counts = np.empty_like(order)
    counts[order] = np.arange(len(nodes)) - np.searchsorted(nodes[order], nodes[order])
    return counts


def _estimate_excess(first: Floats, second: Floats) -> Floats:
    """Return of pairs of answers how much larger Σ D·log D is than that of the mean answer.

    The excess is about half the variance over the probability, and half of it is left in a mean of
    two answers: so it is the sum of the two minus twice that of their mean.
    """
    apart = xlogx(first).sum(axis=1) + xlogx(second).sum(axis=1)
    return np.asarray(apart - 2 * xlogx((first + second) / 2).sum(axis=1))


def _average(excess: Floats) -> tuple[float, float]:
    """Return the mean excess, and its standard error."""
    if len(excess) < 2:
        return 0.0, 0.0
    # Of few pairs the error is as much larger as Student's t is wider than the normal distribution.
    factor = float(stdtrit(len(excess) - 1, _QUANTILE) / ndtri(_QUANTILE))
    error = factor * float(excess.std(ddof=1)) / np.sqrt(len(excess))
    return max(0.0, float(excess.mean())), float(error)


def answers_differ(sampling: Sampling) -> bool:
    """Ask the words again that most words begin with, which costs little; compare the answers."""
    observations = sampling.observations
    passes = sampling.training.count_passes(observations)
    nodes = np.argsort(-passes, kind="stable")[:_ASKED_AGAIN]
    nodes, numbers = observations.audits.ask_again(nodes[passes[nodes] > 0])
    first, second = (
        observations.answers.dense(rows) for rows in (observations.nodes.rows[nodes], numbers)
    )
    return bool((np.abs(first - second) > SAME).any())
