"""The field's learners with a grid of their parameter, chosen on words held out.

Rows of all are smoothed in the same way, by `smooth_rows`, with a weight that is chosen, too.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
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
    """A learner: how it makes an automaton of words, and its parameters, most states last."""

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
    "MDI": Rival(_learn_by_mdi, "α · words", (50, 20, 10, 5, 3, 2, 1)),
    "likelihood ratio": Rival(_learn_by_ratio, "α", (1e-6, 1e-4, 0.005, 0.05, 0.2)),
    "AALpy's ALERGIA": Rival(_learn_by_aalpy, "ε", (0.005, 0.05, 0.2, 0.5, 0.8)),
}


class Setting(NamedTuple):
    """A parameter and the best weight for it, with the loss of the words held out."""

    parameter: float
    weight: float
    loss: float


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


def try_settings(rival: Rival, words: Words, width: int, seconds: float) -> Iterator[Setting]:
    """Yield each parameter with the weight that is best on a tenth of the words.

    The first parameter that takes more processor seconds than this is the last that is tried.
    """
    fewer, held_out = split_words(words, HELD_OUT, seed=0)
    listed = list_words(fewer)
    for parameter in rival.grid:
        try:
            with limit_processor(seconds):
                pdfa = rival.learn(listed, width, parameter)
        except TimeoutError:
            return
        losses = [mean_loss(smooth_rows(pdfa, listed, weight=one), held_out) for one in WEIGHTS]
        yield Setting(parameter, WEIGHTS[int(np.argmin(losses))], min(losses))


def learn_smoothly(rival: Rival, words: Words, width: int, setting: Setting) -> PDFA:
    """Return what a learner makes of all words."""
    listed = list_words(words)
    return smooth_rows(rival.learn(listed, width, setting.parameter), listed, weight=setting.weight)


@contextmanager
def limit_processor(seconds: float) -> Iterator[None]:
    """Raise TimeoutError after so many seconds of the processor."""

    def stop(*_: object) -> None:
        raise TimeoutError

    signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
