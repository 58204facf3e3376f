"""The authors' published results, where they are at hand: CSV files with a row for each run."""

from __future__ import annotations

import csv
import math
import os
import re
from collections.abc import Mapping
from pathlib import Path

from pdfalearn.errors import FileFormatError, InputError
from pdfalearn.experiments.definitions import EXPERIMENTS
from pdfalearn.experiments.observations import AUTHORS, Observation

_LEARNERS = {"QuantNaryTreeLearner": "quant", "WLStarLearner": "lpstar"}
"""What the authors' program calls the learners."""


def read_published(folder: str | os.PathLike[str]) -> list[Observation]:
    """Read the files experiment-N-….csv of a folder.

    Where an experiment has several files, the last one by name counts.

    Raises
    ------
    InputError
        If there is no such file.
    FileFormatError
        If a row cannot be read, or a file has none of a learner that is known; the message names
        the file and the line.
    """
    files = {}
    for path in sorted(Path(folder).glob("experiment-*.csv")):
        match = re.match(r"experiment-(\d)-", path.name)
        if match and int(match[1]) in EXPERIMENTS:
            files[int(match[1])] = path
    if not files:
        raise InputError(f"{folder} holds no published results experiment-1-….csv and so on")
    return [one for number, path in sorted(files.items()) for one in _read(path, number)]


def _read(path: Path, experiment: int) -> list[Observation]:
    try:
        found = _rows(path, experiment)
    except (UnicodeDecodeError, csv.Error) as error:
        raise FileFormatError(f"{path}: not a CSV file in UTF-8: {error}") from error
    if not found:
        names = " or ".join(_LEARNERS)
        raise FileFormatError(f"{path}: in no row the column Algorithm has {names}")
    return found


def _rows(path: Path, experiment: int) -> list[Observation]:
    found = []
    with path.open(encoding="utf-8", newline="") as stream:
        reader = csv.DictReader(stream)
        for row in reader:
            learner = _LEARNERS.get(row.get("Algorithm") or "")
            if learner is None:
                continue
            try:
                found.append(_observation(row, experiment, learner))
            except (KeyError, TypeError, ValueError, IndexError) as error:
                raise FileFormatError(f"{path}, line {reader.line_num}: {error!r}") from error
    return found


def _observation(row: Mapping[str, str], experiment: int, learner: str) -> Observation:
    states, seconds = int(row["Number of States"]), float(row["Time (s)"])
    if not (states > 0 and 0 < seconds < math.inf):
        raise ValueError(f"{states} states in {seconds} s")
    return Observation(
        source=AUTHORS,
        experiment=experiment,
        value=_value(row, experiment, states),
        learner=learner,
        states=states,
        seconds=seconds,
        equivalence_queries=int(row["EquivalenceQuery"]),
        structure_size=_structure_size(row, learner),
    )


def _value(row: Mapping[str, str], experiment: int, states: int) -> int:
    """Return where a run stands on the axis; nominal sizes are not in the files."""
    if experiment == 2:
        return int(row["Alphabet Size"])
    if experiment == 3:
        return int(row["Partitions"])
    if experiment == 5:
        return int(row["Instance"].split("_")[-2])
    return min(EXPERIMENTS[experiment].values, key=lambda value: abs(value - states))


def _structure_size(row: Mapping[str, str], learner: str) -> int | None:
    """Return table cells or tree nodes: the leaves, the inner nodes that are counted, the root."""
    if learner == "lpstar":
        return int(float(row["OT Prefixes"]) * float(row["OT Suffixes"]))
    if "Inner Nodes" not in row:
        return None
    return int(row["Extracted Number of States"]) + int(float(row["Inner Nodes"])) + 1
