"""``pdfalearn sample``: draw words."""

from __future__ import annotations

from pathlib import Path

import click

import pdfalearn
from pdfalearn.cli import _options as options
from pdfalearn.cli._output import print_json
from pdfalearn.text import are_characters, word_text


@click.command(
    epilog=options.examples(
        "pdfalearn sample target.json",
        "pdfalearn sample target.json --count 1000 --seed 7 --max-length 50 --json",
    )
)
@click.argument("file", type=options.FILE)
@click.option("--count", type=int, default=10, metavar="N", help="How many words.")
@click.option("--seed", type=options.SEED, default=0, metavar="S", help="Same seed, same words.")
@click.option("--max-length", type=int, default=1000, metavar="L", help="Cut longer words here.")
@options.json_option
def sample(file: Path, count: int, seed: int, max_length: int, as_json: bool) -> None:
    """Draw words from a PDFA and print one a line.

    A word that did not end within the maximal length is marked (cut). The symbols of a word are
    side by side if each is one character, and have spaces between them otherwise.
    """
    pdfa = pdfalearn.load_pdfa(file)
    words, cut = pdfa.sample(count, seed, max_length)
    if as_json:
        drawn = {"seed": seed, "max_length": max_length, "words": words, "cut": cut.tolist()}
        print_json({"file": str(file), **drawn})
        return
    joined = are_characters(pdfa.alphabet)
    lines = (
        word_text(word, joined=joined) + (" (cut)\n" if is_cut else "\n")
        for word, is_cut in zip(words, cut, strict=True)
    )
    click.echo("".join(lines), nl=False)
