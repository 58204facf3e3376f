"""``pdfalearn draw``: a picture of a PDFA."""

from __future__ import annotations

from pathlib import Path

import click

import pdfalearn
from pdfalearn.cli import _options as options
from pdfalearn.cli._models import automaton_of
from pdfalearn.cli._output import print_json, print_line

_PICTURES = (".svg", ".png", ".pdf", ".dot")


@click.command(
    epilog=options.examples(
        "pdfalearn draw small.json small.svg",
        "pdfalearn draw small.json small.dot",
    )
)
@click.argument("file", metavar="PDFA")
@click.argument("picture", type=options.FILE)
@options.json_option
def draw(file: str, picture: Path, as_json: bool) -> None:
    """Draw a picture of a PDFA.

    The ending of PICTURE is .svg, .png or .pdf, drawn by Graphviz, or .dot for its input. A
    picture helps up to some dozens of states; take the quotient first.
    """
    if picture.suffix.lower() not in _PICTURES:
        endings = ", ".join(_PICTURES)
        raise click.BadParameter(
            f"{picture} does not end in one of {endings}", param_hint="PICTURE"
        )
    pdfalearn.check_can_save(picture)
    pdfa = automaton_of(file)
    pdfalearn.save(pdfa, picture)
    if as_json:
        print_json({"file": file, "picture": str(picture), "states": len(pdfa)})
    else:
        print_line(f"{picture}: {len(pdfa):,} states")
