"""Many sessions at once: in batches of any sizes, over stops, with clocks that are wrong."""

from __future__ import annotations

from math import nan
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pdfalearn.watching.monitor as module
from pdfalearn import PDFA, Corpus, Monitor
from pdfalearn.datasets import figure_1, random_pdfa
from pdfalearn.errors import FileFormatError, InputError
from pdfalearn.languages import Contains
from pdfalearn.watching import Alarm, score_sessions
from tests.strategies import pdfas
from tests.support import examples

LIMITS = {"peaks": 2.5, "largest": 1.5, "window": 1.0, "sum": 0.8}
EVENTS = st.lists(
    st.tuples(st.integers(0, 4), st.sampled_from("abz$"), st.integers(0, 30)), max_size=60
)


def keys(alarms: list[Alarm]) -> list[tuple[object, ...]]:
    return [(one.begun, one.score, one.session, one.event, one.after) for one in alarms]


def observe(monitor: Monitor, events: list[Any], sizes: list[int]) -> list[Alarm]:
    alarms, begin, place = [], 0, 0
    while begin < len(events):
        end = begin + sizes[place % len(sizes)]
        part = events[begin:end]
        columns = [list(column) for column in zip(*part, strict=True)]
        alarms += monitor.observe_many(columns[0], columns[1], columns[2])
        begin, place = end, place + 1
    return alarms


@pytest.mark.slow
@examples(40)
@given(pdfas(max_symbols=2), EVENTS, st.lists(st.integers(1, 9), min_size=1), st.booleans())
def test_batches_of_any_sizes_give_the_same_alarms(
    pdfa: PDFA, events: list[Any], sizes: list[int], idle_ends: bool
) -> None:
    found = []
    languages = {"a": Contains("a")}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_ROUND", 16)
        for few, some in ((1, [1]), (4, sizes), (0, [1000])):
            patch.setattr(module, "_FEW", few)
            evicted: list[dict[str, Any]] = []
            monitor = Monitor(
                pdfa,
                LIMITS,
                window=3,
                idle=9,
                idle_ends=idle_ends,
                most_open=3,
                on_evict=evicted.append,
                languages=languages,
            )
            alarms = observe(monitor, events, some)
            alarms += monitor.sweep(1000.0) + monitor.end_all()
            shown = sorted((one["begun"], str(one["session"]), one["reason"]) for one in evicted)
            found.append((sorted(keys(alarms), key=str), shown, monitor.counts, len(monitor)))
    assert found[0] == found[1] == found[2]
    assert found[0][3] == 0


@pytest.mark.slow
@examples(40)
@given(pdfas(max_symbols=2), st.lists(st.text("abz", max_size=8), min_size=1, max_size=20))
def test_alarms_are_the_words_above_the_thresholds(pdfa: PDFA, words: list[str]) -> None:
    monitor, scores = Monitor(pdfa, LIMITS), score_sessions(pdfa, Corpus(words))
    alarms = []
    for number, word in enumerate(words):
        for event in [*word, "$"]:
            alarms += monitor.observe(number, event)
    for score, limit in LIMITS.items():
        values = scores.values(score)
        near = np.abs(values - limit) < 1e-3
        expected = set(np.flatnonzero((values > limit) & ~near).tolist())
        of_score = [int(str(one.session)) for one in alarms if one.score == score]
        raised = [number for number in of_score if not near[number]]
        assert set(raised) == expected
        assert len(raised) == len(expected)
    assert len(monitor) == 0


def test_a_session_goes_on_after_an_impossible_event_and_begins_anew_at_its_end() -> None:
    rows = [[0.0, 1.0, 0.0], [0.5, 0.5, 0.0]]
    pdfa = PDFA(alphabet="ab", transitions=[[1, -1], [1, 1]], probabilities=rows)
    monitor = Monitor(pdfa, {"largest": 5.0})
    assert [one.after for one in monitor.observe_many("x" * 3, "aba")] == [1]
    known = monitor.session("x")
    assert known is not None
    assert (known["events"], known["impossible"], known["state"]) == (3, 1, 1)
    assert monitor.observe("x", "b") == []  # one alarm a session
    assert monitor.observe("x", "$") == []
    assert monitor.session("x") is None
    [alarm] = monitor.observe("x", "b")
    assert (alarm.after, alarm.begun, alarm.expected_instead) == (0, 5, (("a", 1.0),))


def test_integers_are_texts_as_they_are_in_a_corpus() -> None:
    for symbol in ("3", 3):
        one = figure_1()
        pdfa = PDFA(alphabet=[symbol], transitions=one.transitions, probabilities=one.probabilities)
        monitor = Monitor(pdfa, {"largest": 5.0})
        assert monitor.observe_many("xxxx", [3, "3", "3", 3]) == []
        assert monitor.counts["unknown"] == 0


def test_what_is_to_come_is_said() -> None:
    coin = PDFA(alphabet="ht", transitions=[[0, 0]], probabilities=[[0.5, 0.25, 0.25]])
    languages = {"two heads": Contains("hh")}
    monitor = Monitor(coin, {"largest": 5.0}, events=["h"], languages=languages)
    monitor.observe("x", "t")
    known = monitor.session("x")
    assert known is not None
    assert known["reaching"] == pytest.approx({"h": 1 / 3, "two heads": 1 / 11})
    [alarm] = monitor.observe("x", "?")
    assert alarm.reaching == pytest.approx({"h": 1 / 3, "two heads": 1 / 11})
    monitor.observe("x", "h")
    known = monitor.session("x")
    assert known is not None
    assert known["reaching"] == pytest.approx({"h": 1.0, "two heads": 0.25 + 0.25 / 11})


def test_idle_sessions_and_too_many_are_evicted_with_what_is_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "_ROUND", 4)
    gone: list[dict[str, Any]] = []
    monitor = Monitor(figure_1(), idle=10, most_open=2, on_evict=gone.append)
    monitor.observe_many(["old", "b", "c", "d"], ["a"] * 4, [0, 100, 100, 100])
    assert [(one["session"], one["reason"]) for one in gone] == [("old", "idle"), ("b", "number")]
    assert gone[0]["events"] == 1
    monitor.observe_many(["e", "f", "g", "g"], ["a"] * 4, [101] * 4)
    assert [one["session"] for one in gone] == ["old", "b", "c", "d", "e"]
    assert len(monitor) == 2
    assert monitor.counts["evicted"] == 5


def test_a_wrong_time_moves_no_clock_and_a_jump_is_counted() -> None:
    monitor = Monitor(figure_1(), idle=10)
    monitor.observe_many("xyxyxy", "aaaaaa", [1, 2, 1e9, 3, nan, 4])
    assert monitor.now == 3
    assert monitor.counts["jumps"] == 0
    monitor.observe_many("xxxx", "aaaa", [500, 501, 502, 503])
    assert monitor.counts["jumps"] == 1
    monitor.observe_many("xxx", "aaa", [20, 21, 22])  # and back
    assert monitor.counts["jumps"] == 2
    monitor.sweep()
    assert len(monitor) == 1
    assert monitor.counts["late"] > 0


@pytest.mark.slow
@examples(40)
@given(pdfas(max_symbols=2), EVENTS, st.integers(0, 60))
def test_a_monitor_goes_on_where_it_was_saved(
    tmp_path_factory: pytest.TempPathFactory, pdfa: PDFA, events: list[Any], cut: int
) -> None:
    path = tmp_path_factory.mktemp("saved") / "state.npz"
    first, second, whole = (Monitor(pdfa, LIMITS, idle=9, idle_ends=True) for _ in range(3))
    alarms = observe(first, events[:cut], [7])
    first.save(path, {"offset": 3})
    assert second.restore(path) == {"offset": 3}
    alarms += observe(second, events[cut:], [5]) + second.end_all()
    expected = observe(whole, events, [11]) + whole.end_all()
    assert sorted(keys(alarms), key=str) == sorted(keys(expected), key=str)
    assert second.counts == whole.counts


def test_a_monitor_tells_its_own_words_from_others() -> None:
    usual, other = random_pdfa(50, 3, seed=1), random_pdfa(50, 3, seed=2)
    found = []
    for source in (usual, other):
        scores = score_sessions(usual, source.sample(500, seed=5).words)
        sums = {name: scores.records[name].sum() for name in ("surprisal", "expected", "variance")}
        found.append((sums["surprisal"] - sums["expected"]) / sums["variance"] ** 0.5)
    assert abs(found[0]) < 4
    assert found[1] > 10


def test_files_of_other_monitors_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "state.npz"
    monitor = Monitor(figure_1())
    monitor.observe("x", "a")
    monitor.save(path)
    with pytest.raises(FileFormatError, match="another automaton"):
        Monitor(random_pdfa(3, seed=1)).restore(path)
    with pytest.raises(FileFormatError, match="another automaton"):
        Monitor(figure_1(), window=3).restore(path)
    path.write_bytes(path.read_bytes()[:-50])
    with pytest.raises(FileFormatError, match=r"state\.npz"):
        monitor.restore(path)
    assert monitor.session("x") is not None  # as it was
    monitor.observe((1, 2), "a")
    with pytest.raises(InputError, match="strings or integers"):
        monitor.save(path)


def test_arrays_of_sessions_are_plain_values(tmp_path: Path) -> None:
    monitor = Monitor(figure_1(), {"largest": 5.0})
    [alarm] = monitor.observe_many(np.array([1, 2]), np.array(["a", "z"]), [0.0, 1.0])
    assert type(alarm.session) is int
    monitor.save(tmp_path / "state.npz")


def test_what_is_wrong_is_named() -> None:
    monitor = Monitor(figure_1())
    with pytest.raises(InputError, match="as many"):
        monitor.observe_many(["x"], ["a", "a"])
    with pytest.raises(InputError, match="hashable"):
        monitor.observe(["x"], "a")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="hashable"):
        monitor.observe("x", ["a"])  # type: ignore[arg-type]
    with pytest.raises(InputError, match="score 'most'"):
        Monitor(figure_1(), {"most": 3.0})
    with pytest.raises(InputError, match="threshold of largest"):
        Monitor(figure_1(), {"largest": nan})
    with pytest.raises(InputError, match="other 0"):
        Monitor(figure_1(), {"largest": 5.0}, other=0)
    for times in (["2026-11-19"], np.array(["2026-11-19"], dtype="datetime64[s]")):
        with pytest.raises(InputError, match="times have to be numbers"):
            monitor.observe_many(["x"], ["a"], times)  # type: ignore[arg-type]
    assert monitor.observe_many([], []) == []
