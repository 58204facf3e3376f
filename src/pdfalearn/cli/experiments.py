"""``pdfalearn experiments``: run the paper's experiments and report them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import click

import pdfalearn
from pdfalearn.cli._chosen import Chosen
from pdfalearn.cli._commands import LongRun, command, group
from pdfalearn.cli._failures import BAD_INPUT
from pdfalearn.cli._option_kinds import FOLDER
from pdfalearn.cli._options import option, output
from pdfalearn.cli._output import Answer, print_aside

if TYPE_CHECKING:
    from pdfalearn.experiments import Outcome

_PLAN = ("scale", "learners", "values", "targets", "seed", "jobs")


@group()
def experiments() -> None:
    """Run the paper's experiments again, and report them.

    Examples
    --------
    $ pdfalearn experiments run 4 -o results
    $ pdfalearn experiments report results
    """


@command(
    click.Argument(["experiment"], metavar="1|2|3|4|5|all"),
    output("Where the results go.", **FOLDER),
    "scale learners values targets",
    option("seed", "Same seed, same targets."),
    "jobs",
    "log_every",
    into=experiments,
)
def run(chosen: Chosen) -> LongRun[Outcome]:
    """Run an experiment of the paper, or all of them.

    Every run becomes a line of DIR/runs.jsonl as it ends. The same command goes on with what is
    left when it was interrupted. Runs beside each other, by --jobs, slow each other down.

    Examples
    --------
    $ pdfalearn experiments run 1 -o results
    $ pdfalearn experiments run 4 -o larger --values 1000,10000 --jobs 2
    $ pdfalearn experiments run 3 -o coarse --values 10,20 --learners quant,lpstar
    """
    from pdfalearn.displays import RunsLine

    work = partial(
        pdfalearn.experiments.run_experiments,
        *(chosen.experiment, chosen.output),
        **chosen.collect(*_PLAN),
    )
    interruption = f"interrupted: {chosen.output} keeps what is done; start again to go on"
    line, describe = RunsLine(f"experiment {chosen.experiment}"), partial(_describe, chosen)
    return LongRun(work, line, describe, interruption=interruption)


def _describe(chosen: Chosen, outcome: Outcome) -> Answer:
    for key, reason in outcome.failures.items():
        print_aside(f"warning: {key} has failed: {reason}")
    found = f", {outcome.found:,} were there" if outcome.found else ""
    failed = f", {len(outcome.failures):,} failed" if outcome.failures else ""
    return Answer(
        {"output": chosen.output, **vars(outcome)},
        [f"{chosen.output}: {outcome.runs:,} runs done{found}{failed}"],
        exit_code=BAD_INPUT if outcome.failures else 0,
    )


@command("FOLDER published", into=experiments)
def report(chosen: Chosen) -> Answer:
    """Write FOLDER/report.html, and the figures as SVG and PNG.

    The page holds everything that it shows, and needs no network.

    Examples
    --------
    $ pdfalearn experiments report results
    """
    written = pdfalearn.experiments.write_report(chosen.folder, published=chosen.published)
    return Answer(
        {"page": written.page, "figures": [str(path) for path in written.figures]},
        [f"{written.page}: the report; {len(written.figures)} files with its figures beside it"],
    )
