"""Ctrl-C and errors in the middle of learning, wherever they come."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Hashable, Iterator

import numpy as np
import pytest

from pdfalearn import PDFA, FunctionModel, Quantization, Result, learn
from pdfalearn.datasets import random_pdfa
from pdfalearn.learning.loop import LEARNERS
from pdfalearn.models.batch import Batch
from pdfalearn.models.protocol import LanguageModel
from pdfalearn.observations.tree import ObservationTree
from pdfalearn.oracles import ExactOracle
from pdfalearn.results import LearningInterrupted, Progress
from pdfalearn.rows import Rows
from pdfalearn.words import Words
from tests.learners.checks import leaves
from tests.models.hooked import HookedModel
from tests.support import mostly_slow

BY = Quantization(1000)
TARGET = random_pdfa(12, 2, distributions=2, seed=5)
NAMES = pytest.mark.parametrize("name", LEARNERS)


class Fuse:
    """Lets some calls pass, then interrupts."""

    def __init__(self, calls: int) -> None:
        self._left = calls

    def burn(self) -> None:
        if not self._left:
            raise KeyboardInterrupt
        self._left -= 1


class InterruptedModel(HookedModel):
    def __init__(self, fuse: Fuse) -> None:
        super().__init__(TARGET)
        self._fuse = fuse

    def answer_batch(self, inner: LanguageModel, batch: Batch) -> Rows:
        self._fuse.burn()
        return inner.answer(batch)


class InterruptedOracle(ExactOracle):
    def __init__(self, burn: Callable[[], None]) -> None:
        super().__init__(TARGET, equivalence=BY)
        self._burn = burn
        self.answers = 0

    def counterexamples(
        self, hypothesis: PDFA, observations: ObservationTree | None = None
    ) -> Words:
        self._burn()
        self.answers += 1
        return super().counterexamples(hypothesis)


def in_the_model(name: str, fuse: Fuse) -> Result:
    return learn(InterruptedModel(fuse), oracle=ExactOracle(TARGET, equivalence=BY), learner=name)


def in_the_oracle(name: str, fuse: Fuse) -> Result:
    return learn(TARGET, oracle=InterruptedOracle(fuse.burn), learner=name)


def in_the_callback(name: str, fuse: Fuse) -> Result:
    return learn(TARGET, learner=name, progress=lambda _: fuse.burn())


def partial_results(place: Callable[[str, Fuse], Result], name: str) -> Iterator[Result | None]:
    """Interrupt at every single call, one run after the other."""
    for calls in range(100_000):
        try:
            place(name, Fuse(calls))
        except LearningInterrupted as interrupt:
            yield interrupt.result
        else:
            return


@NAMES
@pytest.mark.parametrize("place", mostly_slow([in_the_model, in_the_oracle, in_the_callback]))
def test_what_was_learnt_so_far_is_not_lost(
    place: Callable[[str, Fuse], Result], name: str
) -> None:
    results = list(partial_results(place, name))
    assert len(results) >= 3
    sizes = [0 if result is None else len(result.pdfa) for result in results]
    assert sizes == sorted(sizes)
    assert sizes[-1] > 1
    is_nothing = [result is None for result in results]
    assert is_nothing == [place is not in_the_oracle] + [False] * (len(results) - 1)
    for result in results:
        if result is not None:
            assert_usable(result)
            if place is in_the_oracle:
                assert len(result.pdfa) == result.history[-1].states


def assert_usable(result: Result) -> None:
    assert result.certificate.kind == "interrupted"
    assert result.pdfa.probability("0101") > 0
    assert len(result.access_words) == len(result.pdfa) == result.statistics.states
    sizes = [*(progress.states for progress in result.history), len(result.pdfa)]
    assert sizes == sorted(sizes)
    assert result.notes == ()
    assert result.statistics.equivalence_queries in (len(result.history), len(result.history) - 1)
    assert result.statistics.tree_depth >= 1
    rows = TARGET.next_distributions(result.access_words)
    assert np.array_equal(result.pdfa.probabilities, rows)
    assert {leaf.access_word for leaf, _ in leaves(result.tree)} >= set(result.access_words)


def test_it_is_a_keyboard_interrupt() -> None:
    with pytest.raises(KeyboardInterrupt, match="learning was interrupted"):
        in_the_model("quant", Fuse(0))


def test_an_interruption_of_the_audit_keeps_the_automaton() -> None:
    *_, last = partial_results(in_the_model, "quant")
    assert last is not None
    assert last.pdfa == learn(TARGET).pdfa
    assert last.statistics.audited_words == 0


@NAMES
def test_other_errors_of_the_callback_pass_through(name: str) -> None:
    def fail(progress: Progress) -> None:
        if progress.equivalence_queries == 1:
            raise LookupError("no more room on the screen")

    with pytest.raises(LookupError, match="no more room"):
        learn(TARGET, learner=name, progress=fail)


@NAMES
def test_other_errors_of_the_model_pass_through(name: str) -> None:
    class Unplugged(HookedModel):
        def answer_batch(self, inner: LanguageModel, batch: Batch) -> Rows:
            raise ConnectionError("the server is gone")

    with pytest.raises(ConnectionError, match="the server is gone"):
        learn(Unplugged(TARGET), oracle=ExactOracle(TARGET, equivalence=BY), learner=name)


@pytest.mark.slow
@NAMES
def test_nothing_is_asked_after_an_interrupt(name: str) -> None:
    target, equivalence = random_pdfa(30, seed=3), Quantization(2)

    class Counted(HookedModel):
        calls = 0
        last = 0

        def answer_batch(self, inner: LanguageModel, batch: Batch) -> Rows:
            self.calls += 1
            if self.calls == self.last:
                raise KeyboardInterrupt
            return inner.answer(batch)

    whole = Counted(target)
    learn(
        whole,
        equivalence=equivalence,
        oracle=ExactOracle(target, equivalence=equivalence),
        learner=name,
        audit=0,
    )
    for last in range(1, whole.calls, 1 + whole.calls // 60):
        model = Counted(target)
        model.last = last
        with pytest.raises(LearningInterrupted):
            learn(
                model,
                equivalence=equivalence,
                oracle=ExactOracle(target, equivalence=equivalence),
                learner=name,
                audit=0,
            )
        assert model.calls == last


def press() -> None:
    """Do what Ctrl-C does."""
    signal.raise_signal(signal.SIGINT)


@pytest.fixture
def keyboard() -> Iterator[None]:
    """Let Ctrl-C come through, and see that it does so again after learning."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    after = signal.signal(signal.SIGINT, signal.SIG_DFL if before is None else before)
    assert after is signal.default_int_handler


@NAMES
@pytest.mark.usefixtures("keyboard")
def test_ctrl_c_stops_a_model_at_once(name: str) -> None:
    class Pressed(HookedModel):
        calls = 0
        answers = 0

        def answer_batch(self, inner: LanguageModel, batch: Batch) -> Rows:
            self.calls += 1
            if self.calls == 4:
                press()
            self.answers += 1
            return inner.answer(batch)

    model = Pressed(TARGET)
    with pytest.raises(LearningInterrupted) as caught:
        learn(model, oracle=ExactOracle(TARGET, equivalence=BY), learner=name)
    assert (model.calls, model.answers) == (4, 3)
    assert caught.value.result is not None
    assert_usable(caught.value.result)


@NAMES
@pytest.mark.usefixtures("keyboard")
def test_ctrl_c_stops_a_callback_at_once(name: str) -> None:
    seen: list[Progress] = []

    def report(progress: Progress) -> None:
        if progress.equivalence_queries == 2:
            press()
        seen.append(progress)

    with pytest.raises(LearningInterrupted):
        learn(TARGET, learner=name, progress=report)
    assert max(progress.equivalence_queries for progress in seen) == 1


@NAMES
@pytest.mark.usefixtures("keyboard")
def test_ctrl_c_lets_an_oracle_finish_its_answer(name: str) -> None:
    oracle = InterruptedOracle(press)
    with pytest.raises(LearningInterrupted) as caught:
        learn(TARGET, oracle=oracle, learner=name)
    assert oracle.answers == 1
    result = caught.value.result
    assert result is not None
    assert result.statistics.equivalence_queries == len(result.history) == 1
    assert_usable(result)


@pytest.mark.usefixtures("keyboard")
def test_a_second_ctrl_c_does_not_wait() -> None:
    def press_twice() -> None:
        press()
        press()

    oracle = InterruptedOracle(press_twice)
    with pytest.raises(LearningInterrupted) as caught:
        learn(TARGET, oracle=oracle)
    assert oracle.answers == 0
    assert caught.value.result is not None
    assert_usable(caught.value.result)


@pytest.mark.usefixtures("keyboard")
def test_ctrl_c_at_the_very_end_keeps_the_certificate() -> None:
    whole = learn(TARGET)

    def press_in_the_end() -> None:
        if oracle.answers == whole.statistics.equivalence_queries - 1:
            press()

    oracle = InterruptedOracle(press_in_the_end)
    with pytest.raises(LearningInterrupted) as caught:
        learn(TARGET, oracle=oracle, audit=0)
    result = caught.value.result
    assert result is not None
    assert result.pdfa == whole.pdfa
    assert result.certificate.kind == "exact"


@pytest.mark.usefixtures("keyboard")
def test_a_program_may_have_its_own_way_with_ctrl_c() -> None:
    seen: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _: seen.append(number))
    try:
        result = learn(TARGET, oracle=InterruptedOracle(press))
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    assert len(seen) == result.statistics.equivalence_queries
    assert result.pdfa == learn(TARGET).pdfa


@pytest.mark.usefixtures("keyboard")
def test_other_threads_learn_as_well() -> None:
    results: list[Result] = []
    thread = threading.Thread(target=lambda: results.append(learn(TARGET)))
    thread.start()
    thread.join()
    assert [result.pdfa for result in results] == [learn(TARGET).pdfa]


def test_ctrl_c_in_an_audit_reaches_the_model_at_once() -> None:
    asked: set[tuple[Hashable, ...]] = set()
    went_on = []

    def interrupted(words: list[tuple[Hashable, ...]]) -> list[list[float]]:
        if asked.issuperset(words):  # only an audit asks again
            signal.raise_signal(signal.SIGINT)
            went_on.append(words)
        asked.update(words)
        return [[0.2, 0.4, 0.4] for _ in words]

    with pytest.raises(LearningInterrupted) as interrupt:
        learn(FunctionModel(interrupted, "ab"), equivalence=BY)
    assert not went_on
    assert interrupt.value.result is not None
    assert len(interrupt.value.result.pdfa) == 1
