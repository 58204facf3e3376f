"""Ctrl-C and errors in the middle of learning, wherever they come."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest
from numpy.typing import NDArray

from pdfalearn import (
    PDFA,
    AutomatonModel,
    ExactOracle,
    LearningInterrupted,
    Progress,
    Quantization,
    Result,
    learn,
    random_pdfa,
)
from pdfalearn.learning.loop import LEARNERS
from pdfalearn.models.protocol import Handles
from pdfalearn.observations.tree import ObservationTree
from pdfalearn.words import Words
from tests.learners.checks import leaves
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


class InterruptedModel(AutomatonModel):
    def __init__(self, fuse: Fuse) -> None:
        super().__init__(TARGET)
        self._fuse = fuse

    def extend(self, handles: Handles, words: Words) -> Handles:
        self._fuse.burn()
        return super().extend(handles, words)

    def distributions(self, handles: Handles) -> NDArray[np.float64]:
        self._fuse.burn()
        return super().distributions(handles)


class InterruptedOracle(ExactOracle):
    def __init__(self, fuse: Fuse) -> None:
        super().__init__(TARGET, by=BY)
        self._fuse = fuse

    def counterexamples(
        self, hypothesis: PDFA, observations: ObservationTree | None = None
    ) -> Words:
        self._fuse.burn()
        return super().counterexamples(hypothesis)


def in_the_model(name: str, fuse: Fuse) -> Result:
    return learn(InterruptedModel(fuse), oracle=ExactOracle(TARGET, by=BY), learner=name)


def in_the_oracle(name: str, fuse: Fuse) -> Result:
    return learn(TARGET, oracle=InterruptedOracle(fuse), learner=name)


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
    assert (place is in_the_oracle) or results[0] is None
    for result in results:
        if result is not None:
            assert_usable(result)


def assert_usable(result: Result) -> None:
    assert result.certificate.kind == "interrupted"
    assert result.pdfa.probability("0101") > 0
    assert len(result.access_words) == len(result.pdfa) == result.history[-1].states
    assert len(result.pdfa) <= result.statistics.states
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
    class Unplugged(AutomatonModel):
        def distributions(self, handles: Handles) -> NDArray[np.float64]:
            raise ConnectionError("the server is gone")

    with pytest.raises(ConnectionError, match="the server is gone"):
        learn(Unplugged(TARGET), oracle=ExactOracle(TARGET, by=BY), learner=name)


@pytest.mark.slow
@NAMES
def test_nothing_is_asked_after_an_interrupt(name: str) -> None:
    target, by = random_pdfa(30, seed=3), Quantization(2)

    class Counted(AutomatonModel):
        calls = 0
        last = 0

        def extend(self, handles: Handles, words: Words) -> Handles:
            self.calls += 1
            if self.calls == self.last:
                raise KeyboardInterrupt
            return super().extend(handles, words)

    whole = Counted(target)
    learn(whole, by=by, oracle=ExactOracle(target, by=by), learner=name, audit=0)
    for last in range(1, whole.calls, 1 + whole.calls // 60):
        model = Counted(target)
        model.last = last
        with pytest.raises(LearningInterrupted):
            learn(model, by=by, oracle=ExactOracle(target, by=by), learner=name, audit=0)
        assert model.calls == last
