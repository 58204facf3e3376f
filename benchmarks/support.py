"""Timing, memory and tables for the benchmarks."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import TypeVar

Result = TypeVar("Result")


_MOMENT = 0.05
"""Jobs that take less than this many seconds are run several times in a turn."""


def in_turns(jobs: Sequence[Callable[[], Result]], runs: int) -> list[tuple[float, Result]]:
    """Time jobs in turns, so that noise hits them all; return each one's median and last result."""
    seconds: list[list[float]] = [[] for _ in jobs]
    results: list[Result] = []
    for _ in range(runs):
        results.clear()  # or the next results would be made beside these
        results.extend(_timed(job, taken) for job, taken in zip(jobs, seconds, strict=True))
    return [(statistics.median(taken), last) for taken, last in zip(seconds, results, strict=True)]


def _timed(job: Callable[[], Result], seconds: list[float]) -> Result:
    """Time a job, and note the median of as many runs as fit into a moment; at least one."""
    gc.collect()
    taken: list[float] = []
    while sum(taken) < _MOMENT:
        started = time.perf_counter()
        result = job()
        taken.append(time.perf_counter() - started)
    seconds.append(statistics.median(taken))
    return result


def median_seconds(job: Callable[[], object], runs: int = 3) -> float:
    """Time a job several times and return the median."""
    return in_turns([job], runs)[0][0]


class Growth:
    """The factor of a figure over the factor of size, from row to row of a table: 1 is linear."""

    def __init__(self) -> None:
        self._above: tuple[int, float] | None = None

    def to(self, size: int, figure: float) -> float | str:
        """Return the growth from the row above to this one; nothing in the first row."""
        above, self._above = self._above, (size, figure)
        return "" if above is None else figure / above[1] / (size / above[0])


def peak_gigabytes() -> float:
    """Return the most memory that this process has held so far (on Linux).

    ``getrusage`` would not do: its peak counts the parent's memory at the fork.
    """
    status = Path("/proc/self/status").read_text()
    kilobytes = next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))
    return int(kilobytes) / 2**20


def in_a_process(job: Callable[..., Result], *arguments: object) -> Result:
    """Run a job in a process of its own, so that its peak of memory is its own."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as executor:
        return executor.submit(job, *arguments).result()


def print_row(cells: Sequence[object]) -> None:
    """Print a row of a Markdown table."""
    shown = [f"{cell:.3g}" if isinstance(cell, float) else str(cell) for cell in cells]
    print("| " + " | ".join(shown) + " |", flush=True)


def print_header(titles: Sequence[str]) -> None:
    """Print the head of a Markdown table."""
    print_row(titles)
    print_row(["---"] * len(titles))
