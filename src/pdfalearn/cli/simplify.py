"""``pdfalearn simplify``: smaller automata that stay near a given one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

import pdfalearn
from pdfalearn.cli import _options as options
from pdfalearn.cli._models import automaton_of
from pdfalearn.cli._output import print_json, print_table

if TYPE_CHECKING:
    from pdfalearn.results import Simplified


@click.command(
    epilog=options.examples(
        "pdfalearn simplify target.json --states 5 -o small.json",
        "pdfalearn simplify target.json --states 2,4,8 -o 'small-{states}.json'",
        "pdfalearn simplify target.json --divergence 0.01 -o small.json",
    )
)
@click.argument("file", metavar="PDFA")
@options.states_option("The most states of the result; several give one automaton each.")
@click.option(
    "--divergence",
    type=float,
    metavar="D",
    help="Instead of --states: as small as is found with at most D nats per symbol lost.",
)
@options.output_option(
    "Where to write the result; with several --states, {states} stands for each number."
)
@options.json_option
def simplify(
    file: str, states: list[int], divergence: float | None, output: Path, as_json: bool
) -> None:
    """Find a smaller automaton that stays near a PDFA.

    What is lost is the Kullback-Leibler divergence KL(PDFA ‖ result) per symbol, in nats: how much
    less likely the PDFA's words become in the result. It is computed exactly, and is the
    smallest that the search found for the number of states; 'pdfalearn divergence' says where it
    arises. The result allows all that the PDFA allows.

    'pdfalearn quotient' merges only states that are equal, and loses nothing.
    """
    if bool(states) == (divergence is not None):
        raise click.UsageError("Give either --states or --divergence.")
    outputs = _outputs(output, states)
    for path in outputs:
        pdfalearn.io.check_can_save(path)
    pdfa = automaton_of(file)
    if divergence is not None:
        results = [pdfalearn.simplify(pdfa, divergence=divergence)]
    else:
        results = pdfalearn.simplify(pdfa, states=states)
    for path, result in zip(outputs, results, strict=True):
        pdfalearn.save(result.pdfa, path)
    _print(file, len(pdfa), outputs, results, as_json)


def _outputs(output: Path, sizes: Sequence[int]) -> list[Path]:
    """Return the file of each size."""
    if len(sizes) > 1 and "{states}" not in output.name:
        raise click.UsageError("With several --states, -o needs {states} in the file's name.")
    if len(set(sizes)) < len(sizes):
        raise click.UsageError("--states has the same number twice.")
    name = output.name
    return [output.with_name(name.replace("{states}", str(size))) for size in sizes] or [output]


def _print(
    file: str, before: int, outputs: list[Path], results: list[Simplified], as_json: bool
) -> None:
    found = list(zip(outputs, results, strict=True))
    if as_json:
        automata = [
            {"output": str(path), "states": one.states, "divergence": one.divergence}
            for path, one in found
        ]
        print_json({"file": file, "states_before": before, "automata": automata})
        return
    rows = [(f"{one.states:,}", f"{one.divergence:.6g}", str(path)) for path, one in found]
    title = f"{file}: {before:,} states"
    print_table(title, ("states", "KL per symbol", "file"), rows)
