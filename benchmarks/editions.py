"""Editions of this package by turns: processor time, steps, memory, a shell's learn, imports.

``python -m benchmarks.editions BEFORE AFTER`` takes two checkouts or more; with ``--job TEXT``
only jobs whose names have this text, with ``--turns 21`` more turns than 11. A checkout is a folder
with ``src/pdfalearn``; one of an old commit: ``git archive COMMIT src | tar x -C FOLDER``. The
first edition of the models' protocol is the commit b2066f3.

A process for each checkout runs the jobs when it is told to, with one thread. The checkouts take
turns, a different one first each time, so that a noisy machine slows them all; figures are medians
of the turns. The share of turns that an edition was slower than the first one tells how sure a
ratio is: near one half there is no difference.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import IO

from benchmarks.checkouts import command_in
from benchmarks.edition_jobs import JOBS, LARGE, PEAKS
from benchmarks.support import print_header, print_row

Figures = dict[str, float]
JOBS_MODULE = "benchmarks.edition_jobs"
SHELL = "from pdfalearn.cli import main; main()"
AT_EXIT = (
    "import atexit, sys; atexit.register(lambda: sys.stderr.write('\\n'.join(['', *(l for l in "
    "open('/proc/self/status').read().splitlines() if 'VmHWM' in l), ' '.join(sys.modules)])))"
)
"""Writes the peak of memory and the names of all modules when a process ends."""
PROCESSES = {
    "import pdfalearn": ["import pdfalearn"],
    "from pdfalearn import PDFA": ["from pdfalearn import PDFA"],
    "from pdfalearn import learn": ["from pdfalearn import learn"],
    "pdfalearn --help": [SHELL, "--help"],
    "pdfalearn learn": [SHELL, "learn", "target.json"],
    "pdfalearn learn -o": [SHELL, "learn", "target.json", "-o", "learnt.json"],
}
"""What is run in fresh processes: code, and the words behind it."""
MEMORY_TURNS = 3


class Worker:
    """A process that runs jobs with the sources of a checkout.

    Parameters
    ----------
    root : Path
        The checkout.
    """

    def __init__(self, root: Path) -> None:
        command, environment = command_in(root, JOBS_MODULE)
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(
            command, env=environment, stdin=pipe, stdout=pipe, text=True
        )

    def __enter__(self) -> Worker:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._process.__exit__(kind, error, traceback)  # closes the pipes, so that it ends

    def run(self, name: str) -> Figures:
        """Run a job for a turn; raise a LookupError if the checkout cannot do it."""
        stdin, stdout = self._stream(self._process.stdin), self._stream(self._process.stdout)
        stdin.write(name + "\n")
        stdin.flush()
        answer = stdout.readline() or '{"error": "the process has ended"}'
        figures: Figures = json.loads(answer)
        if "error" in figures:
            raise LookupError(figures["error"])
        return figures

    @staticmethod
    def _stream(stream: IO[str] | None) -> IO[str]:
        if stream is None:
            raise RuntimeError("the process has no pipes")
        return stream


def by_turns(runs: Sequence[Callable[[], Figures]], turns: int) -> list[list[Figures]]:
    """Run things by turns, another one first each time; return the figures of each.

    One that raises a LookupError takes no further part, and has no figures.
    """
    measured: list[list[Figures]] = [[] for _ in runs]
    out: set[int] = set()
    for turn in range(turns):
        for place in range(len(runs)):
            chosen = (place + turn) % len(runs)
            if chosen in out:
                continue
            try:
                measured[chosen].append(runs[chosen]())
            except LookupError as error:
                print(f"edition {chosen + 1}: {error}", file=sys.stderr)
                out.add(chosen)
                measured[chosen].clear()
    return measured


def cells_of(measured: Sequence[list[Figures]], name: str, scale: float = 1.0) -> list[object]:
    """Return the medians of a figure, the ratios to the first edition, and how often it was more.

    Editions that have no such figure have a dash.
    """
    values = [[figures[name] * scale for figures in turns if name in figures] for turns in measured]
    medians = [median(turns) if turns else None for turns in values]
    cells: list[object] = ["–" if value is None else value for value in medians]
    first = medians[0]
    for turns, value in zip(values[1:], medians[1:], strict=True):
        if first is None or value is None:
            cells += ["–", "–"]
        else:
            slower = [one > other for one, other in zip(turns, values[0], strict=False)]
            cells += [value / first if first else "–", f"{sum(slower)}/{len(slower)}"]
    return cells


def titles_of(roots: Sequence[str], unit: str) -> list[str]:
    """Return the titles of a table's columns."""
    titles = [f"{root}, {unit}" for root in roots]
    for root in roots[1:]:
        titles += [f"{root} / {roots[0]}", "more"]
    return titles


def print_jobs(roots: dict[str, Path], names: Sequence[str], turns: int) -> None:
    """Print the processor time of jobs, and the steps of networks."""
    print("\nProcessor time of a run\n")
    print_header(["job", *titles_of(list(roots), "ms")])
    steps: dict[str, list[object]] = {}
    with ExitStack() as stack:
        workers = [stack.enter_context(Worker(root)) for root in roots.values()]
        for name in names:
            measured = by_turns([partial(worker.run, name) for worker in workers], turns)
            print_row([name, *cells_of(measured, "seconds", 1000)])
            if any("steps" in figures for each in measured for figures in each):
                steps[name] = cells_of(measured, "steps")
    if steps:
        print("\nSymbols or tokens that go through the network\n")
        print_header(["job", *titles_of(list(roots), "steps")])
        for name, cells in steps.items():
            print_row([name, *cells])


def print_memory(roots: dict[str, Path], names: Sequence[str]) -> None:
    """Print by how much the peak of memory grows while a job runs for the first time."""
    print("\nGrowth of the peak of memory in a run of its own\n")
    print_header(["job", *titles_of(list(roots), "MB")])
    for name in names:
        runs = [partial(_peak, root, name) for root in roots.values()]
        print_row([name, *cells_of(by_turns(runs, MEMORY_TURNS), "grown")])


def _peak(root: Path, name: str) -> Figures:
    command, environment = command_in(root, JOBS_MODULE, "--peak", name)
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise LookupError(done.stderr.strip().splitlines()[-1])
    figures: Figures = json.loads(done.stdout.splitlines()[-1])
    return figures


def print_processes(roots: dict[str, Path], turns: int) -> None:
    """Print processor time, memory and imported modules of fresh processes."""
    with ExitStack() as stack:
        folders = [stack.enter_context(TemporaryDirectory()) for _ in roots]
        places = list(zip(roots.values(), folders, strict=True))
        for place in places:
            _run_process(*place, [SHELL, "random", "20", "--seed", "1", "-o", "target.json"])
        measured = {
            name: by_turns([partial(_run_process, *place, words) for place in places], turns)
            for name, words in PROCESSES.items()
        }
    for title, figure, unit, scale in (
        ("Processor time of a fresh process", "seconds", "ms", 1000.0),
        ("Its peak of memory", "peak", "MB", 1.0),
        ("Modules that it imports", "modules", "modules", 1.0),
        ("Modules of the package that it imports", "ours", "modules", 1.0),
    ):
        print(f"\n{title}\n")
        print_header(["process", *titles_of(list(roots), unit)])
        for name, figures in measured.items():
            print_row([name, *cells_of(figures, figure, scale)])


def _run_process(root: Path, folder: str, words: Sequence[str]) -> Figures:
    """Run code in a fresh process; return what it took, and how many modules it imported."""
    _, environment = command_in(root, JOBS_MODULE)
    code, *rest = words
    command = [sys.executable, "-P", "-c", f"{AT_EXIT}; {code}", *rest]
    noted = Path(folder) / "noted"
    with noted.open("w", encoding="utf-8") as errors:
        process = subprocess.Popen(
            command, env=environment, cwd=folder, stdout=subprocess.DEVNULL, stderr=errors
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    *_, peak, modules = ["", "", *noted.read_text(encoding="utf-8").splitlines()]
    if process.returncode:
        raise LookupError(noted.read_text(encoding="utf-8")[-200:])
    names = modules.split()
    return {
        "seconds": usage.ru_utime + usage.ru_stime,
        "peak": int(peak.split()[1]) / 1024,
        "modules": len(names),
        "ours": len([name for name in names if name.partition(".")[0] == "pdfalearn"]),
    }


def main(words: Sequence[str] | None = None) -> None:
    """Print all tables for the checkouts that the words of the command line name."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.editions")
    parser.add_argument("roots", nargs="+", type=Path, metavar="checkout")
    parser.add_argument("--turns", type=int, default=11)
    parser.add_argument("--job", action="append", default=[], help="only jobs with this text")
    parser.add_argument(
        "--only", action="append", choices=("jobs", "memory", "processes"), help="only this table"
    )
    arguments = parser.parse_args(words)
    tables = arguments.only or ["jobs", "memory", "processes"]
    roots = {root.resolve().name: root for root in arguments.roots}
    if len(roots) < len(arguments.roots):
        parser.error("the folders of the checkouts need different names")

    def chosen(names: Sequence[str]) -> list[str]:
        return [n for n in names if not arguments.job or any(part in n for part in arguments.job)]

    if "jobs" in tables:
        print_jobs(roots, chosen(list(JOBS)), arguments.turns)
    if "memory" in tables:
        print_memory(roots, chosen([*PEAKS, *LARGE]))
    if "processes" in tables and not arguments.job:
        print_processes(roots, arguments.turns)


if __name__ == "__main__":
    main()
