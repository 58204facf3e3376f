"""The field's learners with a grid of their parameter, chosen on words held out.

Rows of all are smoothed in the same way, by `smooth_rows`, with a weight that is chosen, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from benchmarks.corpora.aalpy_machines import alergia_of_aalpy, allow_recursion, read_machine
from pdfalearn import PDFA
from pdfalearn.passive import alergia, likelihood_ratio, mdi, smooth_rows
from pdfalearn.words import Words

Listed = list[tuple[int, ...]]
# The weights of `smooth_rows` that are tried.
WEIGHTS = (0.01, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
HELD_OUT = 0.1


class Rival(NamedTuple):
    """A learner: how it makes an automaton of words, and what is tried for its parameter."""

    learn: Callable[[Listed, int, float], PDFA]
    parameter: str
    grid: tuple[float, ...]


def _learn_by_alergia(words: Listed, width: int, epsilon: float) -> PDFA:
    return alergia(words, epsilon=epsilon, alphabet=range(width))


def _learn_by_mdi(words: Listed, width: int, share: float) -> PDFA:
    return mdi(words, alpha=share / len(words), alphabet=range(width))


def _learn_by_ratio(words: Listed, width: int, alpha: float) -> PDFA:
    return likelihood_ratio(words, alpha=alpha, alphabet=range(width))


def _learn_by_aalpy(words: Listed, width: int, epsilon: float) -> PDFA:
    with allow_recursion():
        transitions, rows = read_machine(alergia_of_aalpy(words, width, epsilon), width)
    return PDFA(alphabet=range(width), transitions=transitions, probabilities=rows)


RIVALS = {
    "ALERGIA": Rival(_learn_by_alergia, "ε", (1e-6, 1e-4, 0.005, 0.05, 0.2, 0.8)),
    "MDI": Rival(_learn_by_mdi, "α · words", (1, 2, 3, 5, 10, 20, 50)),
    "likelihood ratio": Rival(_learn_by_ratio, "α", (1e-6, 1e-4, 0.005, 0.05, 0.2)),
    "AALpy's ALERGIA": Rival(_learn_by_aalpy, "ε", (0.005, 0.05, 0.2, 0.5, 0.8)),
}


class Chosen(NamedTuple):
    """What a learner made of all words, with the weight and the loss of those held out."""

    parameter: float
    weight: float
    loss: float
    pdfa: PDFA


def split_words(words: Words, share: float, seed: int) -> tuple[Words, Words]:
    """Return words without a share of them, and these."""
    order = np.random.default_rng(seed).permutation(len(words))
    held_out = max(1, round(share * len(words)))
    return words.take(order[held_out:]), words.take(order[:held_out])


def list_words(words: Words) -> Listed:
    """Return words as learners of other packages want them."""
    return [tuple(word) for word in words]


def mean_loss(pdfa: PDFA, words: Words) -> float:
    """Return the cross-entropy per symbol, in nats; the end of a word is one more symbol."""
    total = pdfa.log_probabilities(list_words(words)).sum()
    return -float(total) / (len(words.symbols) + len(words))


def tune_rival(rival: Rival, words: Words, width: int, seed: int = 0) -> Iterator[Chosen]:
    """Yield what a learner makes of all words with each parameter.

    The weight is the best on a tenth of the words for what is learnt from the others.
    """
    fewer, held_out = split_words(words, HELD_OUT, seed)
    listed, every = list_words(fewer), list_words(words)
    for parameter in rival.grid:
        pdfa = rival.learn(listed, width, parameter)
        losses = [mean_loss(smooth_rows(pdfa, listed, weight=one), held_out) for one in WEIGHTS]
        weight = WEIGHTS[int(np.argmin(losses))]
        found = smooth_rows(rival.learn(every, width, parameter), every, weight=weight)
        yield Chosen(parameter, weight, min(losses), found)
