"""Run the experiments: one process at a time in a folder, over workers."""

from __future__ import annotations

import os
import sys
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Future, wait
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pdfalearn.displays.showing import show_progress
from pdfalearn.errors import InputError
from pdfalearn.experiments.definitions import title_of
from pdfalearn.experiments.parameters import (
    Choices,
    Parameters,
    note_machine,
    plans_for,
    settle_parameters,
)
from pdfalearn.experiments.runs import Key, Run, Task, perform
from pdfalearn.experiments.table import (
    TABLE,
    Appender,
    Table,
    note_failure,
    read_table,
    write_table,
)
from pdfalearn.experiments.workers import Workers, workers

_LOCK = ".lock"


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Have a folder alone, where the system can see to that; it is made if it is not there.

    The lock ends with the process, however that ends. Its file stays: another process may be
    about to lock it.

    Raises
    ------
    InputError
        If another process has it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / _LOCK).open("wb") as stream:
        if sys.platform != "win32":
            import fcntl

            try:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise InputError(
                    f"{folder} is in use by other experiments; wait for their end, or choose "
                    "another folder"
                ) from error
        yield


_MOST_LOSSES = 5
"""A run that has lost its worker this many times is taken for the cause."""


def performed(tasks: Iterable[Task], workers: Workers) -> Iterator[tuple[Task, Run | InputError]]:
    """Do runs; yield each as it ends, with its row or with why it has failed.

    A run whose worker is lost is done again.

    Raises
    ------
    InputError
        If a run loses its worker time and again, or the scheduler is gone.
    """
    hand = _Hand(workers)
    waiting, pending = deque(tasks), dict[Future[Run], Task]()
    losses = Counter[Key]()
    try:
        while waiting or pending:
            while waiting and len(pending) < workers.in_flight:
                task = waiting.popleft()
                pending[hand.submit(task)] = task
            for future in wait(pending, return_when=FIRST_COMPLETED).done:
                task = pending.pop(future)
                try:
                    yield task, future.result()
                except InputError as error:
                    yield task, error
                except workers.losses as loss:
                    losses[task.key] += 1
                    if losses[task.key] == _MOST_LOSSES:
                        raise InputError(
                            f"{task.key}: its worker was lost {_MOST_LOSSES} times"
                        ) from loss
                    waiting.appendleft(task)
                except CancelledError as error:
                    raise InputError(
                        "the scheduler is gone; start again to go on with what is left"
                    ) from error
    finally:
        hand.stop()


class _Hand:
    """Submits to an executor, and starts another one when that is broken."""

    def __init__(self, workers: Workers) -> None:
        self._workers = workers
        self._executor = workers.start()

    def submit(self, task: Task) -> Future[Run]:
        try:
            return self._executor.submit(perform, task, self._workers.name)
        except BrokenExecutor:
            self.stop()
            self._executor = self._workers.start()
            return self._executor.submit(perform, task, self._workers.name)

    def stop(self) -> None:
        """Cancel the runs that have not begun."""
        self._workers.stop(self._executor)


@dataclass(frozen=True)
class Outcome:
    """What has come of running experiments.

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
    failures: dict[Key, str]
    """Why runs have failed; they are tried again the next time."""
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
        Who learns, instead of those that the paper compares.
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
        True shows how many runs are done and how long the rest may take, and "log" writes it every
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
    choices = Choices(scale, learners, values, tolerances, targets, seed)
    plans, place = plans_for(name, choices), Path(folder)
    shown = show_progress(progress, "experiments", label=title_of(name))
    with workers(jobs, scheduler) as chosen, locked(place), shown as told:
        parameters = settle_parameters(place, plans)
        table = _mended_table(place / TABLE, parameters)
        tasks = [task for one in plans for task in one.tasks()]
        left = [task for task in tasks if task.key not in table.runs]
        found, failures = len(tasks) - len(left), dict[Key, str]()
        report = told or (lambda done, total: None)
        report(found, len(tasks))
        if left:
            note_machine(place)
        with Appender(place / TABLE) as appender:
            for done, (task, run) in enumerate(performed(left, chosen), start=found + 1):
                if isinstance(run, Run):
                    appender.add(run)
                else:
                    failures[task.key] = str(run)
                    note_failure(place, task.key, str(run))
                report(done, len(tasks))
    return Outcome(len(left) - len(failures), found, failures, table.complaints)


def _mended_table(path: Path, parameters: Parameters) -> Table:
    """Read the table, and take out of the file what cannot be read."""
    table = read_table(path, parameters.expected)
    if table.complaints or table.is_torn or not path.exists():
        write_table(path, table.runs.values())
    return table
