"""``pdfalearn quotient``: reduce a PDFA."""

from __future__ import annotations

from pathlib import Path

import click

import pdfalearn
from pdfalearn.cli import _options as options
from pdfalearn.cli._models import automaton_of
from pdfalearn.cli._output import print_json, print_line


@click.command(
    epilog=options.examples(
        "pdfalearn quotient target.json -o small.json",
        "pdfalearn quotient target.json -o smaller.json --kappa 10",
    )
)
@click.argument("file", metavar="PDFA")
@options.output_option("Where to write the quotient.")
@options.exact_option
@options.kappa_option
@options.json_option
def quotient(file: str, output: Path, exact: bool, kappa: int | None, as_json: bool) -> None:
    """Merge the equivalent states of a PDFA.

    States that no word reaches are left out. The result has one state for each class and is
    equivalent to the given one, exactly or at the given kappa.
    """
    equivalence = options.equivalence(exact, kappa)
    pdfalearn.io.check_can_save(output)
    pdfa = automaton_of(file)
    reduced = pdfalearn.quotient(pdfa, equivalence=equivalence)
    pdfalearn.save(reduced, output)
    if as_json:
        sizes = {"states_before": len(pdfa), "states_after": len(reduced)}
        print_json({"file": file, "output": str(output), "kappa": kappa, **sizes})
    else:
        print_line(f"{output}: {len(reduced):,} states of {len(pdfa):,}")
