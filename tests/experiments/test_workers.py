"""Runs are done in several processes, and a lost one costs no result."""

from __future__ import annotations

import multiprocessing
from pathlib import Path
from typing import Any

import pytest

from pdfalearn.errors import InputError
from pdfalearn.experiments import run_experiments, runs
from tests.experiments.small import lose_the_worker, rows_of, run_small, untimed


@pytest.mark.slow
def test_a_killed_process_costs_no_result(tmp_path: Path) -> None:
    given: dict[str, Any] = {"values": [8], "learners": ["quant", "lpstar"]}

    def kill_one(done: int, total: int) -> None:
        if done == 1:
            multiprocessing.active_children()[0].kill()

    killed, whole = tmp_path / "killed", tmp_path / "whole"
    with pytest.raises(InputError, match=r"a process was lost.*start again to go on"):
        run_experiments("5", killed, jobs=2, progress=kill_one, **given)
    assert not multiprocessing.active_children()
    done = len(rows_of(killed))
    assert 1 <= done < 12
    outcome = run_experiments("5", killed, jobs=2, **given)
    assert (outcome.found, outcome.runs, outcome.failures) == (done, 12 - done, {})
    run_experiments("5", whole, **given)
    assert untimed(rows_of(killed)) == untimed(rows_of(whole))


@pytest.mark.slow
def test_a_run_that_always_loses_its_process_does_not_go_on_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "perform", lose_the_worker)
    with pytest.raises(InputError, match="a process was lost"):
        run_small(tmp_path, jobs=2)
    assert not rows_of(tmp_path)
