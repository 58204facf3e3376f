"""Run the experiments."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pdfalearn.displays import show_progress
from pdfalearn.experiments.definitions import title_of
from pdfalearn.experiments.failures import note_failure
from pdfalearn.experiments.locking import locked
from pdfalearn.experiments.parameters import Parameters, note_machine, settle_parameters
from pdfalearn.experiments.performing import performed
from pdfalearn.experiments.plans import Choices, plans_for
from pdfalearn.experiments.runs import Key, Run
from pdfalearn.experiments.table import TABLE, Appender, Table, read_table, write_table
from pdfalearn.experiments.workers import workers


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
