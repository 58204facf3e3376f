"""What a report compares and finds: our runs and the published ones, brought to the same terms."""

from __future__ import annotations

import csv
import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple, TypeVar

import numpy as np

from pdfalearn.errors import FileFormatError, InputError
from pdfalearn.experiments.plans import EXPERIMENTS, SCALES
from pdfalearn.experiments.runs import OURS, Run

AUTHORS = "authors"
# The paper: QuaNT's speed-up over L_p* is about 0.2 n.
PAPER_SLOPE = 0.2
# The best value of every metric; perplexities are compared with each other.
_ERRORS = ("word_error_rate", "ndcg", "log_probability_error", "other_class", "out_of_tolerance")
PERFECT = dict.fromkeys((*_ERRORS, "l1", "kl"), 0.0) | {"ndcg": 1.0}
# Sums of many logarithms may be off by this much when nothing is wrong.
_ROUNDING = 1e-9
# What the authors' program calls the learners.
_LEARNERS = {"QuantNaryTreeLearner": "quant", "WLStarLearner": "lpstar"}


class Style(NamedTuple):
    """How people call a learner; a colour of Okabe and Ito's palette, a marker and a line."""

    label: str
    colour: str
    marker: str
    line: str | tuple[int, tuple[int, ...]]  # a name, or an offset and lengths of dashes and gaps


# How each learner is named and drawn; they differ in black and white, too.
STYLES = {
    "quant": Style("QuaNT", "#0072B2", "o", "-"),
    "quant-classes": Style("QuaNT, classes", "#56B4E9", "v", (0, (5, 1))),
    "quant-paper": Style("plain QuaNT", "#CC79A7", "s", "--"),
    "lpstar": Style("L_p*", "#D55E00", "^", "-."),
    "wlstar": Style("WL*", "#009E73", "D", ":"),
}
Series = tuple[str, str]  # a source and a learner
Points = tuple[list[int], list[float]]  # places on an axis, and a value at each


@dataclass(frozen=True)
class Published:
    """A run of the authors, by the names that a `Run` has for the same."""

    experiment: int
    value: int  # on the experiment's axis
    learner: str
    target_states: int  # the target's actual size
    seconds: float
    equivalence_queries: int
    structure_size: int | None
    source: str = AUTHORS


AnyRun = Run | Published
_Run = TypeVar("_Run", bound=AnyRun)


def medians(runs: Iterable[AnyRun], x: str, y: str) -> dict[Series, Points]:
    """Return for each series the median of one quantity at every value of another."""
    known = [run for run in runs if getattr(run, y) is not None]
    found: dict[Series, Points] = {}
    for (source, learner, place), group in sorted(group_by(known, "source", "learner", x).items()):
        places, values = found.setdefault((source, learner), ([], []))
        places.append(place)
        values.append(median(getattr(run, y) for run in group))
    return found


def group_by(runs: Iterable[_Run], *names: str) -> dict[Any, list[_Run]]:
    """Group runs by the values that some of their attributes have."""
    groups: dict[Any, list[_Run]] = {}
    for run in runs:
        groups.setdefault(attrgetter(*names)(run), []).append(run)
    return groups


def speed_ups(runs: Sequence[AnyRun], x: str) -> dict[Series, Points]:
    """Return how many times faster QuaNT is than each rival, where both have run."""
    found, series = {}, medians(runs, x, "seconds")
    for (source, learner), (places, slow) in series.items():
        fast = dict(zip(*series.get((source, "quant"), ([], [])), strict=True))
        if learner != "quant" and not fast.keys().isdisjoint(places):
            pairs = zip(places, slow, strict=True)
            speeds = {place: seconds / fast[place] for place, seconds in pairs if place in fast}
            found[source, learner] = ([*speeds], [*speeds.values()])
    return found


def fit_line(xs: Sequence[float], ys: Sequence[float]) -> tuple[float, float] | None:
    """Fit a + b·x by least squares; return a and b, or None for a single place.

    Examples
    --------
    >>> a, b = fit_line([100, 200, 300], [21, 41, 61])
    >>> round(a, 6), round(b, 6)
    (1.0, 0.2)
    """
    if len(set(xs)) < 2:
        return None
    slope, intercept = np.polyfit(xs, ys, 1).tolist()
    return intercept, slope


def read_published(folder: str | os.PathLike[str]) -> list[Published]:
    """Read the files experiment-N-….csv of a folder; of several the last one by name counts."""
    found = sorted(Path(folder).glob("experiment-[1-5]-*.csv"))
    files = {int(path.name[len("experiment-")]): path for path in found}
    if not files:
        raise InputError(f"{folder} holds no published results experiment-1-….csv and so on")
    runs = []
    for number, path in files.items():
        try:
            with path.open(encoding="utf-8", newline="") as stream:
                rows = [row for row in csv.DictReader(stream) if row["Algorithm"] in _LEARNERS]
            runs += [_make_published(row, number) for row in rows]
        except (KeyError, TypeError, ValueError, IndexError, csv.Error) as error:
            raise FileFormatError(f"{path}: not the authors' results: {error!r}") from error
    return runs


def _make_published(row: Mapping[str, str], experiment: int) -> Published:
    learner, states = _LEARNERS[row["Algorithm"]], int(row["Number of States"])
    seconds = float(row["Time (s)"])
    if not 0 < seconds < math.inf:
        raise ValueError(f"{seconds} s")
    if experiment in (2, 3):
        value = int(row["Alphabet Size" if experiment == 2 else "Partitions"])
    elif experiment == 5:
        value = int(row["Instance"].split("_")[-2])
    else:  # nominal sizes are not in the files
        value = min(EXPERIMENTS[experiment].values, key=lambda size: abs(size - states))
    size = None
    if learner == "lpstar":
        size = int(float(row["OT Prefixes"]) * float(row["OT Suffixes"]))
    elif "Inner Nodes" in row:  # the leaves, the inner nodes that are counted, and the root
        size = int(row["Extracted Number of States"]) + int(float(row["Inner Nodes"])) + 1
    queries = int(row["EquivalenceQuery"])
    return Published(experiment, value, learner, states, seconds, queries, size)


def worst_of(group: Sequence[Run], name: str) -> float:
    """Return the value of a metric that is farthest from a perfect one."""
    known = [getattr(run, name) for run in group if getattr(run, name) is not None]
    return max(known, key=lambda value: abs(value - PERFECT[name]), default=PERFECT[name])


def perplexity_ratio(run: Run) -> float:
    """Return how many times one perplexity is the other, the target's or the learnt one."""
    ours, theirs = run.perplexity, run.target_perplexity
    return 1.0 if ours == theirs else max(ours / theirs, theirs / ours)


def format_number(value: float) -> str:
    """Write a number with three significant digits, or whole if it is."""
    if math.isinf(value):
        return "∞"
    return f"{value:,.0f}" if value == int(value) or value >= 1000 else f"{value:.3g}"


def findings(runs: Sequence[Run], theirs: Sequence[Published]) -> Iterator[str]:
    """Yield what the experiments have shown, a sentence each."""
    bad = 0
    for run in runs:
        errors = (abs(worst_of([run], name) - best) for name, best in PERFECT.items())
        bad += run.certificate != "exact" or max(errors) > _ROUNDING
    if bad:
        yield f"Of {len(runs):,} runs, {bad:,} are not perfect in all metrics; see the table."
    else:
        exact = "all certificates are exact, as in the paper"
        yield f"All {len(runs):,} runs are perfect in all metrics, and {exact}."
    both: list[AnyRun] = [*runs, *theirs]
    for number, experiment in EXPERIMENTS.items():
        chosen = [run for run in both if run.experiment == number]
        if number == 1:
            for (source, learner), points in speed_ups(chosen, "target_states").items():
                trend = fit_line(*points)
                if learner == "lpstar" and trend is not None:
                    yield (
                        f"Experiment 1: the speed-up of QuaNT over {_name(source, learner)} has "
                        f"the slope {trend[1]:.2g} over n. The paper reports {PAPER_SLOPE}."
                    )
        texts = []
        for (source, learner), (_, speeds) in speed_ups(chosen, "value").items():
            ends = dict.fromkeys(map(format_number, (min(speeds), max(speeds))))
            texts.append(f"{' to '.join(ends)} times as fast as {_name(source, learner)}")
        if texts:
            yield f"Experiment {number}, over all {experiment.axis}: QuaNT is {'; '.join(texts)}."
    larger = [run for run in runs if run.experiment == 4]
    for (_, learner), (sizes, seconds) in medians(larger, "target_states", "seconds").items():
        trend = fit_line(np.log(sizes).tolist(), np.log(seconds).tolist())
        if trend is not None:
            yield (
                f"Experiment 4: from {sizes[0]:,} to {sizes[-1]:,} states the time of "
                f"{STYLES[learner].label} goes like n^{trend[1]:.2f}."
            )


def _name(source: str, learner: str) -> str:
    return STYLES[learner].label + (" by the authors' runs" if source != OURS else "")


def describe_parameters(parameters: Mapping[str, Any], done: int) -> str:
    """Return how an experiment was run, and how many of its runs are done."""
    scale = SCALES[parameters["scale"]]
    axis, values = next(iter(parameters.items()))
    shown = f"{axis} = {', '.join(f'{value:,}' for value in values)}"
    targets = f"{scale.targets} random targets for each value (seed {parameters['seed']})"
    if parameters["given targets"]:
        targets = f"Up to {scale.targets} given targets for each value"
    missing = done < parameters["runs"]
    there = f" {done:,} of {parameters['runs']:,} runs are there." if missing else ""
    return f"{targets}, {scale.runs} runs of each learner on each: {shown}.{there}"
