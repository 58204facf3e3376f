"""Small experiments, and what their folders hold."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pdfalearn.experiments import Outcome, run_experiments
from pdfalearn.experiments.plans import SCALES, Case
from pdfalearn.experiments.runs import Run
from pdfalearn.pdfa import PDFA

RUNS_OF_A_VALUE = SCALES["quick"].targets * SCALES["quick"].runs


def run_small(folder: Path, **changes: Any) -> Outcome:
    """Run experiment 1 with QuaNT on a few tiny targets."""
    given: dict[str, Any] = {"values": [5], "learners": ["quant"]}
    return run_experiments("1", folder, **given | changes)


def rows_of(folder: Path) -> list[dict[str, Any]]:
    """Read the rows of a folder of results with another reader than the package's."""
    lines = (folder / "runs.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def write_rows(folder: Path, rows: Iterable[dict[str, Any]]) -> None:
    """Write the rows of a folder of results."""
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "runs.jsonl").write_text(text, encoding="utf-8")


def untimed(rows: list[dict[str, Any]]) -> list[tuple[tuple[str, Any], ...]]:
    """Sort rows, without what differs from time to time."""
    return sorted(
        tuple((name, value) for name, value in row.items() if not name.endswith("seconds"))
        for row in rows
    )


def lose_the_worker(case: Case, given: PDFA | None) -> Run:
    """End the process that a run is done in."""
    os._exit(1)
