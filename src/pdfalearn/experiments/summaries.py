"""The tables of a report: medians of costs, and metrics at their worst."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from statistics import median

from pdfalearn.experiments.definitions import EXPERIMENTS
from pdfalearn.experiments.figures import STYLES
from pdfalearn.experiments.observations import AUTHORS, Observation, value_of
from pdfalearn.experiments.runs import Run

LABELS = {learner: style.label for learner, style in STYLES.items()}
"""The learners as people call them."""

Group = tuple[int, str]
"""A value on the axis and a learner."""

_PERFECT = {
    "word_error_rate": 0.0,
    "ndcg": 1.0,
    "log_probability_error": 0.0,
    "other_class": 0.0,
    "out_of_tolerance": 0.0,
    "l1": 0.0,
    "kl": 0.0,
}
_ROUNDING = 1e-9
"""Sums of many logarithms may be off by this much when nothing is wrong."""


def grouped(runs: Iterable[Run]) -> dict[Group, list[Run]]:
    """Sort the runs of an experiment by value and learner, in the order of both."""
    groups: dict[Group, list[Run]] = {}
    for run in runs:
        groups.setdefault((value_of(run), run.learner), []).append(run)
    order = list(LABELS)
    return dict(sorted(groups.items(), key=lambda item: (item[0][0], order.index(item[0][1]))))


def cost_header(number: int, published: bool) -> list[str]:
    """Name the columns of the table of costs."""
    header = [EXPERIMENTS[number].axis, "learner", "actual sizes", "targets, runs", "time"]
    header += ["authors' time"] if published else []
    header += ["learning", "equi\u00advalence", "processor", "words"]
    header += ["equi\u00advalence queries"] + (["authors' queries"] if published else [])
    return [*header, "structure size", *(["authors' size"] if published else []), "learnt states"]


def cost_rows(runs: Iterable[Run], published: Sequence[Observation]) -> list[list[str]]:
    """Return the medians of what learning has cost, beside the authors'."""
    rows = []
    for (value, learner), group in grouped(runs).items():
        theirs = [one for one in published if (one.value, one.learner) == (value, learner)]
        rows.append(
            [
                f"{value:,}",
                LABELS[learner],
                _range(run.target_states for run in group),
                f"{len({run.target for run in group})}, {len(group)}{_mark(group)}",
                _median(run.seconds for run in group),
                *_theirs(published, (one.seconds for one in theirs)),
                _median(run.learning_seconds for run in group),
                _median(run.equivalence_seconds for run in group),
                _median(run.process_seconds for run in group),
                _median(run.words for run in group),
                _median(run.equivalence_queries for run in group),
                *_theirs(published, (one.equivalence_queries for one in theirs)),
                _median(run.structure_size for run in group),
                *_theirs(published, (one.structure_size for one in theirs)),
                _range(run.states for run in group),
            ]
        )
    return rows


METRIC_HEADER = [
    "experiment",
    "value",
    "learner",
    "runs",
    "word error rate",
    "NDCG",
    "log-probability error",
    "other class",
    "out of tolerance",
    "L1",
    "KL",
    "perplexities' ratio",
    "certificates",
]


def metric_rows(runs: Sequence[Run]) -> list[list[str]]:
    """Return every metric at its worst over the runs of a learner at a value."""
    rows = []
    for number, experiment in EXPERIMENTS.items():
        mine = (run for run in runs if run.experiment == number)
        for (value, learner), group in grouped(mine).items():
            worst = [number_text(_worst(group, name)) for name in _PERFECT]
            perplexity = max(map(perplexity_ratio, group))
            certificates = ", ".join(sorted({run.certificate for run in group}))
            begin = [str(number), f"{experiment.axis} = {value:,}", LABELS[learner]]
            rows.append([*begin, str(len(group)), *worst, number_text(perplexity), certificates])
    return rows


def perplexity_ratio(run: Run) -> float:
    """Return how many times one perplexity is the other, the target's or the learnt one."""
    ours, theirs = run.perplexity, run.target_perplexity
    return 1.0 if ours == theirs else max(ours / theirs, theirs / ours)


def imperfect(runs: Iterable[Run]) -> list[Run]:
    """Return the runs with a metric that is not perfect, or that are not known to be exact."""
    return [
        run
        for run in runs
        if run.certificate != "exact"
        or any(abs(_worst([run], name) - best) > _ROUNDING for name, best in _PERFECT.items())
    ]


def _mark(group: Sequence[Run]) -> str:
    return "†" if any(run.is_disturbed for run in group) else ""


def _worst(group: Sequence[Run], name: str) -> float:
    values = [getattr(run, name) for run in group]
    known = [value for value in values if value is not None]
    return max(known, key=lambda value: abs(value - _PERFECT[name]), default=_PERFECT[name])


def _theirs(published: Sequence[Observation], values: Iterable[float | None]) -> list[str]:
    """Return the authors' median in a column, if there is such a column."""
    known = [value for value in values if value is not None]
    if not published:
        return []
    return [number_text(median(known)) if known else "–"]


def _median(values: Iterable[float]) -> str:
    return number_text(median(values))


def _range(values: Iterable[int]) -> str:
    found = sorted(values)
    ends = dict.fromkeys((found[0], found[-1]))
    return "–".join(f"{value:,}" for value in ends)


def number_text(value: float) -> str:
    """Write a number with three significant digits, or whole if it is."""
    if math.isinf(value) or math.isnan(value):
        return "∞" if value > 0 else str(value)
    if value == int(value):
        return f"{int(value):,}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def authors_of(observations: Iterable[Observation], number: int) -> list[Observation]:
    """Choose the authors' runs of an experiment."""
    return [one for one in observations if (one.source, one.experiment) == (AUTHORS, number)]
