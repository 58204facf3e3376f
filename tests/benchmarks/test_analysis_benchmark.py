"""The benchmark of questions runs, at tiny sizes."""

from __future__ import annotations

import sys

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
    has_kenlm = sys.version_info < (3, 13)  # it does not compile with later ones
    if has_kenlm:
        need_module("kenlm")
    names = [row[0] for row in analysis.score_rows(250_000)]
    assert ("KenLM" in names) == has_kenlm
    assert len(names) == 5 + has_kenlm
