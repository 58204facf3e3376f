"""What a report compares: our runs and the published ones, brought to the same terms."""

from __future__ import annotations

import csv
import math
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np

from pdfalearn.errors import FileFormatError, InputError
from pdfalearn.experiments.definitions import EXPERIMENTS
from pdfalearn.experiments.runs import Run

OURS, AUTHORS = "ours", "authors"


@dataclass(frozen=True)
class Observation:
    """A run as far as figures and tables need it."""

    source: str
    experiment: int
    value: int
    """Where it stands on the experiment's axis."""
    learner: str
    states: int
    """The target's actual size."""
    seconds: float
    equivalence_queries: int
    structure_size: int | None
    target: str = ""
    """Its name, where learners are to be compared on the same targets."""
    is_disturbed: bool = False
    """Whether other runs may have been beside it, so that its time says little."""


Series = tuple[str, str]
"""A source and a learner."""


def observations_of(runs: Iterable[Run]) -> list[Observation]:
    """Bring runs to the terms of a report."""
    return [
        Observation(
            source=OURS,
            experiment=run.experiment,
            value=value_of(run),
            learner=run.learner,
            states=run.target_states,
            seconds=run.seconds,
            equivalence_queries=run.equivalence_queries,
            structure_size=run.structure_size,
            target=run.target,
            is_disturbed=run.is_disturbed,
        )
        for run in runs
    ]


def value_of(run: Run) -> int:
    """Return where a run stands on its experiment's axis."""
    varies = EXPERIMENTS[run.experiment].varies
    column = {"states": "nominal_states", "symbols": "alphabet_size"}.get(varies, varies)
    value: int = getattr(run, column)
    return value


def medians(
    observations: Sequence[Observation], x: str, y: str
) -> dict[Series, tuple[list[int], list[float]]]:
    """Return for each series the median of one quantity at every value of another."""
    groups: dict[Series, dict[int, list[float]]] = {}
    for one in observations:
        value = getattr(one, y)
        if value is not None:
            points = groups.setdefault((one.source, one.learner), {})
            points.setdefault(getattr(one, x), []).append(value)
    return {
        series: (sorted(points), [median(points[place]) for place in sorted(points)])
        for series, points in groups.items()
    }


def speed_ups(
    observations: Sequence[Observation],
) -> dict[Series, tuple[list[int], list[float]]]:
    """Return how many times faster QuaNT is than each rival, for every actual size."""
    return ratios(observations, "states")


def ratios(
    observations: Sequence[Observation], x: str
) -> dict[Series, tuple[list[int], list[float]]]:
    """Return how many times faster QuaNT is than each rival, on targets that both have learnt."""
    found = {}
    for source, learner in dict.fromkeys((one.source, one.learner) for one in observations):
        times = medians(_shared(observations, source, learner), x, "seconds")
        if learner != "quant" and times:
            base, mine = (
                dict(zip(*times[source, name], strict=True)) for name in ("quant", learner)
            )
            places = [place for place in mine if place in base]
            if places:
                found[source, learner] = (places, [mine[n] / base[n] for n in places])
    return found


def _shared(observations: Sequence[Observation], source: str, learner: str) -> list[Observation]:
    """Choose the undisturbed runs of a learner and of QuaNT on targets that both have learnt."""
    chosen = [one for one in observations if one.source == source and not one.is_disturbed]
    learnt = [
        {(one.value, one.target) for one in chosen if one.learner == name}
        for name in ("quant", learner)
    ]
    return [
        one
        for one in chosen
        if one.learner in ("quant", learner) and (one.value, one.target) in learnt[0] & learnt[1]
    ]


def power_trend(xs: Sequence[float], ys: Sequence[float]) -> tuple[float, float] | None:
    """Fit a·xᵇ by least squares of the logarithms; return a and b, or None for a single place.

    Examples
    --------
    >>> a, b = power_trend([1, 2, 4], [3, 12, 48])
    >>> round(a, 6), round(b, 6)
    (3.0, 2.0)
    """
    fitted = linear_trend(np.log(xs).tolist(), np.log(ys).tolist())
    return None if fitted is None else (float(np.exp(fitted[0])), fitted[1])


def linear_trend(xs: Sequence[float], ys: Sequence[float]) -> tuple[float, float] | None:
    """Fit a + b·x by least squares; return a and b, or None for a single place.

    Examples
    --------
    >>> a, b = linear_trend([100, 200, 300], [21, 41, 61])
    >>> round(a, 6), round(b, 6)
    (1.0, 0.2)
    """
    if len(set(xs)) < 2:
        return None
    slope, intercept = np.polyfit(xs, ys, 1).tolist()
    return intercept, slope


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
