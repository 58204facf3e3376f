"""``pdfalearn experiments`` on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from pdfalearn.errors import InputError
from tests.cli.program import error_of, run, run_json
from tests.cli.terminal import Program
from tests.support import need_module

SMALL = ("--values", "5,10", "--learners", "quant,lpstar")


@pytest.mark.slow
def test_run_and_report(tmp_path: Path) -> None:
    need_module("matplotlib")
    folder = tmp_path / "results"
    assert run("experiments", "run", 1, "-o", folder, *SMALL).stdout == f"{folder}: 24 runs done\n"
    again = run("experiments", "run", 1, "-o", folder, *SMALL)
    assert again.stdout == f"{folder}: 0 runs done, 24 were there\n"
    assert not again.stderr
    shown = run("experiments", "report", folder).stdout
    assert shown == f"{folder}/report.html: the report; 6 files with its figures beside it\n"
    assert (folder / "report.html").exists()


@pytest.mark.slow
def test_json(tmp_path: Path) -> None:
    need_module("matplotlib")
    done = run_json("experiments", "run", 3, "-o", tmp_path, "--values", 10, "--learners", "quant")
    assert done == {
        "output": str(tmp_path),
        "runs": 6,
        "found": 0,
        "failures": {},
    }
    written = run_json("experiments", "report", tmp_path)
    assert written["page"] == f"{tmp_path}/report.html"
    assert f"{tmp_path}/exp3-time.svg" in written["figures"]


def test_failed_runs_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from pdfalearn import PDFA
    from pdfalearn.experiments import runs
    from pdfalearn.experiments.plans import Case
    from pdfalearn.experiments.runs import Run

    def failing(case: Case, given: PDFA | None) -> Run:
        raise InputError("no luck")

    monkeypatch.setattr(runs, "perform", failing)
    failed = run("experiments", "run", 1, "-o", tmp_path, *SMALL, exit_code=2)
    assert failed.stdout == f"{tmp_path}: 0 runs done, 24 failed\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["6"], "there is no experiment '6'; there are 1, 2, 3, 4, 5 and all"),
        (["1", "--learners", "quint"], "there is no learner 'quint'"),
        (["1", "--values", "5,x"], "'5,x' is not a list of integers, such as 1,2,3."),
        (["all", "--values", "5"], "for a single experiment, not for all"),
        (["1", "--targets", "nowhere"], "nowhere/exp1 holds no targets n100-0.json.gz"),
        (["1", "--jobs", "0"], "jobs 0"),
    ],
)
def test_bad_input(
    arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert message in error_of("experiments", "run", *arguments, "-o", "results")
    assert not any(tmp_path.iterdir())


@pytest.mark.slow
def test_other_parameters_are_refused(tmp_path: Path) -> None:
    run("experiments", "run", 1, "-o", tmp_path, *SMALL)
    message = error_of("experiments", "run", 1, "-o", tmp_path, *SMALL, "--seed", 7)
    assert f"{tmp_path} holds results of experiment 1 with other parameters" in message
    assert "seed 0 there and 7 now; choose another folder" in message


def test_a_report_of_nothing(tmp_path: Path) -> None:
    assert "holds no runs; run experiments first" in error_of("experiments", "report", tmp_path)


@pytest.mark.slow
def test_progress_is_shown_and_an_interrupted_experiment_goes_on(tmp_path: Path) -> None:
    arguments = ("experiments", "run", 5, "-o", "results", "--values", "4,6", "--scale", "paper")
    program = Program(*arguments, folder=tmp_path, TERM="xterm", COLUMNS="80")
    # The line is drawn eight times a second, so that the number of a short run may be skipped.
    program.wait_for_pattern(r"experiment 5: \[[#-]{20}\] ([2-9]|\d\d+) of 600 runs, ")
    program.interrupt()
    program.wait_for("interrupted: results keeps what is done; start again to go on")
    assert program.finish_reading() == (130, "")
    rows = (tmp_path / "results" / "runs.jsonl").read_text(encoding="utf-8").count("\n")
    assert 2 <= rows < 600
