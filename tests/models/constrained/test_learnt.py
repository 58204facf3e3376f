"""Learn from constrained models: what is wrong is named with its word, and nothing else is."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import ArrayLike

from pdfalearn import (
    DFA,
    PDFA,
    Alphabet,
    AutomatonModel,
    ExactOracle,
    FunctionModel,
    Guided,
    LanguageModel,
    ModelError,
    PACOracle,
    Quantization,
    TopK,
    UniformWords,
    learn,
    random_pdfa,
)
from pdfalearn.models.automaton import AutomatonSession
from pdfalearn.models.cost import EVERY_SYMBOL
from pdfalearn.models.protocol import Handles, Session
from pdfalearn.rows import Rows
from pdfalearn.words import Words
from tests.learners.checks import assert_is_quotient
from tests.models.constrained.direct import Best, product
from tests.models.constrained.sessions import WRAPPINGS, SessionOf, SparseModel, Wrapping, model_of
from tests.models.constrained.test_guided import DEAD_END, LOOP, ROW

BY = Quantization(10)
ANY = ExactOracle(PDFA(alphabet="ab", transitions=[[0, 0]], probabilities=[[1, 0, 0]]), by=BY)
"""An oracle for runs that end before any hypothesis."""


class PooledModel(LanguageModel):
    """Hands out the smallest number that is free, as a network does with rows of hidden state."""

    cost = EVERY_SYMBOL

    def __init__(self, pdfa: PDFA) -> None:
        self.alphabet = pdfa.alphabet
        self._inner = AutomatonModel(pdfa)

    def open(self) -> Session:
        return PooledSession(self._inner.open())


class PooledSession(Session):
    """Has room for few words."""

    room = 4

    def __init__(self, inner: Session) -> None:
        self._inner = inner
        self._state_of: dict[int, int] = {}

    def start(self) -> int:
        return self._taken(self._inner.start())

    def extend(self, handles: Handles, words: Words) -> Handles:
        states = self._inner.extend(self._states(handles), words)
        return np.array([self._taken(state) for state in states.tolist()], dtype=np.int64)

    def read(self, handles: Handles) -> Rows:
        return self._inner.read(self._states(handles))

    def release(self, handles: Handles) -> None:
        for handle in handles.tolist():
            del self._state_of[handle]

    def _states(self, handles: Handles) -> Handles:
        return np.array([self._state_of[handle] for handle in handles.tolist()], dtype=np.int64)

    def _taken(self, state: int) -> int:
        free = next(number for number in range(self.room) if number not in self._state_of)
        self._state_of[free] = state
        return free


def test_a_model_that_gives_nothing_to_what_is_allowed_is_named_with_the_word() -> None:
    target = PDFA(
        alphabet="ab",
        transitions=[[1, 0], [1, 1]],
        probabilities=[[0.5, 0.4, 0.1], [0.0, 0.0, 1.0]],
    )
    guide = DFA(alphabet="ab", transitions=[[0, -1]], accepting=[True])
    oracle = ExactOracle(target, by=Quantization(10))
    with pytest.raises(
        ModelError, match=r"the word \('a',\): \[0.0, 0.0, 0.0\] sums to 0, not to 1: .*guide"
    ):
        learn(Guided(target, guide), by=Quantization(10), oracle=oracle)


def test_a_model_whose_empty_word_is_undefined_stays_so() -> None:
    class Nothing(AutomatonSession):
        def start(self) -> int:
            return -1

    oracle = ExactOracle(LOOP, by=BY)
    model = SessionOf(AutomatonModel(LOOP), Nothing(LOOP))
    with pytest.raises(ModelError, match="empty word is undefined"):
        learn(Guided(model, DEAD_END), by=BY, oracle=oracle)


def test_a_function_is_guided() -> None:
    model = FunctionModel(lambda words: [ROW for _ in words], Alphabet("abc"))
    expected = PDFA(
        alphabet="abc",
        transitions=[[1, 0, -1], [-1, 0, -1]],
        probabilities=[[0, 0.8, 0.2, 0], [2 / 3, 0, 1 / 3, 0]],
    )
    by = Quantization(100)
    result = learn(Guided(model, DEAD_END), by=by, oracle=ExactOracle(expected, by=by))
    assert result.pdfa.transitions.tolist() == expected.transitions.tolist()
    assert np.allclose(result.pdfa.probabilities, expected.probabilities)


BAD_ROWS: list[tuple[list[float], str]] = [
    ([0.5, 0.5, float("nan")], "NaN or negative"),
    ([0.7, 0.5, -0.2], "NaN or negative"),
    ([0.2, 0.3, 0.1], "sums to 0.6, not to 1"),
    ([0.0, 0.0, 0.0], "sums to 0, not to 1"),
]


@pytest.mark.parametrize("wrapping", WRAPPINGS.values(), ids=WRAPPINGS)
@pytest.mark.parametrize(("row", "complaint"), BAD_ROWS)
def test_bad_rows_of_the_model_inside_are_named_with_the_word(
    row: list[float], complaint: str, wrapping: Wrapping
) -> None:
    model = wrapping(model_of([0.3, 0.4, 0.3], [0.2, 0.5, 0.3], row))
    with pytest.raises(ModelError, match=rf"the word \('a', 'a'\): .*{complaint}"):
        learn(model, by=BY, oracle=ANY)


@pytest.mark.parametrize("wrapping", WRAPPINGS.values(), ids=WRAPPINGS)
@pytest.mark.parametrize(
    "answer", [[[0.5, 0.5]], [[[0.5], [0.3, 0.2]]], [["a", "b", "c"]], [], [0.5, 0.3, 0.2]]
)
def test_answers_of_a_wrong_shape_are_refused(answer: ArrayLike, wrapping: Wrapping) -> None:
    model = wrapping(FunctionModel(lambda words: answer, "ab"))
    with pytest.raises(ModelError, match=r"the model's answer to the word \(\): .*array"):
        learn(model, by=BY, oracle=ANY)


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


@pytest.mark.parametrize("symbols", [3, 70])
def test_a_model_that_lists_enough_is_learnt_as_a_dense_one(symbols: int) -> None:
    target = random_pdfa(20, symbols, distributions=4, seed=3)
    by = Quantization(1000)
    oracle = ExactOracle(product(target, [Best(2)]), by=by)
    dense = learn(TopK(target, 2), by=by, oracle=oracle).pdfa
    assert learn(TopK(SparseModel(target), 2), by=by, oracle=oracle).pdfa == dense
    assert learn(TopK(SparseModel(target, 3), 2), by=by, oracle=oracle).pdfa == dense


def test_a_model_that_lists_too_little_is_named_with_the_word() -> None:
    target = PDFA(
        alphabet="ab",
        transitions=[[1, 0], [1, 1]],
        probabilities=[[0.5, 0.4, 0.1], [0.4, 0.3, 0.3]],
    )
    model = TopK(SparseModel(target, 1), 2)
    with pytest.raises(ModelError, match=r"the word \('a',\): it leaves open .*smaller k"):
        learn(model, by=BY, oracle=ANY)
