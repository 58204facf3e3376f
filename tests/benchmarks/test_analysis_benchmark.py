"""The benchmark of questions runs, at tiny sizes."""

from __future__ import annotations

import pytest

from benchmarks import analysis
from tests.support import need_module


@pytest.mark.slow
def test_every_question_is_timed() -> None:
    rows = list(analysis.asked(50, 2, {}, runs=1))
    assert [row[0] for row in rows][:3] == ["P(language)", "expected length", "entropy"]
    assert len(rows) == 6


@pytest.mark.slow
def test_storm_agrees() -> None:
    need_module("stormpy")
    names = [str(row[0]) for row in analysis.beside_storm(200, turns=1)]
    assert [name for name in names if "total" in name] == ["pdfalearn, in total", "Storm, in total"]


@pytest.mark.slow
def test_scores_are_timed_three_ways() -> None:
    need_module("pocketsphinx")
    need_module("kenlm")
    assert [row[0] for row in analysis.score_rows(250_000)][3] == "KenLM"
