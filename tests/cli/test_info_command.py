from __future__ import annotations

from pathlib import Path

import pytest

from pdfalearn import PDFA, save
from tests.cli.program import error_of, run, run_json
from tests.io.test_arpa import SMALL


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Four states: 1 and 2 differ by 0.001, 3 is not reachable, one transition is undefined."""
    pdfa = PDFA(
        alphabet=["a", "b"],
        transitions=[[1, 2], [0, -1], [0, 2], [3, 3]],
        probabilities=[[0.5, 0.25, 0.25], [0.5, 0.5, 0], [0.5, 0.499, 0.001], [0.5, 0.5, 0]],
    )
    save(pdfa, tmp_path / "small.json")
    return tmp_path / "small.json"


def test_facts(path: Path) -> None:
    assert run_json("info", path) == {
        "file": str(path),
        "alphabet": ["a", "b"],
        "terminal": "$",
        "states": 4,
        "reachable_states": 3,
        "distinct_distributions": 3,
        "undefined_transitions": 1,
        "depth": 1,
        "kappa": 1000,
        "classes": 3,
        "weakly_minimal": True,
    }


def test_weakly_minimal_depends_on_kappa(tmp_path: Path) -> None:
    rows = [[0.5, 0.5], [0.52, 0.48]]
    save(PDFA(alphabet="a", transitions=[[1], [0]], probabilities=rows), tmp_path / "two.json")
    at_100 = run_json("info", tmp_path / "two.json", "--kappa", 100)
    assert (at_100["classes"], at_100["weakly_minimal"]) == (2, True)
    at_1 = run_json("info", tmp_path / "two.json", "--kappa", 1)
    assert (at_1["classes"], at_1["weakly_minimal"]) == (1, False)


def test_table(path: Path) -> None:
    text = run("info", path).stdout
    for name, value in {
        "alphabet": "a b",
        "reachable states": "3",
        "weakly minimal": "yes",
    }.items():
        assert any(name in line and value in line for line in text.splitlines()), text


def test_an_n_gram_model(tmp_path: Path) -> None:
    path = tmp_path / "small.arpa"
    path.write_text(SMALL.replace("-0.30103\tb", "-0.3\tb"))
    facts = run_json("info", path)
    assert (facts["states"], facts["order"], facts["terminal"]) == (3, 2, "</s>")
    assert facts["largest_correction"] == pytest.approx(10**-0.3 - 0.5, abs=1e-6)
    text = run("info", path).stdout
    assert any("largest correction" in line and "0.0012" in line for line in text.splitlines())


def test_a_large_alphabet_is_shortened_in_the_table_only(tmp_path: Path) -> None:
    path = tmp_path / "wide.json"
    run("random", 2, "-o", path, "--symbols", 500)
    text = run("info", path).stdout
    assert "(500 symbols)" in text
    assert " 250 " not in text
    assert run_json("info", path)["alphabet"] == [str(i) for i in range(500)]


@pytest.mark.parametrize("kappa", ["0", "-3", "2.5", "many", str(2**70)])
def test_bad_kappa(kappa: str, path: Path) -> None:
    assert "kappa" in error_of("info", path, "--kappa", kappa)
