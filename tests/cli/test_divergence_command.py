from __future__ import annotations

from pathlib import Path

import pytest

from pdfalearn import PDFA, divergence, save
from pdfalearn.datasets import random_pdfa
from tests.cli.program import error_of, run, run_json

A, B = random_pdfa(8, seed=1), random_pdfa(6, seed=2)
NEVER = PDFA(alphabet="01", transitions=[[0, -1]], probabilities=[[0.5, 0.5, 0.0]])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, pdfa in (("a", A), ("b", B), ("never", NEVER)):
        save(pdfa, tmp_path / f"{name}.json")
    return tmp_path


@pytest.mark.usefixtures("folder")
def test_json_has_the_numbers_of_the_library() -> None:
    result, expected = run_json("divergence", "a.json", "b.json", "--states", 3), divergence(A, B)
    for way, one in (("forward", expected.forward), ("backward", expected.backward)):
        assert result[way]["per_symbol"] == one.per_symbol
        assert result[way]["per_word"] == one.per_word
        assert result[way]["expected_length"] == one.expected_length
        assert result[way]["infinite_share"] == 0
        assert result[way]["finite_mean"] == pytest.approx(one.per_symbol)
    parts = [state["divergence"] for state in result["states"]]
    assert parts == sorted(expected.forward.by_state.tolist(), reverse=True)[:3]
    first = result["states"][0]
    assert first["visits"] == expected.forward.visits[first["state"]]


@pytest.mark.usefixtures("folder")
def test_tables() -> None:
    text = run("divergence", "a.json", "b.json", "--states", 2).stdout
    assert f"{divergence(A, B).forward.per_symbol:.6g}" in text
    assert "where it arises" in text
    assert "where it arises" not in run("divergence", "a.json", "b.json").stdout


@pytest.mark.usefixtures("folder")
def test_infinity_is_written_as_text() -> None:
    result = run_json("divergence", "a.json", "never.json", "--states", 8)
    assert result["forward"]["per_symbol"] == result["forward"]["per_word"] == "inf"
    assert 0 < result["forward"]["infinite_share"] <= 1
    assert "inf" in {state["divergence"] for state in result["states"]}
    everywhere = run_json("divergence", "b.json", "never.json")["forward"]
    assert everywhere["infinite_share"] == 1
    assert everywhere["finite_mean"] is None
    assert "none" in run("divergence", "b.json", "never.json").stdout


def test_bad_input(folder: Path) -> None:
    save(random_pdfa(3, 3, seed=1), folder / "three.json")
    assert run_json("divergence", "three.json", "a.json")["forward"]["per_word"] == "inf"
    (folder / "asked.py").write_text(
        "import pdfalearn\n"
        "model = pdfalearn.FunctionModel(lambda words: [[0.5, 0.25, 0.25]] * len(words), '01')\n"
    )
    assert "can only be asked" in error_of("divergence", "a.json", "asked.py:model")
    assert "missing.json" in error_of("divergence", "a.json", "missing.json")
    assert "--states" in error_of("divergence", "a.json", "b.json", "--states", -1)
