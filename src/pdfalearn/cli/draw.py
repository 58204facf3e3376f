"""``pdfalearn draw``: a picture of a PDFA."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

import pdfalearn
from pdfalearn.cli import _options as options
from pdfalearn.cli._answers import word_of
from pdfalearn.cli._models import automaton_of
from pdfalearn.cli._output import print_json, print_line

_PICTURES = (".svg", ".png", ".pdf", ".dot")


@click.command(
    epilog=options.examples(
        "pdfalearn draw small.json small.svg",
        "pdfalearn draw large.npz core.pdf --most-states 20 --title 'The likely core'",
        "pdfalearn draw small.json way.png --word 0110 --direction down",
    )
)
@click.argument("file", metavar="PDFA")
@click.argument("picture", type=options.FILE)
@click.option(
    "--most-states",
    type=click.IntRange(min=1),
    metavar="N",
    help="Draw at most N states, those that words visit most; by default all up to 60, of more 30.",
)
@click.option(
    "--least",
    type=click.FloatRange(0, 1),
    metavar="P",
    help="Leave out edges under P; 0 draws everything, also what has probability 0.",
)
@click.option(
    "--digits", type=click.IntRange(1, 6), default=2, metavar="N", help="Digits of probabilities."
)
@click.option(
    "--direction",
    type=click.Choice(["right", "down"]),
    default="right",
    help="Where the picture grows to.",
)
@click.option("--word", metavar="WORD", help="Let the way of WORD stand out.")
@click.option("--mark", "marked", type=int, multiple=True, metavar="STATE", help="Mark a STATE.")
@click.option("--title", default="", metavar="TEXT", help="Write TEXT above the picture.")
@options.json_option
def draw(file: str, picture: Path, word: str | None, as_json: bool, **style: Any) -> None:
    """Draw a picture of a PDFA of any size that can be read.

    The ending of PICTURE is .svg, .png or .pdf, drawn by Graphviz, or .dot for its input. What is
    left out is said in the picture.
    """
    if picture.suffix.lower() not in _PICTURES:
        endings = ", ".join(_PICTURES)
        raise click.BadParameter(
            f"{picture} does not end in one of {endings}", param_hint="PICTURE"
        )
    pdfalearn.io.check_can_save(picture)
    pdfa = automaton_of(file)
    symbols = None if word is None else word_of(word, pdfa)
    drawn = pdfalearn.draw(pdfa, picture, word=symbols, **style)
    if as_json:
        facts = {"states": len(pdfa), "drawn": drawn.states, "note": drawn.note}
        print_json({"file": file, "picture": str(picture), **facts})
    else:
        print_line(f"{picture}: {drawn.note or f'{len(pdfa):,} states'}")
