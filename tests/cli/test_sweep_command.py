"""``pdfalearn sweep``."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from pdfalearn import load, save
from pdfalearn.datasets import figure_3
from tests.cli.program import error_of, run, run_json, run_program, unboxed
from tests.cli.terminal import Program
from tests.support import need_module


@pytest.fixture
def target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    save(figure_3(), tmp_path / "target.json")
    return tmp_path


def test_the_table_and_the_recommended_automaton(target: Path) -> None:
    command = ("sweep", "target.json", "--kappas", "1,10", "--tolerances", "0.1")
    text = unboxed(run(*command, "-o", "out.json").stdout)
    assert "κ = 10 4 14 11 0 0 0 0.00% exact, recommended" in text
    assert "words asked 17; 34 if every run asked for itself" in text
    assert "out.json: the recommended automaton" in text
    assert load(target / "out.json") == figure_3()


def test_json(target: Path) -> None:
    found = run_json("sweep", "target.json", "--kappas", "1,10")
    assert [(row["kappa"], row["states"]) for row in found["rows"]] == [(1, 1), (10, 4)]
    assert [row["recommended"] for row in found["rows"]] == [False, True]
    assert (found["words_asked"], found["words_alone"]) == (14, 17)
    assert found["recommendation"].startswith("κ = 10, 4 states; ")
    assert [row["tolerance"] for row in run_json("sweep", "target.json", "--tolerances", 0.1)[
        "rows"
    ]] == [0.1]  # fmt: skip


def test_a_figure(target: Path) -> None:
    need_module("matplotlib")
    run("sweep", "target.json", "--kappas", "1,10", "--plot", "sweep.svg")
    assert "<svg" in (target / "sweep.svg").read_text(encoding="utf-8")


def test_bad_input(target: Path) -> None:
    assert "cannot save a file of this ending" in error_of(
        "sweep", "target.json", "--plot", "x.txt"
    )
    assert "has to be a file of its own" in error_of("sweep", "target.json", "-o", "target.json")
    assert "is not a list of integers" in error_of("sweep", "target.json", "--kappas", "a")
    assert "κ = 3 is given twice" in error_of("sweep", "target.json", "--kappas", "3,3")


def test_a_figure_that_cannot_be_written_is_refused_before_learning(
    target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ("sweep", "target.json", "--kappas", "10", "--plot")
    assert error_of(*command, "nowhere/x.svg") == "nowhere/x.svg: No such file or directory"
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert "pip install matplotlib" in error_of(*command, "x.svg")


@pytest.mark.parametrize("seconds", ["nan", "inf", "-1", "1e300"])
def test_lines_are_written_after_seconds_that_can_pass(target: Path, seconds: str) -> None:
    message = error_of("sweep", "target.json", "--log-every", seconds)
    assert message.startswith("--log-every ")


@pytest.mark.slow
def test_a_black_box_within_a_budget(black_boxes: Path) -> None:
    found = run_json("sweep", "asked_model:make_model", "--kappas", "5,50", "--max-words", 6000)
    assert found["words_asked"] <= 6000
    assert found["drawn_words"] > 10


SLOW = """
import time
from pdfalearn import FunctionModel
from pdfalearn.datasets import figure_3

def make():
    def answer(words):
        time.sleep(0.01)
        return figure_3().next_distributions(words)
    return FunctionModel(answer, "01")
"""


@pytest.mark.slow
def test_an_interrupt_shows_what_was_learnt(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(SLOW, encoding="utf-8")
    command = ("sweep", "slow.py:make", "--max-words", 6000, "--kappas", "10,100,1000")
    program = Program(*command, folder=tmp_path, COLUMNS="200")
    program.wait_for("sweep: run 2 of 3 with κ = 100, ")
    program.interrupt()
    code, output = program.finish_reading()
    assert code == 130
    assert re.search(r"κ = 10 +[\d,]+ ", output), output
    assert "κ = 1000" not in output
    assert program.shown.rstrip().endswith("interrupted: nothing was saved, as no -o was given")
    assert program.shown.count("\x1b[?25h") == 1


@pytest.mark.slow
def test_log_lines_where_there_is_no_terminal(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(SLOW, encoding="utf-8")
    command = ("sweep", "slow.py:make", "--max-words", 2000, "--kappas", "10")
    done = run_program(*command, "--log-every", 0.1, "--json", folder=tmp_path)
    lines = done.stderr.splitlines()
    assert len(lines) >= 2
    assert all(line.startswith("sweep: ") for line in lines)
    assert run_program(*command, "--log-every", 0, folder=tmp_path).stderr == ""
