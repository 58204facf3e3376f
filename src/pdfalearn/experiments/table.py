"""The table of runs in a folder, which are expected there, and which have failed."""

from __future__ import annotations

import csv
import io
import json
import math
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import astuple, dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any, Self, TextIO

from pdfalearn.checks import checked_integer
from pdfalearn.errors import FileFormatError, InputError
from pdfalearn.experiments.definitions import EXPERIMENTS, SCALES, Experiment, Scale, Setting
from pdfalearn.experiments.runs import LEARNER_NAMES, Key, Run
from pdfalearn.experiments.targets import drawn_targets
from pdfalearn.files import replacing


@dataclass(frozen=True)
class Expected:
    """The runs that the parameters of an experiment ask for."""

    experiment: Experiment
    settings: tuple[Setting, ...]
    learners: tuple[str, ...]
    scale: Scale
    seed: int
    are_given: bool
    """Whether the targets were given, and not drawn."""
    targets: int | None
    """How many there are for all settings together, if that is known."""

    @property
    def runs(self) -> int | None:
        """How many runs there are to be."""
        if self.targets is None:
            return None
        return self.targets * self.scale.runs * len(self.learners)

    def check(self, run: Run) -> None:
        """Raise a ValueError that says why a run is none of these."""
        setting = Setting(
            run.nominal_states, run.alphabet_size, run.distributions, run.kappa, run.tolerance
        )
        if setting not in self.settings:
            raise ValueError(f"the parameters do not ask for {setting}")
        if run.learner not in self.learners:
            raise ValueError(f"the parameters do not ask for {run.learner}")
        if not 1 <= run.run <= self.scale.runs:
            raise ValueError(f"run {run.run} is not one of {self.scale.runs}")
        if self.are_given:
            is_known = run.target.startswith(f"{self.experiment.family(setting)}-")
        else:
            is_known = (run.target, run.target_seed, run.words_seed) in self._drawn
        if not is_known:
            raise ValueError(f"the parameters do not ask for a target {run.target} of its seeds")

    @cached_property
    def _drawn(self) -> set[tuple[str, int | None, int]]:
        """The names and seeds of drawn targets."""
        return {
            (target.name, target.seed, target.words_seed)
            for setting in self.settings
            for target in drawn_targets(self.experiment, setting, self.scale.targets, self.seed)
        }


def expected_runs(
    path: Path, experiments: Mapping[str, Mapping[str, object]]
) -> dict[int, Expected]:
    """Return for each experiment the runs that its parameters, read from a file, ask for.

    Raises
    ------
    FileFormatError
        If they are not the parameters of an experiment.
    """
    found = {}
    for number, parameters in experiments.items():
        try:
            one = _expected(number, parameters)
        except (InputError, KeyError, TypeError, ValueError) as error:
            reason = f"not the parameters of experiment {number}: {error}"
            raise FileFormatError(f"{path}: {reason}") from error
        found[one.experiment.number] = one
    return found


def _expected(number: str, parameters: Mapping[str, object]) -> Expected:
    experiment = EXPERIMENTS[int(number)]
    values, tolerances, learners = (
        _listed(parameters, name) for name in (experiment.axis, "tolerances", "learners")
    )
    if not {*learners} <= {*LEARNER_NAMES}:
        raise ValueError(f"learners {learners}")
    scale, are_given = SCALES[str(parameters["scale"])], parameters.get("given targets") is not None
    targets = (
        parameters.get("number of given targets") if are_given else scale.targets * len(values)
    )
    return Expected(
        experiment,
        tuple(experiment.settings(values, tolerances)),
        tuple(learners),
        scale,
        checked_integer(parameters["seed"], "seed", 0),
        are_given,
        None if targets is None else checked_integer(targets, "targets", 1),
    )


def _listed(parameters: Mapping[str, object], name: str) -> list[Any]:
    listed = parameters[name]
    if not isinstance(listed, list):
        raise TypeError(f"{name} {listed!r} is not a list")
    return listed


FAILURES = "failures.json"


def read_failures(folder: Path) -> dict[Key, str]:
    """Read which runs have failed at some time, and why.

    Raises
    ------
    FileFormatError
        If the file holds something else.
    """
    path = folder / FAILURES
    try:
        content = json.loads(path.read_bytes())
        return {
            Key(int(experiment), str(target), int(kappa), str(learner), int(run)): str(reason)
            for experiment, target, kappa, learner, run, reason in content
        }
    except FileNotFoundError:
        return {}
    except (TypeError, ValueError) as error:
        raise FileFormatError(f"{path}: not a list of failed runs: {error}") from error


def note_failure(folder: Path, key: Key, reason: str) -> None:
    """Write down that a run has failed; a row in the table says that it was done since."""
    failures = read_failures(folder) | {key: reason}
    with replacing(folder / FAILURES) as stream:
        content = [[*one, why] for one, why in failures.items()]
        stream.write(json.dumps(content, indent=1, ensure_ascii=False).encode() + b"\n")


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
