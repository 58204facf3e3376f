"""The mass outside of the alphabet in the summaries of ``learn`` and ``distill``."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.program import run, run_json

MODEL = """
import numpy as np
from pdfalearn import Alphabet, LanguageModel
from pdfalearn.models import Rows


class Leaking(LanguageModel):
    alphabet = Alphabet("ab")

    def answer(self, batch):
        outside = np.array([{unknown} if len(word) == 1 else 0.25 for word in batch.words])
        return Rows.dense(np.full((batch.count, 3), 1 / 3), outside=outside)


model = Leaking()
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "leaking.py").write_text(MODEL.format(unknown="0.75"))
    (tmp_path / "unknown.py").write_text(MODEL.format(unknown="np.nan"))
    return tmp_path


def test_learn_shows_it(folder: Path) -> None:
    options = ("--kappa", 10, "--oracle", "words", "--max-length", 1)
    outside = run_json("learn", "leaking.py:model", *options)["certificate"]["outside"]
    assert outside["largest"] == 0.75
    assert outside["mean"] == pytest.approx(1.75 / 3)
    assert outside["distributions"] == 3
    assert outside["unknown"] == 0
    printed = run("learn", "leaking.py:model", *options).output
    assert "mass outside of the alphabet" in printed
    assert "0.75 at most" in printed


def test_it_says_where_it_is_not_known(folder: Path) -> None:
    options = ("--kappa", 10, "--oracle", "words", "--max-length", 1)
    outside = run_json("learn", "unknown.py:model", *options)["certificate"]["outside"]
    assert outside == {"mean": 0.25, "largest": 0.25, "distributions": 1, "unknown": 2}
    assert "unknown for 2" in run("learn", "unknown.py:model", *options).output


@pytest.mark.slow
def test_distill_shows_it(folder: Path) -> None:
    options = ("--words", 200)
    outside = run_json("distill", "leaking.py:model", *options)["certificate"]["outside"]
    assert outside["largest"] == 0.75
    assert 0.25 < outside["mean"] < 0.75
    assert "0.75 at most" in run("distill", "leaking.py:model", *options).output
