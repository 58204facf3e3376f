"""The table of runs: a CSV file with a row for each, written as it ends."""

from __future__ import annotations

import csv
import io
import math
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any, Self, TextIO

from pdfalearn.errors import FileFormatError
from pdfalearn.experiments.definitions import EXPERIMENTS
from pdfalearn.experiments.expected import Expected
from pdfalearn.experiments.runs import LEARNER_NAMES, Key, Run
from pdfalearn.files.named import replacing

TABLE = "runs.csv"
"""The file of a folder of results that holds the runs."""
COLUMNS = tuple(field.name for field in fields(Run))

_MAY_BE_INFINITE = ("log_probability_error", "kl", "target_perplexity", "perplexity")
_POSITIVE = (
    *("target_states", "states", "words", "structure_size", "seconds"),
    *("target_perplexity", "perplexity"),
)


@dataclass(frozen=True)
class Table:
    """The runs that a file holds, and what is wrong with its other lines."""

    runs: dict[Key, Run]
    complaints: tuple[str, ...] = ()
    is_torn: bool = False
    """Whether the last line breaks off, as that of a run which was killed."""


def read_table(path: Path, expected: Mapping[int, Expected] | None = None) -> Table:
    """Read what can be read; a torn last line is not reported.

    Rows that are not expected, where that is known, count as rows that cannot be read.

    Raises
    ------
    FileFormatError
        If the file does not begin with the columns of a table of runs.
    """
    try:
        text = path.read_bytes().decode("utf-8", "backslashreplace")
    except FileNotFoundError:
        return Table({})
    *lines, rest = text.replace("\r\n", "\n").split("\n")
    if lines and tuple(lines[0].split(",")) != COLUMNS:
        raise FileFormatError(f"{path}, line 1: these are not the columns of a table of runs")
    runs: dict[Key, Run] = {}
    complaints = []
    for number, line in enumerate(lines[1:], start=2):
        try:
            run = _run_of(line)
            if expected is not None:
                _check_expected(run, expected)
        except ValueError as error:
            complaints.append(f"{path}, line {number}: {error}")
            continue
        if run.key in runs:
            complaints.append(f"{path}, line {number}: {run.key} stands there a second time")
        else:
            runs[run.key] = run
    return Table(runs, tuple(complaints), is_torn=bool(rest) or not lines)


def write_table(path: Path, runs: Iterable[Run]) -> None:
    """Write a whole table: the old file stays, or the new one is there."""
    with replacing(path) as stream:
        rows = (_line_of(astuple(run)) for run in runs)
        stream.write("".join([_line_of(COLUMNS), *rows]).encode())


class Appender:
    """Adds rows at the end of a table, each written at once and whole."""

    def __init__(self, path: Path) -> None:
        self._stream: TextIO = path.open("a", encoding="utf-8", newline="")

    def add(self, run: Run) -> None:
        """Write a row, and see to it that it survives a crash."""
        self._stream.write(_line_of(astuple(run)))
        self._stream.flush()
        os.fsync(self._stream.fileno())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.close()


def _line_of(values: Iterable[object]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(values)
    return line.getvalue()


def _run_of(line: str) -> Run:
    """Read a row, or raise a ValueError that says what is wrong with it."""
    try:
        (values,) = csv.reader([line], strict=True) if line.strip() else [[]]
    except csv.Error as error:
        raise ValueError(str(error)) from None
    if len(values) != len(COLUMNS):
        raise ValueError(f"{len(values)} values and not {len(COLUMNS)}")
    parsed: dict[str, Any] = {}
    for field, value in zip(fields(Run), values, strict=True):
        try:
            parsed[field.name] = _PARSERS[str(field.type)](value)
        except ValueError:
            raise ValueError(f"{field.name} {value!r} is not of the type {field.type}") from None
        if isinstance(parsed[field.name], int | float) and not parsed[field.name] >= 0:
            raise ValueError(f"{field.name} {value} is not a number from 0 on")
    run = Run(**parsed)
    if run.experiment not in EXPERIMENTS or run.learner not in LEARNER_NAMES:
        raise ValueError(f"there is no {run.learner} in experiment {run.experiment}")
    _check_numbers(run)
    return run


def _check_numbers(run: Run) -> None:
    """Refuse what no run gives, and what could not be divided by or drawn."""
    for name in COLUMNS:
        value = getattr(run, name)
        if isinstance(value, float) and math.isinf(value) and name not in _MAY_BE_INFINITE:
            raise ValueError(f"{name} {value} is not finite")
    for name in _POSITIVE:
        if not getattr(run, name) > 0:
            raise ValueError(f"{name} {getattr(run, name)} is not more than 0")


def _check_expected(run: Run, expected: Mapping[int, Expected]) -> None:
    if run.experiment not in expected:
        raise ValueError(f"the parameters do not ask for experiment {run.experiment}")
    expected[run.experiment].check(run)


def _or_none(parse: Callable[[str], object]) -> Callable[[str], object]:
    return lambda value: parse(value) if value else None


_PARSERS: dict[str, Callable[[str], object]] = {
    "int": int,
    "float": float,
    "str": str,
    "int | None": _or_none(int),
    "float | None": _or_none(float),
}
