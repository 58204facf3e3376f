"""Small experiments, and what their folders hold."""

from __future__ import annotations

import csv
import os
from pathlib import Path
from typing import Any

from pdfalearn.experiments import Outcome, run_experiments
from pdfalearn.experiments.plans import SCALES, Task
from pdfalearn.experiments.runs import Run

RUNS_OF_A_VALUE = SCALES["quick"].targets * SCALES["quick"].runs


def run_small(folder: Path, **changes: Any) -> Outcome:
    """Run experiment 1 with QuaNT on a few tiny targets."""
    given: dict[str, Any] = {"values": [5], "learners": ["quant"]}
    return run_experiments("1", folder, **given | changes)


def rows_of(folder: Path) -> list[dict[str, str]]:
    """Read the rows of a folder of results with another reader than the package's."""
    with (folder / "runs.csv").open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def change_row(folder: Path, index: int, **changes: object) -> None:
    """Write other values into a row of a folder of results."""
    rows = rows_of(folder)
    rows[index] |= {name: str(value) for name, value in changes.items()}
    with (folder / "runs.csv").open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, [*rows[0]])
        writer.writeheader()
        writer.writerows(rows)


def untimed(rows: list[dict[str, str]]) -> list[tuple[tuple[str, str], ...]]:
    """Sort rows, without what differs from time to time and from place to place."""
    left_out = ("seconds", "executor", "load")
    return sorted(
        tuple((name, value) for name, value in row.items() if not name.endswith(left_out))
        for row in rows
    )


def lose_the_worker(task: Task, executor: str) -> Run:
    """End the process that a run is done in."""
    os._exit(1)
