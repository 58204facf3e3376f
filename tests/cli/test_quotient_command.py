from __future__ import annotations

from pathlib import Path

import pytest

from pdfalearn import PDFA, Exact, Quantization, load, quotient, save
from pdfalearn.equivalence import Equivalence, Ranking, Support, TopKSet, ZeroApart
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


KEYS = """
import numpy as np
from pdfalearn import Quantization

def likeliest(rows):
    return rows.argmax(axis=1)

def fails(rows):
    return rows["a"]

halves = Quantization(2)
"""


@pytest.mark.parametrize(
    ("text", "equivalence"),
    [
        ("exact", Exact()),
        ("quantization:10", Quantization(10)),
        ("topk:1", TopKSet(1)),
        ("ranking:2+zero", ZeroApart(Ranking(2))),
        ("support", Support()),
        ("support:0.55+zero", ZeroApart(Support(0.55))),
        ("keys.py:likeliest", TopKSet(1)),
        ("keys.py:halves+zero", ZeroApart(Quantization(2))),
    ],
)
def test_equivalences_by_name(
    text: str, equivalence: Equivalence, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(path.parent)
    Path("keys.py").write_text(KEYS)
    found = run_json("quotient", path, "-o", "small.json", "--equivalence", text)
    assert found["equivalence"] == text
    assert load("small.json") == quotient(load(path), equivalence=equivalence)
    learnt = run_json("learn", path, "--equivalence", text, "-o", "learnt.json")
    assert (learnt["equivalence"], learnt["certificate"]["kind"]) == (text, "exact")
    assert len(load("learnt.json")) == len(load("small.json"))
    output = run("compare", path, "small.json", "--equivalence", text).stdout
    assert "equivalent by" in " ".join(output.split())


@pytest.mark.parametrize(
    ("text", "culprit"),
    [
        ("topk", "no right number"),
        ("topk:0", "k 0"),
        ("topk:x", "write it as topk:5"),
        ("support:2", "threshold 2"),
        ("exact:5", "no right number"),
        ("likeliest", "there is no equivalence 'likeliest'; there are exact, quantization"),
        ("keys.py:nothing", "has no 'nothing'"),
        ("keys.py:np", "is not callable"),
        ("keys.py:fails", "keys.py:fails failed with"),
        ("other.py:keys", "there is no such file"),
    ],
)
def test_bad_equivalences(
    text: str, culprit: str, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(path.parent)
    Path("keys.py").write_text(KEYS)
    assert culprit in error_of("quotient", path, "-o", "small.json", "--equivalence", text)
    assert "only one of" in error_of(
        "learn", path, "--kappa", 5, "--equivalence", "topk:1", "-o", "small.json"
    )
