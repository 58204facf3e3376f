"""Report the experiments: one page of HTML that needs nothing else, and the figures beside it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.resources import files
from itertools import chain, groupby
from operator import itemgetter
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from pdfalearn.errors import InputError
from pdfalearn.experiments.figures import FIGURES, QUANTITIES, caption, draw_figure
from pdfalearn.experiments.findings import (
    AUTHORS,
    PERFECT,
    STYLES,
    AnyRun,
    Published,
    describe_parameters,
    findings,
    format_number,
    group_by,
    perplexity_ratio,
    read_published,
    worst_of,
)
from pdfalearn.experiments.plans import EXPERIMENTS
from pdfalearn.experiments.runs import OURS, TABLE, Run, read_parameters, read_runs
from pdfalearn.files import replacing
from pdfalearn.viewing import Markup, document, element, image

PAGE = "report.html"
_TITLE = "Active learning of PDFA: the experiments, run again"
_SUBTITLE = (
    "The five experiments of Mayr, Yovine, Pan, Basset and Dang, “Towards Efficient Active "
    "Learning of PDFA” (2022), with pdfalearn."
)
_TERMS = {
    "Plain QuaNT": "the paper's algorithm as printed, which sifts one word at a time. QuaNT finds "
    "the same automaton, and sifts many words at once.",
    "Time": "the median over all runs, by the clock, of learning and its equivalence queries "
    "together, as the paper measures it. The tables give both parts, and the processor's time.",
    "Sizes": "the actual ones, which are the reachable states of each target.",
    "Structure size": "cells of the observation table, prefixes times suffixes, for L_p* and WL*; "
    "nodes of the classification tree, inner nodes and leaves, for QuaNT.",
    "Authors": "what the authors have published of their own program on their own machine. Their "
    "counts of inner nodes are too low, so that their trees are truly a little larger.",
}
_METRICS_TEXT = (
    "The worst value over all runs, on 1,000 random words of up to 50 symbols for each target, "
    "the same for all learners; over all prefixes, but the log-probability error and the "
    "perplexities over whole words: the larger of the target's and the learnt one over the "
    "other. Perfect are 0, for NDCG and the ratio of perplexities 1."
)
_METRIC_HEADER = (
    *("experiment", "value", "learner", "runs", "word error rate", "NDCG"),
    *("log-probability error", "other class", "out of tolerance", "L1", "KL"),
    *("perplexities' ratio", "certificates"),
)
# The columns of costs: heading, quantity, and whose medians these are.
_COSTS = (
    ("time", "seconds", OURS),
    ("authors' time", "seconds", AUTHORS),
    ("learning", "learning_seconds", OURS),
    ("equivalence", "equivalence_seconds", OURS),
    ("processor", "process_seconds", OURS),
    ("words", "words", OURS),
    ("equivalence queries", "equivalence_queries", OURS),
    ("authors' queries", "equivalence_queries", AUTHORS),
    ("structure size", "structure_size", OURS),
    ("authors' size", "structure_size", AUTHORS),
)


class Report(NamedTuple):
    """The files of a report.

    Examples
    --------
    >>> import tempfile
    >>> from pdfalearn.experiments import run_experiments
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = run_experiments("1", folder, values=[10], learners=["quant"])
    ...     report = write_report(folder)
    ...     report.page.name, len(report.figures)
    ('report.html', 4)
    """

    page: Path
    figures: tuple[Path, ...]


def write_report(
    folder: str | os.PathLike[str], *, published: str | os.PathLike[str] | None = None
) -> Report:
    """Write report.html into a folder of results, and the figures as SVG and PNG beside it.

    Parameters
    ----------
    folder : path
        Where `run_experiments` has put its results.
    published : path, optional
        A folder with the authors' published results, to show their medians beside ours.

    Raises
    ------
    InputError
        If the folder holds no runs.
    MissingExtraError
        If matplotlib is not installed.

    Examples
    --------
    >>> import tempfile
    >>> from pdfalearn.experiments import run_experiments
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = run_experiments("1", folder, values=[10], learners=["quant"])
    ...     write_report(folder).page.name
    'report.html'
    """
    place = Path(folder)
    parameters, runs = read_parameters(place), [*read_runs(place).values()]
    if not runs:
        raise InputError(f"{place / TABLE} holds no runs; run experiments first")
    numbers = {run.experiment for run in runs}
    theirs = [] if published is None else read_published(published)
    theirs = [run for run in theirs if run.experiment in numbers]
    pictures = {figure: draw_figure(*figure, [*runs, *theirs]) for figure in FIGURES}
    figures = {
        place / f"exp{number}-{QUANTITIES[y][0]}.{kind}": data
        for (number, y), kinds in pictures.items()
        for kind, data in kinds.items()
    }
    style = files(__package__).joinpath("page.css").read_text(encoding="utf-8")
    page = document(_TITLE, style, *_make_parts(runs, theirs, parameters, pictures))
    for path, data in (*figures.items(), (place / PAGE, page.encode())):
        with replacing(path) as stream:
            stream.write(data)
    return Report(place / PAGE, tuple(figures))


def _make_parts(
    runs: Sequence[Run],
    theirs: Sequence[Published],
    parameters: Mapping[str, Any],
    pictures: Mapping[tuple[int, str], Mapping[str, bytes]],
) -> Iterator[Markup]:
    """Yield the parts of the page in their order."""
    yield element("h1", _TITLE)
    yield element("p", _SUBTITLE, class_="subtitle")
    yield element(
        "ul", *(element("li", text) for text in findings(runs, theirs)), class_="findings"
    )
    terms = [one for one in _TERMS.items() if theirs or one[0] != "Authors"]
    pairs = ((element("dt", term), element("dd", text)) for term, text in terms)
    yield element("dl", *chain.from_iterable(pairs))
    for number, chosen in sorted(group_by(runs, "experiment").items()):
        experiment, known = EXPERIMENTS[number], parameters["experiments"].get(str(number))
        yield element("h2", f"Experiment {number}: {experiment.title}", id=f"exp{number}")
        if known is not None:
            yield element("p", describe_parameters(known, len(chosen)))
        figures = []
        for drawn, kinds in pictures.items():
            if drawn[0] == number and kinds:
                text = caption(*drawn)
                shown = image(kinds["svg"], text)
                figures.append(element("figure", shown, element("figcaption", text)))
        yield element("div", *figures, class_="figures")
        yield element("h3", "Costs: medians, times in seconds")
        authors = [run for run in theirs if run.experiment == number]
        yield _make_table(*_cost_table(experiment.axis, chosen, authors), text_columns=2)
    yield element("h2", "All metrics", id="metrics")
    yield element("p", _METRICS_TEXT)
    yield _make_table(_METRIC_HEADER, _metric_rows(runs), text_columns=3)
    yield element("footer", element("p", f"Run on {'; '.join(parameters['machines'])}."))


def _make_table(
    header: Sequence[str], rows: Iterable[Sequence[str]], *, text_columns: int
) -> Markup:
    """Make a table whose first columns are text; a new value in the first one begins a group."""

    def make_row(tag: str, values: Sequence[str], **attributes: str) -> Markup:
        texts = (element(tag, value, class_="text") for value in values[:text_columns])
        figures = (element(tag, value) for value in values[text_columns:])
        return element("tr", *texts, *figures, **attributes)

    lines = []
    for _, group in groupby(rows, key=itemgetter(0)):
        first, *rest = group
        lines.append(make_row("td", first, class_="first"))
        lines += [make_row("td", ["", *others]) for _, *others in rest]
    head, body = element("thead", make_row("th", header)), element("tbody", *lines)
    return element("div", element("table", head, body), class_="wide")


def _group_runs(runs: Iterable[Run]) -> dict[tuple[int, str], list[Run]]:
    """Sort the runs of an experiment by value and learner, in the order of both."""
    order = list(STYLES)
    by_both = sorted(runs, key=lambda run: (run.value, order.index(run.learner)))
    return group_by(by_both, "value", "learner")


def _cost_table(
    axis: str, runs: Iterable[Run], published: Sequence[Published]
) -> tuple[list[str], list[list[str]]]:
    """Return the header and the rows: medians of what learning has cost, beside the authors'."""
    costs = [one for one in _COSTS if published or one[2] == OURS]
    names = [name for name, _, _ in costs]
    header = [axis, "learner", "actual sizes", "targets, runs", *names, "learnt states"]
    rows = []
    for (value, learner), group in _group_runs(runs).items():
        theirs = [one for one in published if (one.value, one.learner) == (value, learner)]
        row = [f"{value:,}", STYLES[learner].label, _show_range(run.target_states for run in group)]
        row.append(f"{len({run.target for run in group})}, {len(group)}")
        sources: dict[str, Sequence[AnyRun]] = {OURS: group, AUTHORS: theirs}
        row += [_show_median(sources[source], quantity) for _, quantity, source in costs]
        rows.append([*row, _show_range(run.states for run in group)])
    return header, rows


def _show_median(group: Sequence[AnyRun], quantity: str) -> str:
    known = [value for one in group if (value := getattr(one, quantity)) is not None]
    return format_number(median(known)) if known else "–"


def _show_range(values: Iterable[int]) -> str:
    found = sorted(values)
    return "–".join(f"{value:,}" for value in dict.fromkeys((found[0], found[-1])))


def _metric_rows(runs: Sequence[Run]) -> Iterator[list[str]]:
    """Yield every metric at its worst over the runs of a learner at a value."""
    for number, mine in sorted(group_by(runs, "experiment").items()):
        for (value, learner), group in _group_runs(mine).items():
            worst = [worst_of(group, name) for name in PERFECT]
            worst.append(max(map(perplexity_ratio, group)))
            begin = [str(number), f"{EXPERIMENTS[number].axis} = {value:,}", STYLES[learner].label]
            certificates = ", ".join(sorted({run.certificate for run in group}))
            yield [*begin, str(len(group)), *map(format_number, worst), certificates]
