"""When exploring stops, what it keeps, and what it refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pdfalearn import PDFA, Budget, FunctionModel, Guided, Temperature, TopK, explore, probability
from pdfalearn.datasets import figure_1
from pdfalearn.errors import InputError, ModelError
from pdfalearn.exploring import ExplorationInterrupted, Step
from pdfalearn.languages import BeginsWith
from tests.support import need_module


@pytest.fixture(autouse=True)
def _regular_expressions() -> None:
    need_module("interegular")


def fair(asked: list[int] | None = None) -> FunctionModel:
    def answer(words: list[Any]) -> list[list[float]]:
        if asked is not None:
            asked.append(len(words))
        return [[0.5, 0.25, 0.25]] * len(words)

    return FunctionModel(answer, "ab")


def test_a_verdict_stops_early() -> None:
    proved = explore(fair(), "a.*", match="begins", gap=0, at_least=0.2)
    assert (proved.stopped, proved.is_at_least(0.2), proved.is_at_least(0.3)) == (
        "verdict",
        True,
        False,
    )
    assert explore(fair(), ".*ab", gap=0, at_least=0.9).is_at_least(0.9) is False
    open_one = explore(fair(), ".*ab.*", gap=0, at_least=0.05, budget=Budget(max_words=2))
    assert open_one.is_at_least(0.05) is None
    assert open_one.stopped == "max_words"


def test_an_interrupt_brings_the_bounds_so_far() -> None:
    def stop(step: Step) -> None:
        if step.calls > 20:
            raise KeyboardInterrupt

    with pytest.raises(ExplorationInterrupted) as caught:
        explore(fair(), ".*ab.*", gap=0, batch=4, progress=stop)
    found = caught.value.exploration
    assert found is not None
    assert 0 < found.low < found.high < 1
    assert found.stopped == "interrupted"
    with pytest.raises(ExplorationInterrupted):
        found.more()


def test_errors_leave_what_is_known() -> None:
    calls = []

    def answer(words: list[Any]) -> list[list[float]]:
        calls.append(len(words))
        return [[0.5, 0.25, 0.25 if len(calls) != 3 else np.nan]] * len(words)

    asked = explore(FunctionModel(answer, "ab"), ".*ab.*", budget=Budget(max_words=2), batch=2)
    with pytest.raises(ModelError):
        asked.more(budget=Budget(max_words=50))
    again = asked.more(budget=Budget(max_words=50))
    assert asked.low <= again.low <= again.high <= asked.high


def test_a_store_keeps_rows(tmp_path: Path) -> None:
    first, second = list[int](), list[int]()
    kept = {"store": tmp_path / "rows.db", "model_id": "fair"}
    one = explore(fair(first), ".*ab", gap=0.01, **kept)  # type: ignore[arg-type]
    two = explore(fair(second), ".*ab", gap=0.01, **kept)  # type: ignore[arg-type]
    assert (one.low, one.high, one.calls) == (two.low, two.high, two.calls)
    assert sum(second) <= 2 < sum(first)
    other = FunctionModel(lambda words: [[0.2, 0.4, 0.4]] * len(words), "ab")
    with pytest.raises(ModelError, match="another model_id"):
        explore(other, ".*ab", **kept)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="another question, with languages"):
        explore(fair(), "a", **kept)  # type: ignore[arg-type]
    with pytest.raises(ModelError, match="another model, 'fair'"):
        explore(fair(), ".*ab", store=tmp_path / "rows.db", model_id="unfair")


def test_memory_is_bounded() -> None:
    asked = explore(fair(), ".*abba", gap=0, batch=64, budget=Budget(max_words=600))
    frontier = asked._run.frontier
    frontier._most_open = 100
    asked = asked.more(budget=Budget(max_words=600))
    assert (frontier.items.symbols >= 0).sum() <= 100 + 2 * 64
    assert len(frontier.items) <= 100 + asked.calls  # a tail for each that was asked
    assert asked.open["unlikely"] > 0


def test_what_is_refused() -> None:
    model = figure_1()
    for arguments, message in (
        ({"languages": "a["}, "does not parse"),
        ({"languages": "[^\\s\\S]"}, "empty"),
        ({"languages": "a(?=a)"}, "not supported"),
        ({"languages": {}}, "need names"),
        ({"languages": "a", "match": "ends"}, "is not one of"),
        ({"languages": BeginsWith("a"), "match": "contains"}, "regular expressions"),
        ({"languages": "a", "within": 0}, "within"),
        ({"languages": "a", "gap": 2}, "gap"),
        ({"languages": "a", "budget": Budget(max_states=3)}, "max_words and max_seconds"),
        ({"languages": "a", "prompts": {"x": "z"}}, "z"),
        ({"languages": "a", "prompts": ["a"]}, "mapping of names"),
        ({"languages": "a", "store": "x.db"}, "model_id"),
    ):
        with pytest.raises(InputError, match=message):
            explore(model if "store" not in arguments else fair(), **arguments)
    asked = explore(model, {"one": "a", "two": "aa"})
    for wrong in (lambda: asked["three"], lambda: asked.behind("x"), lambda: asked.likeliest(-1)):
        with pytest.raises(InputError):
            wrong()
    several = explore(model, "a", prompts={"x": "a", "y": ""})
    with pytest.raises(InputError, match="choose one"):
        several.likeliest()


@pytest.mark.parametrize("prompts", [None, {"x": "a", "y": "aa"}])
def test_wrapped_models(prompts: dict[str, str] | None) -> None:
    """What wrappers make of a model is what is explored."""
    rows = [[0.4, 0.5, 0.1], [0.5, 0.3, 0.2]]
    pdfa = PDFA(alphabet="ab", transitions=[[0, 1], [1, 0]], probabilities=rows)
    for make, expected in (
        (lambda: TopK(pdfa, 2), [[0.4, 0.5, 0.0], [0.5, 0.3, 0.0]]),
        (lambda: Guided(pdfa, "a*b?"), None),
        (lambda: Temperature(pdfa, 0.5), np.square(rows)),
    ):
        asked = explore(make(), ["a", "ab", ""], prompts=prompts, gap=1e-9)
        if expected is None:
            assert asked.high - asked.low < 1e-8
            continue
        table = np.array(expected) / np.sum(expected, axis=1, keepdims=True)
        known = PDFA(alphabet="ab", transitions=[[0, 1], [1, 0]], probabilities=table)
        chances = []
        for word in (prompts or {"": ""}).values():
            whole = probability(known, [f"{word}{end}" for end in ("a", "ab", "")])
            chances.append(whole / probability(known, f"{word}.*"))
        assert asked.low - 1e-9 <= np.mean(chances) <= asked.high + 1e-9
