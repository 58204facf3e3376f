"""Bounds on how far two models are apart, against enumerated words."""

from __future__ import annotations

import time
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pdfalearn import PDFA, Budget, LanguageModel, drift, explore, probability
from pdfalearn.errors import InputError
from pdfalearn.exploring import Difference, Drift, ExplorationInterrupted, Step
from pdfalearn.exploring.live_questions import Match
from pdfalearn.models import Batch, FunctionModel, Rows
from tests.exploring.cases import LANGUAGES, other_target, random_target
from tests.support import need_module

NEARLY = 1e-9


@pytest.fixture(autouse=True)
def _regular_expressions() -> None:
    need_module("interegular")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_total_variation_is_inside(seed: int) -> None:
    random = np.random.default_rng(seed)
    one = random_target(random)
    two = other_target(one, random)
    language = str(random.choice(LANGUAGES))
    apart_truly = abs(probability(one, language) - probability(two, language))
    words = [w for n in range(7) for w in product(one.alphabet.symbols, repeat=n)]
    short = sum(abs(one.probability(w) - two.probability(w)) for w in words) / 2
    for calls in (1, 4, 20, 200):
        apart = drift(one, two, language, gap=1e-4, budget=Budget(max_words=calls))
        assert apart.low - NEARLY <= apart_truly <= apart.high + NEARLY
        # Up to where they are settled, answers are not further apart than whole words.
        rest = 1 - sum(one.probability(w) for w in words)
        assert apart.prompts[0].answers_low <= short + rest + NEARLY
        assert apart.prompts[0].answers_low <= apart.prompts[0].answers_high
        assert apart.low <= apart.prompts[0].answers_high + NEARLY
        assert apart.noise == 0
    everything = drift(one, two, ".*", gap=1e-3, budget=Budget(max_words=3000)).prompts[0]
    assert everything.answers_low - NEARLY <= short + rest
    assert short - NEARLY <= everything.answers_high


@pytest.mark.parametrize(
    ("language", "match"),
    [
        ("a", "begins"),
        ("a", "contains"),
        ("aa?b?", "whole"),
        (".*", "whole"),
        ("a*", "begins"),  # settled before anything is asked
        ("a*", "contains"),
    ],
)
def test_answers_differ_behind_what_settles_a_class(language: str, match: Match) -> None:
    moves = [[1, 1], [2, 2], [2, 2]]
    rows = [[[0.0, 0.5, 0.5], [0.0, p, 1 - p], [1.0, 0.0, 0.0]] for p in (0.1, 0.9)]
    one, two = (PDFA(alphabet="ab", transitions=moves, probabilities=each) for each in rows)
    apart = drift(one, two, {"x": language}, match=match, gap=1e-6).prompts[0]
    assert apart.answers_low - NEARLY <= 0.8 <= apart.answers_high + NEARLY
    if language == ".*":
        assert apart.answers_high - apart.answers_low < 1e-6


def test_tolerance_is_settled_early() -> None:
    rows = [[[0.0, p, 1 - p], [0.5, 0.25, 0.25]] for p in (0.2, 0.6)]
    coins = [PDFA(alphabet="ab", transitions=[[1, 1], [1, 1]], probabilities=each) for each in rows]
    apart = drift(coins[0], coins[1], "a.*", tolerance=0.1, match="begins", gap=0)
    assert apart.is_within(0.1) is False
    assert apart.calls < 50
    assert drift(coins[0], coins[0], "a.*", match="begins", tolerance=0.1).is_within(0.1) is True
    assert {one.word for one in apart.differences[:2]} == {("a",), ("b",)}


def test_open_prefixes_are_among_the_differences() -> None:
    rows = [[[0.0, p, 1 - p], [0.01, 0.5, 0.49]] for p in (0.2, 0.6)]
    moves = [[1, 1], [1, 1]]
    coins = [PDFA(alphabet="ab", transitions=moves, probabilities=each) for each in rows]
    apart = drift(coins[0], coins[1], ".*bbbbbb", gap=0, budget=Budget(max_words=1))
    found = {one.word: one for one in apart.differences}
    assert all(one.is_open for one in apart.differences)
    assert (found["a",].a, found["b",].a) == pytest.approx((0.2, 0.8))
    assert [one.share for one in apart.differences] == pytest.approx([0.5, 0.5])
    assert "('a',) … (open)" in str(apart)
    # What is settled and what is open are all that there is.
    apart = drift(coins[0], coins[1], "a.*", gap=0, count=99, budget=Budget(max_words=9))
    assert {one.is_open for one in apart.differences} == {True, False}
    for model in "ab":
        total = sum(getattr(one, model) for one in apart.differences)
        assert total == pytest.approx(1)
    assert sum(one.share for one in apart.differences) == pytest.approx(1)


class Shaky(LanguageModel):
    """A model whose rows depend a little on how many are asked for."""

    def __init__(self) -> None:
        self._model = FunctionModel(lambda words: [[0.5, 0.25, 0.25]] * len(words), "ab")
        self.alphabet = self._model.alphabet

    def answer(self, batch: Batch) -> Rows:
        shift = 1e-4 if batch.count == 1 else 0.0
        return Rows.dense(np.tile([0.5 + shift, 0.25 - shift, 0.25], (batch.count, 1)))


def test_noise_widens_bounds() -> None:
    apart = drift(Shaky(), Shaky(), "a.*", gap=0.01)
    assert 1e-4 <= apart.noise <= 1e-2
    assert apart.low == 0.0
    assert apart.is_within(apart.noise / 2) is None


def test_models_that_cannot_be_compared() -> None:
    random = np.random.default_rng(0)
    pdfa = random_target(random)
    other = PDFA(alphabet="xy", transitions=[[0, 0]], probabilities=[[0.5, 0.25, 0.25]])
    with pytest.raises(InputError, match="other symbols"):
        drift(pdfa, other, "a")


def test_a_file_of_other_symbols_is_named(tmp_path: Path) -> None:
    letters = PDFA(alphabet="hx", transitions=[[0, 0]], probabilities=[[0.5, 0.25, 0.25]])
    explore(letters, "h").save(tmp_path / "saved.jsonl")
    with pytest.raises(InputError, match=r"saved.jsonl has answers of a model with other symbols"):
        drift(tmp_path / "saved.jsonl", random_target(np.random.default_rng(1)))


def test_a_file_is_about_its_own_question(tmp_path: Path) -> None:
    target = random_target(np.random.default_rng(1))
    explore(target, "a", match="begins", within=3).save(tmp_path / "saved.jsonl")
    assert drift(tmp_path / "saved.jsonl", target).is_within(0.5) is True
    same = drift(tmp_path / "saved.jsonl", target, match="begins", within=3)
    assert same.is_within(0.5) is True
    with pytest.raises(InputError, match=r"is about the question .*'within': 3.*'within': 2"):
        drift(tmp_path / "saved.jsonl", target, match="begins", within=2)


def test_an_interrupt_brings_the_bounds_so_far() -> None:
    def stop(step: Step) -> None:
        if step.calls > 20:
            raise KeyboardInterrupt

    random = np.random.default_rng(3)
    pdfa = random_target(random)
    with pytest.raises(ExplorationInterrupted) as caught:
        drift(pdfa, other_target(pdfa, random), ".*", gap=0, progress=stop)
    found = caught.value.drift
    assert found is not None
    assert found.stopped == "interrupted"
    assert found.prompts[0].answers_high < 1
    assert found.noise_calls == 0
    assert "noise not measured" in str(found)


def test_an_interrupt_keeps_the_noise_so_far() -> None:
    steps: list[Step] = []

    def stop(step: Step) -> None:
        steps.append(step)
        if step.calls > 20:
            raise KeyboardInterrupt

    settings: Any = {"gap": 0, "budget": Budget(max_words=10), "progress": stop}
    with pytest.raises(ExplorationInterrupted) as caught:
        drift(Shaky(), Shaky(), ".*a.*", **settings)
    found = caught.value.drift
    assert found is not None
    assert (found.calls, found.stopped) == (10, "interrupted")
    assert 10 < found.noise_calls == steps[-1].calls - 10 < 20
    assert found.noise > 0
    assert 0 < found.prompts[0].answers_high < 1
    assert caught.value.exploration is not None
    assert f"of {found.noise_calls} calls more" in str(found)


@pytest.mark.slow
def test_noise_takes_no_longer_than_there_is_time() -> None:
    def slowly(words: list[Any]) -> list[list[float]]:
        time.sleep(0.01 * len(words))
        return [[0.5, 0.25, 0.25]] * len(words)

    one, two = (FunctionModel(slowly, "ab") for _ in range(2))
    apart = drift(one, two, ".*abab", gap=0, budget=Budget(max_seconds=0.1))
    assert apart.stopped == "max_seconds"
    assert apart.noise_calls == min(7, apart.calls)
    assert drift(one, two, ".*abab", gap=0, budget=Budget(max_words=8)).noise_calls == 16


def test_words_are_shown_without_control_characters() -> None:
    rows = [[[0.5, p, 0.5 - p]] for p in (0.1, 0.4)]
    symbols = ["\x1b[31m", "b"]
    one, two = (PDFA(alphabet=symbols, transitions=[[0, 0]], probabilities=r) for r in rows)
    texts = str(drift(one, two, [["b"]], prompts={"\x1b[2J": []}))
    assert "\x1b" not in texts
    assert r"\x1b[31m" in texts
    found = Drift(0, 1, 0, 0, (), (Difference("a\x1b[31m\n", 0, 1, 1.0),), 1, 0, "gap")
    assert r"'a\x1b[31m\n'" in str(found)


@pytest.mark.parametrize("tolerance", ["x", -1, 2, None])
def test_a_tolerance_is_a_share(tolerance: Any) -> None:
    random = np.random.default_rng(0)
    pdfa = random_target(random)
    apart = drift(pdfa, pdfa, "a")
    with pytest.raises(InputError, match=r"tolerance .* is not a number"):
        apart.is_within(tolerance)


def test_what_a_file_cannot_tell_is_not_asked_for(tmp_path: Path) -> None:
    rows = [[[0.02, p, 0.98 - p]] for p in (0.49, 0.45)]
    one, two = (PDFA(alphabet="ab", transitions=[[0, 0]], probabilities=r) for r in rows)
    explore(one, "(a|b){0,20}", gap=0, budget=Budget(max_words=100)).save(tmp_path / "one.jsonl")
    apart = drift(tmp_path / "one.jsonl", two, gap=0.01)
    assert apart.stopped == "untold"
    assert apart.calls < 300
    truly = drift(one, two, "(a|b){0,20}", budget=Budget(max_words=100))
    assert apart.high <= truly.high + 0.1
    # All that the file tells is looked at.
    whole = tmp_path / "whole.jsonl"
    explore(one, "(a|b){0,4}", gap=0).save(whole)
    assert drift(whole, two, gap=1e-6).stopped == "gap"
