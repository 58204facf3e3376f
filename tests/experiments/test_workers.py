"""Runs are done in several processes or on a cluster, and a lost worker costs no result."""

from __future__ import annotations

import json
import multiprocessing
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from pdfalearn.errors import InputError, MissingExtraError
from pdfalearn.experiments import run_experiments, running
from pdfalearn.experiments.running import choose_workers
from pdfalearn.experiments.runs import UNDISTURBED
from tests.experiments.small import lose_the_worker, rows_of, run_small, untimed
from tests.support import need_module

TIME_LIMIT = 60.0
GIVEN: dict[str, Any] = {"values": [8], "learners": ["quant", "lpstar"]}


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[tuple[str, str], ...]]:
    """The rows that all ways of running must give."""
    folder = tmp_path_factory.mktemp("expected")
    run_experiments("5", folder, **GIVEN)
    assert {row["executor"] for row in rows_of(folder)} == {"in process"}
    return untimed(rows_of(folder))


@pytest.mark.slow
def test_a_killed_process_costs_no_result(tmp_path: Path, expected: list[Any]) -> None:
    killed = []

    def kill_one(done: int, total: int) -> None:
        if done == 1:
            killed.append(multiprocessing.active_children()[0])
            killed[0].kill()

    outcome = run_experiments("5", tmp_path, jobs=2, progress=kill_one, **GIVEN)
    assert killed
    assert not outcome.failures
    rows = rows_of(tmp_path)
    assert untimed(rows) == expected
    assert {row["executor"] for row in rows} == {"2 processes"}
    assert not multiprocessing.active_children()


def test_a_single_process_has_no_runs_beside_it() -> None:
    with choose_workers(jobs=1) as one, choose_workers(jobs=2) as two:
        assert one.name in UNDISTURBED
        assert two.name not in UNDISTURBED


@pytest.mark.slow
def test_a_run_that_always_loses_its_worker_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "perform", lose_the_worker)
    with pytest.raises(
        InputError, match=r"n5-0, κ=1000, quant, run \d: its worker was lost 5 times"
    ):
        run_small(tmp_path, jobs=1)
    assert not rows_of(tmp_path)


class Cluster:
    """A Dask scheduler and its workers on this machine, reachable from nowhere else."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "scheduler.json"
        self._log = (folder / "log.txt").open("wb")
        self._scheduler = self._start("scheduler", "--port", "0")
        self.workers: list[subprocess.Popen[bytes]] = []
        deadline = time.monotonic() + TIME_LIMIT
        while not self._file.exists():
            assert time.monotonic() < deadline
            assert self._scheduler.poll() is None
            time.sleep(0.05)
        self.address = str(json.loads(self._file.read_text())["address"])

    def add_worker(self) -> None:
        self.workers.append(self._start("worker", "--nthreads", "1", "--no-nanny"))

    def stop(self) -> None:
        for process in (*self.workers, self._scheduler):
            process.kill()
            process.wait()
        self._log.close()

    def stop_scheduler(self) -> None:
        self._scheduler.kill()

    def _start(self, kind: str, *options: str) -> subprocess.Popen[bytes]:
        module = f"distributed.cli.dask_{kind}"
        place = ("--host", "127.0.0.1", "--no-dashboard", "--scheduler-file", str(self._file))
        return subprocess.Popen(
            [sys.executable, "-m", module, *place, *options],
            stdout=self._log,
            stderr=subprocess.STDOUT,
        )


@contextmanager
def cluster(folder: Path) -> Iterator[Cluster]:
    need_module("distributed")
    started = Cluster(folder)
    try:
        started.add_worker()
        started.add_worker()
        yield started
    finally:
        started.stop()


@pytest.mark.slow
def test_a_killed_worker_of_a_cluster_costs_no_result(tmp_path: Path, expected: list[Any]) -> None:
    results = tmp_path / "results"
    with cluster(tmp_path) as dask:

        def kill_one(done: int, total: int) -> None:
            if done == 1:
                dask.workers[0].kill()
                dask.add_worker()

        outcome = run_experiments("5", results, scheduler=dask.address, progress=kill_one, **GIVEN)
        assert dask.workers[0].poll() is not None
    assert not outcome.failures
    rows = rows_of(results)
    assert untimed(rows) == expected
    assert all(row["executor"].startswith("Dask, ") for row in rows)


@pytest.mark.slow
def test_without_its_scheduler_an_experiment_keeps_what_is_done(tmp_path: Path) -> None:
    results = tmp_path / "results"
    with cluster(tmp_path) as dask:

        def stop(done: int, total: int) -> None:
            if done == 2:
                dask.stop_scheduler()

        given: dict[str, Any] = {"values": [4], "learners": ["quant-paper"]}
        with pytest.raises(InputError, match="the scheduler is gone; start again to go on"):
            run_experiments("5", results, scheduler=dask.address, progress=stop, **given)
    assert rows_of(results)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("address", "reason"),
    [("nowhere", "missing port"), ("carrier-pigeon://x:1", "unknown address scheme")],
)
def test_an_address_that_is_none_is_refused(address: str, reason: str, tmp_path: Path) -> None:
    need_module("distributed")
    with pytest.raises(InputError, match=f"no Dask scheduler answers at '{address}': {reason}"):
        run_small(tmp_path, scheduler=address)
    assert not any(tmp_path.iterdir())


def test_dask_is_an_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingExtraError, match=r"pip install distributed$"):
        run_small(tmp_path, scheduler="tcp://127.0.0.1:1")
