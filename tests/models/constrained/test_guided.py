"""Guided models: what the guide leaves of rows and words, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from pdfalearn import DFA, PDFA, AutomatonModel, Guided, InputError, ModelError
from pdfalearn.models.automaton import AutomatonSession
from pdfalearn.words import Words
from tests.models.constrained.recording import RecordingModel
from tests.models.constrained.sessions import SessionOf, row_after

ROW = [0.2, 0.4, 0.1, 0.3]
LOOP = PDFA(alphabet="abc", transitions=[[0, 0, 0]], probabilities=[ROW])
DEAD_END = DFA(
    alphabet="abc",
    transitions=[[1, 0, 2], [-1, 0, 2], [2, 2, 2]],
    accepting=[False, True, False],
)
"""Words without c, of a and b, that end with a and have no two a's in a row."""


def test_only_what_may_still_be_accepted_is_left() -> None:
    guided = Guided(LOOP, DEAD_END)
    assert row_after(guided, []) == [0, 0.8, 0.2, 0]
    assert row_after(guided, [0]) == [0.666667, 0, 0.333333, 0]
    assert len(guided.guide) == 2


def test_the_model_inside_is_led_only_along_what_is_allowed() -> None:
    inside = RecordingModel(LOOP)
    guided = Guided(inside, DEAD_END).open()
    starts = np.full(4, guided.start())
    handles = guided.extend(starts, Words.of([[1, 0, 0, 1], [2, 1], [], [0, 1]]))
    assert (handles < 0).tolist() == [False, False, True, True, True, True, False, False]
    assert inside.led_to == {(), (1,), (1, 0), (0,), (0, 1)}
    steps = inside.symbols
    assert guided.extend(starts[:1], Words.of([[2]])).tolist() == [-1]
    assert inside.symbols == steps


def test_handles_go_back_to_the_model_inside() -> None:
    inside = RecordingModel(LOOP, room=3)
    guided = Guided(inside, DEAD_END).open()
    assert guided.room == 3
    for _ in range(10):
        start = np.array([guided.start()])
        guided.release(np.append(guided.extend(start, Words.of([[0, 1]])), start))
    assert inside.most_live == 3


def test_a_pdfa_guides_by_its_support() -> None:
    guide = PDFA(
        alphabet="abc",
        transitions=[[1, 0, 0], [1, 1, 1]],
        probabilities=[[0, 0.5, 0, 0.5], [0.5, 0, 0.5, 0]],
    )
    guided = Guided(LOOP, guide)
    assert row_after(guided, [2]) == [0, round(4 / 7, 6), 0, round(3 / 7, 6)]
    assert row_after(guided, [2, 0]) == [round(2 / 3, 6), 0, round(1 / 3, 6), 0]


def test_a_guide_may_have_fewer_symbols_in_another_order() -> None:
    guide = DFA(alphabet="ba", transitions=[[0, 1], [-1, -1]], accepting=[False, True])
    guided = Guided(LOOP, guide)
    assert row_after(guided, [1]) == [0, 0.8, 0.2, 0]
    assert row_after(guided, [1, 0]) == [1, 0, 0, 0]


def test_words_that_the_model_does_not_define_stay_undefined() -> None:
    target = PDFA(alphabet="ab", transitions=[[0, -1]], probabilities=[[0.5, 0.5, 0]])
    everything = DFA(alphabet="ab", transitions=[[0, 0]], accepting=[True])
    guided = Guided(target, everything).open()
    start = np.array([guided.start()])
    assert guided.extend(start, Words.of([[0, 1, 0]])).tolist() == [0, -1, -1]
    assert np.array_equal(guided.possible(start), [[True, False]])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "guide",
    [
        DFA(alphabet="abc", transitions=[[0, 0, 1], [-1, 1, 1]], accepting=[False, False]),
        DFA(alphabet="abc", transitions=[[0] * 3, [0] * 3], accepting=[False, True]),
        PDFA(alphabet="abc", transitions=[[0, 0, 0]], probabilities=[[0, 0.5, 0.5, 0]]),
    ],
    ids=["never accepts", "accepts where no word leads", "never ends"],
)
def test_a_guide_that_excludes_everything_is_refused(guide: DFA | PDFA) -> None:
    with pytest.raises(InputError, match=r"DFA\(.*excludes everything: it accepts no word of"):
        Guided(LOOP, guide)


def test_what_is_no_guide_is_refused() -> None:
    with pytest.raises(InputError, match="the guide 3 is not a regular expression, DFA or PDFA"):
        Guided(LOOP, 3)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="symbol 'd' of the guide is not one of the model's"):
        Guided(LOOP, DFA(alphabet="abd", transitions=[[0, 0, 0]], accepting=[True]))
    with pytest.raises(InputError, match="neither a PDFA nor a LanguageModel"):
        Guided("abc", DEAD_END)  # type: ignore[arg-type]


def test_handles_that_leave_no_room_for_the_guide_are_refused() -> None:
    class Distant(AutomatonSession):
        def start(self) -> int:
            return 2**62

    guided = Guided(SessionOf(AutomatonModel(LOOP), Distant(LOOP)), DEAD_END).open()
    with pytest.raises(ModelError, match="the handle 4611686018427387904; with a guide of 2 stat"):
        guided.start()


def test_an_undefined_empty_word_stays_so() -> None:
    class Nothing(AutomatonSession):
        def start(self) -> int:
            return -1

    assert Guided(SessionOf(AutomatonModel(LOOP), Nothing(LOOP)), DEAD_END).open().start() == -1


def test_nothing_is_left_where_the_model_gives_nothing_to_what_is_allowed() -> None:
    guide = DFA(alphabet="abc", transitions=[[0, -1, -1]], accepting=[False])
    target = PDFA(alphabet="abc", transitions=[[0, 0, 0]], probabilities=[[0.5, 0, 0.5, 0]])
    with pytest.raises(InputError, match="excludes everything"):
        Guided(target, guide)
    guide = DFA(alphabet="abc", transitions=[[1, -1, -1], [-1] * 3], accepting=[False, True])
    assert row_after(Guided(target, guide), []) == [0, 0, 0, 0]
