"""What a report compares: runs of ours and of the authors', brought to the same terms."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

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
