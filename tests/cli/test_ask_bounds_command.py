from __future__ import annotations

from pathlib import Path

import pytest

from pdfalearn import Quantization, learn, save
from pdfalearn.analysis import probability_bounds
from pdfalearn.datasets import figure_3
from pdfalearn.languages import HasLength
from tests.cli.program import error_of, run, run_json
from tests.support import need_module

BY = Quantization(10)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    need_module("interegular")
    save(figure_3(), tmp_path / "source.json")
    return tmp_path / "source.json"


def test_the_bounds_of_a_probability(source: Path) -> None:
    expected = probability_bounds(figure_3(), HasLength(most=3), equivalence=BY)
    found = run_json("ask", "bounds", source, ".{0,3}", "--kappa", 10)
    assert (found["low"], found["high"]) == (expected.low, expected.high)
    assert run("ask", "bounds", source, ".{0,3}", "--kappa", 10).stdout == f"{expected}\n"


def test_the_bounds_of_a_length(source: Path) -> None:
    found = run_json("ask", "bounds", source, "--kappa", 10)
    assert found["low"] < 10 < found["high"]
    assert found["blamed"] == []
    unbounded = run_json("ask", "bounds", source, "--kappa", 1)
    assert (unbounded["high"], unbounded["blamed"]) == ("inf", [1, 2, 3])


def test_a_run_knows_its_classes(source: Path) -> None:
    save(learn(figure_3(), equivalence=BY), source.with_name("run.zip"))
    found = run_json("ask", "bounds", source.with_name("run.zip"), ".{0,3}", "--given", "0.*")
    assert found["holds_for"].startswith("the target")
    assert found["confidence"] == 1


def test_what_is_missing(source: Path) -> None:
    assert "Give --kappa" in error_of("ask", "bounds", source, "0*")
    assert "--given needs" in error_of("ask", "bounds", source, "--given", "0*", "--kappa", 10)
