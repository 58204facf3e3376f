"""Held-out words of a model that answers differently each time: what may be measured on them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import ndtri, stdtrit

from pdfalearn.distilling.evidence import xlogx
from pdfalearn.distilling.sampling import Positions, Sampling
from pdfalearn.typing import Floats, Integers

# Answers to the same word that differ by more are not those of one model.
SAME = 1e-3
# This many words are asked again to see whether answers differ.
_ASKED_AGAIN = 2
_QUANTILE = 0.975


class FreshAnswers(NamedTuple):
    """Held-out positions with answers that nothing was learnt from."""

    positions: Positions
    # The number of the answer of every node.
    rows: Integers
    # By how many nats a divergence from a noisy answer is larger than that from the mean answer,
    # and the standard error of that.
    noise: float
    noise_error: float
    # How many prefixes were asked again, and how many positions are left out.
    asked: int
    left_out: int


def ask_held_out_again(sampling: Sampling, learnt: Floats) -> FreshAnswers:
    """Ask again for held-out prefixes that were learnt from, those of most words first.

    Rows have learnt the noise of their first answers, and would seem nearer than they are. What
    the budget does not allow to ask again is left out; ``learnt`` has the weights of all nodes.
    """
    observations, held_out = sampling.observations, sampling.held_out
    passes = held_out.count_passes(observations)
    shared = ((passes > 0) & (learnt > 0)).nonzero()[0]
    shared = shared[np.argsort(-passes[shared], kind="stable")]
    nodes, numbers = observations.audits.ask_again(shared)
    rows = observations.nodes.rows[: len(learnt)].astype(np.int64)
    answers = observations.answers
    noise = _estimate_noise(answers.dense(rows[nodes]), answers.dense(numbers))
    rows[nodes] = numbers
    is_fresh = learnt == 0
    is_fresh[nodes] = True
    kept = is_fresh[held_out.nodes]
    words, places = np.unique(held_out.words[kept], return_inverse=True)
    positions = Positions(held_out.nodes[kept], places, len(words))
    return FreshAnswers(positions, rows, *noise, len(nodes), int((~kept).sum()))


def _estimate_noise(first: Floats, second: Floats) -> tuple[float, float]:
    """Return how much larger E[Σ D·log D] is than that of the mean answer, and the error of that.

    The excess is about half the variance over the probability, and half of it is left in a mean of
    two answers: so it is the sum of the two minus twice that of their mean.
    """
    if len(first) < 2:
        return 0.0, 0.0
    apart = xlogx(first).sum(axis=1) + xlogx(second).sum(axis=1)
    excess = apart - 2 * xlogx((first + second) / 2).sum(axis=1)
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
