from __future__ import annotations

from pathlib import Path

import pytest

from pdfalearn import PDFA, Exact, Quantization, load, quotient, save
from tests.cli.program import error_of, run, run_json


@pytest.fixture
def path(tmp_path: Path) -> Path:
    rows = [[0.9, 0.1], [0.45, 0.55], [0.42, 0.58], [0.8, 0.2]]
    pdfa = PDFA(alphabet="a", transitions=[[1], [2], [2], [3]], probabilities=rows)
    save(pdfa, tmp_path / "target.json")
    return tmp_path / "target.json"


@pytest.mark.parametrize(
    ("options", "states"), [([], 3), (["--exact"], 3), (["--kappa", 10], 2), (["--kappa", 1], 1)]
)
def test_sizes(options: list[object], states: int, path: Path) -> None:
    output = path.with_name("small.npz")
    text = run("quotient", path, "-o", output, *options).stdout
    assert text == f"{output}: {states} states of 4\n"
    equivalence = Quantization(int(str(options[1]))) if len(options) == 2 else Exact()
    assert load(output) == quotient(load(path), equivalence=equivalence)


def test_json(path: Path) -> None:
    output = path.with_name("small.json.gz")
    assert run_json("quotient", path, "-o", output, "--kappa", 10) == {
        "file": str(path),
        "output": str(output),
        "kappa": 10,
        "states_before": 4,
        "states_after": 2,
    }


def test_a_file_may_be_replaced_by_its_quotient(path: Path) -> None:
    run("quotient", path, "-o", path)
    assert len(load(path)) == 3


@pytest.mark.parametrize(
    ("options", "culprit"),
    [
        (["--kappa", "0"], "kappa 0"),
        (["--exact", "--kappa", "5"], "only one of"),
        (["--tolerance", "0.1"], "--tolerance"),
    ],
)
def test_bad_options(options: list[str], culprit: str, path: Path) -> None:
    output = path.with_name("small.json")
    assert culprit in error_of("quotient", path, "-o", output, *options)
    assert not output.exists()
