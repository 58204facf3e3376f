"""What a report says in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import median

from pdfalearn.experiments.definitions import EXPERIMENTS, SCALES, Experiment
from pdfalearn.experiments.figures import PAPER_SLOPE
from pdfalearn.experiments.observations import (
    AUTHORS,
    OURS,
    Observation,
    linear_trend,
    medians,
    power_trend,
    ratios,
    speed_ups,
)
from pdfalearn.experiments.runs import Key, Run
from pdfalearn.experiments.summaries import LABELS, imperfect, number_text
from pdfalearn.experiments.table import FAILURES, Expected

TERMS = {
    "Plain QuaNT": "the paper's algorithm as printed, which sifts one word at a time. QuaNT finds "
    "the same automaton, and sifts many words at once.",
    "L_p*": "the paper's, with rows that are compared as arrays.",
    "Time": "the median over all runs, by the clock, of learning and its equivalence queries "
    "together, as the paper measures it. The tables give both parts, and the processor's time.",
    "Sizes": "the actual ones, which are the reachable states of each target. Random targets of "
    "one nominal size n differ a little in them.",
    "Structure size": "cells of the observation table, prefixes times suffixes, for L_p* and WL*; "
    "nodes of the classification tree, inner nodes and leaves, for QuaNT.",
    "Trend lines": "over sizes: power laws for time and structure size, straight lines for the "
    "speed-up, by least squares. Elsewhere medians are joined.",
}
AUTHORS_TERM = (
    "what the authors have published of their own program on their own machine. Their counts of "
    "inner nodes are too low, so that the true size of their trees is a little larger."
)
_MOST_NAMED = 20


def findings(
    runs: Sequence[Run], observations: Sequence[Observation], failures: Mapping[Key, str]
) -> Iterator[str]:
    """Yield what the experiment has shown, a sentence each."""
    bad = imperfect(runs)
    if bad:
        yield f"Of {len(runs):,} runs, {len(bad):,} are not perfect in all metrics; see the table."
    elif failures:
        yield (
            f"{len(failures):,} runs have failed. The other {len(runs):,} are perfect in all "
            "metrics."
        )
    else:
        yield (
            f"All {len(runs):,} runs are perfect in all metrics, and all certificates are exact, "
            "as in the paper."
        )
    yield from _speed_up_finding(observations)
    for number in EXPERIMENTS:
        yield from _ratio_finding(observations, number)
    yield from _growth_findings(observations)


def _speed_up_finding(observations: Sequence[Observation]) -> Iterator[str]:
    """Yield the slope by which the speed-up over L_p* grows."""
    slopes = {}
    for source in (OURS, AUTHORS):
        points = speed_ups(_chosen(observations, 1, source)).get((source, "lpstar"), ([], []))
        trend = linear_trend(*points)
        if trend is not None:
            slopes[source] = trend[1]
    if OURS in slopes:
        theirs = f", and the authors' runs give {slopes[AUTHORS]:.2g}" if AUTHORS in slopes else ""
        grows = "grows over n with" if slopes[OURS] > 0 else "does not grow over n: it has"
        yield (
            f"Experiment 1: the speed-up of QuaNT over L_p* {grows} the slope "
            f"{slopes[OURS]:.2g}. The paper reports {PAPER_SLOPE}{theirs}."
        )


def _ratio_finding(observations: Sequence[Observation], number: int) -> Iterator[str]:
    """Yield how QuaNT compares with the others over the whole axis of an experiment."""
    texts = []
    for source, whose in ((OURS, ""), (AUTHORS, " by the authors' runs")):
        for (_, learner), (_, factors) in ratios(
            _chosen(observations, number, source), "value"
        ).items():
            ends = dict.fromkeys(map(number_text, (min(factors), max(factors))))
            texts.append(f"{' to '.join(ends)} times as fast as {LABELS[learner]}{whose}")
    if texts:
        axis = EXPERIMENTS[number].axis
        yield f"Experiment {number}, over all {axis}: QuaNT is {'; '.join(texts)}."


def _growth_findings(observations: Sequence[Observation]) -> Iterator[str]:
    chosen = [one for one in _chosen(observations, 4, OURS) if not one.is_disturbed]
    points = medians(chosen, "states", "seconds")
    for (_, learner), (sizes, seconds) in points.items():
        trend = power_trend(sizes, seconds)
        if trend is not None:
            grows = "grows" if trend[1] > 0 else "does not grow; it goes"
            yield (
                f"Experiment 4: from {sizes[0]:,} to {sizes[-1]:,} states the time of "
                f"{LABELS[learner]} {grows} like n^{trend[1]:.2f}."
            )


def _chosen(observations: Sequence[Observation], number: int, source: str) -> list[Observation]:
    return [one for one in observations if (one.experiment, one.source) == (number, source)]


def missing(runs: Sequence[Run], expected: Mapping[int, Expected]) -> Iterator[str]:
    """Yield how many of the planned runs are there, if some are missing."""
    for number, one in expected.items():
        done = sum(run.experiment == number for run in runs)
        if one.runs is not None and done < one.runs:
            yield f"Of experiment {number}, {done:,} of {one.runs:,} runs are there."


def failed(failures: Mapping[Key, str]) -> Iterator[str]:
    """Name the runs that have failed, the first of them if they are many."""
    if failures:
        texts = [f"{key} ({reason})" for key, reason in failures.items()]
        shown = "; ".join(texts[:_MOST_NAMED])
        more = f"; for all of them see {FAILURES}" if len(texts) > _MOST_NAMED else ""
        yield (
            f"Failed, and not in what follows, {len(texts):,} runs: {shown}{more}. "
            "Learners are compared on the targets that both have learnt."
        )


def disturbances(runs: Sequence[Run]) -> Iterator[str]:
    """Yield which timings were taken on a machine that was busy with something else."""
    places = ", ".join(sorted({run.executor for run in runs if run.is_disturbed}))
    if places:
        yield (
            f"Timings marked † come from runs that had others beside them ({places}): they show "
            "what a busy machine gives. Speed-ups and rates of growth are said without them."
        )
    loads = [run.load for run in runs if run.load is not None]
    if loads and median(loads) > 1:
        yield (
            f"The machine was busy with other work: its load was {median(loads):.2f} for each "
            "processor (median over the runs, each counted in it). Times by the clock are longer "
            "for that; the processor's time suffers less."
        )


def description(experiment: Experiment, parameters: Mapping[str, object]) -> str:
    """Return a sentence on how an experiment was run."""
    values, tolerances = (
        given if isinstance(given, list) else []
        for given in (parameters.get(experiment.axis), parameters.get("tolerances"))
    )
    shown = {
        "states": f"n = {experiment.states} states",
        "symbols": "m = 2 symbols",
        "kappa": "κ = 1,000",
        experiment.varies: f"{experiment.axis} = {', '.join(f'{value:,}' for value in values)}",
    }
    setting = ", ".join([*shown.values(), f"t = {', '.join(f'{t:.3g}' for t in tolerances)}"])
    return f"{_targets_text(parameters)} {setting}."


def _targets_text(parameters: Mapping[str, object]) -> str:
    scale = SCALES.get(str(parameters.get("scale")))
    if scale is None:
        return "Targets:"
    repeated = f"{scale.runs} runs of each learner on each"
    if parameters.get("given targets") is not None:
        return f"Up to {scale.targets} given targets for each value, {repeated}:"
    seed = parameters.get("seed")
    return f"{scale.targets} random targets for each value (seed {seed}), {repeated}:"
