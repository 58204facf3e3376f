"""Experiments run, go on after an interruption, and refuse what does not fit."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pdfalearn import save
from pdfalearn.datasets import random_pdfa
from pdfalearn.errors import FileFormatError, InputError
from pdfalearn.experiments import run_experiments, runs, write_report
from pdfalearn.experiments.plans import EXPERIMENTS, LEARNER_NAMES, Case
from pdfalearn.experiments.runs import Run, perform
from pdfalearn.pdfa import PDFA
from tests.experiments.small import RUNS_OF_A_VALUE, rows_of, run_small, untimed, write_rows
from tests.support import need_module, paper_data


@pytest.mark.slow
@pytest.mark.parametrize("number", EXPERIMENTS)
def test_every_experiment_is_learnt_perfectly(number: int, tmp_path: Path) -> None:
    experiment = EXPERIMENTS[number]
    values = list(experiment.values[-1:]) if number != 4 else [50]
    learners = None if number != 5 else ["quant", "lpstar"]
    outcome = run_experiments(str(number), tmp_path, values=values, learners=learners)
    assert not outcome.failures
    rows = rows_of(tmp_path)
    chosen = learners or list(experiment.learners)
    assert len(rows) == outcome.runs == RUNS_OF_A_VALUE * len(chosen)
    for row in rows:
        assert row["certificate"] == "exact"
        assert float(row["ndcg"]) == pytest.approx(1, abs=1e-12)
        assert float(row["log_probability_error"]) == pytest.approx(0, abs=1e-9)
        for name in ("word_error_rate", "other_class", "out_of_tolerance"):
            assert float(row[name]) == 0
        for part in ("learning", "equivalence"):
            assert float(row[f"{part}_seconds"]) > 0
            assert float(row[f"{part}_process_seconds"]) >= 0


@pytest.mark.slow
def test_all_learners_can_be_chosen(tmp_path: Path) -> None:
    need_module("sklearn")
    run_small(tmp_path, values=[10], learners=LEARNER_NAMES)
    rows = rows_of(tmp_path)
    assert [row["learner"] for row in rows] == [*LEARNER_NAMES] * RUNS_OF_A_VALUE
    assert {row["states"] == row["target_states"] for row in rows} == {True}


@pytest.mark.slow
def test_the_same_seed_gives_the_same_rows(tmp_path: Path) -> None:
    for name, seed in (("one", 3), ("two", 3), ("other", 4)):
        run_small(tmp_path / name, seed=seed)
    one, two, other = (untimed(rows_of(tmp_path / name)) for name in ("one", "two", "other"))
    assert one == two != other


@pytest.mark.slow
def test_targets_of_several_kappas_are_the_same(tmp_path: Path) -> None:
    run_experiments("3", tmp_path, values=[10, 100], learners=["quant"])
    seeds = {(row["target"], row["target_seed"]) for row in rows_of(tmp_path)}
    assert len(seeds) == RUNS_OF_A_VALUE // 2


def test_a_second_time_there_is_nothing_to_do(tmp_path: Path) -> None:
    first = run_small(tmp_path)
    table = (tmp_path / "runs.jsonl").read_bytes()
    second = run_small(tmp_path)
    assert (first.runs, first.found) == (second.found, second.runs) == (RUNS_OF_A_VALUE, 0)
    assert (tmp_path / "runs.jsonl").read_bytes() == table


@pytest.mark.slow
def test_experiments_share_a_folder(finished: Path) -> None:
    run_experiments("4", finished, values=[20], learners=["quant"])
    assert {row["experiment"] for row in rows_of(finished)} == {1, 4}
    assert run_small(finished).runs == 0


def test_progress_counts_what_is_there(finished: Path) -> None:
    told: list[tuple[int, int]] = []
    path = finished / "runs.jsonl"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-2]))
    run_small(finished, progress=lambda done, total: told.append((done, total)))
    assert told == [(4, 6), (5, 6), (6, 6)]


def test_two_at_once_in_a_folder_are_refused(tmp_path: Path) -> None:
    refused = []

    def run_beside(done: int, total: int) -> None:
        with pytest.raises(InputError, match="another run of experiments is at work"):
            run_small(tmp_path)
        refused.append(done)

    assert run_small(tmp_path, progress=run_beside).runs == len(rows_of(tmp_path))
    assert len(refused) == RUNS_OF_A_VALUE + 1


PROGRAM = """
import sys
from pdfalearn.experiments import run_experiments

run_experiments("1", sys.argv[1], values=[40, 50], learners=["quant-paper"],
    progress=lambda done, total: print(done, flush=True))
"""


@pytest.mark.slow
def test_a_killed_experiment_goes_on_where_it_stopped(tmp_path: Path) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(killed)], stdout=subprocess.PIPE, encoding="utf-8"
    )
    with process:
        assert process.stdout is not None
        for line in process.stdout:
            if line == "3\n":
                process.kill()
                break
    assert process.returncode == -signal.SIGKILL
    done = len(rows_of(killed))
    assert 3 <= done < 2 * RUNS_OF_A_VALUE
    given: dict[str, Any] = {"values": [40, 50], "learners": ["quant-paper"]}
    outcome = run_experiments("1", killed, **given)
    assert (outcome.found, outcome.runs) == (done, 2 * RUNS_OF_A_VALUE - done)
    run_experiments("1", whole, **given)
    assert untimed(rows_of(killed)) == untimed(rows_of(whole))


def test_a_torn_last_line_is_dropped_and_its_run_done_again(finished: Path) -> None:
    path = finished / "runs.jsonl"
    whole = untimed(rows_of(finished))
    path.write_bytes(path.read_bytes()[:-30])
    outcome = run_small(finished)
    assert outcome.runs == 1
    assert untimed(rows_of(finished)) == whole


@pytest.mark.parametrize("left", [0, 20, 400])
def test_a_table_that_breaks_off_anywhere_is_mended(left: int, finished: Path) -> None:
    path = finished / "runs.jsonl"
    whole = untimed(rows_of(finished))
    path.write_bytes(path.read_bytes()[:left])
    run_small(finished)
    assert untimed(rows_of(finished)) == whole


@pytest.mark.parametrize("line", ["spoilt", "{}", "[1]", '{"experiment": 1}'])
def test_a_line_that_is_not_a_run_is_named(line: str, finished: Path) -> None:
    path = finished / "runs.jsonl"
    path.write_text(path.read_text() + line + "\n")
    for use in (run_small, write_report):
        with pytest.raises(FileFormatError, match=r"runs\.jsonl, line 7: not a run: .* delete the"):
            use(finished)


@pytest.mark.parametrize(
    ("change", "difference"),
    [
        ({"seed": 1}, "seed 0 there and 1 now"),
        ({"values": [5, 6]}, "n [5] there and [5, 6] now"),
        ({"scale": "paper"}, "scale quick there and paper now"),
        ({"learners": ["quant-paper"]}, "learners ['quant'] there and ['quant-paper'] now"),
    ],
)
def test_results_of_other_parameters_are_refused(
    change: dict[str, Any], difference: str, finished: Path
) -> None:
    before = (finished / "runs.jsonl").read_bytes(), (finished / "parameters.json").read_bytes()
    with pytest.raises(
        InputError, match=f"holds results of experiment 1 .*: {re.escape(difference)}"
    ):
        run_small(finished, **change)
    assert before == (
        (finished / "runs.jsonl").read_bytes(),
        (finished / "parameters.json").read_bytes(),
    )


def test_machines_are_those_that_have_run(finished: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def machines() -> list[str]:
        content = json.loads((finished / "parameters.json").read_bytes())
        return [str(machine) for machine in content["machines"]]

    (first,) = machines()
    monkeypatch.setattr("platform.machine", lambda: "elsewhere")
    run_small(finished)
    assert machines() == [first]
    write_rows(finished, rows_of(finished)[1:])
    run_small(finished)
    assert machines()[0] == first
    assert ["elsewhere" in machine for machine in machines()] == [False, True]


@pytest.mark.parametrize("text", ["{", "[]", '{"format": "pdfa"}', "\xff"])
def test_parameters_of_something_else_are_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "parameters.json").write_text(text, encoding="latin-1")
    with pytest.raises(FileFormatError, match=r"parameters\.json: "):
        run_small(tmp_path)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (
            {"learners": ["quint"]},
            "no learner 'quint'; there are quant, quant-classes, quant-paper",
        ),
        ({"learners": []}, "one or more"),
        ({"learners": ["quant", "quant"]}, "different"),
        ({"scale": "huge"}, "no scale 'huge'; there are quick, paper"),
        ({"seed": -1}, "seed -1"),
        ({"jobs": 0}, "jobs 0"),
    ],
)
def test_bad_arguments_leave_no_folder(
    change: dict[str, Any], complaint: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=complaint):
        run_small(tmp_path / "results", **change)
    assert not (tmp_path / "results").exists()


def test_values_are_for_one_experiment(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="for a single experiment"):
        run_experiments("all", tmp_path, values=[10])


def put_target(folder: Path, name: str, *, symbols: int = 2) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    save(random_pdfa(8, symbols, seed=len(name)), folder / name)
    return folder / name


@pytest.mark.slow
def test_given_targets_are_learnt_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    for name in ("n5-10.json", "n5-9.json.gz", "n5-2.npz", "n50-0.json"):
        put_target(tmp_path / "targets" / "exp1", name)
    run_small(tmp_path / "results", targets=tmp_path / "targets")
    rows = rows_of(tmp_path / "results")
    assert [row["target"] for row in rows[::2]] == ["n5-2", "n5-9", "n5-10"]
    assert {row["target_seed"] for row in rows} == {None}
    assert run_small(tmp_path / "results", targets=tmp_path / "targets").runs == 0


def test_given_targets_of_one_name_are_refused(tmp_path: Path) -> None:
    for name in ("n5-0.json", "n5-0.json.gz"):
        put_target(tmp_path / "exp1", name)
    with pytest.raises(InputError, match=r"n5-0\.json and .*n5-0\.json\.gz are two targets of one"):
        run_small(tmp_path / "results", targets=tmp_path)


def test_other_given_targets_are_other_parameters(tmp_path: Path) -> None:
    path = put_target(tmp_path / "targets" / "exp1", "n5-0.json")
    run_small(tmp_path / "results", targets=tmp_path / "targets")
    save(random_pdfa(9, seed=77), path)
    with pytest.raises(InputError, match=r"given targets .* there and"):
        run_small(tmp_path / "results", targets=tmp_path / "targets")


def test_given_targets_of_another_alphabet_are_refused(tmp_path: Path) -> None:
    path = put_target(tmp_path / "exp1", "n5-0.json", symbols=3)
    with pytest.raises(InputError, match=r"n5-0\.json: its alphabet has 3 symbols.* needs 2"):
        run_small(tmp_path / "results", targets=tmp_path)
    path.unlink()
    with pytest.raises(InputError, match=r"exp1 holds no targets n5-0\.json\.gz"):
        run_small(tmp_path / "results", targets=tmp_path)


@pytest.mark.slow
def test_the_papers_targets_are_learnt(tmp_path: Path) -> None:
    targets = paper_data() / "paper-targets"
    for number, value in ((1, 100), (2, 4), (3, 10), (5, 16)):
        given: dict[str, Any] = {"values": [value], "learners": ["quant", "lpstar"]}
        run_experiments(str(number), tmp_path, targets=targets, **given)
    rows = rows_of(tmp_path)
    smaller = {row["target"] for row in rows if row["states"] != row["target_states"]}
    assert smaller == {"d16-0"}
    assert {row["certificate"] for row in rows} == {"exact"}


@pytest.mark.slow
def test_a_failed_run_is_told_and_the_others_are_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    need_module("matplotlib")

    def failing(case: Case, given: PDFA | None) -> Run:
        if case.target == "n5-1":
            raise InputError("no luck")
        return perform(case, given)

    monkeypatch.setattr(runs, "perform", failing)
    outcome = run_small(tmp_path)
    assert [str(key) for key in outcome.failures] == [
        f"experiment 1, target n5-1, κ=1000, quant, run {run}" for run in (1, 2)
    ]
    assert set(outcome.failures.values()) == {"no luck"}
    assert outcome.runs == len(rows_of(tmp_path)) == RUNS_OF_A_VALUE - 2
    page = write_report(tmp_path).page
    assert "4 of 6 runs are there" in page.read_text(encoding="utf-8")
    monkeypatch.undo()
    assert run_small(tmp_path).runs == 2
    write_report(tmp_path)
    assert "All 6 runs are perfect" in page.read_text(encoding="utf-8")
