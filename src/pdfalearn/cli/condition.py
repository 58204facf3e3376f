"""``pdfalearn condition``: keep the words that match, exactly as likely as they are then."""

from __future__ import annotations

from pathlib import Path

import click

import pdfalearn
from pdfalearn.cli import _options as options
from pdfalearn.cli._answers import form_option, language_of
from pdfalearn.cli._models import automaton_of
from pdfalearn.cli._output import print_json, print_line


@click.command(
    epilog=options.examples(
        "pdfalearn condition target.json '0.*1' -o given.json",
        "pdfalearn condition target.json 01 --as begins -o given.json",
        "pdfalearn sample given.json --count 3",
    )
)
@click.argument("file", metavar="PDFA")
@click.argument("language")
@form_option
@options.output_option("Where to write the automaton.")
@options.json_option
def condition(file: str, language: str, form: str, output: Path, as_json: bool) -> None:
    """Keep the words of a language, as likely as they are then.

    Each of these words has its probability divided by that of all of them, exactly. To forbid
    symbols one by one, as the option --guide does, is something else: it makes words likelier whose
    beginnings have few ways on.
    """
    pdfalearn.io.check_can_save(output)
    pdfa = automaton_of(file)
    kept = language_of(language, form, pdfa)
    result, share = pdfalearn.analysis.condition(pdfa, kept), pdfalearn.probability(pdfa, kept)
    pdfalearn.save(result, output)
    if as_json:
        sizes = {"states_before": len(pdfa), "states_after": len(result)}
        print_json({"file": file, "output": str(output), "probability": share, **sizes})
    else:
        print_line(f"{output}: {len(result):,} states, {share:.6g} of the words of {file}")
