"""Timing, memory and tables for the benchmarks."""

from __future__ import annotations

import resource
import statistics
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import TypeVar

Result = TypeVar("Result")


def median_seconds(job: Callable[[], object], runs: int = 3) -> float:
    """Time a job several times and give the median."""
    seconds = []
    for _ in range(runs):
        started = time.perf_counter()
        job()
        seconds.append(time.perf_counter() - started)
    return statistics.median(seconds)


def peak_gigabytes() -> float:
    """Give the most memory that this process has held so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


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
