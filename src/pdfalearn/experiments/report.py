"""Report the experiments: one page, and the figures beside it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pdfalearn.errors import InputError
from pdfalearn.experiments import page
from pdfalearn.experiments.definitions import EXPERIMENTS
from pdfalearn.experiments.figures import DRAWINGS, draw
from pdfalearn.experiments.findings import (
    AUTHORS_TERM,
    TERMS,
    description,
    disturbances,
    failed,
    findings,
    missing,
)
from pdfalearn.experiments.observations import Observation, observations_of, read_published
from pdfalearn.experiments.parameters import Parameters, read_parameters
from pdfalearn.experiments.runs import Key, Run
from pdfalearn.experiments.summaries import (
    METRIC_HEADER,
    authors_of,
    cost_header,
    cost_rows,
    metric_rows,
)
from pdfalearn.experiments.table import TABLE, read_failures, read_table
from pdfalearn.files import replacing

PAGE = "report.html"
_TITLE = "Active learning of PDFA: the experiments, run again"
_SUBTITLE = (
    "The five experiments of Mayr, Yovine, Pan, Basset and Dang, “Towards Efficient Active "
    "Learning of PDFA” (2022), with pdfalearn."
)


@dataclass(frozen=True)
class Report:
    """The files of a report, and lines of the table that could not be read.

    Examples
    --------
    >>> import tempfile
    >>> from pdfalearn import run_experiments
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = run_experiments("1", folder, values=[10], learners=["quant"])
    ...     report = write_report(folder)
    ...     report.page.name, len(report.figures) > 0, report.complaints
    ('report.html', True, ())
    """

    page: Path
    figures: tuple[Path, ...]
    complaints: tuple[str, ...]


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
    >>> from pdfalearn import run_experiments
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = run_experiments("1", folder, values=[10], learners=["quant"])
    ...     write_report(folder).page.name
    'report.html'
    """
    place = Path(folder)
    parameters = read_parameters(place)
    table = read_table(place / TABLE, parameters.expected or None)
    runs = list(table.runs.values())
    if not runs:
        raise InputError(f"{place / TABLE} holds no runs; run experiments first")
    failures = {key: why for key, why in read_failures(place).items() if key not in table.runs}
    theirs = [] if published is None else read_published(published)
    observations = observations_of(runs)
    observations += [one for one in theirs if one.experiment in {run.experiment for run in runs}]
    pictures = {one.name: draw(one, observations) for one in DRAWINGS}
    figures = []
    for name, kinds in pictures.items():
        for kind, data in (kinds or {}).items():
            figures.append(place / f"{name}.{kind}")
            _write(figures[-1], data)
    svgs = {name: kinds["svg"] for name, kinds in pictures.items() if kinds}
    parts = _parts(runs, failures, observations, parameters, svgs)
    _write(place / PAGE, page.page(_TITLE, parts).encode())
    return Report(place / PAGE, tuple(figures), table.complaints)


def _write(path: Path, data: bytes) -> None:
    with replacing(path) as stream:
        stream.write(data)


def _parts(
    runs: Sequence[Run],
    failures: Mapping[Key, str],
    observations: Sequence[Observation],
    parameters: Parameters,
    svgs: dict[str, bytes],
) -> Iterator[str]:
    has_authors = len(observations) > len(runs)
    yield f"<h1>{page.marked(_TITLE)}</h1>"
    yield page.paragraph(_SUBTITLE, "subtitle")
    yield page.listed(findings(runs, observations, failures), "findings")
    warnings = (*missing(runs, parameters.expected), *failed(failures), *disturbances(runs))
    for sentence in warnings:
        yield page.paragraph(sentence, "warning")
    yield page.definitions(TERMS | ({"Authors": AUTHORS_TERM} if has_authors else {}))
    for number, experiment in EXPERIMENTS.items():
        chosen = [run for run in runs if run.experiment == number]
        if not chosen:
            continue
        text = description(experiment, parameters.experiments.get(str(number), {}))
        yield from _experiment_parts(number, text, chosen, authors_of(observations, number), svgs)
    yield '<h2 id="metrics">All metrics</h2>'
    yield page.paragraph(
        "The worst value over all runs, on 1,000 random words of up to 50 symbols for each target, "
        "the same for all learners; over all prefixes, but the log-probability error and the "
        "perplexities over whole words: the larger of the target's and the learnt one over the "
        "other. Perfect are 0, for NDCG and the ratio of perplexities 1."
    )
    yield page.table(METRIC_HEADER, metric_rows(runs), text_columns=3)
    if parameters.machines:
        text = page.paragraph(f"Run on {'; '.join(parameters.machines)}.")
        yield f"<footer>{text}</footer>"


def _experiment_parts(
    number: int,
    text: str,
    runs: Sequence[Run],
    theirs: Sequence[Observation],
    svgs: dict[str, bytes],
) -> Iterator[str]:
    yield page.heading(number)
    yield page.paragraph(text)
    yield '<div class="figures">'
    for drawing in DRAWINGS:
        if drawing.experiment == number and drawing.name in svgs:
            caption = drawing.caption_of(any(run.is_disturbed for run in runs))
            yield page.picture(svgs[drawing.name], caption)
    yield "</div>"
    yield "<h3>Costs: medians, times in seconds</h3>"
    header = cost_header(number, bool(theirs))
    yield page.table(header, cost_rows(runs, theirs), text_columns=2)
