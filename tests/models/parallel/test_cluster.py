"""Copies in the workers of a Dask cluster are as one model, also if workers are lost."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pdfalearn import Exact, Replicas, Result
from pdfalearn.errors import InputError, MissingExtraError, ModelError
from pdfalearn.models import workers
from pdfalearn.models.automaton import as_model
from pdfalearn.models.batch import Batch
from pdfalearn.models.opened import ask_words
from pdfalearn.observations.tree import ObservationTree
from pdfalearn.words import Words
from tests.models.parallel import makers
from tests.models.parallel.test_losses import assert_attached
from tests.models.parallel.test_same_as_one import assert_same, learnt
from tests.support import need_module

TIME_LIMIT = 60.0


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Two workers of this machine, in processes of their own that a nanny starts anew."""
    distributed = need_module("distributed")
    # Else a nanny is closed whose worker is away 15 s after it was lost the first time.
    patience = need_module("dask").config.set({"distributed.deploy.lost-worker-timeout": "1h"})
    with (
        patience,
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=2, host="127.0.0.1", dashboard_address="127.0.0.1:0"
        ) as started,
    ):
        yield started


def workers_of(cluster: Any) -> list[int]:
    return [nanny.pid for nanny in cluster.workers.values()]


def wait_for_another(cluster: Any, killed: int) -> None:
    """Wait until a worker has come in the place of one that was killed, and is known."""
    deadline = time.monotonic() + TIME_LIMIT
    while killed in workers_of(cluster) or None in workers_of(cluster):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    while sum(one.status.name == "running" for one in cluster.scheduler.workers.values()) < 2:
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.slow
@pytest.mark.parametrize("make", [makers.keeping, makers.sparse])
def test_a_cluster_is_as_one_model(cluster: Any, make: Any) -> None:
    expected = learnt(as_model(make()), 500)
    with Replicas(make, scheduler=cluster.scheduler_address) as model:
        assert repr(model) == "Replicas(2 copies)"
        assert_same(expected, learnt(model, 500))


@pytest.mark.slow
def test_four_learners_share_a_cluster(cluster: Any) -> None:
    makes: list[Any] = [makers.function, makers.keeping, makers.sleeping, makers.automaton]
    expected = [learnt(as_model(make()), 500) for make in makes]

    def learner(make: Any) -> Result:
        with Replicas(make, scheduler=cluster.scheduler_address) as model:
            return learnt(model, 500)

    with ThreadPoolExecutor(4) as threads:
        for one, other in zip(expected, threads.map(learner, makes), strict=True):
            assert_same(one, other)


@pytest.mark.slow
def test_a_copy_of_a_cluster_that_answers_otherwise_is_named(cluster: Any, tmp_path: Path) -> None:
    make = makers.OneDiffers(tmp_path / "made")
    words = Words.of([[0] * length for length in range(40)])
    with (
        Replicas(make, scheduler=cluster.scheduler_address) as model,
        ObservationTree(model, Exact()) as tree,
    ):
        tree.ask_path(words)
        with pytest.raises(ModelError, match="The copies differ: worker tcp://"):
            tree.audits.audit(100, seed=1)


@pytest.mark.slow
def test_a_function_that_workers_cannot_load_is_named(
    cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "only_here.py").write_text("def make():\n    pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    make = import_module("only_here").make
    with pytest.raises(InputError, match=r"cannot load make_model \(No module named 'only_here'\)"):
        Replicas(make, scheduler=cluster.scheduler_address)


@pytest.mark.slow
def test_errors_of_a_cluster_come_back(cluster: Any) -> None:
    with pytest.raises(ModelError, match=r"make_model failed in worker tcp://.* the weights"):
        Replicas(makers.hidden, scheduler=cluster.scheduler_address)
    with (
        Replicas(makers.failing, scheduler=cluster.scheduler_address) as model,
        pytest.raises(makers.OddError, match="no answer to"),
    ):
        learnt(model)


@pytest.mark.slow
@pytest.mark.parametrize("make", [makers.sleeping, makers.keeping])
def test_a_killed_worker_changes_nothing(cluster: Any, make: Any) -> None:
    expected = learnt(make(), 500)
    before = workers_of(cluster)
    with Replicas(make, scheduler=cluster.scheduler_address) as model:
        killer = threading.Timer(0.1, os.kill, (before[0], signal.SIGKILL))
        killer.start()
        assert_same(expected, learnt(model, 500))
        killer.join()
        wait_for_another(cluster, before[0])
        assert_same(expected, learnt(model, 500))  # with the worker that has joined since


@pytest.mark.slow
def test_a_worker_that_joins_with_another_model_is_named(cluster: Any, tmp_path: Path) -> None:
    file = tmp_path / "version"
    file.write_text("one")
    with Replicas(makers.Versioned(file), scheduler=cluster.scheduler_address) as model:
        learnt(model, 500)
        file.write_text("two")
        killed = workers_of(cluster)[0]
        os.kill(killed, signal.SIGKILL)
        wait_for_another(cluster, killed)
        with pytest.raises(
            ModelError, match=r"fingerprint is 'one' in worker .* and 'two' in worker"
        ):
            learn_often(model)


def learn_often(model: Replicas) -> None:
    """Learn until the worker that has joined must have been asked."""
    for _ in range(20):
        learnt(model, 500)


@pytest.mark.slow
def test_a_cluster_may_be_without_workers_for_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    distributed = need_module("distributed")
    expected = learnt(makers.function(), 500)
    with (
        distributed.LocalCluster(
            n_workers=1,
            processes=False,
            protocol="tcp://",
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
        ) as small,
        Replicas(makers.function, scheduler=small.scheduler_address) as model,
        ThreadPoolExecutor(1) as thread,
    ):
        scale(small, 0)
        learning = thread.submit(learnt, model, 500)
        time.sleep(0.2)
        scale(small, 1)
        assert_same(expected, learning.result(TIME_LIMIT))
        scale(small, 0)
        monkeypatch.setattr(workers, "_WORKERLESS_SECONDS", 0.5)
        with pytest.raises(ModelError, match=r"has had no workers for 0\.5 s: start some"):
            learnt(model, 500)


def scale(cluster: Any, count: int) -> None:
    """Have so many workers, and wait for them."""
    cluster.scale(count)
    deadline = time.monotonic() + TIME_LIMIT
    while len(cluster.scheduler.workers) != count:
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.slow
def test_a_stopped_worker_is_left_out_after_the_time_limit(cluster: Any, tmp_path: Path) -> None:
    file = tmp_path / "stopped"
    words = Words.of([[0] * length for length in range(40)])
    expected = ask_words(makers.function(), words).to_dense()
    address = cluster.scheduler_address
    try:
        with Replicas(makers.StopsOnce(file), scheduler=address, timeout=3) as model:
            for _ in range(2):
                assert np.array_equal(ask_words(model, words).to_dense(), expected)
            assert repr(model) == "Replicas(1 copies)"
    finally:
        if file.exists():
            os.kill(int(file.read_text()), signal.SIGCONT)


@pytest.mark.slow
def test_what_other_workers_have_answered_is_kept(cluster: Any) -> None:
    batch = Batch.of([*([0] * length for length in range(40)), [1, 1]])
    with (
        Replicas(makers.halting, scheduler=cluster.scheduler_address) as model,
        pytest.raises(makers.OddError) as caught,
    ):
        model.answer(batch)
    assert_attached(caught.value, batch, {("1", "1")})


@pytest.mark.slow
def test_workers_forget_a_model_that_is_closed(cluster: Any) -> None:
    def count_copies(group: str) -> int:  # not those of other tests, which are being forgotten
        counts = client.run(lambda: sum(key[0] == group for key in workers._COPIES))
        return sum(counts.values())

    with need_module("distributed").Client(
        cluster.scheduler_address, set_as_default=False
    ) as client:
        with Replicas(makers.function, scheduler=cluster.scheduler_address) as model:
            ask_words(model, Words.of([[0], [1]]))
            group = model.copies.group  # type: ignore[attr-defined]
            assert count_copies(group) == 2
        deadline = time.monotonic() + TIME_LIMIT
        while count_copies(group):
            assert time.monotonic() < deadline
            time.sleep(0.05)


@pytest.mark.slow
def test_a_scheduler_that_is_killed_is_named(tmp_path: Path) -> None:
    need_module("distributed")
    file = tmp_path / "scheduler.json"
    where = ["--scheduler-file", str(file)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    commands = (
        ["scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", *where],
        ["worker", "--nthreads", "1", "--no-dashboard", "--no-nanny", *where],
    )
    with ExitStack() as stack:
        started = []
        for command in commands:
            process = subprocess.Popen(
                [sys.executable, "-m", f"distributed.cli.dask_{command[0]}", *command[1:]],
                env=environment,
                stderr=subprocess.DEVNULL,
            )
            started.append(process)
            stack.callback(process.wait)
            stack.callback(process.kill)
        deadline = time.monotonic() + TIME_LIMIT
        while not file.exists():
            assert time.monotonic() < deadline
            time.sleep(0.05)
        address = json.loads(file.read_text())["address"]
        with start_when_ready(address, deadline) as model:
            killer = threading.Timer(0.5, started[0].kill)
            killer.start()
            with pytest.raises(ModelError, match=f"the Dask scheduler at {address} is gone"):
                learn_often(model)
            killer.join()


def start_when_ready(address: str, deadline: float) -> Replicas:
    """Make copies as soon as a worker has joined."""
    while time.monotonic() < deadline:
        with suppress(InputError):  # the scheduler has no workers yet
            return Replicas(makers.sleeping, scheduler=address)
    raise AssertionError("no worker has come")


@pytest.mark.slow
def test_a_scheduler_that_is_not_there_is_named() -> None:
    need_module("distributed")
    with pytest.raises(InputError, match="no Dask scheduler answers at 'nowhere': missing port"):
        Replicas(makers.function, scheduler="nowhere")
    with pytest.raises(InputError, match="scheduler is 5"):
        Replicas(makers.function, scheduler=5)  # type: ignore[arg-type]


def test_dask_is_an_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingExtraError, match=r"pip install distributed$"):
        Replicas(makers.function, scheduler="tcp://127.0.0.1:1")
