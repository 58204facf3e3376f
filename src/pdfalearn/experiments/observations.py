"""What a report compares and finds: our runs and the published ones, brought to the same terms."""

from __future__ import annotations

import csv
import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from operator import attrgetter
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple, TypeVar

import numpy as np

from pdfalearn.errors import FileFormatError, InputError
from pdfalearn.experiments.plans import EXPERIMENTS, SCALES, Plan
from pdfalearn.experiments.runs import AUTHORS, FAILURES, OURS, Measures, Run

# The paper: QuaNT's speed-up over L_p* is about 0.2 n.
PAPER_SLOPE = 0.2
_MOST_NAMED = 20
# The best value of every metric; perplexities are compared with each other.
_METRICS = [field.name for field in fields(Measures) if not field.name.endswith("perplexity")]
PERFECT = dict.fromkeys(_METRICS, 0.0) | {"ndcg": 1.0}
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
class Observation:
    """A published run, by the names that a `Run` has for the same."""

    source: str
    experiment: int
    value: int  # on the experiment's axis
    learner: str
    target_states: int  # the target's actual size
    seconds: float
    equivalence_queries: int
    structure_size: int | None
    target: str = ""  # its name, where learners are to be compared on the same targets
    is_disturbed: bool = False  # whether other runs may have slowed it


AnyRun = Run | Observation
_Run = TypeVar("_Run", bound=AnyRun)


def medians(observations: Iterable[AnyRun], x: str, y: str) -> dict[Series, Points]:
    """Return for each series the median of one quantity at every value of another."""
    groups = group_by(observations, "source", "learner")
    found = {series: _medians(group, x, y) for series, group in groups.items()}
    return {series: ([*at], [*at.values()]) for series, at in found.items() if at}


def group_by(observations: Iterable[_Run], *names: str) -> dict[Any, list[_Run]]:
    """Group runs by the values that some of their attributes have."""
    groups: dict[Any, list[_Run]] = {}
    for one in observations:
        groups.setdefault(attrgetter(*names)(one), []).append(one)
    return groups


def _medians(observations: Iterable[AnyRun], x: str, y: str) -> dict[int, float]:
    known = group_by((one for one in observations if getattr(one, y) is not None), x)
    return {place: median(getattr(one, y) for one in known[place]) for place in sorted(known)}


def speed_ups(observations: Iterable[AnyRun], x: str) -> dict[Series, Points]:
    """Return how many times faster QuaNT is than each rival, on targets that both have learnt."""
    found = {}
    calm = [one for one in observations if not one.is_disturbed]
    for (source, learner), rival in group_by(calm, "source", "learner").items():
        quant = [one for one in calm if (one.source, one.learner) == (source, "quant")]
        shared = {(one.value, one.target) for one in quant}
        shared &= {(one.value, one.target) for one in rival}
        fast, slow = (
            _medians((one for one in runs if (one.value, one.target) in shared), x, "seconds")
            for runs in (quant, rival)
        )
        places = [place for place in slow if place in fast]
        if learner != "quant" and places:
            found[source, learner] = (places, [slow[place] / fast[place] for place in places])
    return found


def fit_power(xs: Sequence[float], ys: Sequence[float]) -> tuple[float, float] | None:
    """Fit a·xᵇ by least squares of the logarithms; return a and b, or None for a single place.

    Examples
    --------
    >>> a, b = fit_power([1, 2, 4], [3, 12, 48])
    >>> round(a, 6), round(b, 6)
    (3.0, 2.0)
    """
    fitted = fit_line(np.log(xs).tolist(), np.log(ys).tolist())
    return None if fitted is None else (float(np.exp(fitted[0])), fitted[1])


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


def read_published(folder: str | os.PathLike[str]) -> list[Observation]:
    """Read the files experiment-N-….csv of a folder; of several the last one by name counts."""
    found = sorted(Path(folder).glob("experiment-[1-5]-*.csv"))
    files = {int(path.name[len("experiment-")]): path for path in found}
    if not files:
        raise InputError(f"{folder} holds no published results experiment-1-….csv and so on")
    return [one for number, path in files.items() for one in _read(path, number)]


def _read(path: Path, experiment: int) -> list[Observation]:
    """Read a file; refuse one with a row that cannot be read, or without a known learner."""
    found = []
    try:
        with path.open(encoding="utf-8", newline="") as stream:
            reader = csv.DictReader(stream)
            for row in reader:
                learner = _LEARNERS.get(row.get("Algorithm") or "")
                if learner is not None:
                    found.append(_make_observation(row, experiment, learner))
    except (UnicodeDecodeError, csv.Error) as error:
        raise FileFormatError(f"{path}: not a CSV file in UTF-8: {error}") from error
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise FileFormatError(f"{path}, line {reader.line_num}: {error!r}") from error
    if not found:
        names = " or ".join(_LEARNERS)
        raise FileFormatError(f"{path}: in no row the column Algorithm has {names}")
    return found


def _make_observation(row: Mapping[str, str], experiment: int, learner: str) -> Observation:
    states, seconds = int(row["Number of States"]), float(row["Time (s)"])
    if not (states > 0 and 0 < seconds < math.inf):
        raise ValueError(f"{states} states in {seconds} s")
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
    return Observation(AUTHORS, experiment, value, learner, states, seconds, queries, size)


def worst_of(group: Sequence[Run], name: str) -> float:
    """Return the value of a metric that is farthest from a perfect one."""
    known = [getattr(run, name) for run in group if getattr(run, name) is not None]
    return max(known, key=lambda value: abs(value - PERFECT[name]), default=PERFECT[name])


def format_number(value: float) -> str:
    """Write a number with three significant digits, or whole if it is."""
    if math.isinf(value):
        return "∞"
    return f"{value:,.0f}" if value == int(value) or value >= 1000 else f"{value:.3g}"


def findings(
    runs: Sequence[Run], observations: Sequence[AnyRun], failures: Mapping[str, str]
) -> Iterator[str]:
    """Yield what the experiment has shown, a sentence each."""
    bad, perfect = 0, "are perfect in all metrics"
    for run in runs:
        errors = (abs(worst_of([run], name) - best) for name, best in PERFECT.items())
        bad += run.certificate != "exact" or max(errors) > _ROUNDING
    if bad:
        yield f"Of {len(runs):,} runs, {bad:,} are not perfect in all metrics; see the table."
    elif failures:
        yield f"{len(failures):,} runs have failed. The other {len(runs):,} {perfect}."
    else:
        exact = "all certificates are exact, as in the paper"
        yield f"All {len(runs):,} runs {perfect}, and {exact}."
    yield from _compare_speeds(observations)
    calm = [run for run in runs if run.experiment == 4 and not run.is_disturbed]
    for (_, learner), (sizes, seconds) in medians(calm, "target_states", "seconds").items():
        trend = fit_power(sizes, seconds)
        if trend is not None:
            grows = "grows" if trend[1] > 0 else "does not grow; it goes"
            yield (
                f"Experiment 4: from {sizes[0]:,} to {sizes[-1]:,} states the time of "
                f"{STYLES[learner].label} {grows} like n^{trend[1]:.2f}."
            )


def _compare_speeds(observations: Sequence[AnyRun]) -> Iterator[str]:
    """Yield by which slope the speed-up over L_p* grows, and the speed-ups of each experiment."""
    sources = {OURS: "", AUTHORS: " by the authors' runs"}
    factors = speed_ups([one for one in observations if one.experiment == 1], "target_states")
    trends = {source: fit_line(*factors.get((source, "lpstar"), ([], []))) for source in sources}
    slopes = {source: trend[1] for source, trend in trends.items() if trend is not None}
    if OURS in slopes:
        theirs = f", and the authors' runs give {slopes[AUTHORS]:.2g}" if AUTHORS in slopes else ""
        grows = "grows over n with" if slopes[OURS] > 0 else "does not grow over n: it has"
        yield (
            f"Experiment 1: the speed-up of QuaNT over L_p* {grows} the slope "
            f"{slopes[OURS]:.2g}. The paper reports {PAPER_SLOPE}{theirs}."
        )
    for number, experiment in EXPERIMENTS.items():
        texts = []
        found = speed_ups([one for one in observations if one.experiment == number], "value")
        for (source, learner), (_, speeds) in found.items():
            ends = dict.fromkeys(map(format_number, (min(speeds), max(speeds))))
            whose = f"{STYLES[learner].label}{sources[source]}"
            texts.append(f"{' to '.join(ends)} times as fast as {whose}")
        if texts:
            yield f"Experiment {number}, over all {experiment.axis}: QuaNT is {'; '.join(texts)}."


def warnings(
    runs: Sequence[Run], plans: Mapping[int, Plan], failures: Mapping[str, str]
) -> Iterator[str]:
    """Yield which runs are missing or have failed, and which timings others have disturbed."""
    for number, plan in plans.items():
        done = sum(run.experiment == number for run in runs)
        if done < len(plan.tasks):
            yield f"Of experiment {number}, {done:,} of {len(plan.tasks):,} runs are there."
    if failures:
        texts = [f"{key} ({reason})" for key, reason in failures.items()]
        shown = "; ".join(texts[:_MOST_NAMED])
        more = f"; for all of them see {FAILURES}" if len(texts) > _MOST_NAMED else ""
        yield (
            f"Failed, and not in what follows, {len(texts):,} runs: {shown}{more}. "
            "Learners are compared on the targets that both have learnt."
        )
    if places := ", ".join(sorted({run.executor for run in runs if run.is_disturbed})):
        yield (
            f"Timings marked † come from runs that had others beside them ({places}). Speed-ups "
            "and rates of growth are said without them."
        )
    loads = [run.load for run in runs if run.load is not None]
    if loads and median(loads) > 1:
        yield (
            f"The machine was busy with other work: its load was {median(loads):.2f} for each "
            "processor (median over the runs, each counted in it). Times by the clock are longer "
            "for that; the processor's time suffers less."
        )


def describe_plan(plan: Plan) -> str:
    """Return a sentence on how an experiment was run."""
    experiment, scale = plan.experiment, SCALES[plan.scale]
    values = [getattr(setting, experiment.varies) for setting in plan.settings]
    tolerances = dict.fromkeys((one.kappa, one.tolerance) for one in plan.settings)
    shown = {
        "nominal_states": f"n = {experiment.states} states",
        "alphabet_size": "m = 2 symbols",
        "kappa": "κ = 1,000",
        experiment.varies: f"{experiment.axis} = {', '.join(f'{value:,}' for value in values)}",
        "tolerances": f"t = {', '.join(f'{t:.3g}' for _, t in tolerances)}",
    }
    targets = f"{scale.targets} random targets for each value (seed {plan.seed})"
    if plan.given is not None:
        targets = f"Up to {scale.targets} given targets for each value"
    return f"{targets}, {scale.runs} runs of each learner on each: {', '.join(shown.values())}."
