"""Output on terminals of every kind: narrow, without colour, without Unicode."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pdfalearn import PDFA, save
from pdfalearn.text import short_word_text, shorten, symbol_text, word_text
from tests.cli.program import run_program
from tests.support import mostly_slow

SETTINGS = [
    {"NO_COLOR": "1"},
    {"FORCE_COLOR": "1"},
    {"TERM": "dumb"},
    {"COLUMNS": "8"},
    {"LC_ALL": "C", "PYTHONIOENCODING": "ascii"},
    {"LC_ALL": "C", "PYTHONIOENCODING": "latin-1", "PYTHONUTF8": "0"},
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    symbols = ["é", "κ", "[bold]x[/bold]", ":smile:", " ", "\n", "\x1b[31m", "x" * 300]
    for name, stop in {"a": 0.2, "b": 0.6}.items():
        row = [stop, *[(1 - stop) / len(symbols)] * len(symbols)]
        pdfa = PDFA(alphabet=symbols, transitions=[[0] * len(symbols)], probabilities=[row])
        save(pdfa, tmp_path / f"{name}.json")
    return tmp_path


@pytest.mark.parametrize("settings", mostly_slow(SETTINGS), ids=str)
def test_odd_symbols_on_odd_terminals(settings: dict[str, str], folder: Path) -> None:
    done = run_program("compare", "a.json", "b.json", folder=folder, **settings)
    assert done.returncode == 1
    assert done.stderr == ""
    lines = "".join(line.strip(" |│") for line in done.stdout.splitlines())
    assert ("\x1b[31mno" in lines) == ("FORCE_COLOR" in settings)
    if "COLUMNS" not in settings:
        assert "[bold]x[/bold]" in lines
        assert ":smile:" in lines
        assert r"\x1b[31m" in lines


@pytest.mark.slow
def test_json_is_ascii_and_whole(folder: Path) -> None:
    settings = {"LC_ALL": "C", "PYTHONIOENCODING": "ascii", "COLUMNS": "10"}
    done = run_program("info", "a.json", "--json", folder=folder, **settings)
    assert done.stdout.isascii()
    assert json.loads(done.stdout)["alphabet"][-1] == "x" * 300


def test_symbols_can_be_seen() -> None:
    assert [symbol_text(s) for s in ("a", "", " ", "a b", "\t", 3)] == [
        "a",
        "''",
        "' '",
        "'a b'",
        r"\t",
        "3",
    ]


def test_words() -> None:
    assert word_text("a\nb", joined=True) == r"a\nb"
    assert word_text((1, "x"), joined=False) == "1 x"
    assert short_word_text(["x" * 1000], joined=False) == shorten("x" * 1000, 320)
    assert len(short_word_text(["x" * 1000] * 100, joined=False)) < 400


@pytest.mark.parametrize("most", [1, 2, 9, 10, 99])
def test_shortened_texts_are_short(most: int) -> None:
    assert len(shorten("a" * 100, most)) <= max(most + 1, 5)
    assert shorten("a" * most, most) == "a" * most
