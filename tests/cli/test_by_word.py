"""Functions of a single word on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from pdfalearn import load
from tests.cli.program import error_of, run

FILE = """
def tomorrow(word):
    return {"sun": 0.5, "$": 0.5} if word[-1:] == ("rain",) else {"sun": 0.25, "rain": 0.75}

def wrong(word):
    return {"snow": 1}
"""
SYMBOLS = ("--alphabet", "sun rain", "--by-word")


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "weather.py").write_text(FILE, encoding="utf-8")


def test_it_is_learnt_and_sampled() -> None:
    run("learn", "weather.py:tomorrow", *SYMBOLS, "--max-length", 5, "-o", "out.json")
    assert load("out.json").next_distribution(["rain"]).tolist() == [0.5, 0.5, 0]
    assert len(run("sample", "weather.py:tomorrow", *SYMBOLS).stdout.splitlines()) == 10


def test_bad_input() -> None:
    message = error_of("learn", "weather.py:wrong", *SYMBOLS)
    assert "after the word () the function names 'snow'" in message
    run("learn", "weather.py:tomorrow", *SYMBOLS, "--max-length", 5, "-o", "out.json")
    assert "--by-word is for functions" in error_of("learn", "out.json", "--by-word")
