"""``pdfalearn sample``: draw words."""

from __future__ import annotations

from pathlib import Path

import click

import pdfalearn
from pdfalearn.cli import _options as options
from pdfalearn.cli._output import print_json


@click.command(
    epilog=options.examples(
        "pdfalearn sample target.json",
        "pdfalearn sample target.json --count 1000 --seed 7 --max-length 50 --json",
        "pdfalearn sample target.json --count 1000 > words.txt",
        "pdfalearn evaluate target.json learnt.json --corpus words.txt",
        "pdfalearn learn target.json --oracle pac --sampler words.txt",
    )
)
@click.argument("file", type=options.FILE)
@click.option("--count", type=int, default=10, metavar="N", help="How many words.")
@click.option("--seed", type=options.SEED, default=0, metavar="S", help="Same seed, same words.")
@click.option("--max-length", type=int, default=1000, metavar="L", help="Cut longer words here.")
@options.json_option
def sample(file: Path, count: int, seed: int, max_length: int, as_json: bool) -> None:
    """Draw words from a PDFA and print one a line.

    The symbols of a word are side by side if each is one character, and have blanks between them
    otherwise: symbols with blanks are then quoted. What cannot be seen is escaped. A word that did
    not end within the maximal length is marked (cut), after a blank, or after a tab if the symbols
    themselves can spell the mark. 'evaluate --corpus' and 'learn --sampler' read such lines: to
    them, a word that was cut is a word like others, without its mark.
    """
    pdfa = pdfalearn.load_pdfa(file)
    words, cut = pdfa.sample(count, seed, max_length)
    if as_json:
        drawn = {"seed": seed, "max_length": max_length, "words": words, "cut": cut.tolist()}
        print_json({"file": str(file), **drawn})
        return
    from pdfalearn.formats.word_notation import WordNotation

    notation = WordNotation(pdfa.alphabet)
    marked = zip(words, cut.tolist(), strict=True)
    lines = (f"{notation.line(word, is_cut=is_cut)}\n" for word, is_cut in marked)
    click.echo("".join(lines), nl=False)
