"""Every machine with one state more is found by W and Wp, and the judge sees what is missed."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.oracles import differ, judge, machines, minimal, short_words, tables_of
from pdfalearn import distinguish, quotient
from pdfalearn.oracles import WOracle, WpOracle
from tests.oracles.helpers import BY


def test_every_table_comes_once() -> None:
    # The numbers of initially connected complete DFA over two symbols, as in OEIS A006689.
    assert [sum(1 for _ in tables_of(states)) for states in (1, 2, 3)] == [1, 12, 216]
    assert len(set(map(tuple, tables_of(3)))) == 216


@pytest.mark.parametrize("kind", [WOracle, WpOracle])
@pytest.mark.parametrize("states", [1, 2])
def test_every_machine_with_one_state_more_is_found(kind: type[WOracle], states: int) -> None:
    every, random = machines(states + 1, 2), np.random.default_rng(states)
    for hypothesis in minimal(states, 2):
        found = judge(kind, hypothesis, every, random.integers(len(every.tables), size=2).tolist())
        assert found.missed == 0 < found.different
        assert found.words <= found.bound


@pytest.mark.slow
def test_some_hypotheses_of_three_states() -> None:
    every, threes = machines(4, 2), machines(3, 2)
    for number in np.random.default_rng(3).integers(50, len(threes.tables), size=4).tolist():
        hypothesis = quotient(threes.pdfa(number), equivalence=BY)
        for kind in (WOracle, WpOracle):
            found = judge(kind, hypothesis, every, [number])
            assert found.missed == 0 < found.different


def test_the_judge_is_right_and_sees_what_is_missed() -> None:
    every, hypothesis = machines(3, 2), minimal(2, 2)[5]
    truth = differ(every, hypothesis, short_words(4))
    for number in range(0, len(every.tables), 37):
        found = distinguish(every.pdfa(number), hypothesis, equivalence=BY)
        assert truth[number] == (found is not None)

    class Hasty(WOracle):
        def __init__(self, *, extra_states: int) -> None:
            super().__init__(extra_states=extra_states - 1)

    assert judge(Hasty, hypothesis, every, []).missed > 0
