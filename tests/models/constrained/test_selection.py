"""Top-k and top-p lead the model inside symbol by symbol, and ask for each word once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from pdfalearn import (
    PDFA,
    AutomatonModel,
    ExactOracle,
    LanguageModel,
    PACOracle,
    Quantization,
    TopK,
    TopP,
    UniformWords,
    learn,
    random_pdfa,
)
from pdfalearn.models.protocol import Handles
from pdfalearn.words import Words
from tests.learners.checks import assert_is_quotient
from tests.models.constrained.direct import Best, product
from tests.models.constrained.recording import RecordingModel

LOOP = PDFA(alphabet="abc", transitions=[[0, 0, 0]], probabilities=[[0.2, 0.4, 0.3, 0.1]])


class PooledModel:
    """Hands out the smallest number that is free, as a network does with rows of hidden state."""

    fingerprint = None
    capacity = 4
    prefixes_free = True

    def __init__(self, pdfa: PDFA) -> None:
        self.alphabet = pdfa.alphabet
        self._inner = AutomatonModel(pdfa)
        self._state_of: dict[int, int] = {}

    def start(self) -> int:
        return self._taken(self._inner.start())

    def extend(self, handles: Handles, words: Words) -> Handles:
        states = self._inner.extend(self._states(handles), words)
        return np.array([self._taken(state) for state in states.tolist()], dtype=np.int64)

    def distributions(self, handles: Handles) -> NDArray[np.float64]:
        return self._inner.distributions(self._states(handles))

    def release(self, handles: Handles) -> None:
        for handle in handles.tolist():
            del self._state_of[handle]

    def _states(self, handles: Handles) -> Handles:
        return np.array([self._state_of[handle] for handle in handles.tolist()], dtype=np.int64)

    def _taken(self, state: int) -> int:
        free = next(number for number in range(self.capacity) if number not in self._state_of)
        self._state_of[free] = state
        return free


@pytest.mark.parametrize(
    "wrap", [lambda inside: TopK(inside, 3), lambda inside: TopP(inside, 0.9)], ids=["k", "p"]
)
def test_prefixes_are_asked_for_once_and_nothing_is_beyond_a_cut(
    wrap: Callable[[LanguageModel], LanguageModel],
) -> None:
    inside = RecordingModel(LOOP)
    model = wrap(inside)
    start = np.array([model.start()])
    handles = model.extend(np.repeat(start, 2), Words.of([[0, 1, 0], [1, 2, 0]]))
    assert (handles < 0).tolist() == [False, False, False, False, True, True]
    rows = model.distributions(handles[handles >= 0])
    assert np.allclose(rows, [2 / 9, 4 / 9, 3 / 9, 0])
    assert sorted(inside.asked) == [(), (0,), (0, 1), (0, 1, 0), (1,)]
    assert inside.led_to == {(), (0,), (0, 1), (0, 1, 0), (1,)}


def test_what_is_cut_is_known_once_the_distribution_is() -> None:
    model = TopK(RecordingModel(LOOP), 2)
    start = np.array([model.start()])
    assert model.undefined_after(start).tolist() == [[False] * 3]
    model.distributions(start)
    assert model.undefined_after(start).tolist() == [[False, False, True]]


@pytest.mark.slow
def test_handles_may_be_used_again_after_their_release() -> None:
    random = np.random.default_rng(1)
    for seed in range(20):
        rows = random.multinomial(20, [0.2] * 4, size=3)[random.integers(0, 3, 8)] / 20
        transitions = random.integers(0, 8, (8, 3))
        target = PDFA(alphabet="abc", transitions=transitions, probabilities=rows)
        expected, by = product(target, [Best(2)]), Quantization(100)
        model = TopK(PooledModel(target), 2)
        result = learn(model, by=by, oracle=ExactOracle(expected, by=by), seed=seed)
        assert_is_quotient(result.pdfa, expected, by)


def test_an_audit_leaves_alone_what_words_share() -> None:
    target = random_pdfa(600, 40, seed=1)
    model = TopK(AutomatonModel(target), 10)
    oracle = PACOracle(epsilon=0.5, delta=0.5, sampler=UniformWords(2))
    statistics = learn(model, by=Quantization(1000), oracle=oracle).statistics
    assert statistics.audited_words > 16  # also on the way
    assert statistics.symbols < 1.01 * statistics.words
