"""``pdfalearn sample``: draw words."""

from __future__ import annotations

from secrets import randbits
from typing import Any

import click

import pdfalearn
from pdfalearn.cli import _options as options
from pdfalearn.cli._models import (
    Constraints,
    Described,
    model_of,
    model_options,
    prints_aside,
)
from pdfalearn.cli._output import print_aside, print_json

_NEW_SEED_BITS = 32
"""Seeds that nobody has chosen are short enough to be typed again."""


@click.command(
    epilog=options.examples(
        "pdfalearn sample target.json",
        "pdfalearn sample target.json --count 1000 --seed 7 --max-length 50 --json",
        "pdfalearn sample my_file.py:make_model --count 20 --max-length 30 --top-k 2",
        "pdfalearn sample hf:my_llm --vocabulary digits.txt --prompt 'A number:' --max-length 3",
        "pdfalearn sample target.json --count 1000 > words.txt",
        "pdfalearn evaluate target.json learnt.json --corpus words.txt",
        "pdfalearn learn target.json --oracle pac --sampler words.txt",
    )
)
@click.argument("name", metavar="MODEL")
@click.option("--count", type=int, default=10, metavar="N", help="How many words.")
@click.option(
    "--seed",
    type=options.SEED,
    metavar="S",
    show_default="a new one each time, printed to the standard error",
    help="Same seed, same words.",
)
@click.option("--max-length", type=int, default=1000, metavar="L", help="Cut longer words here.")
@model_options
@options.json_option
def sample(
    name: str, count: int, seed: int | None, max_length: int, as_json: bool, **chosen: Any
) -> None:
    """Draw words from a model and print one a line.

    MODEL is a file of a PDFA, FILE.py:NAME, module:NAME, command:PROGRAM, hf:FOLDER or
    served:URL#MODEL: see 'pdfalearn models'.

    The symbols of a word are side by side if each is one character, and have blanks between them
    otherwise: symbols with blanks are then quoted. What cannot be seen is escaped. A word that did
    not end within the maximal length is marked (cut), after a blank, or after a tab if the symbols
    themselves can spell the mark. 'evaluate --corpus' and 'learn --sampler' read such lines: to
    them, a word that was cut is a word like others, without its mark.
    """
    model = Constraints.taken_from(chosen).around(model_of(name, Described.taken_from(chosen)))
    is_new, seed = seed is None, randbits(_NEW_SEED_BITS) if seed is None else seed
    with prints_aside():
        words, cut = pdfalearn.sample(model, count, seed=seed, max_length=max_length)
    if as_json:
        drawn = {"seed": seed, "max_length": max_length, "words": words, "cut": cut.tolist()}
        print_json({"file": name, **drawn})
        return
    if is_new:
        print_aside(f"drawn with --seed {seed}")
    from pdfalearn.io import WordNotation

    notation = WordNotation(model.alphabet)
    marked = zip(words, cut.tolist(), strict=True)
    lines = (f"{notation.line(word, is_cut=is_cut)}\n" for word, is_cut in marked)
    click.echo("".join(lines), nl=False)
