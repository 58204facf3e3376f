"""How far the automata of a sweep are from the model."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np

from pdfalearn.distilling import HeldOut, Sampling, estimate_mean
from pdfalearn.equivalence import Tolerance
from pdfalearn.errors import InputError
from pdfalearn.metrics import divergence
from pdfalearn.observations import ObservationTree
from pdfalearn.pdfa import PDFA
from pdfalearn.samplers import Sampler
from pdfalearn.stores import AnswerStore
from pdfalearn.typing import Floats

SAME = Tolerance(1e-3)
_LEAST_WORDS = 2


class Distance(NamedTuple):
    """How far an automaton is from the model."""

    divergence: float
    low: float
    high: float
    infinite_share: float
    losses: Floats
    """For every word, the sum of its finite divergences."""
    infinite: Floats
    """For every word, how many are infinite."""


class Measure(Protocol):
    """Measures automata."""

    drawn_words: int
    questions: int
    """How many words the model was asked for."""
    audited: int
    """How many stored words it was asked for again."""
    cost: float
    symbols: int
    lengths: Floats

    def distance(self, pdfa: PDFA) -> Distance:
        """Measure an automaton."""


class ExactMeasure:
    """Measures over all words of an automaton that is known.

    Parameters
    ----------
    target : PDFA
        The automaton.
    """

    drawn_words = questions = audited = symbols = 0
    cost = 0.0

    def __init__(self, target: PDFA) -> None:
        self._target = target
        self.lengths: Floats = np.ones(1)

    def distance(self, pdfa: PDFA) -> Distance:
        """Measure an automaton."""
        forward = divergence(self._target, pdfa).forward
        mean, share = forward.finite_mean, forward.infinite_share
        if share == 1:
            mean = 0.0
        return Distance(mean, mean, mean, share, np.array([mean]), np.array([share]))


class SampledMeasure:
    """Measures on words that are drawn from the model, through the store.

    Parameters
    ----------
    observations : ObservationTree
        What asks the model, by the relation `SAME`; it is closed in the end.
    sampler : Sampler
        What draws the words.
    seed : int
        The seed of the words.
    store : AnswerStore
        Where answers are kept.
    key : str
        The model's key in the store.
    report : callable
        Called after every batch of questions.
    """

    def __init__(
        self,
        observations: ObservationTree,
        sampler: Sampler,
        seed: int,
        store: AnswerStore,
        key: str,
        report: Callable[[], None],
    ) -> None:
        with observations:
            observations.record(store, key)
            observations.asker.on_batch = report
            sampling = Sampling(observations, sampler, seed, held_out=1)
            sampling.draw_until(1.0)
            words = sampling.held_out
            if words.word_count < _LEAST_WORDS or not len(words.nodes):
                raise InputError(
                    f"a share of the budget is for words to measure divergence on, and it draws "
                    f"{words.word_count} words, {_LEAST_WORDS} are the least; give a larger budget "
                    "or shorter words, as sampler=ModelWords(max_length=20)"
                )
            self._held_out = HeldOut(words, observations)
            self.questions = observations.counts.words
            self.audited = observations.counts.audited
            self.cost, self.symbols = observations.meter.spent, observations.counts.symbols
        self.drawn_words = self._held_out.word_count
        self.lengths: Floats = self._held_out.lengths

    def distance(self, pdfa: PDFA) -> Distance:
        """Measure an automaton."""
        measured = self._held_out.measure(pdfa)
        losses, infinite = measured.losses, measured.infinite
        estimate = estimate_mean(losses, self.lengths - infinite)
        high = estimate.high + self._held_out.room
        share = float(infinite.sum() / self.lengths.sum())
        return Distance(estimate.mean, estimate.low, high, share, losses, infinite)
