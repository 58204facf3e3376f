from __future__ import annotations

from pathlib import Path

import pytest

from pdfalearn import load, save, simplify
from pdfalearn.datasets import random_pdfa
from tests.cli.program import error_of, run, run_json

TARGET = random_pdfa(12, seed=1)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    save(TARGET, tmp_path / "target.json")
    return tmp_path


def test_one_size(folder: Path) -> None:
    result = run_json("simplify", "target.json", "--states", 4, "-o", "small.json")
    expected = simplify(TARGET, states=4)
    assert result == {
        "file": "target.json",
        "states_before": len(TARGET),
        "automata": [
            {"output": "small.json", "states": 4, "divergence": expected.divergence},
        ],
    }
    assert load(folder / "small.json") == expected.pdfa


def test_several_sizes(folder: Path) -> None:
    text = run("simplify", "target.json", "--states", "2,5", "-o", "small-{states}.npz").stdout
    for size, one in zip((2, 5), simplify(TARGET, states=[2, 5]), strict=True):
        assert load(folder / f"small-{size}.npz") == one.pdfa
        assert f"{one.divergence:.6g}" in text
        assert f"small-{size}.npz" in text


def test_a_divergence(folder: Path) -> None:
    run("simplify", "target.json", "--divergence", 0.02, "-o", "small.json")
    assert load(folder / "small.json") == simplify(TARGET, divergence=0.02).pdfa


@pytest.mark.parametrize(
    ("options", "culprit"),
    [
        ([], "either --states or --divergence"),
        (["--states", "3", "--divergence", "0.1"], "either --states or --divergence"),
        (["--states", "3,5"], "{states}"),
        (["--states", "3,3"], "{states}"),
        (["--states", "few"], "'few' is not a list of integers"),
        (["--states", "0"], "states 0"),
        (["--divergence", "-1"], "divergence -1"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_bad_options(options: list[str], culprit: str) -> None:
    assert culprit in error_of("simplify", "target.json", "-o", "small.json", *options)
    assert not Path("small.json").exists()
    twice = error_of("simplify", "target.json", "-o", "{states}.json", "--states", "3,3")
    assert "same number twice" in twice
