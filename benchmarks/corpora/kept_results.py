"""Results of long runs in a file of JSON lines: what is in it is not computed again."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.support import in_a_process, peak_gigabytes

Record = dict[str, Any]
DATA = Path(__file__).parents[3] / "shared" / "data"


class KeptResults:
    """What was computed, in memory and in a file if there is one.

    Examples
    --------
    >>> results = KeptResults(None)
    >>> results.compute("squares", len, "abc")["value"], results.compute("squares", len)["value"]
    (3, 3)
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        lines = path.read_text().splitlines() if path is not None and path.exists() else []
        self._records: dict[str, Record] = {one["key"]: one for one in map(json.loads, lines)}

    def compute(self, key: str, job: Callable[..., Any], *arguments: object) -> Record:
        """Return what `measure` returns for a job, unless it is there already."""
        if key not in self._records:
            self._note({"key": key} | measure(job, *arguments))
        return self._records[key]

    def compute_elsewhere(self, key: str, job: Callable[..., Any], *arguments: object) -> Record:
        """Do the same in a process of its own, so that time and memory are the job's alone."""
        if key not in self._records:
            self._note({"key": key} | in_a_process(measure, job, *arguments))
        return self._records[key]

    def _note(self, record: Record) -> None:
        self._records[record["key"]] = record
        if self._path is not None:
            with self._path.open("a") as stream:
                stream.write(json.dumps(record) + "\n")


def measure(job: Callable[..., Any], *arguments: object) -> Record:
    """Return the value of a job, its processor seconds, and the process's peak of memory."""
    begin = time.process_time()
    value = job(*arguments)
    seconds = time.process_time() - begin
    return {"value": value, "seconds": round(seconds, 3), "gigabytes": round(peak_gigabytes(), 3)}
