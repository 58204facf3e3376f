"""Guided models: what the guide leaves of rows and words, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from pdfalearn import (
    DFA,
    PDFA,
    Alphabet,
    AutomatonModel,
    ExactOracle,
    FunctionModel,
    Guided,
    InputError,
    ModelError,
    Quantization,
    learn,
)
from pdfalearn.models.protocol import Handles
from pdfalearn.words import Words
from tests.models.constrained.recording import RecordingModel

ROW = [0.2, 0.4, 0.1, 0.3]
LOOP = PDFA(alphabet="abc", transitions=[[0, 0, 0]], probabilities=[ROW])
DEAD_END = DFA(
    alphabet="abc",
    transitions=[[1, 0, 2], [-1, 0, 2], [2, 2, 2]],
    accepting=[False, True, False],
)
"""Words without c, of a and b, that end with a and have no two a's in a row."""


def row_after(model: Guided, word: list[int]) -> list[float]:
    handle = np.array([model.start()])
    if word:
        handle = model.extend(handle, Words.of([word]))[-1:]
    (row,) = model.distributions(handle)
    return [round(value, 6) for value in row.tolist()]


def test_only_what_may_still_be_accepted_is_left() -> None:
    guided = Guided(LOOP, DEAD_END)
    assert row_after(guided, []) == [0, 0.8, 0.2, 0]
    assert row_after(guided, [0]) == [0.666667, 0, 0.333333, 0]
    assert len(guided.guide) == 2


def test_the_model_inside_is_led_only_along_what_is_allowed() -> None:
    inside = RecordingModel(LOOP)
    guided = Guided(inside, DEAD_END)
    starts = np.full(4, guided.start())
    handles = guided.extend(starts, Words.of([[1, 0, 0, 1], [2, 1], [], [0, 1]]))
    assert (handles < 0).tolist() == [False, False, True, True, True, True, False, False]
    assert inside.led_to == {(), (1,), (1, 0), (0,), (0, 1)}
    steps = inside.symbols
    assert guided.extend(starts[:1], Words.of([[2]])).tolist() == [-1]
    assert inside.symbols == steps


def test_handles_go_back_to_the_model_inside() -> None:
    inside = RecordingModel(LOOP, capacity=3)
    guided = Guided(inside, DEAD_END)
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
    guided = Guided(target, everything)
    start = np.array([guided.start()])
    assert guided.extend(start, Words.of([[0, 1, 0]])).tolist() == [0, -1, -1]
    assert guided.undefined_after(start).tolist() == [[False, True]]


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
    with pytest.raises(InputError, match="the guide 3 is no regular expression, DFA or PDFA"):
        Guided(LOOP, 3)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="symbol 'd' of the guide is not one of the model's"):
        Guided(LOOP, DFA(alphabet="abd", transitions=[[0, 0, 0]], accepting=[True]))
    with pytest.raises(InputError, match="neither a PDFA nor a LanguageModel"):
        Guided("abc", DEAD_END)  # type: ignore[arg-type]


def test_handles_that_leave_no_room_for_the_guide_are_refused() -> None:
    class Distant(AutomatonModel):
        def start(self) -> int:
            return 2**62

    with pytest.raises(ModelError, match="the handle 4611686018427387904; with a guide of 2 stat"):
        Guided(Distant(LOOP), DEAD_END).start()


def test_a_wrong_number_of_handles_is_refused() -> None:
    class Forgetful(AutomatonModel):
        def extend(self, handles: Handles, words: Words) -> Handles:
            return super().extend(handles, words)[:1]

    guided = Guided(Forgetful(LOOP), DEAD_END)
    with pytest.raises(ModelError, match=r"extend gave an array of int64 of shape \(1,\)"):
        guided.extend(np.array([guided.start()]), Words.of([[1, 0]]))


def test_a_model_whose_empty_word_is_undefined_stays_so() -> None:
    class Nothing(AutomatonModel):
        def start(self) -> int:
            return -1

    oracle = ExactOracle(LOOP, by=Quantization(10))
    with pytest.raises(ModelError, match="empty word is undefined"):
        learn(Guided(Nothing(LOOP), DEAD_END), by=Quantization(10), oracle=oracle)


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
