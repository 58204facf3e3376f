from __future__ import annotations

from pathlib import Path

import pytest

from pdfalearn import load
from pdfalearn.datasets import random_pdfa
from tests.cli.program import error_of, run, run_json


@pytest.mark.parametrize("ending", [".json", ".json.gz", ".npz"])
def test_it_writes_what_the_library_draws(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"target{ending}"
    run("random", 30, "-o", path, "--symbols", 3, "--seed", 5)
    assert load(path) == random_pdfa(30, 3, seed=5)


def test_all_options_reach_the_library(tmp_path: Path) -> None:
    path = tmp_path / "target.json"
    options = ["--distributions", 4, "--zero-probability", 0.4, "--undefined", "--exact-size"]
    run("random", 20, "-o", path, *options)
    expected = random_pdfa(
        20, distributions=4, zero_probability=0.4, undefined=True, exact_size=True, seed=0
    )
    assert load(path) == expected
    assert len(expected) == 20


def test_it_says_what_it_wrote(tmp_path: Path) -> None:
    path = tmp_path / "target.json"
    assert run_json("random", 30, "-o", path, "--exact-size", "--seed", 3) == {
        "output": str(path),
        "states": 30,
        "symbols": 2,
        "seed": 3,
    }
    line = run("random", 30, "-o", path, "--exact-size").stdout
    assert line == f"{path}: 30 states, 2 symbols, seed 0\n"


@pytest.mark.parametrize(
    ("arguments", "culprit"),
    [
        (["0"], "size 0"),
        (["ten"], "'ten'"),
        (["9", "--symbols", "0"], "symbols 0"),
        (["9", "--distributions", "0"], "distributions 0"),
        (["9", "--zero-probability", "1.5"], "zero_probability 1.5"),
        (["9", "--zero-probability", "nan"], "zero_probability nan"),
        (["9", "--seed", "-1"], "--seed"),
    ],
)
def test_bad_input(arguments: list[str], culprit: str, tmp_path: Path) -> None:
    path = tmp_path / "target.json"
    assert culprit in error_of("random", "-o", path, *arguments)
    assert not path.exists()


def test_a_file_is_needed() -> None:
    assert "-o" in error_of("random", 9)
