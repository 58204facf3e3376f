"""Guided models: what the guide leaves of rows and words, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pdfalearn import PDFA, FunctionModel, Guided, Quantization, Temperature, TopK, learn
from pdfalearn.errors import InputError, ModelError
from pdfalearn.languages import DFA
from pdfalearn.oracles import PACOracle
from pdfalearn.rows import Rows
from pdfalearn.samplers import UniformWords
from tests.models.constrained.inside import (
    RecordingModel,
    Wrapping,
    may_follow,
    model_of,
    row_after,
    rows_after,
)

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
    assert may_follow(rows_after(guided, [], [0])) == [{0, 1}, {1}]
    assert len(guided.guide) == 2


def test_the_model_inside_is_asked_only_for_what_is_allowed() -> None:
    inside = RecordingModel(LOOP)
    guided = Guided(inside, DEAD_END)
    rows = rows_after(guided, [1, 0, 0, 1], [1, 0], [2, 1], [], [0, 1], [2])
    assert rows.undefined is not None
    assert rows.undefined.tolist() == [True, False, True, False, False, True]
    assert set(inside.asked) == {(), (1, 0), (0, 1)}
    assert inside.met == {(), (1,), (1, 0), (0,), (0, 1)}
    rows = rows_after(guided, [2], [0, 0])
    assert rows.undefined is not None
    assert rows.undefined.all()
    assert len(inside.asked) == 3


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
    rows = rows_after(Guided(target, everything), [0], [0, 1], [0, 1, 0])
    assert rows.undefined is not None
    assert rows.undefined.tolist() == [False, True, True]
    assert may_follow(rows)[0] == {0}


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


def test_an_undefined_empty_word_stays_so() -> None:
    model = FunctionModel(lambda words: [None for _ in words], "abc")
    rows = rows_after(Guided(model, DEAD_END), [], [0])
    assert rows.undefined is not None
    assert rows.undefined.all()


def test_nothing_is_left_where_the_model_gives_nothing_to_what_is_allowed() -> None:
    guide = DFA(alphabet="abc", transitions=[[0, -1, -1]], accepting=[False])
    target = PDFA(alphabet="abc", transitions=[[0, 0, 0]], probabilities=[[0.5, 0, 0.5, 0]])
    with pytest.raises(InputError, match="excludes everything"):
        Guided(target, guide)
    guide = DFA(alphabet="abc", transitions=[[1, -1, -1], [-1] * 3], accepting=[False, True])
    for model in (target, RecordingModel(target)):
        with pytest.raises(ModelError, match=r"the word \(\): nothing is left of it: all that the"):
            rows_after(Guided(model, guide), [])
        assert row_after(Guided(model, guide), [0]) == [1, 0, 0, 0]
    undefined = FunctionModel(lambda words: [None for _ in words], "abc")
    assert rows_after(Guided(undefined, guide), []).undefined is not None


FORCING = DFA(
    alphabet="abc",
    transitions=[[1, -1, -1], [-1, 2, -1], [-1, 3, 4], [-1, -1, 4], [-1] * 3],
    accepting=[False] * 4 + [True],
)
"""abc or abbc: only after ab there is a choice."""
ABC, ABBC = (0, 1, 2), (0, 1, 1, 2)
PREFIXES = [word[:length] for word in (ABC, ABBC) for length in range(5)]


@pytest.mark.parametrize(
    "wrap",
    [lambda model: model, lambda model: Temperature(Temperature(model, 0.5), 2.0)],
    ids=["bare", "at a temperature"],
)
def test_what_a_guide_forces_is_not_asked_of_a_model_in_which_all_is_possible(
    wrap: Wrapping,
) -> None:
    inside = RecordingModel(LOOP, full_support=True)
    rows = rows_after(Guided(wrap(inside), FORCING), *PREFIXES)
    assert inside.asked == [(0, 1)]
    assert rows.undefined is None or not rows.undefined.any()
    asked = np.array([word == (0, 1) for word in PREFIXES])
    assert rows.outside is not None
    assert np.isnan(rows.outside).tolist() == (~asked).tolist()
    table = rows.to_dense()
    assert np.allclose(table[asked], [0, 0, 0.25, 0.75])
    assert np.allclose(table[~asked].max(axis=1), 1)
    plain = rows_after(Guided(wrap(RecordingModel(LOOP)), FORCING), *PREFIXES)
    assert np.array_equal(plain.to_dense(), table)
    assert may_follow(plain) == may_follow(rows)


def test_a_model_without_full_support_is_asked_for_what_a_guide_forces() -> None:
    inside = RecordingModel(LOOP, full_support=True)
    rows_after(Guided(TopK(inside, 4), FORCING), *PREFIXES)
    assert set(inside.asked) == set(PREFIXES)
    with pytest.raises(ModelError, match=r"the word \('a',\): nothing is left"):
        rows_after(Guided(model_of([0, 1, 0, 0], [0, 0, 0, 1]), FORCING), (0,))


def test_forced_rows_over_a_large_alphabet_are_listed() -> None:
    names = [f"s{number}" for number in range(100)]
    guide = DFA(
        alphabet=names,
        transitions=[[1, *[-1] * 99], [1] * 50 + [-1] * 50],
        accepting=[False, True],
    )
    row = np.full(101, 1 / 101)
    model = FunctionModel(lambda words: [row for _ in words], names)
    model.full_support = True
    rows = rows_after(Guided(model, guide), (), (0,), (0, 99))
    assert rows.is_sparse
    assert may_follow(rows)[:2] == [{0}, set(range(50))]
    assert rows.undefined is not None
    assert rows.undefined.tolist() == [False, False, True]
    assert np.allclose(rows.to_dense()[1, :51], 1 / 51)


@pytest.mark.parametrize("kind", [float, int])
def test_the_mass_outside_of_undefined_words_is_unknown(kind: type) -> None:
    rows = Rows.dense(np.array([[0.5, 0.5]]), outside=np.array([1], dtype=kind))
    for part in (rows, rows.to_sparse()):
        spread = part.spread(np.array([1]), 2)
        assert np.array_equal(spread.outside, [np.nan, 1], equal_nan=True)  # type: ignore[arg-type]


def test_undefined_words_do_not_count_in_the_mass_outside(tmp_path: Path) -> None:
    leaking = FunctionModel(
        lambda words: Rows.dense(np.full((len(words), 4), 0.25), outside=np.full(len(words), 0.5)),
        "abc",
    )
    for is_stored in (False, True):
        result = learn(
            Guided(leaking, DEAD_END),
            equivalence=Quantization(10),
            oracle=PACOracle(epsilon=0.1, delta=0.1, sampler=UniformWords(6), seed=1),
            store=tmp_path / "answers.db",
            model_id="leaking",
        )
        assert result.statistics.stored_words > 0 if is_stored else result.statistics.words > 0
        known = result.statistics.distributions + result.statistics.stored_words
        assert result.certificate.details["outside"] == {
            "mean": 0.5,
            "largest": 0.5,
            "distributions": known,
            "unknown": 0,
        }
