"""The benchmark of QuaNT's rivals runs, at tiny sizes, and all of them find the same states."""

from __future__ import annotations

import gc
import sys

import pytest

from benchmarks import rivals
from benchmarks.authors import authors_lpstar
from pdfalearn import PDFA
from pdfalearn.datasets import figure_3, random_pdfa, tomita
from tests.support import need_module


@pytest.fixture(autouse=True)
def _tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make every target tiny."""

    def tiny_random(size: int, *, distributions: int | None = None, seed: int) -> PDFA:
        return random_pdfa(5 + size // 30, distributions=distributions, seed=seed)

    monkeypatch.setattr(rivals, "random_pdfa", tiny_random)
    monkeypatch.setattr(rivals, "SEEDS", (1,))
    monkeypatch.setattr(gc, "collect", lambda: 0)  # slow beside all that tests leave behind


@pytest.mark.slow
@pytest.mark.parametrize("table", rivals.TABLES)
def test_a_table_is_printed(table: str, capsys: pytest.CaptureFixture[str]) -> None:
    if table == "authors":
        need_module("pymodelextractor")
    rivals.main([table, "--all"])
    title, empty, header, rule, *rest = capsys.readouterr().out.strip().splitlines()
    rows = [line for line in rest if line.startswith("|")]
    assert title.startswith(f"{table}: ")
    assert not empty
    assert len(rows) >= 3
    assert {line.count("|") for line in (header, rule, *rows)} == {header.count("|")}
    assert (table == "shared") == (not rest[-1].startswith(("L_p* / QuaNT", "PDFALStarLearner")))


@pytest.mark.parametrize("target", [figure_3(), tomita(3), random_pdfa(20, seed=2)], ids=repr)
def test_the_authors_learner_finds_all_states(target: PDFA) -> None:
    need_module("pymodelextractor")
    assert authors_lpstar(target, 0.001)() == len(target)


def test_the_slope_is_that_of_a_line() -> None:
    assert rivals.slope([50, 100, 300], [11, 21, 61]) == pytest.approx(0.2)


@pytest.mark.slow
def test_without_pymodelextractor_a_line_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "pymodelextractor.teachers.pdfa_teacher", None)
    rivals.main(["authors"])
    assert "Skipped: pymodelextractor is missing: pip install" in capsys.readouterr().out


def test_an_unknown_table_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        rivals.main(["nonsense"])
    assert "there is no table 'nonsense'" in capsys.readouterr().err
