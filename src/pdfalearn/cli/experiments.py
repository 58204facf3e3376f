"""``pdfalearn experiments``: run the paper's experiments and report them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

import pdfalearn
from pdfalearn.cli import _options as options
from pdfalearn.cli._failures import BAD_INPUT, INTERRUPTED
from pdfalearn.cli._options import log_every_option, shown_progress
from pdfalearn.cli._output import print_aside, print_json, print_line

_FOLDER = click.Path(path_type=Path, file_okay=False)


@click.group(
    epilog=options.examples(
        "pdfalearn experiments run 4 -o results",
        "pdfalearn experiments report results",
    )
)
def experiments() -> None:
    """Run the paper's experiments again, and report them."""


@experiments.command(
    epilog=options.examples(
        "pdfalearn experiments run 1 -o results",
        "pdfalearn experiments run 4 -o larger --values 1000,10000 --jobs 2",
        "pdfalearn experiments run 3 -o coarse --values 10,20 --learners quant,lpstar",
    )
)
@click.argument("experiment", metavar="1|2|3|4|5|all")
@click.option(
    "-o", "--output", type=_FOLDER, required=True, metavar="DIR", help="Where the results go."
)
@click.option(
    "--scale",
    type=click.Choice(["quick", "paper"]),
    default="quick",
    help="3 targets and 2 runs on each, or the paper's 10 and 10.",
)
@click.option(
    "--learners",
    type=options.names,
    metavar="A,B,…",
    show_default="those that the paper compares",
    help="Who learns: quant, quant-classes, quant-paper, lpstar, wlstar.",
)
@click.option(
    "--values",
    type=options.integers,
    metavar="X,Y,…",
    show_default="the paper's",
    help="What is on the axis of one experiment: n, m, κ or d.",
)
@click.option(
    "--tolerances",
    type=options.decimals,
    metavar="T,U,…",
    show_default="1/κ",
    help="The tolerance for each κ of one experiment.",
)
@click.option(
    "--targets",
    type=_FOLDER,
    metavar="DIR",
    help="Learn given targets, DIR/exp1/n100-0.json.gz and so on, instead of drawn ones.",
)
@click.option("--seed", type=options.SEED, default=0, metavar="S", help="Same seed, same targets.")
@click.option("--jobs", type=int, metavar="N", help="Do N runs at a time, on this machine.")
@click.option(
    "--scheduler", metavar="ADDRESS", help="Do the runs on the Dask cluster of this scheduler."
)
@log_every_option
@options.json_option
@click.pass_context
def run(
    context: click.Context,
    /,
    experiment: str,
    output: Path,
    scale: str,
    learners: list[str] | None,
    values: list[int] | None,
    tolerances: list[float] | None,
    targets: Path | None,
    seed: int,
    jobs: int | None,
    scheduler: str | None,
    log_every: float | None,
    as_json: bool,
) -> None:
    """Run an experiment of the paper, or all of them.

    Every run becomes a row of DIR/runs.csv as it ends. The same command goes on with what is left
    when it was interrupted. Times of runs that others ran beside, by --jobs or --scheduler, are
    marked in the report.
    """
    from pdfalearn.displays import RunsLine
    from pdfalearn.experiments import title_of

    try:
        line = RunsLine(title_of(experiment))
        with shown_progress(line, log_every, as_json=as_json) as progress:
            outcome = pdfalearn.experiments.run_experiments(
                experiment,
                output,
                scale=scale,
                learners=learners,
                values=values,
                tolerances=tolerances,
                targets=targets,
                seed=seed,
                jobs=jobs,
                scheduler=scheduler,
                progress=progress,
            )
    except KeyboardInterrupt:
        print_aside(f"interrupted: {output} keeps what is done; start again to go on")
        context.exit(INTERRUPTED)
    _warn(f"{line}; its run has been done again" for line in outcome.complaints)
    _warn(f"{key} has failed: {reason}" for key, reason in outcome.failures.items())
    if as_json:
        failures = {str(key): reason for key, reason in outcome.failures.items()}
        print_json({"output": str(output), **vars(outcome), "failures": failures})
    else:
        found = f", {outcome.found:,} were there" if outcome.found else ""
        failed = f", {len(outcome.failures):,} failed" if outcome.failures else ""
        print_line(f"{output}: {outcome.runs:,} runs done{found}{failed}")
    if outcome.failures:
        context.exit(BAD_INPUT)


@experiments.command(epilog=options.examples("pdfalearn experiments report results"))
@click.argument("folder", type=_FOLDER)
@click.option(
    "--published",
    type=_FOLDER,
    metavar="DIR",
    help="The authors' published results, experiment-1-….csv and so on, to show beside ours.",
)
@options.json_option
def report(folder: Path, published: Path | None, as_json: bool) -> None:
    """Write FOLDER/report.html, and the figures as SVG and PNG.

    The page holds everything that it shows, and needs no network.
    """
    written = pdfalearn.experiments.write_report(folder, published=published)
    _warn(f"{line}; left out" for line in written.complaints)
    figures = [str(path) for path in written.figures]
    if as_json:
        print_json({"page": str(written.page), "figures": figures})
    else:
        print_line(f"{written.page}: the report; {len(figures)} files with its figures beside it")


def _warn(lines: Iterator[str]) -> None:
    for line in lines:
        print_aside(f"warning: {line}")
