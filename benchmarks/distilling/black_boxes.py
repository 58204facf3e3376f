"""Automata that answer as networks do: word by word, with nothing known about their states."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count

import numpy as np
from numpy.typing import NDArray

from pdfalearn import PDFA, Exact, LanguageModel
from pdfalearn.datasets import random_pdfa
from pdfalearn.equivalence import is_weakly_minimal
from pdfalearn.models.automaton import AutomatonModel
from pdfalearn.models.batch import Batch
from pdfalearn.models.protocol import EVERY_STEP
from pdfalearn.rows import Rows

Floats = NDArray[np.float64]

LEAST_END, MOST_END = 0.05, 0.15
"""Between these are the terminal's probabilities in `random_target`: words have ten symbols."""
REMEMBERED = 4
"""The last symbols, this many, decide the noise of a `NoisyAutomaton`."""


class BlackBox(AutomatonModel):
    """A PDFA that is asked like a network: nobody sees its states, and symbols cost something.

    Parameters
    ----------
    pdfa : PDFA
        The automaton.

    Examples
    --------
    >>> from pdfalearn.datasets import figure_3
    >>> BlackBox(figure_3()).open().answer(Batch.of([(1,)])).is_sparse
    False
    """

    def __init__(self, pdfa: PDFA) -> None:
        super().__init__(pdfa, cost=EVERY_STEP)

    def open(self) -> LanguageModel:  # type: ignore[override]
        """Return what answers the batches of one run."""
        return _Hidden(super().open())


class NoisyAnswers(LanguageModel):
    """A PDFA whose answers are estimates, as a simulator's: a word has another one each time.

    Parameters
    ----------
    pdfa : PDFA
        The automaton; all its probabilities are above 0.
    draws : float
        An answer varies as shares of this many draws do.
    seed : int
        Seed of the noise: the same questions in the same order have the same answers.

    Examples
    --------
    >>> from pdfalearn.datasets import figure_3
    >>> model = NoisyAnswers(figure_3(), 100, seed=1)
    >>> first, second = (model.answer(Batch.of([()])).to_dense() for _ in range(2))
    >>> bool((first == second).all())
    False
    """

    def __init__(self, pdfa: PDFA, draws: float, seed: int) -> None:
        self.alphabet = pdfa.alphabet
        self.cost = EVERY_STEP
        self._model = AutomatonModel(pdfa)
        self._draws, self._random = draws, np.random.default_rng(seed)

    def answer(self, batch: Batch) -> Rows:
        """Return the automaton's distributions with noise of their own."""
        exact = self._model.open().answer(batch).to_dense()
        drawn = self._random.standard_gamma(self._draws * exact)
        return Rows.dense(drawn / drawn.sum(axis=1, keepdims=True))


class _Hidden(LanguageModel):
    """Writes out the rows of states, so that equal ones are not known to be equal."""

    def __init__(self, inner: LanguageModel) -> None:
        self.alphabet = inner.alphabet
        self._inner = inner

    def answer(self, batch: Batch) -> Rows:
        rows = self._inner.answer(batch)
        return Rows.dense(rows.to_dense(), undefined=rows.undefined)


def random_target(
    states: int, symbols: int = 3, *, distributions: int | None = None, seed: int = 0
) -> PDFA:
    """Draw a minimal random PDFA of exactly this many states, whose words have about ten symbols.

    Parameters
    ----------
    states, symbols : int
        How many.
    distributions : int, optional
        How many different rows there are; as many as states if not given.
    seed : int
        Same seed, same automaton.

    Examples
    --------
    >>> target = random_target(12, 2, distributions=3, seed=1)
    >>> len(target), len(np.unique(target.probabilities, axis=0))
    (12, 3)
    """
    drawn = (_drawn(states, symbols, distributions, attempt) for attempt in count(1000 * seed))
    return next(pdfa for pdfa in drawn if _is_target(pdfa, distributions or states))


def _drawn(states: int, symbols: int, distributions: int | None, seed: int) -> PDFA:
    drawn = random_pdfa(states, symbols, distributions=distributions, exact_size=True, seed=seed)
    return PDFA(
        alphabet=drawn.alphabet,
        transitions=drawn.transitions,
        probabilities=_long_worded(drawn.probabilities),
    )


def _is_target(pdfa: PDFA, rows: int) -> bool:
    is_minimal = is_weakly_minimal(pdfa, equivalence=Exact())
    return is_minimal and len(np.unique(pdfa.probabilities, axis=0)) == rows


def _long_worded(rows: Floats) -> Floats:
    """Scale the terminal's probabilities from 0 to 1 to where words have ten symbols."""
    ends = LEAST_END + (MOST_END - LEAST_END) * rows[:, :1]
    others = rows[:, 1:] * (1 - ends) / rows[:, 1:].sum(axis=1, keepdims=True)
    return np.hstack((ends, others))


@dataclass(frozen=True)
class NoisyAutomaton:
    """A random PDFA, and the same with noise that depends on the last four symbols.

    Parameters
    ----------
    states, symbols, distributions, seed
        As of `random_target`.
    strength : float
        The noise multiplies every probability by the exponential of this times a normal draw;
        rows are scaled to 1 again.

    Examples
    --------
    >>> noisy = NoisyAutomaton(12, 2, seed=1)
    >>> len(noisy.truth), noisy.model.alphabet
    (12, Alphabet(('0', '1'), terminal='$'))
    """

    states: int
    symbols: int = 2
    distributions: int | None = None
    seed: int = 0
    strength: float = 0.1

    @property
    def truth(self) -> PDFA:
        """The automaton without noise."""
        return random_target(
            self.states, self.symbols, distributions=self.distributions, seed=self.seed
        )

    @property
    def model(self) -> BlackBox:
        """The automaton with noise, as a black box."""
        return BlackBox(with_noise(self.truth, self.strength, self.seed))


def with_noise(pdfa: PDFA, strength: float, seed: int) -> PDFA:
    """Return a PDFA whose states are a state and the last symbols, with a noisy row for each."""
    symbols = len(pdfa.alphabet)
    contexts = (symbols + 1) ** REMEMBERED  # digit 0: before the beginning of the word
    state, context = np.divmod(np.arange(len(pdfa) * contexts), contexts)
    shifted = context % (contexts // (symbols + 1)) * (symbols + 1)
    nexts = shifted[:, None] + np.arange(1, symbols + 1)
    successors = pdfa.transitions[state].astype(np.int64)
    noise = np.random.default_rng([seed, 4]).standard_normal((contexts, symbols + 1))
    rows = pdfa.probabilities[state] * np.exp(strength * noise[context])
    return PDFA(
        alphabet=pdfa.alphabet,
        transitions=np.where(successors < 0, -1, successors * contexts + nexts),
        probabilities=rows / rows.sum(axis=1, keepdims=True),
        initial=pdfa.initial * contexts,
    )
