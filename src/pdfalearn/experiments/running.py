"""Run the experiments: one process at a time in a folder, over workers here or elsewhere."""

from __future__ import annotations

import os
import signal
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent import futures
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Literal

from pdfalearn.checks import check_integer
from pdfalearn.displays import RunsLine, show_progress
from pdfalearn.errors import InputError
from pdfalearn.experiments.plans import (
    TABLE,
    Task,
    experiments_named,
    plan_experiment,
    settle_parameters,
)
from pdfalearn.experiments.runs import (
    UNDISTURBED,
    Run,
    append_run,
    note_failure,
    perform,
    read_table,
    write_table,
)
from pdfalearn.extras import check_installed
from pdfalearn.files import lock_file

_LOCK = ".lock"
_LEAST_IN_FLIGHT = 64
_CONNECTION_SECONDS = 10
_MOST_LOSSES = 5  # a run whose worker is lost this many times is taken for the cause


@dataclass
class Workers:
    """Where runs are done: in this process, in several on this machine, or on a Dask cluster."""

    name: str
    start: Callable[[], futures.Executor] | None  # None in this process
    in_flight: int  # how many runs to submit at a time
    losses: tuple[type[BaseException], ...] = ()  # errors which say that a worker is gone
    executor: futures.Executor | None = None

    def submit(self, task: Task) -> futures.Future[Run]:
        """Submit a run to the executor; another one is started when that is broken."""
        if self.start is None:  # done at once: in a thread, Ctrl-C would have to wait for its end
            future = futures.Future[Run]()
            try:
                future.set_result(perform(task, self.name))
            except Exception as error:
                future.set_exception(error)
            return future
        with suppress(futures.BrokenExecutor):
            if self.executor is not None:
                return self.executor.submit(perform, task, self.name)
        self.stop()
        self.executor = self.start()
        return self.executor.submit(perform, task, self.name)

    def stop(self) -> None:
        """Stop the executor; runs that have not begun are cancelled."""
        if isinstance(self.executor, futures.ProcessPoolExecutor):
            self.executor.shutdown(cancel_futures=True)
        elif self.executor is not None:
            self.executor.shutdown(wait=False)  # which cancels, on a cluster


@contextmanager
def choose_workers(jobs: int | None = None, scheduler: str | None = None) -> Iterator[Workers]:
    """Choose where runs are done: in this process if nothing is given."""
    if jobs is not None and scheduler is not None:
        raise InputError("give jobs or a scheduler, not both")
    in_process, one_process = UNDISTURBED
    if scheduler is not None:
        with _connect(scheduler) as cluster:
            yield cluster
    elif jobs is None:
        yield Workers(in_process, None, in_flight=1)
    else:
        count = check_integer(jobs, "jobs", 1)
        name = one_process if count == 1 else f"{count} processes"
        # Spawned, as everywhere but on Linux: a fork would take the locks of other threads along.
        # Interrupts end them without a message; the process that started them reports it.
        handling = (signal.signal, (signal.SIGINT, signal.SIG_DFL))
        start = partial(futures.ProcessPoolExecutor, count, get_context("spawn"), *handling)
        yield Workers(name, start, in_flight=2 * count, losses=(futures.BrokenExecutor,))


@contextmanager
def _connect(address: str) -> Iterator[Workers]:
    check_installed("distributed", "schedulers")
    from distributed import Client, KilledWorker
    from distributed.comm.addressing import get_address_host_port

    try:
        get_address_host_port(address)  # a client of no address would not end well
        client = Client(address, timeout=_CONNECTION_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise InputError(f"no Dask scheduler answers at {address!r}: {error}") from error
    with client:
        threads = sum(client.nthreads().values())
        yield Workers(
            f"Dask, {threads} threads",
            lambda: client.get_executor(pure=False),
            in_flight=max(_LEAST_IN_FLIGHT, 2 * threads),
            losses=(KilledWorker,),
        )


@contextmanager
def lock_folder(folder: Path) -> Iterator[None]:
    """Make a folder if it is missing, and lock it; refuse one that is locked."""
    folder.mkdir(parents=True, exist_ok=True)
    with lock_file(folder / _LOCK, "another run of experiments"):
        yield


def perform_all(tasks: Iterable[Task], workers: Workers) -> Iterator[tuple[Task, Run | InputError]]:
    """Do runs; yield each as it ends, with its row or with why it has failed.

    A run whose worker is lost is done again, unless that happens time and again.
    """
    waiting, pending = deque(tasks), dict[futures.Future[Run], Task]()
    losses = Counter[str]()
    try:
        while waiting or pending:
            while waiting and len(pending) < workers.in_flight:
                task = waiting.popleft()
                pending[workers.submit(task)] = task
            for future in futures.wait(pending, return_when=futures.FIRST_COMPLETED).done:
                task = pending.pop(future)
                try:
                    yield task, future.result()
                except InputError as error:
                    yield task, error
                except workers.losses as loss:
                    losses[task.key] += 1
                    if losses[task.key] == _MOST_LOSSES:
                        problem = f"its worker was lost {_MOST_LOSSES} times"
                        raise InputError(f"{task.key}: {problem}") from loss
                    waiting.appendleft(task)
                except futures.CancelledError as error:
                    remedy = "start again to go on with what is left"
                    raise InputError(f"the scheduler is gone; {remedy}") from error
    finally:
        workers.stop()


@dataclass(frozen=True)
class Outcome:
    """What running experiments has done.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     first = run_experiments("1", folder, values=[10], learners=["quant"])
    ...     again = run_experiments("1", folder, values=[10], learners=["quant"])
    >>> first.runs, first.found, again.runs, again.found
    (6, 0, 0, 6)
    """

    runs: int
    """How many runs have been done."""
    found: int
    """How many were there already, from an earlier time."""
    failures: dict[str, str]
    """Why runs have failed, by their keys in words; they are tried again the next time."""
    complaints: tuple[str, ...]
    """Lines of the table that could not be read; their runs have been done again."""


def run_experiments(
    name: str,
    folder: str | os.PathLike[str],
    *,
    scale: str = "quick",
    learners: Sequence[str] | None = None,
    values: Sequence[int] | None = None,
    tolerances: Sequence[float] | None = None,
    targets: str | os.PathLike[str] | None = None,
    seed: int = 0,
    jobs: int | None = None,
    scheduler: str | None = None,
    progress: Callable[[int, int], None] | bool | Literal["log"] | None = None,
) -> Outcome:
    """Run the paper's experiments, and write a row for each run as it ends.

    An interrupted experiment goes on where it stopped, when it is called again in the same way.

    Parameters
    ----------
    name : {"1", "2", "3", "4", "5", "all"}
        Which experiment.
    folder : path
        Where the results go: runs.csv, and parameters.json that says what they are of.
    scale : {"quick", "paper"}
        3 targets and 2 runs on each, or the paper's 10 and 10.
    learners : sequence of str, optional
        The learners, instead of those that the paper compares.
    values : sequence of int, optional
        Values on the axis of a single experiment, instead of the paper's.
    tolerances : sequence of float, optional
        One for each κ of a single experiment, instead of 1/κ.
    targets : path, optional
        A folder with given targets: exp1/n100-0.json.gz and so on.
    seed : int
        Same seed, same targets and words for the metrics.
    jobs : int, optional
        How many runs to do at a time, in processes of their own. A script that asks for them has to
        do so under ``if __name__ == "__main__":``, as they import it.
    scheduler : str, optional
        The address of a Dask scheduler, whose workers do the runs.
    progress : bool, "log" or callable, optional
        True shows how many runs are done and how long the rest may take, and "log" logs it every
        ten seconds. A function is called with how many are done and how many there are in all.

    Raises
    ------
    InputError
        If the folder holds results of other parameters, another process is at work in it, or
        something that is given is wrong.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     outcome = run_experiments("1", folder, values=[10], learners=["quant"])
    >>> outcome.runs, outcome.failures
    (6, {})
    """
    experiments, place = experiments_named(name), Path(folder)
    if len(experiments) > 1 and not (values is None and tolerances is None):
        raise InputError("values and tolerances are for a single experiment, not for all of them")
    given: dict[str, Any] = {"learners": learners, "values": values, "tolerances": tolerances}
    plans = [
        plan_experiment(experiment, scale=scale, seed=seed, folder=targets, **given)
        for experiment in experiments
    ]
    shown = show_progress(progress, RunsLine, label=f"experiment {name}")
    with choose_workers(jobs, scheduler) as workers, lock_folder(place), shown as update:
        parameters = settle_parameters(place, plans)
        path = place / TABLE
        table = read_table(path, parameters.tasks)
        if table.complaints or table.is_torn or not path.exists():
            write_table(path, table.runs.values())  # without what cannot be read
        tasks = [task for plan in plans for task in plan.tasks]
        left = [task for task in tasks if task.key not in table.runs]
        found, failures = len(tasks) - len(left), dict[str, str]()
        report = update or (lambda done, total: None)
        report(found, len(tasks))
        if left:
            parameters.note_machine(place)
        for done, (task, run) in enumerate(perform_all(left, workers), start=found + 1):
            if isinstance(run, Run):
                append_run(path, run)
            else:
                failures[task.key] = str(run)
                note_failure(place, task.key, str(run))
            report(done, len(tasks))
    return Outcome(len(left) - len(failures), found, failures, table.complaints)
