"""Results of long runs in a file of JSON lines: what is in it is not computed again."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.support import in_a_process, peak_gigabytes

Record = dict[str, Any]
# Where the data of PAutomaC and the logs are.
DATA = Path(os.environ.get("PDFALEARN_DATA", "../shared/data"))


class KeptResults:
    """What was computed: in memory, and in a file if there is one.

    Several processes may share a file, each for other keys.

    Examples
    --------
    >>> results = KeptResults(None)
    >>> results.compute("length", len, "abc")["value"], results.compute("length", len)["value"]
    (3, 3)
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._records: dict[str, Record] = {}

    def __contains__(self, key: str) -> bool:
        if key not in self._records and self._path is not None and self._path.exists():
            lines = self._path.read_text().splitlines()
            self._records = {one["key"]: one for one in map(json.loads, lines)}
        return key in self._records

    def compute(self, key: str, job: Callable[..., Any], *arguments: object) -> Record:
        """Return what `measure` returns for a job, unless it is there already."""
        if key not in self:
            self._keep({"key": key} | measure(job, *arguments))
        return self._records[key]

    def compute_elsewhere(self, key: str, job: Callable[..., Any], *arguments: object) -> Record:
        """Do the same in a process of its own, so that time and memory are the job's alone."""
        if key not in self:
            self._keep({"key": key} | in_a_process(measure, job, *arguments))
        return self._records[key]

    def _keep(self, record: Record) -> None:
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
